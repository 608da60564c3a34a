package transfers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// mostCells is the largest number of a file's cells.
const mostCells = 1 << 20

// ErrUnusable: no sweep can resume the file.
var ErrUnusable = errors.New("measure it anew")

// ErrCPUs: this process may use other CPUs than the file has.
var ErrCPUs = errors.New("go on with it on the same CPUs")

// Check rejects a plan that no sweep can carry out, before its numbers are used: the file is not
// trusted.
func Check(p *params.Plan) error {
	switch {
	case len(p.Policies) == 0 || len(p.Taus) == 0 || len(p.Sizes) == 0 || len(p.Caches) == 0:
		return fmt.Errorf("its plan lacks placements, τ, sizes or states of the cache: %w", ErrUnusable)
	case p.SegmentBytes < 1 || p.Segments < 1:
		return fmt.Errorf("its plan has %d segments of %d bytes: an intermediate buffer takes at least one of one byte", p.Segments, p.SegmentBytes)
	case p.Taus[len(p.Taus)-1] > numa.MostWorkers:
		return fmt.Errorf("τ = %d is more than the %d workers that there can be: choose smaller ones", p.Taus[len(p.Taus)-1], numa.MostWorkers)
	case p.Sizes[len(p.Sizes)-1] > params.MostBytes || slices.Max(p.AllSegmentBytes()) > params.MostBytes:
		return fmt.Errorf("messages of %d bytes and segments of %d are more than the %d bytes that a file can hold: choose smaller ones", p.Sizes[len(p.Sizes)-1], slices.Max(p.AllSegmentBytes()), params.MostBytes)
	case cells(p) > mostCells:
		return fmt.Errorf("the plan has more than %d cells: choose fewer τ, sizes or placements", mostCells)
	}
	return nil
}

// cells is a bound on the number of the plan's keys, without the few that two ranks measure.
func cells(p *params.Plan) float64 {
	known := lists.Filter(p.Setups, func(name string) bool { _, err := setups.Lookup(name); return err == nil }) // beside the isolated transfer
	policies, taus := float64(len(p.Policies)), float64(len(p.Taus))
	sized := float64(len(p.Caches)) * float64(len(p.Sizes))
	buffers := float64(len(p.AllSegments())) * float64(len(p.AllSegmentBytes()))
	n := policies * taus * (float64(1+len(known))*buffers*(sized+1) + 2*sized)
	if !p.NoGamma {
		n += taus * float64(len(operators(*p))) * float64(len(p.Sizes))
	}
	return n
}

// Holds rejects a plan whose buffers exceed this machine's memory: the kernel would kill the process.
func Holds(p params.Plan, m *numa.Machine) error {
	places, err := placements(p, m, -1)
	if err != nil {
		return err
	}
	if most := float64(setups.ArenaCaches); slices.Contains(p.Caches, true) && !(p.ArenaCaches > 0 && p.ArenaCaches <= most) {
		return fmt.Errorf("off cache its user buffers are %g times what caches hold of them, and they are to be %g times as much: %w", p.ArenaCaches, most, ErrUnusable)
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return err
	}
	for _, place := range places {
		fit, arena, err := fits(p, place, m, free)
		if err != nil {
			return err
		}
		if workers := int64(len(place.Workers)); arena > 0 && int64(fit.ArenaBytes) > free/workers {
			return fmt.Errorf("off cache %d user buffers of %d MB do not fit into the %d MB of memory that is free: free some", workers, fit.ArenaBytes>>20, free>>20)
		}
	}
	return nil
}
