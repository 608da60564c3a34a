package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/numa"
)

// nodeUsage is what -node says.
const nodeUsage = "measure on the CPUs of this NUMA `node` alone, as if there were no others"

// addNode adds -node and -name to a command that measures.
func addNode(flags *argument.Set, name *string) {
	flags.StringVar(name, "name", "", "`name` of this machine in the file and in what is made of it (default the host's)")
	flags.Func("node", nodeUsage, keepTo)
}

// keepTo keeps this program to the CPUs of a NUMA node: it begins anew on them, as under
// taskset, so that all threads and launches find no others. What is there already returns.
func keepTo(node string) error {
	m, err := numa.Discover("/")
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(node)
	if err != nil {
		return errors.New("give the number of a NUMA node, like 0; taulop topo lists them")
	}
	i := slices.IndexFunc(m.Nodes, func(n numa.Node) bool { return n.ID == id })
	if i < 0 {
		return errors.New("this machine has no such NUMA node; taulop topo lists them")
	}
	switch on := m.Nodes[i].CPUs.And(m.Allowed); {
	case len(on) == 0:
		return fmt.Errorf("this program may not use the node's CPUs (%v), but %v alone; choose another node", m.Nodes[i].CPUs, m.Allowed)
	case len(on) < len(m.Allowed):
		return process.BeginOn(on)
	}
	return nil
}
