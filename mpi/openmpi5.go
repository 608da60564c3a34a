package mpi

import "slices"

// Open MPI 5.0 with pml/ob1 and btl/sm, which replaced vader. Single copies are the
// framework smsc: xpmem (priority 42) where the module is loaded, else cma (37), else knem (23).
//
// Sources are files of open-mpi/ompi at v5.0.5. Short messages are as in 4.1 (mca_btl_sm_fbox_sendi).
// Lines are vader's, whose fast boxes and queues sm kept; they were not counted in sm's files.
var openMPI5 = &Library{
	Name:    "openmpi5",
	Title:   "Open MPI 5.0, ob1 over sm, single copies by CMA",
	Version: "Open MPI 5.0",
	heads:   `Open[ -]?MPI[ /-]?v?5\.\d[.\w]*`,
	offers:  slices.Concat(tunedAlgorithms, []offer{{collective: "allgather", id: 7, name: "sparbit", algorithm: "sparbit"}}),
	own:     openMPIOwn,
	rules:   openMPI4.rules,
	Ways: []Way{
		{Most: 256, Segment: 4 << 10, Segments: 1, Source: "mca_pml_ob1_send_inline, ompi/mca/pml/ob1/pml_ob1_isend.c:100"},
		{Most: 4<<10 - 64, Segment: 4 << 10, Segments: 1, Lines: 2, Source: "btl_sm_eager_limit 4096, opal/mca/btl/sm/btl_sm_component.c:204"},
		{Single: true, Lines: 4, Source: "smsc/cma, opal/mca/smsc/cma/smsc_cma_component.c:28; btl_sm_component.c:337"},
	},
}

var openMPI5None = openMPI5.over("openmpi5-none", "Open MPI 5.0, ob1 over sm, without single copies (--mca smsc ^cma,xpmem,knem)", []Way{
	openMPI5.Ways[0], openMPI5.Ways[1],
	{Segment: 32 << 10, Segments: 4, Request: 4<<10 - 64, Control: 1, Lines: 6, Source: "btl_sm_max_send_size 32768, btl_sm_component.c:206; pml_ob1_send_pipeline_depth 3, ompi/mca/pml/ob1/pml_ob1_component.c:207"},
})
