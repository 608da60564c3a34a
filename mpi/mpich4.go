package mpi

// MPICH 4 over UCX (ch4:ucx), which is how Debian and Ubuntu build it: without modules of
// its own for shared memory (configure.ac:279-282 of pmodels/mpich at v4.0.2), so that UCX
// carries messages within a node, too.
var mpich4 = &Library{
	Name:    "mpich4",
	Title:   "MPICH 4 over UCX (ch4:ucx), as Debian builds it, UCX 1.13",
	Chooses: "mpich4",
	Ways:    ucx113,
}
