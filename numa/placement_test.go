package numa_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/numa"
)

// small has two nodes with two cores of two threads each, and a third node with memory only.
func small() *numa.Machine {
	m := &numa.Machine{Allowed: numa.SetOf(0, 1, 2, 3, 4, 5, 6, 7)}
	m.CPUs = lists.Map(m.Allowed, func(id int) numa.CPU {
		return numa.CPU{ID: id, Core: id % 4, Thread: id / 4, Package: id % 4 / 2, Node: id % 4 / 2}
	})
	m.Nodes = []numa.Node{
		{ID: 0, CPUs: numa.SetOf(0, 1, 4, 5), MemoryBytes: 1 << 30, Distances: map[int]int{0: 10, 1: 21, 4: 30}},
		{ID: 1, CPUs: numa.SetOf(2, 3, 6, 7), MemoryBytes: 1 << 30, Distances: map[int]int{0: 21, 1: 10, 4: 17}},
		{ID: 4, MemoryBytes: 1 << 30, Distances: map[int]int{0: 30, 1: 17, 4: 10}},
	}
	return m
}

// places writes each worker as CPU/user node/intermediate node.
func places(p numa.Placement) string {
	all := lists.Map(p.Workers, func(w numa.Worker) string { return fmt.Sprintf("%d/%d/%d", w.ID, w.UserNode, w.IntermediateNode) })
	return strings.Join(all, " ")
}

func TestPlace(t *testing.T) {
	as := func(change func(m *numa.Machine)) *numa.Machine { m := small(); change(m); return m }
	narrow := as(func(m *numa.Machine) { m.Allowed = numa.SetOf(3, 4, 7) })
	unknown, barred := small(), small()
	for i := range unknown.Nodes {
		unknown.Nodes[i].Distances, unknown.Nodes[i].MemoryBytes = nil, 0
		barred.Nodes[i].Forbidden = true
	}
	hybrid := as(func(m *numa.Machine) { // node 0 is slow
		m.Kinds = []numa.Kind{{Name: "fast", CPUs: m.Nodes[1].CPUs}, {Name: "slow", CPUs: m.Nodes[0].CPUs}}
	})
	mixed := as(func(m *numa.Machine) { // so is its first core
		m.Kinds = []numa.Kind{{Name: "fast", CPUs: numa.SetOf(1, 2, 3, 5, 6, 7)}, {Name: "slow", CPUs: numa.SetOf(0, 4)}}
	})
	try := func(name string, machine *numa.Machine, policy numa.Policy, cpus []int, tau int, want string) { // want: or a part of the error
		t.Helper()
		place := func() (numa.Placement, error) { return machine.Place(policy, tau) }
		if cpus != nil {
			place = func() (numa.Placement, error) { return machine.PlaceOn(cpus, tau) }
		}
		p, err := place()
		got := places(p)
		if p.Oversubscribed {
			got += " oversubscribed"
		}
		check.True(t, (err == nil || strings.Contains(err.Error(), want)) && (err != nil || got == want),
			"%s: got %s, %v; want %s", name, got, err, want)
	}
	try("local fills cores before siblings", small(), numa.Local, nil, 6, "0/0/0 1/0/0 2/1/1 3/1/1 4/0/0 5/0/0")
	try("spread deals", small(), numa.Spread, nil, 6, "0/0/0 2/1/1 1/0/0 3/1/1 4/0/0 6/1/1")
	try("remote takes memory-only nodes", small(), numa.Remote, nil, 3, "0/0/4 1/0/4 2/1/0")
	try("remote keeps to the cpuset", as(func(m *numa.Machine) { m.Nodes[2].Forbidden = true }), numa.Remote, nil, 3, "0/0/1 1/0/1 2/1/0")
	try("a node without memory borrows the nearest's", as(func(m *numa.Machine) { m.Nodes[1].MemoryBytes = 0 }), numa.Local, nil, 3, "0/0/0 1/0/0 2/4/4")
	try("only allowed CPUs, whichever sibling", narrow, numa.Local, nil, 3, "4/0/0 3/1/1 7/1/1")
	try("more workers than CPUs", narrow, numa.Spread, nil, 5, "4/0/0 3/1/1 7/1/1 4/0/0 3/1/1 oversubscribed")
	try("one kind before the other", hybrid, numa.Spread, nil, 3, "2/1/1 3/1/1 0/0/0")
	try("two nodes of a kind", mixed, numa.Farthest, nil, 4, "1/0/0 2/1/1 3/1/1 0/0/0")
	try("nothing known of memory and distances", unknown, numa.Remote, nil, 3, "0/0/1 1/0/1 2/1/4")
	try("CPUs in their order", small(), numa.List, []int{6, 0, 1}, 2, "6/1/1 0/0/0")
	try("CPUs in turns", small(), numa.List, []int{6, 0}, 4, "6/1/1 0/0/0 6/1/1 0/0/0 oversubscribed")

	try("none", small(), numa.Local, nil, 0, "ask for at least 1")
	try("fewer than none", small(), numa.Spread, nil, -3, "-3 workers")
	try("too many", small(), numa.Local, nil, 1_000_000_000, "ask for at most 1024")
	try("too many in turns", narrow, numa.List, []int{3}, 1025, "ask for at most 1024")
	try("no such policy", small(), "near", nil, 2, `no placement "near": choose local, spread, remote, l3, `)
	try("policy cpus without", small(), numa.List, nil, 2, "needs the CPUs to use")
	try("one node a package", small(), numa.AcrossNodes, nil, 2, "level that this machine does not have")
	try("one package of the first kind", hybrid, numa.AcrossPackages, nil, 2, "level that this machine does not have")
	try("one node of the first kind", hybrid, numa.Farthest, nil, 2, "level that this machine does not have")
	try("no caches", small(), numa.L3, nil, 2, "level that this machine does not have")
	try("unknown caches", small(), numa.AcrossL3, nil, 2, "level that this machine does not have")
	try("no memory", barred, numa.Local, nil, 2, "Mems_allowed")
	try("offline", narrow, numa.List, []int{3, 9}, 2, "CPU 9 does not exist or is offline: choose from 3-4,7")
	try("not allowed", narrow, numa.List, []int{3, 2}, 2, "CPU 2 may not be used by this process (affinity or cpuset): choose from 3-4,7")
	try("no CPUs", narrow, numa.List, []int{}, 2, "choose from 3-4,7")
	contains.Error(t, small().OtherMemory(must.Get(small().Place(numa.Remote, 2))), "NUMA node 4, where intermediate buffers lie, has no CPUs")
	check.NoError(t, small().OtherMemory(must.Get(small().Place(numa.Local, 2))), "local")
	text := must.Get(json.Marshal(must.Get(small().Place(numa.Remote, 2)).Workers[0]))
	check.Equal(t, string(text), `{"cpu":0,"core":0,"thread":0,"package":0,"node":0,"user_node":0,"intermediate_node":4,"distance":30}`, "a worker")
}

// fleet is machines of many shapes, some with slow cores, and snapshots; each again without a third of its CPUs.
func fleet(t *testing.T) map[string]*numa.Machine {
	all := map[string]*numa.Machine{"small": small()}
	for _, s := range [][5]int{{1, 1, 8, 8, 2}, {1, 1, 16, 4, 1}, {2, 4, 2, 3, 2}, {2, 4, 1, 2, 1}, {1, 4, 1, 1, 2}} {
		all[fmt.Sprint("EPYC of ", s)] = numatest.EPYC(s[0], s[1], s[2], s[3], s[4])
	}
	for _, s := range numatest.Shapes {
		if s.Cores > 128 && os.Getenv("TAULOP_LONG") == "" { // seconds each
			continue
		}
		all[s.String()] = s.Machine()
		if s.Cores > 128 {
			continue
		}
		hybrid := s.Machine() // the first half of each package's cores is slow
		hybrid.Kinds = []numa.Kind{{Name: "fast"}, {Name: "slow"}}
		for _, c := range hybrid.CPUs {
			kind := &hybrid.Kinds[0]
			if c.Core%(s.Cores/s.Packages) < s.Cores/s.Packages/2 {
				kind = &hybrid.Kinds[1]
			}
			kind.CPUs = append(kind.CPUs, c.ID)
		}
		all["hybrid, "+s.String()] = hybrid
	}
	if snapshot.Available() && !testing.Short() {
		for _, name := range snapshot.Names(t) {
			all[name] = numa.Snapshot(t, name)
		}
	}
	for name, m := range maps.Clone(all) {
		part := *m
		part.Allowed = nil
		for i, cpu := range m.Allowed {
			if i%3 != 1 {
				part.Allowed = append(part.Allowed, cpu)
			}
		}
		all["part of "+name] = &part
	}
	return all
}

// units are a worker's group under a placement, whose workers follow each other, and its unit, over
// which workers are dealt; unit is nil where groups are filled.
func units(m *numa.Machine, policy numa.Policy) (group, unit func(numa.Worker) string) {
	all := func(numa.Worker) string { return "" }
	node := func(w numa.Worker) string { return fmt.Sprint("node ", w.Node) }
	pack := func(w numa.Worker) string { return fmt.Sprint("package ", w.Package) }
	// By CPU: the CPUs that share its last-level cache.
	complexes := lists.ToMap(m.CPUs, func(c numa.CPU) (int, string) { return c.ID, fmt.Sprint("CPU ", c.ID) })
	for _, c := range m.Caches { // levels rise
		for _, cpu := range c.CPUs {
			if c.Type != "Instruction" && c.Level <= 3 {
				complexes[cpu] = c.CPUs.String()
			}
		}
	}
	l3 := func(w numa.Worker) string { return fmt.Sprint(w.Node, " ", complexes[w.ID]) }
	switch policy {
	case numa.L3:
		return l3, nil
	case numa.AcrossL3:
		return func(w numa.Worker) string { return node(w) + pack(w) }, l3
	case numa.AcrossNodes:
		return pack, node
	case numa.AcrossPackages:
		return all, pack
	case numa.Spread:
		return all, node
	}
	return node, nil
}

// kindOf is the kind of a CPU; "" if all are alike.
func kindOf(m *numa.Machine, cpu int) string {
	k := lists.Find(m.Kinds, func(k numa.Kind) bool { return k.CPUs.Contains(cpu) })
	return cmp.Or(k, &numa.Kind{}).Name
}

// TestPlacements checks the properties of every placement, from all CPUs at which it may begin.
func TestPlacements(t *testing.T) {
	for name, m := range fleet(t) {
		n := m.Allowed.Len()
		workers, cores := m.Concurrency(), m.Count().Cores
		check.True(t, workers >= 1 && workers <= cores && (len(m.Kinds) != 0 || m.Quota != 0 || workers == cores),
			"%s: %d workers by default on %d cores", name, workers, cores)
		for _, policy := range numa.Policies {
			for i, start := range append(m.FirstCPUs(), -1) {
				p, err := m.PlaceFrom(start, policy, n+3)
				if err != nil {
					check.True(t, !m.Has(policy) && errors.Is(err, numa.ErrNoSuchLevel), "%s: %v", name, err)
					break
				}
				if start >= 0 && i%5 > 0 {
					continue
				}
				t.Run(fmt.Sprint(name, " ", policy, " from ", start), func(t *testing.T) {
					check.True(t, start < 0 || p.Workers[0].ID == start || strings.HasPrefix(name, "part"), "it begins at CPU %d", p.Workers[0].ID)
					checkWorkers(t, m, p)
					checkOrder(t, m, p, start)
					for _, tau := range []int{1, 2, 3, 4, 7, 16, n / 2, workers, n, n + 3} {
						if tau < 1 || tau > n+3 {
							continue
						}
						fewer, err := m.PlaceFrom(start, policy, tau)
						check.Need(t, err == nil && slices.Equal(fewer.Workers, p.Workers[:tau]) && fewer.Oversubscribed == (tau > n),
							"%d workers are not where the first of %d are: %v", tau, n+3, err)
						if tau <= min(n, 96) {
							checkCouples(t, m, fewer)
						}
					}
				})
			}
		}
	}
}

// checkWorkers: workers are on allowed CPUs, one on each core before a second, the default number of
// them on one kind of cores, and their buffers are on the policy's nodes.
func checkWorkers(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	memory := lists.ToMap(m.Nodes, func(n numa.Node) (int, bool) { return n.ID, n.MemoryBytes > 0 && !n.Forbidden })
	cores, all, first := make(map[int]bool), m.Count().Cores, m.Concurrency()
	used, kinds := make(map[int]bool), make(map[string]bool)
	for i, w := range p.Workers {
		cpu, online := m.CPU(w.ID)
		check.True(t, online && cpu == w.CPU && m.Allowed.Contains(w.ID), "worker %d is on %+v, which is not allowed or not what the machine has", i, w.CPU)
		check.True(t, i >= m.Allowed.Len() || !used[w.ID], "CPU %d has two workers while others have none", w.ID)
		check.True(t, !cores[w.Core] || len(cores) >= all, "core %d has a second worker while only %d of %d cores have one", w.Core, len(cores), all)
		used[w.ID], cores[w.Core] = true, true
		if i < first {
			kinds[kindOf(m, w.ID)] = true
		}
		check.True(t, (!memory[w.Node] || w.UserNode == w.Node) && memory[w.UserNode] && memory[w.IntermediateNode],
			"worker %d on node %d has buffers on nodes %d and %d", i, w.Node, w.UserNode, w.IntermediateNode)
		check.Equal(t, w.Distance, m.Distance(w.Node, w.IntermediateNode), "worker %d: distance", i)
		for node := range memory {
			check.True(t, (p.Policy != numa.Remote || !memory[node] || m.Distance(w.Node, node) <= w.Distance) && (p.Policy == numa.Remote || w.IntermediateNode == w.UserNode),
				"worker %d on node %d writes to node %d", i, w.Node, w.IntermediateNode)
		}
	}
	check.True(t, m.Quota != 0 || len(kinds) == 1, "the default number of workers is on cores of kinds %v", kinds)
}

// checkOrder: among equal siblings and kinds of cores a group's workers follow each other and are
// dealt over its units. Without a start local fills nodes in the order of their numbers.
func checkOrder(t *testing.T, m *numa.Machine, p numa.Placement, start int) {
	t.Helper()
	if p.Policy == numa.Farthest {
		if a, b := p.Workers[0], p.Workers[1]; len(m.CPUs) > 1 {
			may := func(n numa.Node) bool { // a worker of the first kind be there
				return slices.ContainsFunc(n.CPUs.And(m.Allowed), func(cpu int) bool { return kindOf(m, cpu) == kindOf(m, a.ID) })
			}
			for _, n := range m.Nodes {
				for _, o := range m.Nodes {
					check.True(t, !may(n) || !may(o) || m.Distance(n.ID, o.ID) <= max(m.Distance(a.Node, b.Node), m.Distance(b.Node, a.Node)),
						"nodes %d and %d, and %d and %d are farther apart", a.Node, b.Node, n.ID, o.ID)
				}
			}
		}
		return
	}
	group, unit := units(m, p.Policy)
	turn := make(map[int]int)
	done, round := make(map[string]bool), make(map[string]int)
	last, now, node, first := "", 0, -1, m.Concurrency()
	for i, w := range p.Workers[:m.Allowed.Len()] {
		g := fmt.Sprint(turn[w.Core], kindOf(m, w.ID), " ", group(w))
		turn[w.Core]++
		if g != last {
			check.True(t, !done[g], "worker %d is in group %q again, after %q", i, g, last)
			done[g], last, now = true, g, 0
		}
		if unit != nil {
			u := g + unit(w)
			check.True(t, round[u] >= now, "worker %d is in unit %q, whose turn is over", i, u)
			now = round[u]
			round[u]++
		} else if p.Policy != numa.L3 && start < 0 && i < first && w.Node < node {
			t.Errorf("worker %d is on node %d, after node %d", i, w.Node, node)
		}
		node = w.Node
	}
	a, b := p.Workers[0], p.Workers[1]
	check.True(t, p.Policy == numa.Local || p.Policy == numa.Remote || p.Policy == numa.Spread || group(a) == group(b) && (unit == nil || unit(a) != unit(b)),
		"the first two workers are on CPUs %d and %d", a.ID, b.ID)
}

// checkCouples: couples have the same workers, and as many couples as possible are in one group, in
// two of its units where it has units.
func checkCouples(t *testing.T, m *numa.Machine, p numa.Placement) {
	t.Helper()
	byCPU := func(a, b numa.Worker) int { return a.ID - b.ID }
	couples := m.Couple(p)
	check.Need(t, slices.Equal(slices.SortedFunc(slices.Values(p.Workers), byCPU), slices.SortedFunc(slices.Values(couples.Workers), byCPU)),
		"τ = %d: couples have other workers: %s", len(p.Workers), places(couples))
	if p.Policy == numa.Farthest {
		return
	}
	group, unit := units(m, p.Policy)
	if unit == nil {
		unit = func(w numa.Worker) string { return fmt.Sprint(w.ID) }
	}
	workers, perUnit := make(map[string]int), make(map[string]map[string]int) // by group
	for _, w := range p.Workers {
		g := group(w)
		if perUnit[g] == nil {
			perUnit[g] = make(map[string]int)
		}
		workers[g]++
		perUnit[g][unit(w)]++
	}
	possible, are := 0, 0
	for g, n := range workers {
		most := slices.Max(slices.Collect(maps.Values(perUnit[g])))
		possible += min(n/2, n-most)
	}
	for i := 1; i < len(p.Workers); i += 2 {
		if a, b := couples.Workers[i-1], couples.Workers[i]; group(a) == group(b) && unit(a) != unit(b) {
			are++
		}
	}
	check.True(t, are >= possible, "τ = %d: %d couples are neighbours, %d can be: %s", len(p.Workers), are, possible, places(couples))
}

// The placements of machines like EPYC, and their number of CPUs at which placements may begin.
func TestPlacementsOfEPYC(t *testing.T) {
	try := func(m *numa.Machine, first int, policies string) {
		t.Helper()
		has := slices.DeleteFunc(slices.Clone(numa.Policies), func(p numa.Policy) bool { return !m.Has(p) })
		check.Equal(t, fmt.Sprint(has), policies, "placements of %v", m.Count())
		check.Equal(t, len(m.FirstCPUs()), first, "first CPUs of %v", m.Count())
	}
	try(numatest.EPYC(1, 1, 8, 8, 2), 8, "[local spread remote l3 across-l3]")
	try(numatest.EPYC(2, 4, 2, 3, 2), 16, "[local spread remote l3 across-l3 across-nodes across-packages farthest]")
	try(numatest.EPYC(2, 4, 1, 2, 1), 8, "[local spread remote l3 across-nodes across-packages farthest]")
	try(numatest.EPYC(1, 4, 1, 1, 2), 4, "[local spread remote across-nodes farthest]")
}

// Complexes with other sizes or caches, and nodes with other distances or without memory, are different.
func TestFirstCPUs(t *testing.T) {
	try := func(name, want string, change func(m *numa.Machine)) {
		t.Helper()
		m := numatest.EPYC(1, 4, 1, 2, 1)
		change(m)
		check.Equal(t, fmt.Sprint(m.FirstCPUs()), want, "%s", name)
	}
	try("alike", "[0 2 4 6]", func(*numa.Machine) {})
	try("a core less", "[0 4 6]", func(m *numa.Machine) { m.Allowed = numa.SetOf(0, 1, 2, 4, 5, 6, 7) })
	try("another cache", "[0 2 4]", func(m *numa.Machine) { m.Caches[len(m.Caches)-1].Bytes *= 2 })
	try("no memory", "[0 4 6]", func(m *numa.Machine) { m.Nodes[1].MemoryBytes = 0 })
	try("elsewhere", "[0 2 4]", func(m *numa.Machine) { m.Nodes[3].Distances[0] = 40 })
	try("another first", "[0]", func(m *numa.Machine) { m.Nodes[0].Distances[3] = 40 })
	try("nothing is allowed", "[]", func(m *numa.Machine) { m.Allowed = nil })
	check.Equal(t, fmt.Sprint(small().FirstCPUs()), "[0 1]", "without caches, where a sibling is no start") // a sibling is no start
}

// Low-power cores without the L3 of the others share an L2, which is their last-level cache.
func TestCoresWithoutL3(t *testing.T) {
	m := numatest.EPYC(1, 1, 1, 6, 1)
	for i, cache := range m.Caches {
		switch {
		case cache.Level == 2 && cache.CPUs[0] == 4:
			m.Caches[i].CPUs = numa.SetOf(4, 5)
		case cache.Level == 2 && cache.CPUs[0] == 5:
			m.Caches[i].CPUs = nil
		case cache.Level == 3:
			m.Caches[i].CPUs = numa.SetOf(0, 1, 2, 3)
		}
	}
	check.Equal(t, places(must.Get(m.Place(numa.AcrossL3, 6))), "0/0/0 4/0/0 1/0/0 5/0/0 2/0/0 3/0/0", "places")
}

// The default number of workers, on real machines and with quotas.
func TestConcurrency(t *testing.T) {
	for name, want := range map[string]int{"20em64t-hybrid-1p6c2t+2ca4co1t": 6, "nvidia-dgx-gb10": 10, "256ppc-8n8s4t": 64} {
		if !snapshot.Available() || testing.Short() {
			break
		}
		check.Equal(t, numa.Snapshot(t, name).Concurrency(), want, "%s: workers", name)
	}
	m := numatest.EPYC(1, 1, 1, 8, 2)
	for quota, want := range map[float64]int{0: 8, 0.5: 1, 1: 1, 4.9: 4, 8: 8, 16: 8} {
		m.Quota = quota
		check.Equal(t, m.Concurrency(), want, "workers with a quota of %g", quota)
	}
	// A single fastest core has no concurrency.
	phone := numatest.EPYC(1, 1, 1, 8, 1)
	phone.Kinds = []numa.Kind{{Name: "prime", CPUs: numa.SetOf(7)}, {Name: "big", CPUs: numa.SetOf(4, 5, 6)}, {Name: "little", CPUs: numa.SetOf(0, 1, 2, 3)}}
	p, err := phone.Place(numa.Local, 5)
	got := places(p)
	check.True(t, err == nil && phone.Concurrency() == 3 && got == "4/0/0 5/0/0 6/0/0 7/0/0 0/0/0", "%d workers, placed %s, %v", phone.Concurrency(), got, err)
}
