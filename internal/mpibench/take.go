package mpibench

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// TakeGamma gives a file the γ(m,τ) of an MPI library: the time of MPI_Reduce_local by τ ranks at once,
// of vectors in cache. It replaces the file's γ of each timed operator, scalar or in vectors. It
// returns these operators, and the omissions: sizes without some τ.
func TakeGamma(f *params.File, times []Time) (operators []string, leftOut []Omission) {
	timed := make(map[string]loads)
	for _, t := range times {
		if t.Kind == Reduction {
			if timed[t.Operator] == nil {
				timed[t.Operator] = loads{}
			}
			timed[t.Operator].add(t.Bytes, t.P, 1e3*t.Microseconds)
		}
	}
	var placement numa.Policy = params.Published
	if len(f.Plan.Policies) > 0 {
		placement = f.Plan.Policies[0]
	}
	for _, operator := range slices.Sorted(maps.Keys(timed)) {
		rows, incomplete := complete(timed[operator].medians())
		if incomplete != "" {
			leftOut = append(leftOut, Omission{"Reduce_local", 0, incomplete})
		}
		if len(rows) == 0 {
			continue
		}
		f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool {
			return c.Kind == params.GammaCell && strings.TrimSuffix(c.Operator, params.Scalar) == operator
		})
		for _, t := range slices.Concat(rows...) {
			key := params.Key{Kind: params.GammaCell, Placement: placement, Tau: t.Tau, Bytes: t.Bytes, Operator: operator}
			f.Cells = append(f.Cells, params.Cell{Key: key, Time: t.Time, Samples: params.Samples(timed[operator][load{t.Bytes, t.Tau}]...)})
		}
		operators = append(operators, operator)
	}
	return operators, leftOut
}

// TakeOverheads gives a file the o(m) of an MPI library: one-way messages, half of a round trip each,
// for the file's first placement and the given state of the cache. They replace all o(m) of the file,
// because o(m) of different implementations must not be mixed. It fails if no message has the size of
// a transfer.
func TakeOverheads(f *params.File, times []Time, off bool) error {
	samples, benchmark := make(map[int][]float64), ""
	for _, t := range times {
		if n := len(f.Plan.Sizes); t.Kind == Message && n > 0 && t.Bytes > 0 && t.Bytes <= f.Plan.Sizes[n-1] {
			samples[t.Bytes], benchmark = append(samples[t.Bytes], 1e3*t.Microseconds), t.Benchmark
		}
	}
	f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool {
		return slices.Contains(params.OfOverheads, c.Kind)
	})
	key := params.Key{Kind: params.MessageCell, OffCache: off, Tau: 1, Variant: params.Name(benchmark)}
	if len(f.Plan.Policies) > 0 {
		key.Placement = f.Plan.Policies[0]
	}
	for _, key.Bytes = range slices.Sorted(maps.Keys(samples)) {
		ns := samples[key.Bytes]
		f.Cells = append(f.Cells, params.Cell{Key: key, Time: fit.Median(ns), Samples: params.Samples(ns...)})
	}
	if len(f.Overheads(params.Selection{Placement: key.Placement, OffCache: off})) == 0 {
		return errors.New("no time of PingPong of IMB-MPI1 or of osu_latency is of a size, placement and state of the cache that there are isolated transfers of: take a file of taulop sweep on the same machine, or the other state of the cache")
	}
	return nil
}
