package model

import (
	"fmt"
	"os"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// network reads the published network of a machine: IB, or TCP with its two copies.
func network(t testing.TB, machine, kind string) *Network {
	t.Helper()
	f := must.Get(os.Open(snapshot.Shared(t, "params", machine, kind+".txt")))
	defer f.Close()
	n := &Network{Network: params.Network{Name: kind, Kind: "ib"}, Table: must.Get(params.ReadText(f, f.Name()))}
	if kind == "TCP" {
		n.Kind, n.Copies = "tcp", 2
	}
	return n
}

func cluster(t testing.TB, order string, nodes int, n *Network) *Cluster {
	t.Helper()
	o, _, _, err := mapping.ParseOrder(order)
	must.Do(err)
	return &Cluster{Nodes: nodes, Order: o, Network: n}
}

// times is a channel that is slower by a factor.
func times(times float64) *params.Table { return tableOf(1, 1000, times, 100*times) }

// small is shared memory and a network with round numbers: L(m,τ) = m·τ and o = 100 within a node, ten
// times as much between nodes; γ(m) = m.
func small(copies int) (TauLop, *Network) {
	gamma := &params.Gamma{Operators: []params.Operator{{Name: "sum", Curve: params.Curve{Sizes: []int{1, 1000}, Times: [][]float64{{1}, {1000}}}}}}
	return TauLop{Channels: Uniform(times(1)), Reductions: gamma, Transport: Whole}, &Network{Network: params.Network{Name: "n", Kind: "n", Copies: copies}, Table: times(10)}
}

// A stage costs the slowest of its channels, each with its own τ on the busiest node.
func TestSlowestChannel(t *testing.T) {
	try := func(name, order string, p, nodes, copies int, want float64) { // want: of m = 100
		t.Helper()
		m, n := small(copies)
		m.Cluster = cluster(t, order, nodes, n)
		expect(t, m, name, collective.Call{P: p, M: 100}, 1e9*want, "")
	}
	// 0→2 between nodes: 1000 + 1000; then 0→1 and 2→3 within, one on each node: 100 + 2·100.
	try("bcast:binomial", "block", 4, 2, 0, 2000+300)
	// 0→2 within; then 0→1 and 2→3 from node 0 to node 1, τ = 2: 1000 + 2000.
	try("bcast:binomial", "cyclic", 4, 2, 0, 300+3000)
	// TCP adds two copies. One message, then two.
	try("bcast:binomial", "cyclic", 4, 2, 2, 300+3000+2*200)
	// Three equal stages: on each node one message stays, one leaves and one arrives.
	try("allgather:ring", "block", 4, 2, 0, 3*2000)
	// The copies share the memory with the message that stays: τ = 2.
	try("allgather:ring", "block", 4, 2, 2, 3*(2000+2*200))
	try("allgather:ring", "cyclic", 4, 2, 0, 3*3000)
	// γ once for each of two stages, whatever the channel.
	try("allreduce:recursive-doubling", "block", 4, 2, 0, 100+2*200+100+3000+100)
	try("alltoall:pairwise", "block", 4, 2, 0, 100+2*200+2*3000)
	try("barrier:dissemination", "block", 4, 2, 0, 1000+10+1000+20)
}

// On one node all mappings cost the same; on as many nodes as ranks block and cyclic do.
func TestMappingsThatAreAlike(t *testing.T) {
	m, n := small(2)
	m.Transport, m.Segment = Segmented, 64
	library := Libtaulop{Table: times(1), Gamma: m.Reductions.(*params.Gamma)}
	for _, a := range collective.All() {
		for _, p := range []int{1, 2, 3, 7, 8, 12, 16} {
			for _, bytes := range []int{0, 4, 1000, 100000} {
				s, err := a.Schedule(collective.Call{P: p, M: bytes, Element: 4})
				if err != nil {
					continue
				}
				on := func(order string, nodes int) string {
					one, other := m, library
					if nodes > 0 {
						one.Cluster = cluster(t, order, nodes, n)
						other.Cluster = one.Cluster
					}
					c := priced(t, one, s)
					return fmt.Sprintf("%s = %v; the library %v", c.Formula(), c.Seconds, priced(t, other, s).Seconds)
				}
				for _, order := range []string{"block", "cyclic", "plane=3"} {
					check.Equal(t, on(order, 1), on("", 0), "%s, P = %d, m = %d: %s on one node and without nodes", a, p, bytes, order)
				}
				check.True(t, s.Levels > 0 || on("block", p) == on("cyclic", p), "%s, P = %d, m = %d: block and cyclic differ", a, p, bytes)
			}
		}
	}
}

// The file's own network is the default.
func TestFileHasNetwork(t *testing.T) {
	_, n := small(0)
	f := twoNodes()
	f.Networks = []params.Network{n.Network}
	for row, m := range n.Table.Transfers.Sizes {
		for name, seconds := range map[string]float64{params.NetTransfer: n.Table.Transfers.Times[row][0], params.NetOverhead: n.Table.Overheads[row]} {
			k := params.Key{Kind: params.NetCell, Placement: numa.Local, Tau: 1, Bytes: m, Variant: params.Parameter{Of: n.Name, Name: name}}
			f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Unbounded(seconds * 1e9)})
		}
	}
	p := predictorOf(t, f, Choice{Placement: numa.Local, Cluster: &Cluster{Nodes: 2}})
	expect(t, p, "bcast:linear", collective.Call{P: 2, M: 100}, 2000e9, "o₁(m) + L₁(m,1)")
}

// Predictors warn of networks with times of 0, as published ones have.
func TestNetworkOfZeros(t *testing.T) {
	_, n := small(0)
	n.Table.Transfers.Times[0][0] = 0
	p := predictorOf(t, twoNodes(), Choice{Cluster: cluster(t, "block", 2, n)})
	contains.All(t, fmt.Sprint(p.Warnings), "network n: L(1,1) is 0, which is no time")
}
