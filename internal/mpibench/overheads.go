package mpibench

import (
	"errors"
	"maps"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// TakeOverheads gives a file the o(m) of an MPI library: one-way messages, half of a round
// trip each, of the file's first placement and the given state of the cache. They stand in
// the place of all its own, of other placements and in and off cache too, for o(m) of two
// makers is not to be mixed. It fails if no message is of a size that there are transfers
// of.
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
