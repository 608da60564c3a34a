package mpi

// MPICH 4 over libfabric (ch4:ofi), the default build: messages of any size go through shared-memory
// cells of MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE bytes. Single copies need XPMEM, or
// from 4.3 on MPIR_CVAR_CH4_CMA_ENABLE, which is 0.
//
// Sources are src/mpid/ch4/shm/posix/eager/iqueue/iqueue_init.c of pmodels/mpich at v4.0.2 and at
// v4.1.3 (v4.2.3 and v4.3.2 have the same). A cell's header has 64 bytes. Lines are assumed, not
// read in a source: the header, to which a flag in the receiver's queue leads, and the return of the
// cell to the sender's pool.
var mpich40OFI = mpich4.overOFI("mpich4.0-ofi", "MPICH 4.0 over libfabric (ch4:ofi), without XPMEM", byYaksa,
	Way{Segment: 68<<10 - 64, Segments: 64, Lines: 2, Source: "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE 69632, _NUM_CELLS 64, iqueue_init.c:14-33"})

var mpich4OFI = mpich4.overOFI("mpich4-ofi", "MPICH 4.1 to 4.3 over libfabric (ch4:ofi), without XPMEM", byO2,
	Way{Segment: 16<<10 - 64, Segments: 64, Lines: 2, Source: "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE 16384, _NUM_CELLS 64, iqueue_init.c:14-33"})

func (l *Library) overOFI(name, title, scalar string, ways ...Way) *Library {
	ofi := l.over(name, title, ways)
	ofi.Self, ofi.Call, ofi.Reduction, ofi.Counted, ofi.Scalar = 0, 0, 0, "", scalar
	return ofi
}
