package model

import (
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
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
	between := &params.Table{ // ten times the times within a node
		Transfers: params.Curve{Sizes: []int{1, 11}, Taus: []int{1, 2}, Times: [][]float64{{100, 200}, {1100, 2200}}},
		Overheads: []float64{10, 10},
	}
	two := cluster(t, "block", 2, &Network{Table: between})
	for _, tt := range []struct {
		rule string
		name string
		p, m int
		on   *Cluster
		want float64
	}{
		{"within the tables", "bcast:linear", 2, 6, nil, 1 + 2*60},
		{"τ clamped", "allgather:ring", 5, 11, nil, 4 * (1 + 2*220)},
		{"as often the largest as fits, and the rest", "bcast:linear", 2, 11 + 11 + 6, nil, (1 + 2*110) + (1 + 2*110) + (1 + 2*60)},
		{"no rest", "bcast:linear", 2, 22, nil, 2 * (1 + 2*110)},
		{"γ by the sizes of L", "reduce:linear", 2, 6, nil, 1 + 2*60 + 40},
		{"ranks send to themselves", "alltoall:pairwise", 3, 11, nil, 3 * (1 + 2*220)},
		{"ranks send to all but one", "alltoall:linear", 4, 11, nil, 3 * (1 + 2*220)},
		// One message of two transfers, then one pair's γ(11) in full, of which
		// the other pair gets one byte, and its γ(10) = 32.
		{"pairs out of step", "allreduce:recursive-doubling", 4, 11, nil, 2 * (1 + 2*220 + 30 + 32)},
		{"to the other, then to itself", "alltoall:pairwise", 2, 11, two, 10 + 1100 + 1 + 2*110},
		{"to itself alone", "alltoall:linear", 2, 11, two, 1 + 2*110},
		{"a stage", "alltoall:bruck", 2, 11, two, 10 + 1100},
		{"between nodes", "allreduce:recursive-doubling", 2, 11, two, 10 + 2200 + 30},
	} {
		c := costOf(t, Libtaulop{Table: table, Gamma: gamma, Cluster: tt.on}, tt.name, collective.Call{P: tt.p, M: tt.m})
		check.Near(t, c.Seconds, tt.want, 1e-9, "%s", tt.rule)
		check.Equal(t, tt.on == nil && tt.rule != "pairs out of step", (c.Terms != nil), "%s: formula %s", tt.rule, c.Formula())
	}
}
