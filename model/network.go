package model

import (
	"errors"
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// A Cluster is equal nodes, the order of ranks on them, and the network between them.
type Cluster struct {
	Nodes   int
	Order   mapping.Order
	Network *Network // may be nil for one node
}

// A Network is the channel between nodes: a message of m bytes takes o(m) + L(m,τ) while τ messages
// leave or enter the same node, and Copies through that node's memory.
type Network struct {
	params.Network
	Table *params.Table
	File  *params.File // it was measured for, if not the ranks' own; nil for published tables
}

// A NetworkWarning doubts the times of a cluster's network, not of the machine.
type NetworkWarning struct{ error }

func (w NetworkWarning) Unwrap() error { return w.error }

// warnings are the reasons to doubt its times.
func (n *Network) warnings() (all []error) {
	if n.Table.Lacking != nil {
		all = append(all, NetworkWarning{fmt.Errorf("network %s: sizes that are not complete count as not measured: %w", n.Name, n.Table.Lacking)})
	}
	if zeros := n.Table.Transfers.Zeros(); zeros != "" {
		all = append(all, NetworkWarning{fmt.Errorf("network %s: %s, which is no time: messages through it are predicted too cheap there", n.Name, zeros)})
	}
	return all
}

// ErrOneNode is why algorithms whose ranks copy from each other's buffers have no cost on several nodes.
var ErrOneNode = errors.New("copies from the buffers of other ranks, which are on one node then: take another algorithm, or one node")

// place maps ranks to nodes and cores; nil without a cluster.
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
	if c.Network == nil { // one of the file's levels is between nodes
		return fmt.Sprintf("%d nodes, %v", c.Nodes, c.Order)
	}
	return fmt.Sprintf("%d nodes, %v, network %s", c.Nodes, c.Order, c.Network.Name)
}

// measured is the file of a network with launches of its own, else nil.
func (c *Cluster) measured() *params.File {
	if !c.several() || c.Network == nil || c.Network.File == nil || len(c.Network.File.Launches) == 0 {
		return nil
	}
	return c.Network.File
}

// ranks maps the ranks of a schedule, see place. It fails on several nodes for schedules of one node.
func (c *Cluster) ranks(s *collective.Schedule) (*mapping.Map, error) {
	if s.Levels > 0 && c.several() {
		return nil, fmt.Errorf("%s %w", s.Algorithm, ErrOneNode)
	}
	return c.place(s.Call.P)
}

func (c *Cluster) several() bool { return c != nil && c.Nodes > 1 }
