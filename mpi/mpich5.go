package mpi

import (
	"math/bits"
	"slices"
)

// MPICH 5.1, main of pmodels/mpich at 6a79bf6: circ_graph of three collectives is new in
// src/mpi/coll/coll_algorithms.txt, for any communicator. Its schedule (gen_rsched and gen_ssched of circ_graph.c)
// has ranks send blocks that they lack among 33, 65 and other numbers of ranks; up to 32, and for powers of
// two, it does not.
var mpich51 = func() *Library {
	l := *mpich4.overOFI("mpich5.1", "MPICH 5.1 over UCX (ch4:ucx), as 4", byO2, mpich4.Ways...)
	l.Self, l.Version, l.rules = mpich4.Self, "MPICH 5.1", mpich4.rules
	l.heads = `MPICH[ /-]?v?5\.[1-9][.\w]*`
	l.offers = slices.Clone(mpich4.offers)
	for _, of := range []string{"allgather", "bcast", "reduce"} {
		l.offers = append(l.offers, offer{collective: of, name: "circ_graph", algorithm: "circulant",
			chunk:  128 << 10, // MPIR_CVAR_CIRC_GRAPH_CHUNK_SIZE, cga_init.c
			wholly: func(p int) bool { return p <= 32 || bits.OnesCount(uint(p)) == 1 }})
	}
	return &l
}()
