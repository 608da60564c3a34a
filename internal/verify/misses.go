package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Miss is an algorithm that the full model predicts as a collective's cheapest and that takes longer than another.
type Miss struct {
	P               int
	OffCache        bool
	State           params.State
	Chosen, Fastest string
	Sizes           []int   // m in bytes
	Longer          float64 // the largest share of the fastest's time by which the chosen one takes longer
}

// Misses are the misses beyond the intervals and by the share least, with the sizes of the same two algorithms together.
func Misses(rows []Row, least float64) (misses []*Miss) {
	type call struct {
		collective string
		p, bytes   int
		off        bool
		state      params.State
	}
	called := func(r Row) call {
		collective, _, _ := strings.Cut(r.Name, ":")
		return call{collective, r.P, r.Bytes, r.OffCache, r.State}
	}
	rows = lists.Filter(rows, func(r Row) bool { return of(r.Predicted, Full) != nil && r.Measured.Known() && !r.Forced })
	for _, calls := range lists.Groups(rows, called) {
		faster := func(a, b Row) int { return cmp.Compare(a.Measured.Center, b.Measured.Center) }
		fastest := slices.MinFunc(calls, faster)
		chosen := slices.MinFunc(calls, func(a, b Row) int {
			return cmp.Or(cmp.Compare(of(a.Predicted, Full).Ns, of(b.Predicted, Full).Ns), faster(a, b))
		})
		longer := chosen.Measured.Center/fastest.Measured.Center - 1
		if chosen.Measured.Lo <= fastest.Measured.Hi || longer < least {
			continue
		}
		at := slices.IndexFunc(misses, func(m *Miss) bool {
			return m.P == chosen.P && m.OffCache == chosen.OffCache && m.State == chosen.State && m.Chosen == chosen.Name && m.Fastest == fastest.Name
		})
		if at < 0 {
			at = len(misses)
			misses = append(misses, &Miss{P: chosen.P, OffCache: chosen.OffCache, State: chosen.State, Chosen: chosen.Name, Fastest: fastest.Name})
		}
		m := misses[at]
		m.Sizes, m.Longer = append(m.Sizes, chosen.Bytes), max(m.Longer, longer)
	}
	return misses
}
