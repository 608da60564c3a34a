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
	try := func(rule, name string, p, m int, on *Cluster, want float64) {
		t.Helper()
		c := costOf(t, Libtaulop{Table: table, Gamma: gamma, Cluster: on}, name, collective.Call{P: p, M: m})
		check.Near(t, c.Seconds, want, 1e-9, "%s", rule)
		check.Equal(t, on == nil && rule != "pairs out of step", (c.Terms != nil), "%s: formula %s", rule, c.Formula())
	}
	try("within the tables", "bcast:linear", 2, 6, nil, 1+2*60)
	try("τ clamped", "allgather:ring", 5, 11, nil, 4*(1+2*220))
	try("as often the largest as fits, and the rest", "bcast:linear", 2, 11+11+6, nil, (1+2*110)+(1+2*110)+(1+2*60))
	try("no rest", "bcast:linear", 2, 22, nil, 2*(1+2*110))
	try("γ by the sizes of L", "reduce:linear", 2, 6, nil, 1+2*60+40)
	try("ranks send to themselves", "alltoall:pairwise", 3, 11, nil, 3*(1+2*220))
	try("ranks send to all but one", "alltoall:linear", 4, 11, nil, 3*(1+2*220))
	// One message of two transfers, then one pair's γ(11) in full, of which
	// the other pair gets one byte, and its γ(10) = 32.
	try("pairs out of step", "allreduce:recursive-doubling", 4, 11, nil, 2*(1+2*220+30+32))
	try("to the other, then to itself", "alltoall:pairwise", 2, 11, two, 10+1100+1+2*110)
	try("to itself alone", "alltoall:linear", 2, 11, two, 1+2*110)
	try("a stage", "alltoall:bruck", 2, 11, two, 10+1100)
	try("between nodes", "allreduce:recursive-doubling", 2, 11, two, 10+2200+30)
}
