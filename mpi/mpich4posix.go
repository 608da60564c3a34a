package mpi

import (
	"io"
	"slices"

	"github.com/taulop/taulop/collective"
)

// On one node MPICH over libfabric searches a tree for shared memory first (csel_comm of
// src/mpid/ch4/shm/posix/posix_coll.h), which has release_gather for the collectives of releaseGather.
// Without an algorithm there it searches the general tree (v4.0.2 to main). So the file of
// MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE has no algorithm where there is a rule, and
// elsewhere the built-in one, maint/tuning/coll/ch4/posix_generic.json. A condition needs a subtree, and
// a comparison a successor (validate_tree of csel.c): "no algorithm" is a condition for
// intercommunicators, which never are on one node alone.
//
// Up to 4.1.1 posix_init.c reads another variable's file by mistake, and ends the program.

// writePosix writes the tree for shared memory.
func writePosix(w io.Writer, rules []Rule) (needed bool, err error) {
	var tree []branch
	for _, name := range releaseGather {
		c := collective.Named(name)
		own := []branch{{"algorithm=MPIDI_POSIX_mpi_" + name + "_release_gather", nil}}
		if c.Reduces {
			own = []branch{{"is_commutative=yes", own}}
		}
		own = []branch{{"is_multi_threaded=no", own}}
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.Collective == c }) {
			needed, own = true, withoutRules(c, rules, own)
		}
		tree = append(tree, branch{"collective=" + name, []branch{{"comm_type=intra", own}}})
	}
	if !needed {
		return false, nil
	}
	return true, writeBranches(w, tree)
}

// withoutRules is the library's own choice except for communicator and message sizes with rules.
func withoutRules(c *collective.Collective, rules []Rule, own []branch) []branch {
	sizes := bySize(c, rules, func(int) int { return 1 })
	return ladder("comm_size", sizes, func(size step[settings], _ int) []branch {
		if size.is.own() {
			return own
		}
		return ladder("avg_msg_size", size.is, func(step step[Setting], _ int) []branch {
			if step.is.Own() {
				return own
			}
			return []branch{{"comm_type=inter", own}}
		})
	})
}
