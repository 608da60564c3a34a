package published

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// measured is a published machine: its collectives, and the parameter file of its messages.
func measured(t testing.TB, machine string) (*tidy.Table, *params.File) {
	t.Helper()
	dir := filepath.Join(os.Getenv("TAULOP_SHARED"), "measured", machine)
	var tables []*tidy.Table
	var collectives *tidy.Table
	for _, name := range []string{"p2p.tsv", "fanout.tsv", "collectives.tsv"} {
		table, err := tidy.ReadFile(filepath.Join(dir, name), "")
		switch {
		case err != nil && name == "fanout.tsv":
		case err != nil:
			t.Skip("TAULOP_SHARED has no published measurements")
		case name == "collectives.tsv":
			collectives = table
		default:
			tables = append(tables, table)
		}
	}
	return collectives, must.Get(tidy.File(tables, nil))
}

const epyc, thin = "orfeo-epyc7h12", "orfeo-thin6126"

// compared compares the cells to keep of a machine, with ranks mapped by core or node. Predictions take
// seconds, so each machine is compared once.
func compared(t *testing.T, machine string, atOnce bool, keep ...func(Cell) bool) *Comparison {
	t.Helper()
	key := fmt.Sprint(machine, atOnce)
	if comparisons[key] == nil {
		table, f := measured(t, machine)
		comparisons[key] = must.Get(Compare(table, f, model.Choice{}, Choice{Mappings: []string{"core", "node"}, AtOnce: atOnce}))
	}
	c := *comparisons[key]
	for _, k := range keep {
		c.Cells = lists.Filter(c.Cells, k)
	}
	return &c
}

var comparisons = make(map[string]*Comparison)

// byCore keeps cells mapped by core.
func byCore(c Cell) bool { return c.Mapping == "core" }

// Penalties as published with the tables: from 8 ranks on, mapped by core.
func TestOwnPenalties(t *testing.T) {
	try := func(machine, collective string, cases int, percent, worst float64) {
		t.Helper()
		c := compared(t, machine, true, byCore, func(c Cell) bool { return c.Collective == collective && c.P >= 8 })
		all := c.Evaluate(0).Groups
		check.Need(t, len(all) == 1 && all[0].Own != nil, "%s: %+v", machine, all)
		own := all[0].Own
		check.True(t, all[0].Cases == cases && math.Abs(100*own.Mean-percent) <= 0.05 && math.Abs(100*own.Worst-worst) <= 0.5,
			"%s %s: %d cases, mean %.2f %%, worst %.1f %%; want %d, %.1f, %.0f", machine, collective, all[0].Cases, 100*own.Mean, 100*own.Worst, cases, percent, worst)
		i := slices.IndexFunc(all[0].Every, func(a Always) bool { return a.Setting.ID == 1 })
		check.True(t, i >= 0 && all[0].Every[i].Mean > 0, "%s: %+v", machine, all[0].Every)
	}
	try(epyc, "bcast", 1301, 8.4, 295)
	try(epyc, "barrier", 249, 6.6, 46)
	try(thin, "bcast", 440, 19.2, 666)
}

// Penalties are by collective in alphabetical order, as errors are, whatever the order of the table's rows.
func TestOrderOfPenalties(t *testing.T) {
	f := fileOf(betweenNodes)
	const rows = "collective\talg_id\tP\tnodes\tm_bytes\tlatency_us\nscatter\t1\t8\t2\t1024\t9\nscatter\t2\t8\t2\t1024\t8\nbcast\t1\t8\t2\t1024\t9\nbcast\t5\t8\t2\t1024\t8\n"
	c := must.Get(Compare(tableOf("# Open MPI 4.1.5\n"+rows), f, model.Choice{}, Choice{}))
	check.Slices(t, lists.Map(c.Evaluate(0).Groups, func(g Choices) string { return g.Collective }), []string{"bcast", "scatter", "all"}, "order")
}

// A table without algorithms and mappings.
func TestOwnChoiceOfUnknownMapping(t *testing.T) {
	f := fileOf(betweenNodes)
	const rows = "collective\talg_id\tP\tnodes\tm_bytes\tlatency_us\nallgather\t0\t8\t2\t1024\t9\nbcast\t0\t1\t1\t1024\t1\nscatter\t0\t8\t2\t1024\t0\n"
	c := must.Get(Compare(tableOf("# Open MPI 3.1.6, OSU\n"+rows), f, model.Choice{}, Choice{}))
	check.True(t, c.Cells[0].Predicted != nil && c.Cells[0].Taken.String() == "3 recursive_doubling", "%+v", c.Cells[0])
	contains.All(t, c.Cells[1].LeftOut, "one rank sends nothing")
	check.Equal(t, c.Cells[2].LeftOut, "0 is no time to compare with: leave the row out", "left out for")
	check.True(t, slices.Contains(c.Warnings, placedInBlocks) && len(c.ByP()) == 1 && c.All()[0].Cells == 1,
		"warnings %q, by P %+v", c.Warnings, c.ByP())
	c = must.Get(Compare(tableOf("# MPICH 4.0, OSU\n"+rows), f, model.Choice{}, Choice{}))
	contains.All(t, c.Cells[0].LeftOut, "give a table of algorithms that were forced")
	c = must.Get(Compare(tableOf(rows), f, model.Choice{}, Choice{})) // the own choice of an unknown library
	contains.All(t, c.Cells[0].LeftOut, "such as # Open MPI 4.1.5")
}

// Rows without a number of nodes count as on the fewest nodes, unless ranks were mapped by node.
func TestUnknownNodes(t *testing.T) {
	const head = "# 4 cores per node\n"
	f := fileOf(head + "level\tm_bytes\tlatency_us\nsame_node\t1\t0.2\nsame_node\t65536\t4\nother_node\t1\t1\nother_node\t65536\t7\n")
	c := must.Get(Compare(tableOf("collective\talgorithm\tmapping\tP\tm_bytes\tlatency_us\nbcast\tbinomial\tcore\t4\t8\t1\nbcast\tbinomial\tcore\t5\t8\t2\nbcast\tbinomial\tnode\t5\t8\t2\n"), f, model.Choice{}, Choice{}))
	for i, want := range []int{1, 2} {
		cell := c.Cells[i]
		check.True(t, cell.Nodes == want && cell.Predicted != nil, "%+v, want %d nodes", cell, want)
	}
	check.True(t, strings.HasPrefix(c.Cells[2].LeftOut, "the number of nodes of ranks that were mapped by node is unknown") && slices.Contains(c.Warnings, onFewNodes),
		"%+v, warnings %q", c.Cells[2], c.Warnings)
}

// Rows with unknown names are left out with a reason; other rows stay.
func TestUnknownRows(t *testing.T) {
	f := fileOf(betweenNodes)
	const rows = `collective	alg_id	algorithm	P	nodes	m_bytes	latency_us
bcast	6	binomial	2	2	1024	9
bcast	1	basic_linear	2	2	1024	8
bcast	-	binomail	2	2	1024	1
bcast	-	binomail	2	2	2048	1
scan	1	linear	2	2	1024	9
scan	0	-	2	2	1024	9
reduce_scatter	2	-	2	2	1024	9
bcast	77	-	2	2	1024	9
`
	c := must.Get(Compare(tableOf(rows), f, model.Choice{}, Choice{}))
	all := c.LeftOut()
	check.Need(t, len(c.ByAlgorithm()) == 2 && len(all) == 4 && all[0].Cells+all[1].Cells == 4, "%+v, left out %+v", c.ByAlgorithm(), all)
	for i, says := range []string{`no algorithm "binomail" of bcast; did you mean "binomial"?`, `unknown collective "scan"`, "taulop knows no numbers and names", `no algorithm "77" of bcast`} {
		contains.All(t, all[i].Why, says)
	}
	e := c.Evaluate(0)
	check.True(t, len(e.Cases) == 1 && e.Cases[0].Measured == 2 && e.Cases[0].Best.ID == 1, "%+v", e.Cases)
}

func tableOf(text string) *tidy.Table {
	return must.Get(tidy.Read(strings.NewReader(text), "t.tsv", ""))
}

// fileOf is the parameter file of a table.
func fileOf(text string) *params.File { return must.Get(tidy.File([]*tidy.Table{tableOf(text)}, nil)) }

// betweenNodes are messages between nodes.
const betweenNodes = "level\tm_bytes\tlatency_us\nother_node\t1\t1\nother_node\t65536\t7\n"

// The name of an algorithm has precedence over the number 0.
func TestSettingOf(t *testing.T) {
	for _, tt := range []struct{ head, id, name, want string }{
		{"Open MPI 4.1.5", "0", "binomial", "6 binomial"},
		{"Open MPI 4.1.5", "0", "basic-linear", "1 basic_linear"},
		{"Open MPI 4.1.5", "0", "-", "its own choice"},
		{"Open MPI 4.1.5", "0", "fixed_rules", "its own choice"},
		{"Open MPI 4.1.5", "-", "auto", "its own choice"},
		{"Open MPI 4.1.5", "6", "-", "6 binomial"},
		{"Open MPI 4.1.5", "6", "fixed_rules", "alg_id 6 of bcast is binomial, and algorithm says its own choice: correct either"},
		{"Open MPI 4.1.5", "5", "binomial", "alg_id 5 of bcast is binary_tree, and algorithm says binomial: correct either"},
		{"Open MPI 4.1.5", "0", "binomail", `Open MPI 4.1 has no algorithm "binomail" of bcast; did you mean "binomial"?`},
		{"MPICH 4.0.2", "0", "binomial", "binomial"},
		{"MPICH 4.0.2", "6", "-", "alg_id 6 says nothing of bcast: only Open MPI's numbers are known"},
		{"Intel MPI 2021.5, beside Open MPI 4.1.5", "1", "-", "alg_id 1 says nothing of bcast"},
		{"Intel MPI 2021.5", "1", "binomial", "binomial"},
		{"MVAPICH2 2.3.7", "1", "-", "alg_id 1 says nothing of bcast"},
		{"MPICH 4.0.2", "0", "auto", "its own choice"},
		{"Spectrum MPI 10.4", "6", "-", "taulop knows no numbers and names of Spectrum MPI 10.4 for algorithms of bcast"},
		{"Spectrum MPI 10.4", "0", "default", "its own choice"},
	} {
		table := tableOf("# " + tt.head + "\ncollective\talg_id\talgorithm\tP\tm_bytes\tlatency_us\nbcast\t" + tt.id + "\t" + tt.name + "\t4\t8\t1\n")
		lib, _, _ := mpi.OfHead(table.Head)
		s, err := settingOf(lib, &table.Collectives[0])
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		check.True(t, strings.HasPrefix(got, tt.want), "%s, %s %s: %s, want %s", tt.head, tt.id, tt.name, got, tt.want)
	}
}

// Predictions from messages, and from fanouts if measured, are within Factor for nine cells of ten and have a
// mean error below 25 % from 1 KiB on; choosing by them costs less than the library's own choice.
func TestLevels(t *testing.T) {
	for _, machine := range []string{epyc, thin} {
		c := compared(t, machine, false, byCore)
		all := c.All()
		every, long := all[0], all[1]
		check.True(t, every.Within >= 0.88 && long.Within >= 0.9 && long.Mean <= 0.25, "%s: %+v", machine, all)
		for _, g := range compared(t, machine, true, byCore).Evaluate(0.02).Groups {
			check.True(t, g.Own != nil && g.Ours != nil && g.Ours.Mean < g.Own.Mean,
				"%s, %s: ours costs %+v, the library's own choice %+v", machine, g.Collective, g.Ours, g.Own)
		}
	}
}

// A broadcast between two ranks on two nodes is a message between nodes.
func TestBetweenNodes(t *testing.T) {
	f := fileOf("# 4 cores per node\nlevel\tm_bytes\tlatency_us\nsame_node\t1\t0.2\nsame_node\t65536\t4\n")
	table := tableOf(`# Open MPI 4.1.5
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
	check.True(t, len(all) == 2 && all[0] == (tidy.Point{Line: 3, Level: OtherNode, Parameter: params.ChannelMessage, Tau: 1, From: -1, To: -1, Bytes: 8, Times: tidy.Times{Slowest: 1500, Mean: 1500}}) && all[1].Bytes == 1024 && all[1].Mean == 2500,
		"%+v", all)
}

// A plan's penalty is 1.0 % or less, rounded, in less than 30 % of the time of all runs. Ranks mapped by socket
// float between its cores, and single runs take up to 400 times as long as others: there the penalty must only
// be below the own choice's.
func TestPlans(t *testing.T) {
	table, f := measured(t, epyc)
	plans := must.Get(Compare(table, f, model.Choice{}, Choice{AtOnce: true})).Evaluate(0.02).Plans()
	check.Need(t, len(plans) >= 6, "%d plans", len(plans))
	for _, p := range plans {
		own, of := p.Timings[0], p.Timings[len(p.Timings)-1]
		check.True(t, (of.Penalty.Mean <= 0.0105 || p.Mapping == "socket") && of.Time <= 0.35 && of.Penalty.Mean < own.Penalty.Mean,
			"%s by %s: the penalty is %.3g (own choice %.3g), in %.3g of the time", p.Collective, p.Mapping, of.Penalty.Mean, own.Penalty.Mean, of.Time)
	}
}

// One slow case of three moves the arithmetic mean further than the geometric one.
func TestPenaltyOf(t *testing.T) {
	p := penaltyOf([]float64{0, 0, 7})
	check.True(t, math.Abs(p.Geometric-1) <= 1e-9 && math.Abs(p.Mean-7./3) <= 1e-9 && p.Worst == 7 && math.Abs(p.Best-2./3) <= 1e-9,
		"times of 1, 1 and 8 over the best: %+v", p)
}

// Of two algorithms predicted alike ours is the same one in any order of a table's rows.
func TestJudgedInAnyOrder(t *testing.T) {
	one := Cell{Setting: mpi.Setting{ID: 1, Name: "a"}, Time: tidy.Times{Mean: 3}, Predicted: &tidy.Times{Mean: 1}}
	two := Cell{Setting: mpi.Setting{ID: 2, Name: "b"}, Time: tidy.Times{Mean: 2}, Predicted: &tidy.Times{Mean: 1}}
	for _, cells := range [][]*Cell{{&one, &two}, {&two, &one}} {
		j := judged(cells, 0)
		check.True(t, j.Ours.ID == 1 && j.Best.ID == 2, "ours is %s, the best %s", j.Ours, j.Best)
	}
}
