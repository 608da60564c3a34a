package mapping

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// orders are one of each kind, a list among them.
func orders(t testing.TB, ranks, nodes int) map[string]Order {
	all := map[string]Order{"block": {}, "cyclic": Cyclic, "plane=2": {plane: 2}, "plane=3": {plane: 3}}
	lines := lists.Map(lists.Indices(ranks), func(rank int) string { return fmt.Sprintf("n%d", (rank*rank+rank/3)%nodes) })
	if o := list(t, strings.Join(lines, "\n")); o.Nodes() == nodes {
		all["list"] = o
	}
	return all
}

func schedules(t testing.TB, p, m int) (all []*collective.Schedule) {
	t.Helper()
	algorithms := append(collective.All(), collective.Permutation, collective.PingPong)
	for _, a := range algorithms {
		for _, root := range []int{0, p / 3} {
			call := collective.Call{P: p, M: m, Root: root, Element: 4, Distance: max(1, p/3)}
			if !a.Among.Has(p) || root > 0 && !a.Collective.Rooted || p < 2 && a.Collective.Shifted {
				continue
			}
			all = append(all, must.Get(a.Schedule(call)))
		}
	}
	return all
}

// counted is the traffic of a step, message by message.
func counted(m *Map, level func(a, b int) int, step collective.Step) (t Traffic) {
	within, out, in := make([]int, m.Nodes), make([]int, m.Nodes), make([]int, m.Nodes)
	levels := make([][Levels]int, m.Nodes)
	copied := make(map[int]bool)
	for msg := range step.Messages() {
		from, to := m.Node(msg.From), m.Node(msg.To)
		switch {
		case step.Pattern == collective.Local && copied[msg.From]:
		case from == to:
			copied[msg.From] = true
			t.Within++
			within[from]++
			at := 0
			if level != nil {
				at = level(m.Slot(msg.From), m.Slot(msg.To))
			}
			t.Levels[at].All++
			levels[from][at]++
		default:
			t.Between++
			out[from]++
			in[to]++
		}
	}
	for n := range m.Nodes {
		t.Inside = max(t.Inside, within[n])
		t.Through = max(t.Through, out[n], in[n])
		t.Both = max(t.Both, within[n]+max(out[n], in[n]))
		t.Arrive = max(t.Arrive, within[n]+in[n])
		for i := range levels[n] {
			t.Levels[i].Most = max(t.Levels[i].Most, levels[n][i])
		}
	}
	return t
}

// Counts by rule equal counts message by message, for every algorithm.
func TestRunsAreWhatMessagesSay(t *testing.T) {
	ruled := 0
	for _, p := range []int{1, 2, 3, 5, 8, 12, 16, 27, 32} {
		for _, nodes := range []int{1, 2, 3, 4, 7, 8, 16, 32} {
			if nodes > p {
				continue
			}
			for name, order := range orders(t, p, nodes) {
				m := must.Get(order.Map(p, nodes))
				for _, bytes := range []int{4, 40, 4096} {
					if p > 12 && bytes != 40 && os.Getenv("TAULOP_LONG") == "" {
						continue
					}
					for _, s := range schedules(t, p, bytes) {
						for _, level := range []func(a, b int) int{nil, func(a, b int) int { return min(2, max(a, b)/2-min(a, b)/2) }} {
							for stage, repeat := range s.Stages() {
								c := Counter{Map: m, Level: level}
								if c.rule(stage, repeat) != nil {
									ruled++
								}
								next := 0
								for _, run := range c.Runs(stage, repeat) {
									check.Need(t, run.From == next, "a run from %d after %d", run.From, next)
									for ; next < run.From+run.Repeat; next++ {
										want := counted(m, level, collective.Step{Stage: stage, Repetition: next})
										check.Need(t, run.Traffic == want,
											"%s of %d bytes, root %d, P = %d on %d nodes %s, %s, repetition %d of %d:\n%+v, want\n%+v", s.Algorithm, bytes,
											s.Call.Root, p, nodes, name, stage.Phase, next, repeat, run.Traffic, want)
									}
								}
								check.Need(t, next == repeat, "%d repetitions of %d", next, repeat)
							}
						}
					}
				}
			}
		}
	}
	check.True(t, ruled != 0, "nothing was counted by a rule")
}

// Merged neighbours have the maxima of both.
func TestHalve(t *testing.T) {
	runs := []Run{{0, 2, Traffic{Within: 3, Inside: 2}}, {2, 1, Traffic{Between: 4, Through: 1, Both: 2}}, {3, 5, Traffic{Arrive: 1}}}
	got := halve(runs)
	check.True(t, len(got) == 2 && got[0] == (Run{0, 3, Traffic{Within: 3, Inside: 2, Between: 4, Through: 1, Both: 2}}) && got[1].Repeat == 5, "%+v", got)
}

func TestTooMany(t *testing.T) {
	a := must.Get(collective.Lookup("alltoall:pairwise"))
	s := must.Get(a.Schedule(collective.Call{P: 1 << 20, M: 1}))
	work := (&Counter{Map: must.Get(Order{}.Map(1<<20, 1000))}).Work(s)
	check.True(t, work > Most, "a work of %d", work)
}

// No algorithm visits more messages than its Work.
func TestWork(t *testing.T) {
	for name, order := range orders(t, 48, 6) {
		m := must.Get(order.Map(48, 6))
		for _, bytes := range []int{4, 40, 4096} {
			for _, s := range schedules(t, 48, bytes) {
				c := &Counter{Map: m}
				looks, ruled, copies := 0, 0, 0 // copies of a rank, beside the first
				for stage, repeat := range s.Stages() {
					if stage.Pattern == collective.Local {
						copies += repeat * stage.Count()
					}
					if c.rule(stage, repeat) != nil {
						ruled++
						continue
					}
					seen := make(map[collective.Peers]bool)
					for r := range repeat {
						if stage.Peers != nil { // which is looked at once
							p := stage.Peers(r)
							if p.Ranks == m.Ranks {
								p.First = 0
							}
							if seen[p] {
								continue
							}
							seen[p] = true
						}
						for range (collective.Step{Stage: stage, Repetition: r}).Messages() {
							looks++
						}
					}
				}
				work := c.Work(s)
				check.True(t, looks <= work+copies && (looks != 0 || ruled != 0 || len(s.Blocks) == 0),
					"%s of %d bytes, %s: %d looks, and a work of %d", s.Algorithm, bytes, name, looks, work)
			}
		}
	}
}
