package mpi

// ucx113 is UCX 1.13 within a node, for any library: one buffer of its FIFO, or rendezvous, in
// which the receiver reads the sender's memory by CMA.
//
// Sources are files of openucx/ucx at v1.13.1. UCX computes where the rendezvous begins from
// estimates of its transports (UCX_RNDV_THRESH auto, src/ucp/core/ucp_ep.c:1882). Over shared
// memory it is the first size that does not fit into one buffer: with MPICH 4.0.2 messages of 8240
// bytes made no call of process_vm_readv, and messages of 8256 bytes one each.
//
// What fits into an element of the receiver's queue goes with it (am_short): up to 92 bytes MPICH's
// Send of 4.0.2 counts 276 instructions, from 96 bytes on 672, for the element has 128 bytes, less
// 28 of a header, less 8 of UCP's.
//
// Lines: for a longer message the sender reads in an element of the receiver's queue where the data go
// (uct_mm_ep_am_common_send, src/uct/sm/mm/base/mm_ep.c), a line that the receiver has polled; the
// element's own flag is the transfer's, and nothing is given back. So does the request of a rendezvous,
// whose content is a line of its own; its end is a flag alone, with its content beside it.
//
// Instructions are counted in MPICH's calls, see mpich4.
var ucx113 = []Way{
	{Most: 92, Segment: 128, Segments: 1, Message: 905, Exchange: 1433, Source: "UCX_MM_FIFO_ELEM_SIZE 128, less headers, src/uct/sm/mm/base/mm_iface.c; uct_mm_ep_am_short, mm_ep.c"},
	{Most: 8248, Segment: 8256, Segments: 1, Lines: 1, Message: 1322, Exchange: 2018, Source: "UCX_MM_SEG_SIZE 8256, less 8 of a header, src/uct/sm/mm/base/mm_iface.c:38"},
	{Single: true, Lines: 2, Message: 4087, Exchange: 5186, Source: "UCX_RNDV_SCHEME auto: get_zcopy over cma, src/uct/sm/scopy/cma/cma_iface.c"},
}

// ucx113Self is UCX_SELF_SEG_SIZE 8k, src/uct/sm/self/self.c, less 8 of a header.
const ucx113Self = 8184
