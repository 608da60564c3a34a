package model

import (
	"errors"
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// A Cluster is several nodes that are alike, ranks on them, and the channel between them.
type Cluster struct {
	Nodes   int
	Order   mapping.Order
	Network *Network // may be nil of one node
}

// A Network is the channel between nodes: a message of m bytes takes o(m) + L(m,τ) while τ
// go through it to the same node or from it, and its Copies through that node's memory.
type Network struct {
	params.Network
	Table *params.Table
	File  *params.File // that it was measured for, if it is not the ranks' own; nil of published tables
}

// A NetworkWarning speaks against the times of a cluster's network, not of the machine.
type NetworkWarning struct{ error }

func (w NetworkWarning) Unwrap() error { return w.error }

// warnings are what speaks against its times.
func (n *Network) warnings() (all []error) {
	if n.Table.Lacking != nil {
		all = append(all, NetworkWarning{fmt.Errorf("network %s: sizes that are not complete count as not measured: %w", n.Name, n.Table.Lacking)})
	}
	if zeros := n.Table.Transfers.Zeros(); zeros != "" {
		all = append(all, NetworkWarning{fmt.Errorf("network %s: %s, which is no time: messages through it are predicted too cheap there", n.Name, zeros)})
	}
	return all
}

// ErrOneNode is of algorithms whose ranks copy from each other's buffers.
var ErrOneNode = errors.New("copies from the buffers of other ranks, which are on one node then: take another algorithm, or one node")

// place is where ranks are, nil of no cluster.
func (c *Cluster) place(ranks int) (*mapping.Map, error) {
	if c == nil {
		return nil, nil
	}
	return c.Order.Map(ranks, c.Nodes)
}

// String is the cluster in words.
func (c *Cluster) String() string {
	if !c.several() {
		return "1 node"
	}
	if c.Network == nil { // of levels, one of which is between nodes
		return fmt.Sprintf("%d nodes, %v", c.Nodes, c.Order)
	}
	return fmt.Sprintf("%d nodes, %v, network %s", c.Nodes, c.Order, c.Network.Name)
}

// measured is the file of a network that has launches of its own, else nil.
func (c *Cluster) measured() *params.File {
	if !c.several() || c.Network == nil || c.Network.File == nil || len(c.Network.File.Launches) == 0 {
		return nil
	}
	return c.Network.File
}

// ranks is where the ranks of a schedule are, see place. It fails for one whose ranks must be on
// one node.
func (c *Cluster) ranks(s *collective.Schedule) (*mapping.Map, error) {
	if s.Levels > 0 && c.several() {
		return nil, fmt.Errorf("%s %w", s.Algorithm, ErrOneNode)
	}
	return c.place(s.Call.P)
}

func (c *Cluster) several() bool { return c != nil && c.Nodes > 1 }
