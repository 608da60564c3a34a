package model

import (
	"os"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// network reads the published network of a machine: IB, or TCP with its two copies.
func network(t testing.TB, machine, kind string) *Network {
	t.Helper()
	f, err := os.Open(shared(t, "params", machine, kind+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := params.ReadText(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{Network: params.Network{Name: kind, Kind: "ib"}, Table: table}
	if kind == "TCP" {
		n.Kind, n.Copies = "tcp", 2
	}
	return n
}

func cluster(t testing.TB, order string, nodes int, n *Network) *Cluster {
	t.Helper()
	o, _, _, err := mapping.ParseOrder(order)
	if err != nil {
		t.Fatal(err)
	}
	return &Cluster{Nodes: nodes, Order: o, Network: n}
}

// The authors' library on several nodes.
func TestLibraryChannelsOracle(t *testing.T) {
	for _, machine := range []string{"metropolis", "lusitania"} {
		table, gamma := published(t, machine)
		networks := map[string]*Network{"SHM+IB": network(t, machine, "IB"), "SHM+TCP": network(t, machine, "TCP")}
		oracle(t, "channels", machine, func(row map[string]string) {
			p := int(number(t, row, "P"))
			name := row["collective"] + ":" + row["algorithm"]
			if name == "alltoall:pairwise" {
				name = "alltoall:linear"
			}
			s := schedule(t, name, collective.Call{P: p, M: int(number(t, row, "m_bytes"))})
			m := Library{Table: table, Gamma: gamma, Cluster: cluster(t, row["mapping"], int(number(t, row, "nodes")), networks[row["channels"]])}
			c, err := m.Cost(s)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, row, c)
		})
	}
}
