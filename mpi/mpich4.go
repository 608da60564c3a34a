package mpi

// MPICH 4 over UCX (ch4:ucx), which is how Debian and Ubuntu build it: without modules of
// its own for shared memory (configure.ac:279-282 of pmodels/mpich at v4.0.2), so that UCX
// carries messages within a node, too.
//
// Instructions: Message is what Send and Recv count, and Exchange Sendrecv; Call is the mean of
// what Bcast (813), Allgather (1093) and Allreduce (1260) count beyond their messages and reduction.
var mpich4 = &Library{
	Name:    "mpich4",
	Title:   "MPICH 4 over UCX (ch4:ucx), as Debian builds it, UCX 1.13",
	Chooses: "mpich4",
	Ways:    ucx113,
	Self:    ucx113Self,
	Call:    1055, Reduction: 1490, Counted: "bench/mpi/instructions.sh, libmpich12 4.0.2-3+b1 of Debian 12 with libucx0 1.13.1-1, amd64",
	Scalar: byYaksa,
}

// Reductions of 4.0 are loops of yaksa, its library of data types. From 4.1 on those are for
// GPUs alone, and others are loops whose number of passes is not known beforehand, which GCC
// leaves as they are unless it is told -O3: MPICH is compiled with -O2 unless somebody says
// otherwise, and has no loops for vectors of its own.
const (
	byYaksa = "MPIR_CVAR_ENABLE_YAKSA_REDUCTION 1, src/mpi/datatype/typerep/src/typerep_yaksa_pack.c; the next element is an extent away, a variable, src/backend/seq/pup of pmodels/yaksa. MPI_Reduce_local of 4.0.2 as Debian has it, MPI_SUM of MPI_INT, is mov, add, add, add, cmp, jne for each element"
	byO2    = "MPIR_OP_TYPE_REDUCE_CASE, src/mpi/coll/op/opsum.c; --enable-fast=O2"
)
