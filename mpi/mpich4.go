package mpi

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/taulop/taulop/collective"
)

// MPICH 4 over UCX (ch4:ucx), as in Debian and Ubuntu: built without shared-memory modules of its own
// (configure.ac:279-282 of pmodels/mpich at v4.0.2), so that UCX carries messages within a node, too.
//
// Instructions: Message is what Send and Recv count, and Exchange Sendrecv; Call is the mean of
// Bcast (813), Allgather (1093) and Allreduce (1260) beyond their messages and reduction.
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
	// Algorithms of all versions from 4.0 on: an algorithm unknown to the version that reads the file
	// aborts the program. Below one element a rank of the largest power of two, reductions fall back
	// (MPII_COLLECTIVE_FALLBACK_CHECK).
	offers: []offer{
		{collective: "allgather", name: "brucks", algorithm: "bruck"},
		{collective: "allgather", name: "recursive_doubling", algorithm: "recursive-doubling"},
		{collective: "allgather", name: "ring", algorithm: "ring"},

		{collective: "allreduce", name: "recursive_doubling", algorithm: "recursive-doubling"},
		{collective: "allreduce", name: "reduce_scatter_allgather", algorithm: "rabenseifner", fallbackFew: "recursive-doubling", least: powerOfTwo},

		{collective: "alltoall", name: "brucks", algorithm: "bruck"},
		{collective: "alltoall", name: "pairwise", algorithm: "pairwise"},
		{collective: "alltoall", name: "scattered", algorithm: "linear", toSelf: true}, // alltoall_intra_scattered.c

		{collective: "bcast", name: "binomial", algorithm: "knomial", degree: 2, blocking: true},
		{collective: "bcast", name: "scatter_recursive_doubling_allgather", algorithm: "scatter-recursive-doubling", blocking: true},
		{collective: "bcast", name: "scatter_ring_allgather", algorithm: "scatter-ring", blocking: true},

		{collective: "reduce", name: "binomial", algorithm: "binomial", blocking: true},
		{collective: "reduce", name: "reduce_scatter_gather", algorithm: "rabenseifner", fallbackFew: "binomial", least: powerOfTwo},
	},
}

// Reductions of 4.0 are loops of yaksa, its datatype engine. From 4.1 on yaksa reduces on GPUs alone; the
// other loops have unknown trip counts, which GCC vectorises at -O3 only, and MPICH's default is -O2.
const (
	byYaksa = "MPIR_CVAR_ENABLE_YAKSA_REDUCTION 1, src/mpi/datatype/typerep/src/typerep_yaksa_pack.c; the next element is an extent away, a variable, src/backend/seq/pup of pmodels/yaksa. MPI_Reduce_local of 4.0.2 as Debian has it, MPI_SUM of MPI_INT, is mov, add, add, add, cmp, jne for each element"
	byO2    = "MPIR_OP_TYPE_REDUCE_CASE, src/mpi/coll/op/opsum.c; --enable-fast=O2"
)

// treeOwn is the decision of MPICH's tree.
func treeOwn(l *Library, c *collective.Collective, p, m int) (Setting, bool) {
	tree := l.base
	if tree == nil {
		tree = mpichTree()
	}
	name, intra := strings.CutPrefix(tree.choice(c, p, m, l.elementOf(c)), mpichPrefix(c.Name))
	o, known := l.find(c.Name, func(o offer) bool { return o.name == name })
	return Setting{Name: o.name}, intra && known
}

// mpichTree is MPICH 4.0's built-in tree for one node, as far as it has algorithms of the offers:
// maint/tuning/coll/mpir/generic.json at v4.0.2.
var mpichTree = sync.OnceValue(func() *Tree {
	t, err := ReadTree(strings.NewReader(mpichChooses), "mpich4.json")
	if err != nil {
		panic(err)
	}
	return t
})

//go:embed mpich4.json
var mpichChooses string
