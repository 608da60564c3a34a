package tidy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// ErrUnplaced is the error for levels whose cores are unknown.
var ErrUnplaced = errors.New("say how many cores in a row share each level")

// File is the parameter file of a machine with published tables of messages: their levels and times. given
// has, by level, the number of consecutive cores that share it, if the tables do not tell. Collectives are
// ignored. It fails with ErrUnplaced.
func File(tables []*Table, given map[string]int) (*params.File, error) {
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Plan: params.Plan{
		Setups: []string{params.Published}, Policies: []numa.Policy{params.Published}, Caches: []bool{false},
	}}
	levels, err := levelsOf(tables, given)
	if err != nil {
		return nil, err
	}
	f.Provenance.Levels = levels
	f.Provenance.Online = mapping.Cores(levels)
	f.Provenance.Allowed = f.Provenance.Online
	times := make(map[params.Key][]float64)
	lacking := 0
	points := lists.Concat(tables, func(t *Table) []Point { return t.Points })
	for _, p := range points {
		ns, slowest := p.Compared()
		if !slowest && ns > 0 {
			lacking++
		}
		key := params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: p.Tau, Bytes: p.Bytes, Variant: params.Parameter{Of: p.Level, Name: p.Parameter}}
		times[key] = append(times[key], ns)
	}
	f.Provenance.Published = lists.Unique(lists.Concat(tables, func(t *Table) []string { return lists.Map(t.Head, printable.Text) }))
	if lacking > 0 {
		f.Warn(fmt.Errorf("%s of one sender to many have no slowest rank, and the mean over ranks stands for it", printable.Count(lacking, "row")))
	}
	for _, l := range levels {
		messages := lists.Filter(points, func(p Point) bool { return p.Level == l.Name && p.Parameter == params.ChannelMessage })
		switch {
		case len(messages) == 0:
			f.Warn(fmt.Errorf("level %s has no messages of one rank to another: predictions that need them are left out", l.Name))
		case lists.Most(messages, func(p Point) int { return p.Bytes }) == 0:
			return nil, fmt.Errorf("level %s has messages of 0 bytes alone, which do not say what bytes take: give rows of larger ones, too", l.Name)
		}
	}
	for key, ns := range times {
		f.Cells = append(f.Cells, params.Cell{Key: key, Time: fit.Median(ns), Samples: params.Samples(ns...)})
		if key.Bytes > 0 {
			f.Plan.Sizes = append(f.Plan.Sizes, key.Bytes)
		}
	}
	f.Plan.Sizes = lists.Rising(f.Plan.Sizes)
	slices.SortFunc(f.Cells, func(a, b params.Cell) int {
		return cmp.Or(cmp.Compare(a.VariantName(), b.VariantName()), a.Tau-b.Tau, a.Bytes-b.Bytes)
	})
	return f, f.Validate()
}
