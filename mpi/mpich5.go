package mpi

import (
	"math/bits"
	"slices"
)

// MPICH 5.1, main of pmodels/mpich at 6a79bf6, adds circ_graph for three collectives
// (src/mpi/coll/coll_algorithms.txt). Its schedule (gen_rsched and gen_ssched of circ_graph.c) has a bug:
// among 33, 65 and other numbers of ranks, ranks send blocks that they do not have yet. It is correct up
// to 32 ranks and for powers of two.
var mpich51 = func() *Library {
	l := *mpich4.overOFI("mpich5.1", "MPICH 5.1 over UCX (ch4:ucx), as 4", byO2, mpich4.Ways...)
	l.Self, l.Version, l.rules = mpich4.Self, "MPICH 5.1", mpich4.rules
	l.heads = `MPICH[ /-]?v?5\.[1-9][.\w]*`
	l.offers = slices.Clone(mpich4.offers)
	for _, name := range []string{"allgather", "bcast", "reduce"} {
		l.offers = append(l.offers, offer{collective: name, name: "circ_graph", algorithm: "circulant",
			chunk:   128 << 10, // MPIR_CVAR_CIRC_GRAPH_CHUNK_SIZE, cga_init.c
			correct: func(p int) bool { return p <= 32 || bits.OnesCount(uint(p)) == 1 }})
	}
	return &l
}()
