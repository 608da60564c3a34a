package mpi

// ucx113 is UCX 1.13 within a node, for any library: eager messages in one buffer of the receiver's FIFO,
// and a rendezvous in which the receiver reads the send buffer by CMA.
//
// Sources are files of openucx/ucx at v1.13.1. UCX computes the rendezvous threshold from estimates of
// its transports (UCX_RNDV_THRESH auto, src/ucp/core/ucp_ep.c:1882). Over shared memory it is the first
// size that does not fit into one buffer: with MPICH 4.0.2 messages of 8240 bytes made no call of
// process_vm_readv, and messages of 8256 bytes one each.
//
// The shortest messages fit into the FIFO's element itself (am_short), 128 bytes less 28 of a header and
// 8 of UCP's: MPICH's Send of 4.0.2 takes 276 instructions up to 92 bytes, 672 from 96 bytes on.
//
// Lines: for a longer message the sender reads the buffer's address in an element of the receiver's FIFO
// (uct_mm_ep_am_common_send, src/uct/sm/mm/base/mm_ep.c), a line that the receiver has polled; the
// element's flag is the transfer's, and no buffer is returned. A rendezvous does the same for its request,
// whose content is a line of its own; its end is a flag with the content beside it.
//
// Instructions are counts of MPICH's calls, see mpich4.
var ucx113 = []Way{
	{Most: 92, Segment: 128, Segments: 1, Message: 905, Exchange: 1433, Source: "UCX_MM_FIFO_ELEM_SIZE 128, less headers, src/uct/sm/mm/base/mm_iface.c; uct_mm_ep_am_short, mm_ep.c"},
	{Most: 8248, Segment: 8256, Segments: 1, Lines: 1, Message: 1322, Exchange: 2018, Source: "UCX_MM_SEG_SIZE 8256, less 8 of a header, src/uct/sm/mm/base/mm_iface.c:38"},
	{Single: true, Lines: 2, Message: 4087, Exchange: 5186, Source: "UCX_RNDV_SCHEME auto: get_zcopy over cma, src/uct/sm/scopy/cma/cma_iface.c"},
}

// ucx113Self is UCX_SELF_SEG_SIZE 8k, src/uct/sm/self/self.c, less 8 of a header.
const ucx113Self = 8184
