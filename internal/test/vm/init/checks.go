//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A check runs on some machines.
type check struct {
	name  string
	on    func(machine.Machine) bool // nil: all
	large bool                       // only with -large
	run   func(guest)
}

func only(names ...string) func(machine.Machine) bool {
	return func(m machine.Machine) bool { return slices.Contains(names, m.Name) }
}

// unlike are the machines that differ in nodes: L3 complexes do not affect the nodes of pages.
func unlike(m machine.Machine) bool { return m.Dies <= 1 }

// crowded is a check in which waiting workers sleep, by package shm's variable in the builds for these
// machines, and are not preempted by the runtime.
func crowded(run func(guest)) func(guest) {
	return func(g guest) {
		for name, value := range map[string]string{"TAULOP_OVERCOMMIT": "1", "GODEBUG": "asyncpreemptoff=1"} {
			os.Setenv(name, value)
			defer os.Unsetenv(name)
		}
		run(g)
	}
}

// typical are machines on which two workers on two nodes have local and remote memory. Only tests that
// ask the kernel see further differences.
var typical = only("2nodes", "nomemory")

const asking = "^(TestThisMachine|TestPin|TestNarrowAffinity|TestMemory|TestPagesElsewhereAreRefused|TestMovedWorkerEndsTheRun)$"

// On a host of two CPUs, three or more spinning workers wait for whole time slices: checks with more than
// two workers are crowded.
var checks = []check{
	{name: "numa asks this kernel", run: tests("numa", "-test.run="+asking)},
	{name: "setups ask this kernel", run: tests("setups", "-test.run="+asking)},
	{name: "tests of shm", on: typical, run: tests("shm")},
	{name: "tests of setups", on: typical, large: true, run: tests("setups", "-test.skip="+large+"|"+asking+"|TestPagesLieWherePlaced")},
	{name: "large tests of setups", large: true, run: tests("setups", "-test.run="+large)},
	{name: "pages lie where placed", on: unlike, run: crowded(guest.pages)},
	{name: "topo counts right", run: guest.topo},
	{name: "ring over the nodes", on: unlike, run: crowded(guest.spread)},
	{name: "placements of levels", on: only("complexes", "4nodes"), run: guest.placements},

	{name: "pairs of CPUs", on: only("2nodes", "4nodes", "smt", "memoryonly"), run: guest.pairs},
	{name: "copies between levels", on: only("1node", "2nodes", "memoryonly", "nomemory"), run: guest.levels},

	{name: "single copies that the kernel forbids", on: only("1node"), run: guest.forbidden},

	{name: "one node alone", on: only("2nodes"), run: guest.alone},
	{name: "no such node", run: refuses([]string{"-membind", "9", "2", "8", "2"}, "node 9")},
	{name: "node without memory", on: only("nomemory"), run: refuses([]string{"-membind", "1", "2", "8", "2"}, "node 1", "memory")},
	{name: "node with too little memory", on: only("small"), run: guest.fullNode},

	{name: "huge pages", on: only("1node"), run: guest.huge},

	{name: "no /sys", on: only("2nodes"), run: guest.noSys},
	{name: "no /proc", on: only("2nodes"), run: spared(`unknown`, "-without", "/proc")}, // taulop cannot start itself
	{name: "one CPU left", on: only("2nodes"), run: guest.oneCPU},
	{name: "one CPU offline", on: only("smt"), run: crowded(guest.offline)},
	{name: "one CPU goes offline", on: only("smt"), run: guest.unplugging},
	{name: "unprivileged user", on: only("2nodes"), run: spared("", "-user", "65534")},
	{name: "no memory policies", on: only("2nodes"), run: spared(`does not let this process`, "-nopolicy")},
	{name: "little address space", on: only("2nodes"), large: true, run: crowded(guest.address)},
	{name: "cpuset of version 2 shrinks", on: only("2nodes"), run: shrinking(version2)},
	{name: "cpuset of version 1 shrinks", on: only("smt"), run: shrinking(version1)},
}

// large are tests that take most of a minute in an emulated machine and do not depend on nodes.
const large = "^(TestEverySetupMovesItsBytes|TestEveryCollectiveKeepsItsPromise|TestNoLeaks|TestManyRanks|TestManyWorkers)$"

// tests runs tests of a package with two CPUs, on two nodes if there are several. The host may have only
// two CPUs, between which it would switch more spinning CPUs in milliseconds; the guest's kernel switches
// between workers in microseconds.
func tests(pkg string, which ...string) func(guest) {
	return func(g guest) {
		nodes := g.machine.CPUNodes()
		other := g.machine.FirstCPU(nodes[len(nodes)-1])
		if len(nodes) == 1 {
			other = g.machine.Threads
		}
		cpus := fmt.Sprintf("-cpus=0,%d", other)
		g.confine([]string{cpus}, append([]string{"/bin/" + pkg + ".test"}, which...)...).passed()
	}
}

// pages runs the test of pages' nodes on all CPUs.
func (g guest) pages() {
	const test = "TestPagesLieWherePlaced"
	o := g.execute("/bin/setups.test", "-test.v", "-test.run=^"+test+"$").passed()
	if !strings.Contains(o.out, "--- PASS: "+test+" ") {
		fail("it is missing or was skipped: %v", o)
	}
}

// topo compares taulop's topology with the machine's description.
func (g guest) topo() {
	t, m := g.topology(), g.machine
	want := numa.Census{PUs: m.CPUs(), Cores: m.CPUs() / m.Threads, Packages: len(m.CPUNodes()), Nodes: len(m.MemoryNodes()), L3Caches: t.L3Caches}
	if t.Census != want {
		fail("counts %+v, want %+v", t.Census, want)
	}
	for id, node := range t.Machine.Nodes {
		built := m.Nodes[id]
		if node.ID != id || node.CPUs.Len() != built.CPUs || built.CPUs > 0 && node.CPUs[0] != m.FirstCPU(id) {
			fail("node %d has CPUs %v, want %d from CPU %d on", node.ID, node.CPUs, built.CPUs, m.FirstCPU(id))
		}
		// The kernel reserves some memory, most of it on node 0.
		if mb := int(node.MemoryBytes >> 20); mb > built.MemoryMB || mb < built.MemoryMB/2 {
			fail("node %d has %d MB, want nearly %d MB", id, mb, built.MemoryMB)
		}
		for to, distance := range m.Distances[id] {
			if node.Distances[to] != distance {
				fail("distance from node %d to %d is %d, want %d", id, to, node.Distances[to], distance)
			}
		}
	}
	for _, cpu := range t.Machine.CPUs {
		if cpu.Thread != cpu.ID%m.Threads || cpu.Core != cpu.ID/m.Threads {
			fail("CPU %d is thread %d of core %d, want siblings next to each other, %d a core", cpu.ID, cpu.Thread, cpu.Core, m.Threads)
		}
	}
}

// A topology is the document of taulop topo.
type topology struct {
	numa.Census
	Machine  *numa.Machine
	Warnings []string
}

func (g guest) topology() (t topology) {
	g.execute(taulop, "topo", "-json").decode(&t)
	return t
}

// spread measures with workers dealt round the nodes.
func (g guest) spread() {
	const tau = 4
	doc := g.measure("-ring", "-spread", "-k", "1,2,4", "-launches", "6", "-time", "40s", "2", "8", fmt.Sprint(tau))
	cpuNodes, memoryNodes := g.machine.CPUNodes(), g.machine.MemoryNodes()
	on, cpus := make(map[int]int), make(map[int]bool)
	for i, w := range doc.Placement.Workers {
		on[w.Node]++
		cpus[w.ID] = true
		if slices.Contains(memoryNodes, w.Node) && w.UserNode != w.Node || !slices.Contains(memoryNodes, w.UserNode) || w.IntermediateNode != w.UserNode {
			fail("worker %d on node %d has its buffers on nodes %d and %d:\n%v", i, w.Node, w.UserNode, w.IntermediateNode, doc.Placement)
		}
	}
	if len(on) != min(tau, len(cpuNodes)) || len(cpus) != tau || !doc.Concurrent {
		fail("want 4 workers on 4 CPUs of %d nodes, got\n%v", min(tau, len(cpuNodes)), doc.Placement)
	}
	if len(doc.Rows) < 3 && !warns(doc, "time was up") {
		fail("%d rows, want 3", len(doc.Rows))
	}
}

// alone measures on one node at a time. Launches, which are other processes, keep to the node, too.
func (g guest) alone() {
	for _, node := range g.machine.CPUNodes() {
		doc := g.measure("-node", fmt.Sprint(node), "-ring", "-spread", "-k", "1", "-launches", "6", "-time", "20s", "2", "8", "2")
		for i, w := range doc.Placement.Workers {
			if w.Node != node || !doc.Concurrent {
				fail("worker %d is not on node %d alone:\n%v", i, node, doc.Placement)
			}
		}
	}
}

// placements sweeps couples with every placement of the machine, and compares workers and buffers with the
// machine's description: the sweep itself fails if a page is on another node. Launches begin at several
// equal L3 complexes.
func (g guest) placements() {
	const file = "/placements.json"
	m := g.machine
	nodes := m.CPUNodes()
	want := []numa.Policy{numa.Local, numa.Spread, numa.Remote}
	if m.ComplexCPUs() > m.Threads {
		want = append(want, numa.L3)
	}
	if m.Dies > 1 {
		want = append(want, numa.AcrossL3)
	}
	if len(nodes) > 1 { // each in a package of its own
		want = append(want, numa.AcrossPackages, numa.Farthest)
	}
	var found struct{ Placements []numa.Placement }
	g.execute(taulop, "topo", "-json", "-tau", "4").decode(&found)
	names := lists.Map(found.Placements, func(p numa.Placement) string { return string(p.Policy) })
	list := strings.Join(names, ",")
	if !slices.EqualFunc(found.Placements, want, func(p numa.Placement, w numa.Policy) bool { return p.Policy == w }) {
		fail("placements %s, want %v", list, want)
	}
	g.execute(taulop, "sweep", "-quiet", "-o", file, "-placement", list, "-setup", "ping", "-tau", "4", "-m", "8K", "-cache", "in",
		"-gamma=false", "-launches", "6", "-time", "5m").clean().passed()
	f := must.Get(params.ReadFile(file))
	l3 := func(w numa.Worker) int { return w.ID / m.ComplexCPUs() }
	farthest := 0
	for _, row := range m.Distances {
		for to, distance := range row {
			if m.Nodes[to].CPUs > 0 {
				farthest = max(farthest, distance)
			}
		}
	}
	for _, p := range f.Placements {
		for i := 0; i < len(p.Workers); i += 2 {
			a, b := p.Workers[i], p.Workers[i+1]
			right := true
			switch p.Policy {
			case numa.L3:
				right = l3(a) == l3(b)
			case numa.AcrossL3:
				right = l3(a) != l3(b) && g.node(a.ID) == g.node(b.ID)
			case numa.AcrossPackages:
				right = g.node(a.ID) != g.node(b.ID)
			case numa.Farthest:
				right = m.Distances[g.node(a.ID)][g.node(b.ID)] == farthest
			}
			if !right || p.Policy != numa.Remote && (a.UserNode != a.IntermediateNode || b.UserNode != b.IntermediateNode) {
				fail("placement %s has workers %d and %d at\n%+v\n%+v", p.Policy, i, i+1, a, b)
			}
		}
		key := params.Key{Kind: params.TransferCell, Setup: "ping", Placement: p.Policy, Tau: 4, Bytes: 8 << 10}
		if !slices.ContainsFunc(f.Cells, func(c params.Cell) bool { return c.Key == key && c.Time.Center > 0 }) {
			fail("nothing was measured of %v, but %d other cells in %d launches", key, len(f.Cells), len(f.Launches))
		}
	}
	g.takeTurns(f.Launches)
}

// takeTurns fails if launches did not begin at each L3 complex in turn.
func (g guest) takeTurns(launches []params.Launch) {
	begun := make(map[int]bool)
	for _, l := range launches {
		begun[l.FirstCPU/g.machine.ComplexCPUs()] = true
	}
	if dies := g.machine.Dies; dies > 1 && len(begun) != min(dies, len(launches)) {
		fail("%d launches began at %d of %d L3 complexes", len(launches), len(begun), dies)
	}
}
