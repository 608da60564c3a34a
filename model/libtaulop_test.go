package model

import (
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/params"
)

// tableOf has L(m,τ) = m·τ times a byte's time, of two sizes and two τ, and one o.
func tableOf(least, most int, perByte, o float64) *params.Table {
	short, long := float64(least)*perByte, float64(most)*perByte
	return &params.Table{Overheads: []float64{o, o},
		Transfers: params.Curve{Sizes: []int{least, most}, Taus: []int{1, 2}, Times: [][]float64{{short, 2 * short}, {long, 2 * long}}}}
}

// smallTables have two sizes, two τ, and a γ that falls between the sizes.
func smallTables() (*params.Table, *params.Gamma) {
	return tableOf(1, 11, 10, 1), &params.Gamma{Operators: []params.Operator{
		{Name: "sum", Curve: params.Curve{Sizes: []int{4, 11}, Times: [][]float64{{50}, {30}}}},
		{Name: "max", Curve: params.Curve{Sizes: []int{4}, Times: [][]float64{{1}}}},
	}}
}

func TestLibraryRules(t *testing.T) {
	table, gamma := smallTables()
	two := cluster(t, "block", 2, &Network{Table: tableOf(1, 11, 100, 10)}) // ten times the times within a node
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
