package mpi

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/taulop/taulop/collective"
)

// MPICH 4 over UCX (ch4:ucx), which is how Debian and Ubuntu build it: without modules of
// its own for shared memory (configure.ac:279-282 of pmodels/mpich at v4.0.2), so that UCX
// carries messages within a node, too.
//
// Instructions: Message is what Send and Recv count, and Exchange Sendrecv; Call is the mean of
// what Bcast (813), Allgather (1093) and Allreduce (1260) count beyond their messages and reduction.
var mpich4 = &Library{
	Name:  "mpich4",
	Title: "MPICH 4 over UCX (ch4:ucx), as Debian builds it, UCX 1.13",
	Ways:  ucx113,
	Self:  ucx113Self,
	Call:  1055, Reduction: 1490, Counted: "bench/mpi/instructions.sh, libmpich12 4.0.2-3+b1 of Debian 12 with libucx0 1.13.1-1, amd64",
	Scalar: byYaksa,

	Version: "MPICH 4",
	heads:   `(?:Intel(?:\(R\))?[ -]?MPI|MVAPICH\w*|(?:HPE )?Cray[ -]MPI(?:CH)?|MS-?MPI|Microsoft MPI|ParaStation ?MPI)\b(?:[ /-]v?\d[.\w]*)?|MPICH[ /-]?v?(?:5\.0|[0-46-9]\.\d|\d\d+\.\d)[.\w]*`,
	own:     treeOwn,
	unsure:  true,
	rules:   &format{write: writeTree, use: mpichUse, beside: writePosix, spliced: true},
	// Those that all versions from 4.0 on know: one that a version does not know ends the
	// program that reads the file.
	offers: []offer{
		{collective: "allgather", name: "brucks", algorithm: "bruck"},
		{collective: "allgather", name: "recursive_doubling", algorithm: "recursive-doubling"},
		{collective: "allgather", name: "ring", algorithm: "ring"},

		{collective: "allreduce", name: "recursive_doubling", algorithm: "recursive-doubling"},
		{collective: "allreduce", name: "reduce_scatter_allgather", algorithm: "rabenseifner"},

		{collective: "alltoall", name: "brucks", algorithm: "bruck"},
		{collective: "alltoall", name: "pairwise", algorithm: "pairwise"},
		{collective: "alltoall", name: "scattered", algorithm: "linear", toSelf: true}, // alltoall_intra_scattered.c

		{collective: "bcast", name: "binomial", algorithm: "binomial", blocking: true},
		{collective: "bcast", name: "scatter_recursive_doubling_allgather", algorithm: "scatter-recursive-doubling", blocking: true},
		{collective: "bcast", name: "scatter_ring_allgather", algorithm: "scatter-ring", blocking: true},

		{collective: "reduce", name: "binomial", algorithm: "binomial", blocking: true},
		{collective: "reduce", name: "reduce_scatter_gather", algorithm: "rabenseifner"},
	},
}

// Reductions of 4.0 are loops of yaksa, its library of data types. From 4.1 on yaksa's are for GPUs
// alone; the others are loops of an unknown number of passes, which GCC vectorises at -O3 only, and
// MPICH is compiled with -O2 by default.
const (
	byYaksa = "MPIR_CVAR_ENABLE_YAKSA_REDUCTION 1, src/mpi/datatype/typerep/src/typerep_yaksa_pack.c; the next element is an extent away, a variable, src/backend/seq/pup of pmodels/yaksa. MPI_Reduce_local of 4.0.2 as Debian has it, MPI_SUM of MPI_INT, is mov, add, add, add, cmp, jne for each element"
	byO2    = "MPIR_OP_TYPE_REDUCE_CASE, src/mpi/coll/op/opsum.c; --enable-fast=O2"
)

// treeOwn is what MPICH chooses by its own tree.
func treeOwn(l *Library, c *collective.Collective, p, m int) (Setting, bool) {
	base := l.base
	if base == nil {
		base = mpichTree()
	}
	name, ok := strings.CutPrefix(base.Choice(c, p, m, l.elementOf(c)), mpichPrefix(c.Name))
	o, there := l.find(c.Name, func(o offer) bool { return o.name == name })
	return Setting{Name: o.name}, ok && there
}

// mpichTree is what MPICH 4.0 comes with, for ranks on one node, as far as algorithms of the
// offers are in it: maint/tuning/coll/mpir/generic.json at v4.0.2.
var mpichTree = sync.OnceValue(func() *Tree {
	t, err := ReadTree(strings.NewReader(mpichChooses), "mpich4.json")
	if err != nil {
		panic(err)
	}
	return t
})

//go:embed mpich4.json
var mpichChooses string
