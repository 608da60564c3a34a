package sweep

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/hierarchy"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/pairs"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/strided"
)

// A Beside measures what a plan asks for beside transfers. It takes the samples that
// have holds of its cells, calls add with every cell that has changed, as often as
// it likes, and returns when its budget is used up, its cells are as narrow as the
// plan asks for, or ctx ends. Missing counts the cells that have no interval then:
// a sweep that is resumed calls it again until there are none.
type Beside func(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration,
	have []params.Cell, add func(params.Cell) error) (missing int, warnings []error, err error)

// besides are those that a plan's With names, each with the time that it asks for.
var besides = map[string]struct {
	measure Beside
	time    func(*numa.Machine) time.Duration
}{
	"access": {accesses, besideTime},
	"copy":   {copies, besideTime},
	"pack":   {packs, besideTime},
	"pairs":  {pairsOf, pairsTime},
}

func besideTime(*numa.Machine) time.Duration { return 15 * time.Second }

// pairsTime is more where there are many.
func pairsTime(m *numa.Machine) time.Duration {
	return max(besideTime(m), pairs.DefaultTime(pairs.Count(len(m.CoreCPUs()))))
}

// DefaultTime is what a sweep takes on a machine: a minute, and what is measured
// beside comes on top.
func DefaultTime(with []string, m *numa.Machine) time.Duration { return time.Minute + timeOf(with, m) }

// timeOf is what these ask for; nothing where this taulop cannot measure one.
func timeOf(with []string, m *numa.Machine) (all time.Duration) {
	for _, name := range with {
		if b, known := besides[name]; known {
			all += b.time(m)
		}
	}
	return all
}

// Besides are the names, in order.
func Besides() []string { return slices.Sorted(maps.Keys(besides)) }

// ParseWith reads a list of them; an empty one is none.
func ParseWith(list string) (names []string, err error) {
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" && list == "":
		case !slices.Contains(Besides(), name):
			return nil, fmt.Errorf("%q is nothing to measure beside: choose from %s", name, strings.Join(Besides(), ", "))
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, nil
}

// Lacking tells the warnings of cells that lack samples: a resumed sweep looks anew.
func Lacking(warning string) bool {
	return strings.Contains(warning, "too few samples for an interval") || strings.Contains(warning, "were not measured: allow more")
}

// reserved is the part of a sweep's time that is not for transfers.
func (s *Sweep) reserved() time.Duration {
	with := s.File.Plan.With
	return part(s.budget(), timeOf(with, s.Machine), DefaultTime(with, s.Machine))
}

// part is of all so much as its time is of the whole.
func part(all, of, whole time.Duration) time.Duration {
	return time.Duration(float64(all) * float64(of) / float64(whole))
}

// beside measures what the plan asks for beside transfers.
func (s *Sweep) beside(ctx context.Context) error {
	with := s.File.Plan.With
	for i, name := range with {
		b, known := besides[name]
		if !known {
			s.warn("%s was not measured: this taulop cannot", name)
			continue
		}
		if s.Report != nil {
			s.Report(Progress{Done: s.done(), Cells: len(s.jobs), Left: s.left(), Cell: params.Key{Kind: params.Kind(name)}})
		}
		runtime.GC() // nothing is collected while teams exist
		have := slices.Clone(s.File.Cells)
		put := hierarchy.Collect(&s.File.Cells)
		budget := part(s.left(), b.time(s.Machine), timeOf(with[i:], s.Machine))
		missing, warnings, err := b.measure(ctx, s.File.Plan, s.Machine, budget, have, func(c params.Cell) error {
			put(c)
			return s.keep()
		})
		s.missing[name] = missing
		for _, w := range warnings {
			if !Lacking(w.Error()) { // which is told below
				s.warn("%v", w)
			}
		}
		if missing > 0 {
			s.warn("%d cells of %s have too few samples for an interval: go on with -resume, or allow more with -budget", missing, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copies(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	c := hierarchy.Copies{Sizes: hierarchy.CopySizes, Taus: hierarchy.Taus(m)}
	return c.Measure(ctx, m, hierarchy.Rounds{Width: p.Width, Budget: budget, Have: have, Add: add})
}

// packArray is what messages of a sweep lie in at the most.
const packArray = 16 << 20

func packs(ctx context.Context, p params.Plan, m *numa.Machine, budget time.Duration, have []params.Cell, add func(params.Cell) error) (int, []error, error) {
	messages, err := hierarchy.Messages(hierarchy.PackSizes, hierarchy.PackStrides, strided.Element, packArray)
	if err != nil {
		return 0, nil, err
	}
	packs := hierarchy.Packs{Messages: messages, Pairs: hierarchy.Pairs(m), Caches: p.Caches, Segments: p.Segments, SegmentBytes: p.SegmentBytes}
	return packs.Measure(ctx, m, hierarchy.Rounds{Width: p.Width, Budget: budget, Have: have, Add: add})
}
