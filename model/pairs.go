package model

import (
	"slices"

	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// OfPairsOf is τ-Lop of a file with transfers of pairs of CPUs, L(m,1), for ranks on the given CPUs:
// messages are Whole, and concurrent ones cost no more than one, as they were not measured. levels are
// the machine's levels by the model's. It fails where the file has no pairs.
func OfPairsOf(f *params.File, cpus []int) (t TauLop, levels []int, err error) {
	pairs, err := f.Pairs()
	if err != nil {
		return t, nil, err
	}
	known := f.Provenance.Levels
	t = TauLop{Transport: Whole, Known: len(cpus), Channels: newChannels()}
	for i, l := range pairs.Levels[:min(len(pairs.Levels), mapping.Levels)] {
		c := pairs.Curve(i)
		level := Channel{Level: len(levels)}
		t.Channels.transfers[level] = Transfers{l: func(m, tau int) (seconds float64, extrapolated bool) {
			seconds, extrapolated = c.At(m, 1)
			return seconds, extrapolated || tau > 1
		}}
		t.Channels.overheads[level] = func(int) (float64, bool) { return 0, false }
		levels = append(levels, max(0, slices.IndexFunc(known, func(k numa.Level) bool { return k.Name == l.Name })))
	}
	t.Level = func(a, b int) int { return levelFrom(levels, known.Of(cpus[a], cpus[b])) }
	return t, levels, nil
}

// levelFrom is the index of a level among measured ones, else of the next farther one, else of the last.
func levelFrom(measured []int, level int) int {
	if i := slices.IndexFunc(measured, func(of int) bool { return of >= level }); level >= 0 && i >= 0 {
		return i
	}
	return len(measured) - 1
}
