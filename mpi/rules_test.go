package mpi

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
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
	check.True(t, must.Get(mpich4.WriteBeside(&text, rules)), "rules for the other tree are not needed")
	// ReadTree rejects algorithms of the posix layer.
	tree := must.Get(ReadTree(strings.NewReader(strings.ReplaceAll(text.String(), "MPIDI_POSIX_mpi_", "MPIR_")), "posix"))
	check.Equal(t, invalid(tree.branches), "", "what is invalid in\n%s", text.String())
	for p := 2; p < 12; p++ {
		for _, m := range []int{1, 1000, 1023, 1024, 4096, 8191, 8192, 1 << 20, 1<<20 + 1} {
			ruled := p == 4 && m >= 1024 && m < 8192 || p == 8 && m <= 1<<20
			if got := tree.Choice(collective.Bcast, p, m, 1); ruled != (got == "") || !ruled && got != "MPIR_bcast_release_gather" {
				t.Errorf("P = %d, m = %d: %q", p, m, got)
			}
			check.Equal(t, tree.Choice(collective.Named("allreduce"), p, m, 8), "MPIR_allreduce_release_gather", "allreduce, P = %d, m = %d", p, m)
		}
	}
	contains.All(t, mpich4.Use("t.json", true), "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE=t.json.posix")
	rules[0].Collective = collective.Named("allgather")
	check.True(t, !must.Get(mpich4.WriteBeside(&text, rules[:1])), "rules for the other tree are needed for an allgather")
}

// Rules for MPICH 5.1 have circ_graph, in its chunks, and never for communicator sizes with a wrong schedule.
func TestCircGraph(t *testing.T) {
	l := must.Get(Tunable("mpich5.1")).OnBase(tree(t))
	for p, want := range map[int]bool{2: true, 31: true, 32: true, 33: false, 48: false, 64: true, 66: false} {
		for _, c := range []*collective.Collective{collective.Allgather, collective.Bcast, collective.Reduce} {
			settings := func(name string) int {
				return len(slices.DeleteFunc(must.Get(Tunable(name)).Settings(c, p, 1<<20), func(s Setting) bool { return s.Name != "circ_graph" }))
			}
			if offered := settings("mpich5.1") > 0; offered != want || settings("mpich4") > 0 { // MPICH 4 aborts on it
				t.Errorf("%s, P = %d: circ_graph is offered: %v", c, p, offered)
			}
		}
	}
	for c, want := range map[*collective.Collective]int{collective.Bcast: 8 - 1 + 3, collective.Reduce: 1 + 8 - 1 + 3, collective.Allgather: 1 + 8*7} {
		check.Equal(t, must.Get(l.Schedule(c, Setting{Name: "circ_graph"}, collective.Call{P: 8, M: 1 << 20})).Len(), want, "%s: stages", c)
	}
	for c, want := range map[*collective.Collective]string{
		collective.Bcast:     `"algorithm=MPIR_Bcast_intra_circ_graph"`,
		collective.Reduce:    `"is_commutative=no"`, // another operator would abort the program
		collective.Allgather: `"total_msg_size<=`,
	} {
		var text bytes.Buffer
		must.Do(l.Write(&text, []Rule{{c, 8, 1, 1 << 20, 1 << 22, Setting{Name: "circ_graph"}}}))
		contains.All(t, text.String(), want, "_intra_circ_graph")
	}
}

// readSelection reads what writeSelection writes.
func readSelection(text []byte) (*selection, error) {
	s := &selection{}
	if err := params.DecodeJSON(text, "rules", s); err != nil {
		return nil, err
	}
	if s.Collectives == nil {
		return nil, fmt.Errorf("no collectives in %s", text)
	}
	return s, nil
}

// Rules of several nodes are for any distribution, except those of one rank a node.
func TestSelectionOfNodes(t *testing.T) {
	binomial := Setting{ID: 6, Name: "binomial"}
	rules := []Rule{{collective.Bcast, 3, 1, 1, 1024, binomial}, {collective.Bcast, 4, 1, 1, 1024, binomial}, {collective.Bcast, 5, 2, 1, 1024, binomial}, {collective.Bcast, 6, 6, 1, 1024, binomial}}
	var text bytes.Buffer
	must.Do(openMPI6.Write(&text, rules))
	s := must.Get(readSelection(text.Bytes()))
	var got []string
	for _, of := range s.Collectives["bcast"] {
		got = append(got, fmt.Sprint(*of.Min, *of.Max, of.Ranks))
	}
	check.Slices(t, got, []string{"3 4single-node", "5 5any", "6 6one-per-node"}, "got")
}

// choice is Open MPI 6's decision with the file for ranks on one node: the first matching rule of the first matching
// range of communicator sizes.
func (s *selection) choice(l *Library, c *collective.Collective, p, m int) (Setting, error) {
	within := func(v int, least, most *int) bool {
		return (least == nil || *least <= v) && (most == nil || v <= *most)
	}
	for _, of := range s.Collectives[c.Name] {
		if !within(p, of.Min, of.Max) || of.Ranks == "one-per-node" {
			continue
		}
		for _, r := range of.Rules {
			if within(m*scale(c, p), r.Min, r.Max) {
				o, _ := l.find(c.Name, func(o offer) bool { return o.name == r.Algorithm }) // none is no setting of a test
				return Setting{o.id, o.name, r.Fan, r.Segment}, nil
			}
		}
		break
	}
	return Setting{}, nil
}
