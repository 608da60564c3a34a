package mpi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// Key identifies the setting among a collective's, in one word.
func (s Setting) Key() string {
	switch {
	case s.Own():
		return "own"
	case s.ID == 0:
		return s.Name
	}
	return fmt.Sprintf("%d:%d:%d", s.ID, s.Fan, s.Segment)
}

// Forcing are the control variables, as name=value, that force a setting for m bytes among p ranks; MPI_T
// or the environment sets them. The own choice needs none, except in MPICH, which would search its tree in
// each call: the tree's algorithm is forced, without precedence over release_gather.
func (l *Library) Forcing(c *collective.Collective, s Setting, p, m int) (variables []string) {
	own := s.Own()
	if own && l.NeedsBase() {
		s, _ = l.own(l, c, p, m)
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
		kind := printable.Either(slices.Contains([]string{"bcast", "reduce", "scatter"}, c.Name), "chain", "tree")
		variables = append(variables, fmt.Sprintf("%s_%s_fanout=%d", v, kind, s.Fan))
	}
	return variables
}

// Forcible is the environment, as name=value, in which variables of Forcing have an effect: they belong to
// coll/tuned, over which an installed coll/hcoll has priority in 4.1 and 5.0.
func (l *Library) Forcible() []string {
	if l.NeedsBase() {
		return nil
	}
	return []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_hcoll_enable=0"}
}

// AsEnvironment are the variables of Forcing as environment variables.
func AsEnvironment(variables []string) []string {
	return lists.Map(variables, func(v string) string {
		return printable.Either(strings.HasPrefix(v, "coll_"), "OMPI_MCA_"+v, v)
	})
}

// releaseGather are the collectives for which MPICH over libfabric tries shared-memory algorithms before
// its tree, MPIR_CVAR_*_POSIX_INTRA_ALGORITHM of posix_coll.h.
var releaseGather = []string{"allreduce", "barrier", "bcast", "reduce"}
