//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// pairs measures all pairs of CPUs, and compares their levels and homes with the machine's description.
// Each pair has its times, or there is a warning.
func (g guest) pairs() {
	n, command := g.machine.CPUs(), []string{taulop, "pairs", "-json", "-launches", "6", "-smt", "-time", "5m"}
	if n > 4 {
		command = append(command, "-m", "0") // three homes of each pair take long
	}
	var doc pairs.Document
	if g.execute(command...).decode(&doc); len(doc.Pairs.Pairs) != n*(n-1)/2 {
		fail("%d pairs of %d CPUs", len(doc.Pairs.Pairs), n)
	}
	partial := slices.ContainsFunc(doc.Warnings, func(w string) bool { return strings.Contains(w, "were not reached") })
	var homes []params.Home
	for _, home := range doc.Each() {
		homes = append(homes, home.Home)
		g.homed(home, doc.Sizes, partial)
	}
	if memory := g.machine.MemoryNodes(); len(memory) > 1 && !slices.Equal(homes, []params.Home{params.WriterHome, params.ReaderHome, params.ThirdHome}) {
		fail("homes %q on %d nodes with memory", homes, len(memory))
	}
}

// homed checks the pairs of one home, some of which may lack times if the measurement is partial.
func (g guest) homed(pairs *params.Pairs, sizes []int, partial bool) {
	measured := 0
	for _, p := range pairs.Pairs {
		for i, t := range p.Times {
			if t.Center > 0 {
				measured++
			} else if !partial {
				fail("CPUs %d and %d, home %q, m = %d: %v", p.From, p.To, pairs.Home, sizes[i], t)
			}
		}
		name := pairs.Levels[p.Level].Name
		from, to := g.node(p.From), g.node(p.To)
		far := fmt.Sprintf("nodes %d apart", g.machine.Distances[from][to])
		siblings := p.From/g.machine.Threads == p.To/g.machine.Threads
		if siblings != (name == "SMT siblings") || (from != to) != (name == far) {
			fail("CPUs %d and %d, of nodes %d and %d, are at level %q", p.From, p.To, from, to, name)
		}
	}
	if measured == 0 {
		fail("home %q: none of %d pairs was measured", pairs.Home, len(pairs.Pairs))
	}
}

// node is the node of a CPU.
func (g guest) node(cpu int) (id int) {
	for _, n := range g.machine.CPUNodes() {
		if g.machine.FirstCPU(n) <= cpu {
			id = n
		}
	}
	return id
}

// levels copies between caches, memory and, with several memory nodes, the farthest node's memory.
func (g guest) levels() {
	levels, want := "L1,memory", []string{"L1-L1", "L1-memory", "memory-L1", "memory-memory"}
	if len(g.machine.MemoryNodes()) > 1 {
		levels += ",remote"
		want = append(want, "L1-remote", "memory-remote", "remote-L1", "remote-memory", "remote-remote")
	}
	o := g.execute(taulop, "copy", "-json", "-levels", levels, "-m", "8K", "-tau", "1", "-launches", "6", "-time", "5m")
	var got []string
	for _, c := range must.Get(params.Read(strings.NewReader(o.clean().passed().out), "copy")).Cells {
		if !(c.Time.Center > 0) {
			fail("%v takes %v", c.Key, c.Time)
		}
		got = append(got, c.VariantName())
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		fail("copies between %v, want %v", got, want)
	}
}
