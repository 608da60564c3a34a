package mpi

import (
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/collective"
)

// On one node MPICH over libfabric asks a tree of its own before the other one, csel_comm of
// src/mpid/ch4/shm/posix/posix_coll.h: release_gather, in shared memory, for the collectives of
// releaseGather. Where that tree has no algorithm, the other one is asked (v4.0.2 to main). So the file
// of MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE has none where a rule is, and elsewhere
// what the library has by itself: maint/tuning/coll/ch4/posix_generic.json. A condition must have
// something below it, and a comparison something after it (validate_tree of csel.c): what stands for none
// is for communicators between groups, which never are on one node alone.
//
// Up to 4.1.1 posix_init.c takes the name of another variable's file, and ends the program.

// writePosix writes it.
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

// withoutRules is an own choice for all but the ranks and sizes that have rules.
func withoutRules(c *collective.Collective, rules []Rule, own []branch) (all []branch) {
	sizes := bySize(c, rules, func(int) int { return 1 })
	for i, at := range sizes {
		key, below := "comm_size=any", own
		if i+1 < len(sizes) {
			key = fmt.Sprintf("comm_size<=%d", sizes[i+1].p-1)
		}
		if len(at.steps) > 1 || !at.steps[0].setting.Own() {
			none := []branch{{"comm_type=inter", own}}
			below = nil
			for j, step := range at.steps {
				one := branch{"avg_msg_size=any", own}
				if j+1 < len(at.steps) {
					one.key = fmt.Sprintf("avg_msg_size<=%d", at.steps[j+1].from-1)
				}
				if !step.setting.Own() {
					one.below = none
				}
				below = append(below, one)
			}
		}
		all = append(all, branch{key, below})
	}
	return all
}
