package published

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/tidy"
)

// Predictions from messages, and from fanouts if measured, are within Factor for nine cells of ten and have a
// mean error below 25 % from 1 KiB on; choosing by them costs less than the library's own choice.
func TestLevels(t *testing.T) {
	for _, machine := range []string{epyc, thin} {
		c := compared(t, machine, false, byCore)
		all := c.All()
		if every, long := all[0], all[1]; every.Within < 0.88 || long.Within < 0.9 || long.Mean > 0.25 {
			t.Errorf("%s: %+v", machine, all)
		}
		for _, g := range compared(t, machine, true, byCore).Evaluate(0.02).Groups {
			if g.Own == nil || g.Ours == nil || g.Ours.Mean >= g.Own.Mean {
				t.Errorf("%s, %s: ours costs %+v, the library's own choice %+v", machine, g.Collective, g.Ours, g.Own)
			}
		}
	}
}

// A broadcast between two ranks on two nodes is a message between nodes.
func TestBetweenNodes(t *testing.T) {
	f := must.Get(tidy.File([]*tidy.Table{tableOf(t, "# 4 cores per node\nlevel\tm_bytes\tlatency_us\nsame_node\t1\t0.2\nsame_node\t65536\t4\n")}, nil))
	table := tableOf(t, `# Open MPI 4.1.5
collective	alg_id	mapping	P	nodes	m_bytes	latency_us	max_us
bcast	1	node	2	2	8	1.5	2
bcast	0	node	2	2	8	9	9
bcast	1	core	2	1	8	0.1	0.1
bcast	8	node	2	2	1024	9	9
bcast	6	node	2	2	1024	2.5	-
allreduce	3	node	2	2	1024	9	9
bcast	1	node	4	2	8	9	9
`)
	all := BetweenNodes(table, f)
	if len(all) != 2 || all[0] != (tidy.Message{Line: 3, Level: OtherNode, From: -1, To: -1, Bytes: 8, NS: 1500}) || all[1].Bytes != 1024 || all[1].NS != 2500 {
		t.Errorf("%+v", all)
	}
}
