package tune

import (
	"slices"

	"github.com/taulop/taulop/collective"
)

// Open MPI's older versions, which tables of measurements are of: no rules are written for
// them, for what they look up of gather and scatter does not depend on the size of messages
// (coll_tuned_decision_dynamic.c).
var (
	openMPI3  = &Library{Name: "openmpi3", Title: "Open MPI 1.8 to 3.1", Messages: "openmpi4", offers: ids3, own: openMPI3Own}
	openMPI40 = &Library{Name: "openmpi4.0", Title: "Open MPI 4.0", Messages: "openmpi4", offers: ids40, own: openMPI3Own}
)

// ids40 are those of 4.0, and ids3 those that were there before.
var (
	ids40 = slices.DeleteFunc(slices.Clone(ids), func(o offer) bool { return o.collective == "scatter" && o.id > 2 })
	ids3  = slices.DeleteFunc(slices.Clone(ids40), func(o offer) bool {
		return o.collective == "bcast" && o.id > 6 || o.collective == "allreduce" && o.id > 5 || o.collective == "reduce" && o.id > 6
	})
)

// openMPI3Own is what Open MPI chooses by itself from 1.8 to 4.0, for commutative operators:
// coll_tuned_decision_fixed.c of v3.1.6, which 4.0 shares, with the lines of P and m along which it
// divides broadcasts and reductions.
func openMPI3Own(l *Library, c *collective.Collective, p, m int) (Setting, bool) {
	of := func(id, segment int) (Setting, bool) {
		s, err := l.named(c.Name, id, 0, segment)
		return s, err == nil && !s.Own()
	}
	two, many := p&(p-1) == 0, float64(p)
	line := func(slope, at0 float64) float64 { return slope*float64(m) + at0 }
	switch c.Name {
	case "allgather":
		switch {
		case p == 2:
			return of(6, 0)
		case p*m < 50000 && two:
			return of(3, 0)
		case p*m < 50000:
			return of(2, 0)
		case p%2 == 1:
			return of(4, 0)
		}
		return of(5, 0)
	case "allreduce":
		switch {
		case m < 10000:
			return of(3, 0)
		case m/l.elementOf(c) <= p:
			return of(2, 0)
		case m <= p<<20:
			return of(4, 0)
		}
		return of(5, 1<<20)
	case "alltoall":
		switch {
		case p == 2:
			return of(5, 0)
		case m < 200 && p > 12:
			return of(3, 0)
		case m < 3000:
			return of(1, 0)
		}
		return of(2, 0)
	case "barrier":
		switch {
		case p == 2:
			return of(5, 0)
		case two:
			return of(3, 0)
		}
		return of(4, 0)
	case "bcast":
		switch {
		case m < 2048:
			return of(6, 0)
		case m < 370728:
			return of(4, 1<<10)
		case many < line(1.6134e-6, 2.1102):
			return of(3, 128<<10)
		case p < 13:
			return of(4, 8<<10)
		case many < line(2.3679e-6, 1.1787):
			return of(3, 64<<10)
		case many < line(3.2118e-6, 8.7936):
			return of(3, 16<<10)
		}
		return of(3, 8<<10)
	case "gather":
		switch {
		case m > 92160:
			return of(3, 32<<10)
		case m > 6000:
			return of(3, 1<<10)
		case p > 60 || p > 10 && m < 1024:
			return of(2, 0)
		}
		return of(1, 0)
	case "reduce":
		switch {
		case p < 8 && m < 512:
			return of(1, 0)
		case p < 8 && m < 20480 || m < 2048:
			return of(5, 0)
		case many > line(0.6016/1024, 1.3496):
			return of(5, 1<<10)
		case many > line(0.0410/1024, 9.7128):
			return of(3, 1<<10)
		case many > line(0.0422/1024, 1.1614):
			return of(4, 32<<10)
		case many > line(0.0033/1024, 1.6761):
			return of(3, 32<<10)
		}
		return of(3, 64<<10)
	case "scatter":
		if p > 10 && m < 300 {
			return of(2, 0)
		}
		return of(1, 0)
	}
	return Setting{}, false
}
