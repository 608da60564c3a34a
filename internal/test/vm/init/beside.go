//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/params"
)

// pairs measures transfers between every two CPUs, and holds their levels and homes against what
// the machine was built of. Each has its times, or a warning says how many lack some.
func (g guest) pairs(ctx context.Context) error {
	n, command := g.machine.CPUs(), []string{taulop, "pairs", "-json", "-launches", "6", "-smt", "-time", "5m"}
	if n > 4 {
		command = append(command, "-m", "0") // three homes of each pair take their time
	}
	o, err := g.execute(ctx, nil, command...)
	if err != nil {
		return err
	}
	var doc pairs.Document
	if err := o.decode(&doc); err != nil {
		return err
	}
	if len(doc.Pairs.Pairs) != n*(n-1)/2 {
		return fmt.Errorf("%d pairs of %d CPUs", len(doc.Pairs.Pairs), n)
	}
	partial := slices.ContainsFunc(doc.Warnings, func(w string) bool { return strings.Contains(w, "were not reached") })
	var homes []params.Home
	for _, of := range doc.Each() {
		homes = append(homes, of.Home)
		if err := g.homed(of, doc.Sizes, partial); err != nil {
			return err
		}
	}
	if memory := g.machine.MemoryNodes(); len(memory) > 1 && !slices.Equal(homes, []params.Home{params.WriterHome, params.ReaderHome, params.ThirdHome}) {
		return fmt.Errorf("homes %q on %d nodes with memory", homes, len(memory))
	}
	return nil
}

// homed checks the pairs of one home, some of which lack times if only a part was measured.
func (g guest) homed(of *params.Pairs, sizes []int, partial bool) error {
	measured := 0
	for _, p := range of.Pairs {
		for i, t := range p.Times {
			switch {
			case t.Center > 0:
				measured++
			case !partial:
				return fmt.Errorf("CPUs %d and %d, home %q, m = %d: %v", p.From, p.To, of.Home, sizes[i], t)
			}
		}
		name := of.Levels[p.Level].Name
		from, to := g.node(p.From), g.node(p.To)
		far := fmt.Sprintf("nodes %d apart", g.machine.Distances[from][to])
		siblings := p.From/g.machine.Threads == p.To/g.machine.Threads
		if siblings != (name == "SMT siblings") || (from != to) != (name == far) {
			return fmt.Errorf("CPUs %d and %d, of nodes %d and %d, are at level %q", p.From, p.To, from, to, name)
		}
	}
	if measured == 0 {
		return fmt.Errorf("home %q: none of %d pairs was measured", of.Home, len(of.Pairs))
	}
	return nil
}

// node is that of a CPU.
func (g guest) node(cpu int) (id int) {
	for _, n := range g.machine.CPUNodes() {
		if g.machine.FirstCPU(n) <= cpu {
			id = n
		}
	}
	return id
}

// levels copies between caches, memory and the farthest node's memory, which there
// is where several have some.
func (g guest) levels(ctx context.Context) error {
	f, err := g.parameters(ctx, taulop, "copy", "-json", "-levels", "L1,memory,remote", "-m", "8K", "-tau", "1", "-launches", "6", "-time", "5m")
	if len(g.machine.MemoryNodes()) == 1 {
		f, err = g.parameters(ctx, taulop, "copy", "-json", "-levels", "L1,memory", "-m", "8K", "-tau", "1", "-launches", "6", "-time", "5m")
	}
	if err != nil {
		return err
	}
	var got []string
	for _, c := range f.Cells {
		if !(c.Time.Center > 0) {
			return fmt.Errorf("%v takes %v", c.Key, c.Time)
		}
		got = append(got, c.VariantName())
	}
	slices.Sort(got)
	want := []string{"L1-L1", "L1-memory", "memory-L1", "memory-memory"}
	if len(g.machine.MemoryNodes()) > 1 {
		want = append(want, "L1-remote", "memory-remote", "remote-L1", "remote-memory", "remote-remote")
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("copies between %v, want %v", got, want)
	}
	return nil
}

// parameters is the file that a command prints.
func (g guest) parameters(ctx context.Context, command ...string) (*params.File, error) {
	o, err := g.execute(ctx, nil, command...)
	if err == nil {
		err = passed(o, o.clean())
	}
	if err != nil {
		return nil, err
	}
	return params.Read(strings.NewReader(o.out), command[1])
}
