package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// clusterFlags describe the nodes of ranks and the network between them.
type clusterFlags struct {
	nodes   int
	mapping string
	net     netFlag
}

func (c *clusterFlags) add(flags *argument.Set) {
	flags.IntVar(&c.nodes, "nodes", 0, "number of `nodes` (default one, or those of a -map file)")
	flags.Within("nodes", 1, math.MaxInt32, "give a number of nodes from 1")
	argument.Var(flags, &c.mapping, "map", "block", "`mapping` of ranks to nodes: block, cyclic or plane=SIZE, with :block or :cyclic for the parts of a node, as Slurm's -m; or a file: an Open MPI rankfile, a hostfile, or one node per line", verbatimWord, "block", "cyclic", "block:block", "block:cyclic", "cyclic:block", "cyclic:cyclic")
	flags.StringVar((*string)(&c.net), "net", "", "network between nodes, a `file` of taulop net or in the published text format (default what -params has); NAME=FILE chooses one of several, or says that a published table is of tcp")
}

// cluster is the cluster of the flags; nil without them. It sets placement if the mapping orders
// ranks within a node.
func (c *clusterFlags) cluster(flags *argument.Set, placement *numa.Policy) (*model.Cluster, error) {
	order, within, known, err := mapping.ParseOrder(c.mapping)
	switch {
	case err != nil:
		return nil, usagef("-map: %v", err)
	case !known && !isFile(c.mapping):
		return nil, usagef("-map %s is neither a mapping nor a file: take block, cyclic or plane=SIZE, like Slurm's -m block:cyclic, or name a rankfile", c.mapping)
	case !known:
		if order, err = infile.Read(c.mapping, mapping.Read); err != nil {
			return nil, usagef("-map: %v", err)
		}
		if flags.Given("nodes") && c.nodes != order.Nodes() {
			return nil, usagef("-nodes is %d, and %s names %d: leave -nodes out, or give another file", c.nodes, c.mapping, order.Nodes())
		}
		c.nodes = order.Nodes()
	}
	if within != mapping.AnyWithin {
		if flags.Given("placement") {
			return nil, usagef("-map %s chooses a placement, and so does -placement: leave one of them out", c.mapping)
		}
		if *placement = numa.Local; within == mapping.CyclicWithin {
			*placement = numa.Spread
		}
	}
	if c.nodes == 0 {
		for _, name := range []string{"map", "net"} {
			if flags.Given(name) && !(name == "map" && within != mapping.AnyWithin) {
				return nil, usagef("-%s is of several nodes: say of how many with -nodes", name)
			}
		}
		return nil, nil
	}
	cluster := &model.Cluster{Nodes: c.nodes, Order: order}
	cluster.Network, err = c.net.network()
	return cluster, err
}

// A netFlag is the value of -net: FILE or NAME=FILE; "": none.
type netFlag string

func (n netFlag) of() (name, path string) {
	name, path, named := strings.Cut(string(n), "=")
	if !named || isFile(string(n)) {
		return "", string(n)
	}
	return name, path
}

// network reads the file.
func (n netFlag) network() (*model.Network, error) {
	if n == "" {
		return nil, nil
	}
	network, err := readNetwork(n.of())
	if err != nil {
		return nil, usagef("-net: %v", err)
	}
	return network, nil
}

// readNetwork reads a network. Published tables of TCP exclude two copies.
func readNetwork(name, path string) (*model.Network, error) {
	f, err := compare.Read(path)
	if errors.Is(err, compare.ErrMissing) {
		return nil, fmt.Errorf("%s is not there: check its name, or measure the network (taulop net -o)", path)
	}
	if err != nil {
		return nil, err
	}
	if !f.Text {
		n, table, err := f.File.Network(name)
		if err != nil {
			return nil, usagef("%s: %v", path, err)
		}
		return &model.Network{Network: n, Table: table, File: f.File}, nil
	}
	table, err := f.File.Table(params.Selection{})
	if err != nil {
		return nil, usagef("%s: %v", path, err)
	}
	n := params.Network{Name: cmp.Or(name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))}
	if n.Kind = strings.ToLower(n.Name); strings.HasPrefix(n.Kind, "tcp") {
		n.Kind, n.Copies = "tcp", 2
	}
	if err := n.Check(); err != nil {
		return nil, usagef("%s: %v; give it one like ib=%s", path, err, path)
	}
	return &model.Network{Network: n, Table: table}, nil
}

// needsNetwork is the error for nodes without a network.
func needsNetwork(nodes int, file string) error {
	return usagef("%d nodes need a network between them, and %s has none: name one with -net, a file of taulop net or a table such as IB.txt", nodes, file)
}
