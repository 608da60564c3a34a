package mpi

// Open MPI 4.0 and 4.1 with pml/ob1 and btl/vader, the default on a node without a network of its own,
// or selected by mpirun --mca pml ob1.
//
// Sources are files of open-mpi/ompi at v4.1.4 and parameters of ompi_info --all. The header
// mca_pml_ob1_hdr_t takes up to 64 bytes of the eager limit.
//
// Inline sends (mca_pml_ob1_send_inline) fit into the receiver's fast box, which is not returned
// (mca_btl_vader_fbox_sendi). Longer messages are fragments of two lines: a flag in the receiver's fast
// box leads to the fragment's header, a line of the sender (mca_btl_vader_check_fboxes,
// btl_vader_fbox.h); a line of the sender's queue returns the fragment
// (mca_btl_vader_poll_handle_frag, btl_vader_component.c). A rendezvous has a fragment with the request
// and one with its end (FIN); without single copies it has the request, the answer, and at least one
// fragment with the rest.
//
// Instructions: Message is the count of Send and Recv, Exchange of Sendrecv; Call is the mean of
// Bcast (168), Allgather (248) and Allreduce (160) beyond their messages and reduction.
var openMPI4 = &Library{
	Name:    "openmpi4",
	Title:   "Open MPI 4.0 and 4.1, ob1 over vader, single copies by CMA",
	Version: "Open MPI 4.1",
	heads:   `Open[ -]?MPI[ /-]?v?4\.[1-9]\d*[.\w]*`,
	offers:  tunedAlgorithms,
	own:     openMPIOwn,
	rules:   &format{write: writeClassic, use: openMPIUse, hazard: byCount},
	Call:    192, Reduction: 179, Counted: openMPI4Counted,
	Ways: []Way{
		{Most: 256, Segment: 4 << 10, Segments: 1, Message: 976, Exchange: 1360, Source: "mca_pml_ob1_send_inline, ompi/mca/pml/ob1/pml_ob1_isend.c:95"},
		{Most: 4<<10 - 64, Segment: 4 << 10, Segments: 1, Lines: 2, Message: 1169, Exchange: 1746, Source: "btl_vader_eager_limit 4096, opal/mca/btl/vader/btl_vader_component.c:248"},
		{Single: true, Lines: 4, Message: 1921, Exchange: 2668, Source: "btl_vader_single_copy_mechanism: cma, if there is no xpmem, btl_vader_component.c:70-83; whole messages above the eager limit, ompi/mca/pml/ob1/pml_ob1_sendreq.h:423"},
	},
}

const openMPI4Counted = "bench/mpi/instructions.sh, libopenmpi3 4.1.4-3+b1 of Debian 12, amd64"

// openMPI4None is for kernels that forbid single copies, or --mca btl_vader_single_copy_mechanism none.
var openMPI4None = openMPI4.over("openmpi4-none", "Open MPI 4.0 and 4.1, ob1 over vader, without single copies", []Way{
	openMPI4.Ways[0], openMPI4.Ways[1],
	// In a long message the instructions of one rank overlap the other's copies, except before the
	// first byte and after the last: as many as in a short message, of 2680 in all, 3480 in an exchange.
	//
	// The request carries the first part; after its answer three segments are in flight
	// (pml_ob1_send_pipeline_depth 3), besides the one being read.
	{Segment: 32 << 10, Segments: 4, Request: 4<<10 - 64, Control: 1, Lines: 6, Message: 1169, Exchange: 1746, Source: "btl_vader_max_send_size 32768, btl_vader_component.c:250; pml_ob1_send_pipeline_depth 3, ompi/mca/pml/ob1/pml_ob1_component.c:191; the request, pml_ob1_sendreq.h:409"},
})

// openMPI4UCX is over UCX, the default where there is InfiniBand.
var openMPI4UCX = func() *Library {
	l := openMPI4.over("openmpi4-ucx", "Open MPI 4.0 and 4.1, pml/ucx, UCX 1.13", ucx113)
	l.Call, l.Reduction, l.Counted = 0, 0, ""
	return l
}()
