package mpi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

// invalid is the first fault for which validate_tree of MPICH's csel.c aborts a program: conditions without a subtree,
// comparisons without a successor, and "any" with one.
func invalid(all []branch) string {
	for i, b := range all {
		key, last := b.condition(), i == len(all)-1
		_, _, compares := compared(key)
		switch {
		case b.algorithm() != "":
			return ""
		case len(b.below) == 0:
			return key + " has nothing below"
		case (compares || key == "count<pow2" || key == "comm_size=pow2") && last:
			return key + " has nothing after it"
		case strings.HasSuffix(key, "=any") && key != "comm_hierarchy=any" && !last:
			return key + " has something after it"
		}
		if why := invalid(b.below); why != "" {
			return key + ": " + why
		}
	}
	return ""
}

// The tree has no algorithm where there is a rule, and MPICH's own elsewhere.
func TestPosixLeavesRulesToTheOtherTree(t *testing.T) {
	rules := []Rule{
		{collective.Bcast, 4, 1, 1024, 8191, Setting{Name: "binomial"}},
		{collective.Bcast, 8, 1, 1, 1 << 20, Setting{Name: "scatter_ring_allgather"}},
	}
	var text bytes.Buffer
	if needed, err := mpich4.WriteBeside(&text, rules); err != nil || !needed {
		t.Fatal(needed, err)
	}
	// ReadTree rejects algorithms of the posix layer.
	tree := must.Get(ReadTree(strings.NewReader(strings.ReplaceAll(text.String(), "MPIDI_POSIX_mpi_", "MPIR_")), "posix"))
	if why := invalid(tree.branches); why != "" {
		t.Errorf("%s in\n%s", why, text.String())
	}
	for p := 2; p < 12; p++ {
		for _, m := range []int{1, 1000, 1023, 1024, 4096, 8191, 8192, 1 << 20, 1<<20 + 1} {
			ruled := p == 4 && m >= 1024 && m < 8192 || p == 8 && m <= 1<<20
			if got := tree.Choice(collective.Bcast, p, m, 1); ruled != (got == "") || !ruled && got != "MPIR_bcast_release_gather" {
				t.Errorf("P = %d, m = %d: %q", p, m, got)
			}
			if got := tree.Choice(collective.Named("allreduce"), p, m, 8); got != "MPIR_allreduce_release_gather" {
				t.Errorf("allreduce, P = %d, m = %d: %q", p, m, got)
			}
		}
	}
	if text := mpich4.Use("t.json", true); !strings.Contains(text, "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE=t.json.posix") {
		t.Error(text)
	}
	rules[0].Collective = collective.Named("allgather")
	if needed, err := mpich4.WriteBeside(&text, rules[:1]); err != nil || needed {
		t.Errorf("allgather: %v %v", needed, err)
	}
}
