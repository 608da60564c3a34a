package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/numa"
)

// The usages of flags of several commands that measure.
const (
	nodeUsage = "measure on the CPUs of this NUMA `node` alone, as if there were no others"
	hugeUsage = "ask for transparent huge pages for buffers, which otherwise get none"
	fillUsage = "keep cores without a worker busy, so that few workers run at the clock of many"
)

// addPeak adds -peak; 0: not given.
func addPeak(flags *argument.Set, to *float64) {
	argument.Var(flags, to, "peak", "", "peak bandwidth of this machine's memory, in `GB/s`: channels × MT/s × 8 / 1000 (default from the modules that the firmware lists, if root runs it and the firmware names channels)", argument.Bandwidth)
}

// addLaunches adds -launches; 0: as many as the time allows.
func addLaunches(flags *argument.Set, n *int, usual int) {
	const most = 1000
	flags.IntVar(n, "launches", 0, fmt.Sprintf("measure in `n` launches, each of fresh processes (default as many as -time allows, 6 to %d)", usual))
	flags.Within("launches", engine.LeastLaunches, most, fmt.Sprintf("an interval takes %d or more, and %d are the most", engine.LeastLaunches, most))
}

// addNode adds -node and -name to a command that measures.
func addNode(flags *argument.Set, name *string) {
	flags.StringVar(name, "name", "", "`name` of this machine in the file and in all reports from it (default the host's)")
	flags.Func("node", nodeUsage, keepTo)
}

// keepTo restricts this program to the CPUs of a NUMA node. It executes itself anew, as under
// taskset, so that all threads and launches are restricted. It returns if the CPUs already are the
// node's.
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
