package mpi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
)

// Rules name circ_graph as MPICH 5.1 does, in its chunks, and never where its schedule is wrong.
func TestCircGraph(t *testing.T) {
	l := must.Get(Tunable("mpich5.1")).OnBase(tree(t))
	for p, want := range map[int]bool{2: true, 31: true, 32: true, 33: false, 48: false, 64: true, 66: false} {
		there := false
		for _, s := range l.Settings(collective.Bcast, p, 1<<20) {
			there = there || s.Name == "circ_graph"
		}
		if there != want {
			t.Errorf("P = %d: circ_graph is told: %v", p, there)
		}
	}
	s := must.Get(l.Schedule(collective.Bcast, Setting{Name: "circ_graph"}, collective.Call{P: 8, M: 1 << 20}))
	if want := 8 - 1 + 3; s.Len() != want {
		t.Errorf("%d rounds, want %d", s.Len(), want)
	}
	var text bytes.Buffer
	if err := l.Write(&text, []Rule{{collective.Bcast, 8, 1, 1 << 20, 1 << 22, Setting{Name: "circ_graph"}}}); err != nil || !strings.Contains(text.String(), `"algorithm=MPIR_Bcast_intra_circ_graph"`) {
		t.Errorf("%v\n%s", err, text.String())
	}
	for _, s := range must.Get(Tunable("mpich4")).Settings(collective.Bcast, 8, 1<<20) {
		if s.Name == "circ_graph" {
			t.Error("MPICH 4 has no circ_graph, and ends a program that names it")
		}
	}
}
