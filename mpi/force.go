package mpi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
)

// Key is a setting in one word that names it among those of a collective.
func (s Setting) Key() string {
	switch {
	case s.Own():
		return "own"
	case s.ID == 0:
		return s.Name
	}
	return fmt.Sprintf("%d:%d:%d", s.ID, s.Fan, s.Segment)
}

// Forced by control variables, that MPI_T can set for a communicator, or the environment alone, for
// a process.
type Forcing struct {
	Variables   []string // name=value
	Environment []string
}

// Forcing is how the library is made to take a setting, whatever its rules say. Nothing is
// needed for its own choice.
func (l *Library) Forcing(c *collective.Collective, s Setting) (f Forcing) {
	if !l.NeedsBase() {
		f.Environment = []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"}
	}
	switch {
	case s.Own():
	case l.NeedsBase():
		name := strings.ToUpper(c.Name)
		f.Environment = append(f.Environment, fmt.Sprintf("MPIR_CVAR_%s_INTRA_ALGORITHM=%s", name, s.Name))
		if slices.Contains(releaseGather, c.Name) {
			f.Environment = append(f.Environment, fmt.Sprintf("MPIR_CVAR_%s_POSIX_INTRA_ALGORITHM=mpir", name))
		}
	default:
		v := "coll_tuned_" + c.Name + "_algorithm"
		f.Variables = []string{fmt.Sprintf("%s=%d", v, s.ID)}
		if s.Segment > 0 {
			f.Variables = append(f.Variables, fmt.Sprintf("%s_segmentsize=%d", v, s.Segment))
		}
		if s.Fan > 0 {
			// user_forced of coll_tuned_decision_dynamic.c
			kind := "tree"
			if slices.Contains([]string{"bcast", "reduce", "scatter"}, c.Name) {
				kind = "chain"
			}
			f.Variables = append(f.Variables, fmt.Sprintf("%s_%s_fanout=%d", v, kind, s.Fan))
		}
	}
	return f
}

// releaseGather are collectives for which MPICH over libfabric has algorithms in shared memory that
// its tree is not asked for, MPIR_CVAR_*_POSIX_INTRA_ALGORITHM of posix_coll.h.
var releaseGather = []string{"allreduce", "barrier", "bcast", "reduce"}
