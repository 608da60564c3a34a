package mpi

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

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
		if s := must.Get(l.Schedule(c, Setting{Name: "circ_graph"}, collective.Call{P: 8, M: 1 << 20})); s.Len() != want {
			t.Errorf("%s: %d stages, want %d", c, s.Len(), want)
		}
	}
	for c, want := range map[*collective.Collective]string{
		collective.Bcast:     `"algorithm=MPIR_Bcast_intra_circ_graph"`,
		collective.Reduce:    `"is_commutative=no"`, // another operator would abort the program
		collective.Allgather: `"total_msg_size<=`,
	} {
		var text bytes.Buffer
		err := l.Write(&text, []Rule{{c, 8, 1, 1 << 20, 1 << 22, Setting{Name: "circ_graph"}}})
		if err != nil || !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "_intra_circ_graph") {
			t.Errorf("%v\n%s", err, text.String())
		}
	}
}
