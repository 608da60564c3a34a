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

// Forcing are the control variables, as name=value, that make the library take a setting, whatever its
// rules say, for m bytes among p ranks: MPI_T sets them, and a process reads them when it starts. Its own
// choice needs none, but that MPICH searches its tree in each call for what has no variable, and in that
// of rules as long: so the algorithm in its tree is forced, too, and release_gather stays in front of it.
func (l *Library) Forcing(c *collective.Collective, s Setting, p, m int) (variables []string) {
	own := s.Own()
	if own && l.NeedsBase() {
		s, _ = l.Own(c, p, m)
	}
	switch {
	case s.Own():
		return nil
	case l.NeedsBase():
		name := strings.ToUpper(c.Name)
		variables = []string{fmt.Sprintf("MPIR_CVAR_%s_INTRA_ALGORITHM=%s", name, s.Name)}
		if !own && slices.Contains(releaseGather, c.Name) {
			variables = append(variables, fmt.Sprintf("MPIR_CVAR_%s_POSIX_INTRA_ALGORITHM=mpir", name))
		}
		return variables
	}
	v := "coll_tuned_" + c.Name + "_algorithm"
	variables = []string{fmt.Sprintf("%s=%d", v, s.ID)}
	if s.Segment > 0 {
		variables = append(variables, fmt.Sprintf("%s_segmentsize=%d", v, s.Segment))
	}
	if s.Fan > 0 {
		// user_forced of coll_tuned_decision_dynamic.c
		kind := "tree"
		if slices.Contains([]string{"bcast", "reduce", "scatter"}, c.Name) {
			kind = "chain"
		}
		variables = append(variables, fmt.Sprintf("%s_%s_fanout=%d", v, kind, s.Fan))
	}
	return variables
}

// Forcible is the environment in which variables of Forcing have an effect, as name=value: rules are of
// coll/tuned, in front of which coll/hcoll stands in 4.1 and 5.0 where it is installed.
func (l *Library) Forcible() []string {
	if l.NeedsBase() {
		return nil
	}
	return []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_hcoll_enable=0"}
}

// AsEnvironment are variables of Forcing as a process has them in its environment.
func AsEnvironment(variables []string) (all []string) {
	for _, v := range variables {
		if strings.HasPrefix(v, "coll_") {
			v = "OMPI_MCA_" + v
		}
		all = append(all, v)
	}
	return all
}

// releaseGather are collectives for which MPICH over libfabric has algorithms in shared memory that
// its tree is not asked for, MPIR_CVAR_*_POSIX_INTRA_ALGORITHM of posix_coll.h.
var releaseGather = []string{"allreduce", "barrier", "bcast", "reduce"}
