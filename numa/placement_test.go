package numa_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// two nodes with distances, two cores each of two threads, and a third node with
// memory alone.
func small() *numa.Machine {
	m := &numa.Machine{Allowed: numa.SetOf(0, 1, 2, 3, 4, 5, 6, 7)}
	for id := range 8 {
		m.CPUs = append(m.CPUs, numa.CPU{ID: id, Core: id % 4, Thread: id / 4, Package: id % 4 / 2, Node: id % 4 / 2})
	}
	m.Nodes = []numa.Node{
		{ID: 0, CPUs: numa.SetOf(0, 1, 4, 5), MemoryBytes: 1 << 30, Distances: map[int]int{0: 10, 1: 21, 4: 30}},
		{ID: 1, CPUs: numa.SetOf(2, 3, 6, 7), MemoryBytes: 1 << 30, Distances: map[int]int{0: 21, 1: 10, 4: 17}},
		{ID: 4, MemoryBytes: 1 << 30, Distances: map[int]int{0: 30, 1: 17, 4: 10}},
	}
	return m
}

func TestPlace(t *testing.T) {
	memoryless := small()
	memoryless.Nodes[1].MemoryBytes = 0
	forbidden := small()
	forbidden.Nodes[2].Forbidden = true
	narrow := small()
	narrow.Allowed = numa.SetOf(3, 4, 7)
	unknown := small()
	for i := range unknown.Nodes {
		unknown.Nodes[i].Distances = nil
		unknown.Nodes[i].MemoryBytes = 0
	}
	for _, test := range []struct {
		name         string
		machine      *numa.Machine
		policy       numa.Policy
		tau          int
		cpus         []int
		user         []int
		intermediate []int
		over         bool
	}{
		{"local fills cores before siblings", small(), numa.Local, 6, []int{0, 1, 2, 3, 4, 5}, []int{0, 0, 1, 1, 0, 0}, []int{0, 0, 1, 1, 0, 0}, false},
		{"spread deals", small(), numa.Spread, 6, []int{0, 2, 1, 3, 4, 6}, []int{0, 1, 0, 1, 0, 1}, []int{0, 1, 0, 1, 0, 1}, false},
		{"remote takes memory-only nodes", small(), numa.Remote, 3, []int{0, 1, 2}, []int{0, 0, 1}, []int{4, 4, 0}, false},
		{"remote keeps to the cpuset", forbidden, numa.Remote, 3, []int{0, 1, 2}, []int{0, 0, 1}, []int{1, 1, 0}, false},
		{"a node without memory borrows the nearest's", memoryless, numa.Local, 3, []int{0, 1, 2}, []int{0, 0, 4}, []int{0, 0, 4}, false},
		{"only allowed CPUs, whichever sibling", narrow, numa.Local, 3, []int{4, 3, 7}, []int{0, 1, 1}, []int{0, 1, 1}, false},
		{"more workers than CPUs", narrow, numa.Spread, 5, []int{4, 3, 7, 4, 3}, []int{0, 1, 1, 0, 1}, []int{0, 1, 1, 0, 1}, true},
		{"nothing known of memory and distances", unknown, numa.Remote, 3, []int{0, 1, 2}, []int{0, 0, 1}, []int{1, 1, 4}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := test.machine.Place(test.policy, test.tau)
			if err != nil {
				t.Fatal(err)
			}
			if p.Oversubscribed != test.over {
				t.Errorf("oversubscribed: got %v", p.Oversubscribed)
			}
			for i, w := range p.Workers {
				if w.ID != test.cpus[i] || w.UserNode != test.user[i] || w.IntermediateNode != test.intermediate[i] {
					t.Errorf("worker %d: got CPU %d, user buffer on %d, intermediate buffer on %d; want %d, %d, %d", i,
						w.ID, w.UserNode, w.IntermediateNode, test.cpus[i], test.user[i], test.intermediate[i])
				}
				if want := test.machine.Distance(w.Node, w.IntermediateNode); w.Distance != want {
					t.Errorf("worker %d: distance %d, want %d", i, w.Distance, want)
				}
			}
		})
	}
}

func TestPlaceOn(t *testing.T) {
	p, err := small().PlaceOn([]int{6, 0}, 4)
	if err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for _, w := range p.Workers {
		cpus = append(cpus, w.ID)
	}
	if got, _ := json.Marshal(cpus); string(got) != "[6,0,6,0]" || !p.Oversubscribed {
		t.Errorf("got CPUs %s, oversubscribed %v; want [6,0,6,0], true", got, p.Oversubscribed)
	}
	if p, err = small().PlaceOn([]int{6, 0, 1}, 2); err != nil || p.Oversubscribed || len(p.Workers) != 2 {
		t.Errorf("got %v, %v; want two workers that share nothing", p, err)
	}
}

func TestPlaceRefuses(t *testing.T) {
	narrow := small()
	narrow.Allowed = numa.SetOf(0, 1, 3)
	barred := small()
	for i := range barred.Nodes {
		barred.Nodes[i].Forbidden = true
	}
	place := func(m *numa.Machine, policy numa.Policy, tau int) error {
		_, err := m.Place(policy, tau)
		return err
	}
	placeOn := func(m *numa.Machine, tau int, cpus ...int) error {
		_, err := m.PlaceOn(cpus, tau)
		return err
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{place(small(), numa.Local, 0), "ask for at least 1"},
		{place(small(), numa.Spread, -3), "-3 workers"},
		{place(small(), numa.Local, 1_000_000_000), "ask for at most 1024"},
		{placeOn(narrow, 1025, 0), "ask for at most 1024"},
		{place(small(), "near", 2), `no placement "near": choose local, spread, remote, l3, `},
		{place(small(), numa.List, 2), "needs the CPUs to use"},
		{place(small(), numa.AcrossNodes, 2), "level that this machine does not have"},
		{place(small(), numa.L3, 2), "level that this machine does not have"},
		{place(barred, numa.Local, 2), "Mems_allowed"},
		{placeOn(narrow, 2, 0, 9), "CPU 9 does not exist or is offline: choose from 0-1,3"},
		{placeOn(narrow, 2, 0, 2), "CPU 2 may not be used by this process (affinity or cpuset): choose from 0-1,3"},
		{placeOn(narrow, 2), "choose from 0-1,3"},
		{placeOn(narrow, 0, 0), "ask for at least 1"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("got %v, want an error with %q", test.err, test.want)
		}
	}
}

// TestPlacementsOfSnapshots checks what the placements promise, for numbers of workers up to
// a little more than each machine has CPUs; with TAULOP_LONG all.
func TestPlacementsOfSnapshots(t *testing.T) {
	for _, name := range snapshot.Names(t) {
		t.Run(name, func(t *testing.T) {
			m := machine(t, name)
			checkPlacements(t, m)
			// Of every machine also a part: each third CPU is taken away.
			part := *m
			part.Allowed = nil
			for i, cpu := range m.Allowed {
				if i%3 != 1 {
					part.Allowed = append(part.Allowed, cpu)
				}
			}
			checkPlacements(t, &part)
		})
	}
	checkPlacements(t, small())
}

func checkPlacements(t *testing.T, m *numa.Machine) {
	t.Helper()
	n := m.Allowed.Len()
	for tau := 1; tau <= n+3 && !t.Failed(); tau++ {
		if tau > 17 && tau < n-1 && (tau < 31 || tau > 33) && tau != 64 && tau != n/2 && os.Getenv("TAULOP_LONG") == "" {
			continue
		}
		for _, policy := range numa.Policies {
			if !m.Has(policy) || tau > 16 && tau%7 > 1 && slices.Index(numa.Policies, policy) > 2 {
				continue
			}
			p, err := m.Place(policy, tau)
			if err != nil {
				t.Fatal(err)
			}
			checkWorkers(t, m, p, tau)
			checkCouples(t, m, p)
			switch policy {
			case numa.Local:
				checkFilled(t, m, p)
			case numa.Spread:
				checkSpread(t, m, p)
			case numa.Remote:
				checkFarthest(t, m, p)
			}
		}
	}
}

func checkWorkers(t *testing.T, m *numa.Machine, p numa.Placement, tau int) {
	t.Helper()
	if len(p.Workers) != tau || p.Oversubscribed != (tau > m.Allowed.Len()) {
		t.Errorf("%s, τ = %d: %d workers, oversubscribed %v", p.Policy, tau, len(p.Workers), p.Oversubscribed)
	}
	cores, all := make(map[int]int), m.Count().Cores
	used := make(map[int]bool)
	memory := memory(m)
	for i, w := range p.Workers {
		cpu, online := m.CPU(w.ID)
		if !online || cpu != w.CPU || !m.Allowed.Contains(w.ID) {
			t.Errorf("%s, τ = %d: worker %d is on %+v, which is not allowed or not what the machine has", p.Policy, tau, i, w.CPU)
		}
		if i < m.Allowed.Len() && used[w.ID] {
			t.Errorf("%s, τ = %d: CPU %d has two workers while others have none", p.Policy, tau, w.ID)
		}
		used[w.ID] = true
		if cores[w.Core] > 0 && len(cores) < all {
			t.Errorf("%s, τ = %d: core %d has a second worker while only %d of %d cores have one", p.Policy, tau, w.Core, len(cores), all)
		}
		cores[w.Core]++
		if memory[w.Node] && w.UserNode != w.Node {
			t.Errorf("%s, τ = %d: worker %d on node %d has its buffer on node %d", p.Policy, tau, i, w.Node, w.UserNode)
		}
		if p.Policy != numa.Remote && w.IntermediateNode != w.UserNode {
			t.Errorf("%s, τ = %d: worker %d writes to node %d and has its own buffer on node %d", p.Policy, tau, i, w.IntermediateNode, w.UserNode)
		}
		if !memory[w.UserNode] || !memory[w.IntermediateNode] {
			t.Errorf("%s, τ = %d: worker %d has buffers on nodes %d and %d, where there is no memory", p.Policy, tau, i, w.UserNode, w.IntermediateNode)
		}
	}
}

// checkFilled: no worker is on a later node while an earlier one has a free core.
func checkFilled(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	free, used := make(map[int]int), make(map[int]bool)
	for _, cpu := range freeCores(m, used) {
		if !used[cpu.Core] {
			used[cpu.Core] = true
			free[cpu.Node]++
		}
	}
	clear(used)
	for i, w := range p.Workers {
		for node, n := range free {
			if n > 0 && node < w.Node {
				t.Errorf("local, τ = %d: worker %d is on node %d while node %d has %d free cores", len(p.Workers), i, w.Node, node, n)
			}
		}
		if !used[w.Core] {
			used[w.Core] = true
			free[w.Node]--
		}
	}
}

// checkSpread: no node has two workers while one with a free core has none.
func checkSpread(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	used, workers := make(map[int]bool), make(map[int]int)
	for _, w := range p.Workers {
		used[w.Core] = true
		workers[w.Node]++
	}
	for _, cpu := range freeCores(m, used) {
		for node, n := range workers {
			if n > 1 && workers[cpu.Node] == 0 {
				t.Errorf("spread, τ = %d: node %d has %d workers while node %d has a free core and none", len(p.Workers), node, n, cpu.Node)
			}
		}
	}
}

func checkFarthest(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	memory := memory(m)
	for i, w := range p.Workers {
		for node := range memory {
			if m.Distance(w.Node, node) > m.Distance(w.Node, w.IntermediateNode) {
				t.Errorf("remote, τ = %d: worker %d on node %d writes to node %d, but node %d is farther", len(p.Workers), i, w.Node, w.IntermediateNode, node)
			}
		}
	}
}

// freeCores are the allowed CPUs whose core has no worker, the first nodes' first.
func freeCores(m *numa.Machine, used map[int]bool) []numa.CPU {
	var free []numa.CPU
	for _, node := range m.Nodes {
		for _, id := range node.CPUs.And(m.Allowed) {
			if cpu, _ := m.CPU(id); !used[cpu.Core] {
				free = append(free, cpu)
			}
		}
	}
	return free
}

// complexOf is a CPU's node and the CPUs that share its last-level cache.
func complexOf(m *numa.Machine, cpu numa.CPU) string {
	level := m.Caches[len(m.Caches)-1].Level // they are in order
	for _, c := range m.Caches {
		if c.Level == level && c.Type != "Instruction" && c.CPUs.Contains(cpu.ID) {
			return fmt.Sprint(cpu.Node, " ", c.CPUs)
		}
	}
	return fmt.Sprint("CPU ", cpu.ID)
}

// checkCouples: the first two workers are as their placement says, and of all couples as
// many as can be of CPUs that are these.
func checkCouples(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	if p.Oversubscribed || len(m.Caches) == 0 {
		return
	}
	l3 := func(c numa.CPU) string { return complexOf(m, c) }
	node := func(c numa.CPU) string { return fmt.Sprint("node ", c.Node) }
	pack := func(c numa.CPU) string { return fmt.Sprint("package ", c.Package) }
	all := func(numa.CPU) string { return "" }
	var group, unit func(numa.CPU) string
	switch p.Policy {
	case numa.L3:
		group = l3
	case numa.AcrossL3:
		group, unit = func(c numa.CPU) string { return node(c) + pack(c) }, l3
	case numa.AcrossNodes:
		group, unit = pack, node
	case numa.AcrossPackages:
		group, unit = all, pack
	case numa.Spread:
		group, unit = all, node
	case numa.Farthest:
		if a, b := p.Workers[0], p.Workers[min(1, len(p.Workers)-1)]; len(p.Workers) > 1 {
			for _, n := range m.Nodes {
				for _, o := range m.Nodes {
					if n.CPUs.And(m.Allowed).Len() > 0 && o.CPUs.And(m.Allowed).Len() > 0 && m.Distance(n.ID, o.ID) > max(m.Distance(a.Node, b.Node), m.Distance(b.Node, a.Node)) {
						t.Errorf("farthest: nodes %d and %d, and %d and %d are farther apart", a.Node, b.Node, n.ID, o.ID)
					}
				}
			}
		}
		return
	default:
		group = node
	}
	couples := m.Couple(p)
	before, after := make(map[int]int), make(map[int]int)
	left := make(map[string]map[string]int) // workers by group and unit
	for i, w := range p.Workers {
		before[w.ID]++
		after[couples.Workers[i].ID]++
		g, u := group(w.CPU), ""
		if unit != nil {
			u = unit(w.CPU)
		}
		if left[g] == nil {
			left[g] = make(map[string]int)
		}
		left[g][u]++
	}
	if !maps.Equal(before, after) {
		t.Fatalf("%s, τ = %d: couples are of other CPUs: %v, %v", p.Policy, len(p.Workers), before, after)
	}
	single := 0 // that no partner can be had for
	for _, units := range left {
		sum, most := 0, 0
		for _, n := range units {
			sum, most = sum+n, max(most, n)
		}
		if single += sum % 2; unit != nil {
			single += max(2*most-sum, sum%2) - sum%2
		}
	}
	for i := 1; i < len(p.Workers); i += 2 {
		a, b := couples.Workers[i-1].CPU, couples.Workers[i].CPU
		if group(a) == group(b) && (unit == nil || unit(a) != unit(b)) {
			continue
		}
		if single -= 2; single < -1 {
			t.Errorf("%s, τ = %d: couple %d is of CPUs %d and %d", p.Policy, len(p.Workers), i/2, a.ID, b.ID)
		}
	}
	if (p.Policy == numa.L3 || unit != nil && p.Policy != numa.Spread) && len(p.Workers) == 2 {
		if a, b := p.Workers[0].CPU, p.Workers[1].CPU; group(a) != group(b) || unit != nil && unit(a) == unit(b) {
			t.Errorf("%s: the first two workers are on CPUs %d and %d", p.Policy, a.ID, b.ID)
		}
	}
}

// Machines like EPYC, whole and in parts, with complexes of odd numbers of cores, from every
// CPU at which placements may begin.
func TestPlacementsOfEPYC(t *testing.T) {
	for _, tt := range []struct {
		shape [5]int
		first int
		has   string
	}{
		{[5]int{1, 1, 8, 8, 2}, 8, "local spread remote l3 across-l3"},
		{[5]int{1, 1, 16, 4, 1}, 16, "local spread remote l3 across-l3"},
		{[5]int{2, 4, 2, 3, 2}, 16, "local spread remote l3 across-l3 across-nodes across-packages farthest"},
		{[5]int{2, 4, 1, 2, 1}, 8, "local spread remote l3 across-nodes across-packages farthest"},
		{[5]int{1, 4, 1, 1, 2}, 4, "local spread remote across-nodes farthest"},
	} {
		m := numatest.EPYC(tt.shape[0], tt.shape[1], tt.shape[2], tt.shape[3], tt.shape[4])
		var has []string
		for _, p := range numa.Policies {
			if m.Has(p) {
				has = append(has, string(p))
			}
		}
		if got := strings.Join(has, " "); got != tt.has {
			t.Errorf("%v: %s, want %s", tt.shape, got, tt.has)
		}
		if got := len(m.FirstCPUs()); got != tt.first {
			t.Errorf("%v: %d first CPUs, want %d", tt.shape, got, tt.first)
		}
		checkPlacements(t, m)
		part := *m
		part.Allowed = nil
		for i, cpu := range m.Allowed {
			if i%5 != 2 {
				part.Allowed = append(part.Allowed, cpu)
			}
		}
		checkPlacements(t, &part)
		for _, start := range m.FirstCPUs() {
			for _, policy := range numa.Policies {
				for tau := 1; tau <= m.Allowed.Len() && m.Has(policy); tau += 7 {
					p, err := m.PlaceFrom(start, policy, tau)
					if err != nil {
						t.Fatal(err)
					}
					if p.Workers[0].ID != start {
						t.Errorf("%s from CPU %d begins at CPU %d", policy, start, p.Workers[0].ID)
					}
					checkWorkers(t, m, p, tau)
					checkCouples(t, m, p)
				}
			}
		}
	}
}

// Complexes of other sizes or caches, and nodes elsewhere or without memory, are not
// alike.
func TestFirstCPUs(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *numa.Machine)
		want   string
	}{
		"alike":              {func(*numa.Machine) {}, "[0 2 4 6]"},
		"a core less":        {func(m *numa.Machine) { m.Allowed = numa.SetOf(0, 1, 2, 4, 5, 6, 7) }, "[0 4 6]"},
		"another cache":      {func(m *numa.Machine) { m.Caches[len(m.Caches)-1].Bytes *= 2 }, "[0 2 4]"},
		"no memory":          {func(m *numa.Machine) { m.Nodes[1].MemoryBytes = 0 }, "[0 4 6]"},
		"elsewhere":          {func(m *numa.Machine) { m.Nodes[3].Distances[0] = 40 }, "[0 2 4]"},
		"another first":      {func(m *numa.Machine) { m.Nodes[0].Distances[3] = 40 }, "[0]"},
		"nothing is allowed": {func(m *numa.Machine) { m.Allowed = nil }, "[]"},
	} {
		m := numatest.EPYC(1, 4, 1, 2, 1)
		if tt.change(m); fmt.Sprint(m.FirstCPUs()) != tt.want {
			t.Errorf("%s: %v, want %s", name, m.FirstCPUs(), tt.want)
		}
	}
}

func memory(m *numa.Machine) map[int]bool {
	nodes := make(map[int]bool)
	for _, node := range m.Nodes {
		if node.MemoryBytes > 0 && !node.Forbidden {
			nodes[node.ID] = true
		}
	}
	return nodes
}

func TestWorkerJSON(t *testing.T) {
	p, err := small().Place(numa.Remote, 2)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p.Workers[0])
	want := `{"cpu":0,"core":0,"thread":0,"package":0,"node":0,"user_node":0,"intermediate_node":4,"distance":30}`
	if err != nil || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
}
