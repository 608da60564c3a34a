package mpi

import (
	"slices"

	"github.com/taulop/taulop/collective"
)

// Older versions of Open MPI, for benchmark tables. No rules are written for them: their lookup for
// gather and scatter ignores the message size (coll_tuned_decision_dynamic.c). The decisions of
// versions before 1.8 are not known.
var (
	openMPI40 = &Library{Name: "openmpi4.0", Version: "Open MPI 4.0", own: openMPI3Own,
		heads:  `Open[ -]?MPI[ /-]?v?4\.0[.\w]*`,
		offers: slices.DeleteFunc(slices.Clone(tunedAlgorithms), func(o offer) bool { return o.collective == "scatter" && o.id > 2 })}
	openMPI3 = &Library{Name: "openmpi3", Version: "Open MPI 1.8 to 3.1", own: openMPI3Own,
		heads: `Open[ -]?MPI[ /-]?v?(?:1\.(?:[89]|\d\d+)|[23]\.\d)[.\w]*`,
		offers: slices.DeleteFunc(slices.Clone(openMPI40.offers), func(o offer) bool {
			return o.collective == "bcast" && o.id > 6 || o.collective == "allreduce" && o.id > 5 || o.collective == "reduce" && o.id > 6
		})}
	openMPI1 = &Library{Name: "openmpi1", Version: openMPI3.Version, offers: openMPI3.offers, own: openMPI3Own, unsure: true,
		heads: `Open[ -]?MPI[ /-]?v?[01]\.\d[.\w]*`}
)

// openMPI3Own is the decision of Open MPI 1.8 to 4.0.
func openMPI3Own(l *Library, c *collective.Collective, p, m int) (Setting, bool) {
	choose := openMPI3Decisions[c.Name]
	if choose == nil {
		return Setting{}, false
	}
	id, segment := choose(p, m, m/l.elementOf(c))
	return l.numbered(c.Name, id, 0, segment)
}

// openMPI3Decisions give the number and the segment size of the algorithm for p ranks, m bytes and a
// number of elements, with commutative operators: coll_tuned_decision_fixed.c of v3.1.6, as in 4.0.
var openMPI3Decisions = map[string]func(p, m, elements int) (id, segment int){
	"allgather": func(p, m, _ int) (int, int) {
		switch {
		case p == 2:
			return 6, 0
		case p*m < 50000 && powerOfTwo(p) == p:
			return 3, 0
		case p*m < 50000:
			return 2, 0
		case p%2 == 1:
			return 4, 0
		}
		return 5, 0
	},
	"allreduce": func(p, m, elements int) (int, int) {
		switch {
		case m < 10000:
			return 3, 0
		case elements <= p:
			return 2, 0
		case m <= p<<20:
			return 4, 0
		}
		return 5, 1 << 20
	},
	"alltoall": func(p, m, _ int) (int, int) {
		switch {
		case p == 2:
			return 5, 0
		case m < 200 && p > 12:
			return 3, 0
		case m < 3000:
			return 1, 0
		}
		return 2, 0
	},
	"barrier": func(p, _, _ int) (int, int) {
		switch {
		case p == 2:
			return 5, 0
		case powerOfTwo(p) == p:
			return 3, 0
		}
		return 4, 0
	},
	"bcast": func(p, m, _ int) (int, int) {
		// The borders between decisions are lines in P and m.
		below := func(slope, at0 float64) bool { return float64(p) < slope*float64(m)+at0 }
		switch {
		case m < 2048:
			return 6, 0
		case m < 370728:
			return 4, 1 << 10
		case below(1.6134e-6, 2.1102):
			return 3, 128 << 10
		case p < 13:
			return 4, 8 << 10
		case below(2.3679e-6, 1.1787):
			return 3, 64 << 10
		case below(3.2118e-6, 8.7936):
			return 3, 16 << 10
		}
		return 3, 8 << 10
	},
	"gather": func(p, m, _ int) (int, int) {
		switch {
		case m > 92160:
			return 3, 32 << 10
		case m > 6000:
			return 3, 1 << 10
		case p > 60 || p > 10 && m < 1024:
			return 2, 0
		}
		return 1, 0
	},
	"reduce": func(p, m, _ int) (int, int) {
		above := func(slope, at0 float64) bool { return float64(p) > slope/1024*float64(m)+at0 }
		switch {
		case p < 8 && m < 512:
			return 1, 0
		case p < 8 && m < 20480 || m < 2048:
			return 5, 0
		case above(0.6016, 1.3496):
			return 5, 1 << 10
		case above(0.0410, 9.7128):
			return 3, 1 << 10
		case above(0.0422, 1.1614):
			return 4, 32 << 10
		case above(0.0033, 1.6761):
			return 3, 32 << 10
		}
		return 3, 64 << 10
	},
	"scatter": func(p, m, _ int) (int, int) {
		if p > 10 && m < 300 {
			return 2, 0
		}
		return 1, 0
	},
}
