package model

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// smallTables have two sizes, two τ, and a γ that falls between the sizes.
func smallTables() (*params.Table, *params.Gamma) {
	return &params.Table{
			Transfers: params.Curve{Sizes: []int{1, 11}, Taus: []int{1, 2}, Times: [][]float64{{10, 20}, {110, 220}}},
			Overheads: []float64{1, 1},
		}, &params.Gamma{Operators: []params.Operator{
			{Name: "sum", Curve: params.Curve{Sizes: []int{4, 11}, Times: [][]float64{{50}, {30}}}},
			{Name: "max", Curve: params.Curve{Sizes: []int{4}, Times: [][]float64{{1}}}},
		}}
}

func TestLibraryRules(t *testing.T) {
	table, gamma := smallTables()
	for _, tt := range []struct {
		rule string
		name string
		p, m int
		want float64
	}{
		{"within the tables", "bcast:linear", 2, 6, 1 + 2*60},
		{"τ clamped", "allgather:ring", 5, 11, 4 * (1 + 2*220)},
		{"as often the largest as fits, and the rest", "bcast:linear", 2, 11 + 11 + 6, (1 + 2*110) + (1 + 2*110) + (1 + 2*60)},
		{"no rest", "bcast:linear", 2, 22, 2 * (1 + 2*110)},
		{"γ by the sizes of L", "reduce:linear", 2, 6, 1 + 2*60 + 40},
		{"ranks send to themselves", "alltoall:pairwise", 3, 11, 3 * (1 + 2*220)},
		{"ranks send to all but one", "alltoall:linear", 4, 11, 3 * (1 + 2*220)},
		// One message of two transfers, then one pair's γ(11) in full, of which
		// the other pair gets one byte, and its γ(10) = 32.
		{"pairs out of step", "allreduce:recursive-doubling", 4, 11, 2 * (1 + 2*220 + 30 + 32)},
	} {
		c := costOf(t, Libtaulop{Table: table, Gamma: gamma}, tt.name, collective.Call{P: tt.p, M: tt.m})
		if math.Abs(c.Seconds-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.rule, c.Seconds, tt.want)
		}
		if drifts := tt.rule == "pairs out of step"; drifts != (c.Terms == nil) {
			t.Errorf("%s: formula %s", tt.rule, c.Formula())
		}
	}
}

// Times between nodes are ten times those within a node.
func TestLibraryBetweenNodes(t *testing.T) {
	table, gamma := smallTables()
	between := &params.Table{
		Transfers: params.Curve{Sizes: []int{1, 11}, Taus: []int{1, 2}, Times: [][]float64{{100, 200}, {1100, 2200}}},
		Overheads: []float64{10, 10},
	}
	for _, tt := range []struct {
		name string
		m    int
		want float64
	}{
		{"alltoall:pairwise", 11, 10 + 1100 + 1 + 2*110}, // to the other, then to itself
		{"alltoall:linear", 11, 1 + 2*110},               // to itself alone
		{"alltoall:bruck", 11, 10 + 1100},                // a stage
		{"allreduce:recursive-doubling", 11, 10 + 2200 + 30},
	} {
		l := Libtaulop{Table: table, Gamma: gamma, Cluster: cluster(t, "block", 2, &Network{Table: between})}
		expect(t, l, tt.name, collective.Call{P: 2, M: tt.m}, 1e9*tt.want, "")
	}
}

func TestLibraryRefuses(t *testing.T) {
	table, gamma := smallTables()
	reduce := schedule(t, "allreduce:ring", collective.Call{P: 2000, M: 11 * 2000})
	for _, tt := range []struct {
		library Libtaulop
		says    string
	}{
		{Libtaulop{Table: table}, `no γ of operator "sum"`},
		{Libtaulop{Table: table, Gamma: gamma, Operator: "xor"}, "measured are sum, max"},
		{Libtaulop{Table: table, Gamma: gamma, Operator: "max"}, "γ has 1 sizes and L has 2"},
		{Libtaulop{Table: table, Gamma: gamma}, "at most 1024 ranks, got P = 2000"},
	} {
		if _, err := tt.library.Cost(reduce); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error %v, want one with %q", err, tt.says)
		}
	}
}
