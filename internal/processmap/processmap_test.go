package processmap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// two is a machine of two packages of four cores with a shared L3.
func two() *numa.Machine {
	return numatest.Shape{Packages: 2, Nodes: 2, L3s: 2, Cores: 8, Threads: 1, L3: 8 << 20, L2: 1 << 20, Memory: 8 << 30}.Machine()
}

// swept is a parameter file in which a transfer of m bytes takes m/10·(1 + share·(τ−1)) ns, times
// `farther` for each farther level.
func swept(t testing.TB, m *numa.Machine, share, farther float64) *params.File {
	t.Helper()
	n := m.Allowed.Len()
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true,
		Plan: params.Plan{Setups: []string{params.Ring}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}}
	f.Provenance.Levels = m.Levels(m.Allowed)
	for i, policy := range []numa.Policy{numa.Local, numa.AcrossNodes, numa.AcrossPackages} {
		if !m.Has(policy) {
			continue
		}
		p := must.Get(m.Place(policy, n))
		f.Placements, f.Plan.Policies = append(f.Placements, p), append(f.Plan.Policies, policy)
		for _, size := range []int{1, 1024, 8192, 65536, 1 << 20} {
			for tau := 1; tau <= n; tau++ {
				ns := float64(size) / 10 * (1 + share*float64(tau-1)) * math.Pow(farther, float64(i))
				f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: policy, Tau: tau, Bytes: size},
					Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 1}, Samples: []params.Sample{}})
			}
		}
	}
	return f
}

func pattern(name string, p int) *comm.Matrix { return must.Get(comm.Lookup(name).Matrix(p, 64<<10)) }

func run(t testing.TB, r Request) *Result {
	t.Helper()
	if r.Methods == nil {
		r.Methods = MethodNames()
	}
	r.Time = cmp.Or(r.Time, time.Minute) // more than small programs need
	result := must.Get(Run(r))
	for _, m := range result.Mappings {
		check.Need(t, len(lists.Unique(m.Places)) == len(m.Places), "%s: two processes on a place of %v", m.Method, m.Places)
	}
	return result
}

func topology(m *numa.Machine, nodes int) *Machine { return must.Get(OfTopology(m, "test", nodes)) }

// With a topology alone, swaps end when no exchange has fewer hop-bytes, and es is never beaten.
func TestTopologyAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	for range 8 {
		x, _ := comm.New(7)
		for range 20 {
			_ = x.Add(random.IntN(7), random.IntN(7), random.Int64N(1000)+1, 1)
		}
		r := run(t, Request{Matrix: x, Machine: topology(two(), 1)})
		es, swaps := r.Mapping(ES), r.Mapping(Swaps)
		check.True(t, es.HopBytes <= swaps.HopBytes && swaps.LocalBest && swaps.Seconds == nil,
			"es %d, swaps %d hop-bytes", es.HopBytes, swaps.HopBytes)
		for _, m := range r.Mappings {
			check.True(t, swaps.HopBytes <= m.HopBytes || m.Method == ES, "swaps has %d hop-bytes, %s %d", swaps.HopBytes, m.Method, m.HopBytes)
		}
	}
}

// A warning says that cores of different kinds count alike.
func TestMixedCores(t *testing.T) {
	x, _ := comm.New(2)
	m := two()
	for _, want := range []int{0, 1} {
		check.Equal(t, len(run(t, Request{Matrix: x, Machine: topology(m, 1), Methods: []string{Block}}).Warnings), want, "%d kinds", len(m.Kinds))
		m.Kinds = []numa.Kind{{Name: "core"}, {Name: "atom"}}
	}
}

func modelOf(t testing.TB, f *params.File, nodes int, choice model.Choice) (*Machine, *Model) {
	t.Helper()
	p := must.Get(model.NewPredictor(f, choice))
	machine, places, err := OfFile(f, p.Placement, "test", nodes)
	must.Do(err)
	return machine, NewModel(f, p, places)
}

// slow is two nodes with a network of these times.
func slow(table *params.Table) *model.Cluster {
	return &model.Cluster{Nodes: 2, Network: &model.Network{Network: params.Network{Name: "slow"}, Table: table}}
}

// The incremental cost of swaps equals the predicted cost of its mapping, and no method has a lower one.
func TestSwapsAddUp(t *testing.T) {
	machine, of := modelOf(t, swept(t, two(), 0.5, 3), 1, model.Choice{})
	for _, name := range []string{"transpose", "grid2d", "random", "ring", "ep"} {
		p := map[bool]int{true: 4, false: 8}[name == "transpose"]
		x := pattern(name, p)
		program := must.Get(newProgram(x, machine, of))
		check.Need(t, !program.alike && program.known, "no levels")
		r := run(t, Request{Matrix: x, Machine: machine, Model: of})
		swaps := r.Mapping(Swaps)
		s := newSwaps(machine, x, program)
		s.begin(r.Mapping(Cyclic).Places)
		want := *r.Mapping(Cyclic).Seconds
		check.Near(t, s.seconds, want, 1e-9*want, "%s, cyclic: s in the search", name)
		random := rand.New(rand.NewPCG(4, 5))
		for range 300 {
			s.exchange(random.IntN(p), random.IntN(machine.Places()))
		}
		moved := Mapping{Places: s.at, Levels: make([]LevelCost, len(machine.Levels))}
		must.Do(program.cost(&moved))
		want = *moved.Seconds
		check.Near(t, s.seconds, want, 1e-9*want, "%s, after exchanges: s in the search", name)
		sum := lists.Sum(swaps.Levels, func(l LevelCost) float64 { return l.Seconds })
		check.Near(t, sum, *swaps.Seconds, 1e-9*sum, "%s: the times of levels, s", name)
		for _, other := range r.Mappings {
			check.AtMost(t, *swaps.Seconds, *other.Seconds*(1+1e-9), "%s: s of swaps beside %s", name, other.Method)
		}
	}
}

// Separate pairs of processes have equal hop-bytes on one node and on two, but contention on one, which
// only the prediction sees.
func TestConcurrencyCounts(t *testing.T) {
	f := swept(t, two(), 2, 1.1)
	table := &params.Table{Transfers: params.Curve{Sizes: []int{1, 1 << 20}, Taus: []int{1, 2}, Times: [][]float64{{1e-5, 2e-5}, {1, 2}}}, Overheads: []float64{1e-5, 1e-5}}
	machine, of := modelOf(t, f, 2, model.Choice{Cluster: slow(table)})
	x, _ := comm.New(8)
	for i := range 8 {
		must.Do(x.Add(i, (i+4)%8, 64<<10, 1))
	}
	r := run(t, Request{Matrix: x, Machine: machine, Model: of})
	es, swaps := r.Mapping(ES), r.Mapping(Swaps)
	check.True(t, es.HopBytes == swaps.HopBytes && *swaps.Seconds <= 0.6**es.Seconds && r.Best != ES,
		"es: %d hop-bytes, %v s; swaps: %d hop-bytes, %v s; best is %s", es.HopBytes, *es.Seconds, swaps.HopBytes, *swaps.Seconds, r.Best)
	check.True(t, !swaps.Extrapolated, "what was measured is extrapolated")
}

// With an MPI library's protocols, too, messages between nodes cost what the network takes.
func TestLibraryOnNodes(t *testing.T) {
	f := swept(t, two(), 0.5, 3)
	table := &params.Table{Transfers: params.Curve{Sizes: []int{1, 1 << 20}, Taus: []int{1, 8}, Times: [][]float64{{1, 2}, {1, 2}}}, Overheads: []float64{1, 1}}
	library := must.Get(mpi.Named("openmpi4-none"))
	machine, of := modelOf(t, f, 2, model.Choice{As: library, Cluster: slow(table)})
	x, _ := comm.New(4)
	must.Do(x.Add(0, 1, 64<<10, 1))
	r := run(t, Request{Matrix: x, Machine: machine, Model: of})
	block, cyclic := *r.Mapping(Block).Seconds, *r.Mapping(Cyclic).Seconds
	check.True(t, block <= 0.1 && cyclic >= 1, "a message within a node: %v s; through a network of 1 s a message: %v s", block, cyclic)
}

// A negative time, by noise in o(m) of exchanges, is an error.
func TestNegative(t *testing.T) {
	f := swept(t, two(), 2, 1.1)
	for i, c := range f.Cells {
		if c.Bytes == 64<<10 {
			f.Cells[i].Time = c.Time.Scale(100)
		}
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.ExchangeCell, Placement: numa.Local, Tau: 2, Bytes: 64 << 10}, Time: fit.Estimate{Center: 1, Lo: 1, Hi: 1, N: 1}})
	machine, m := modelOf(t, f, 1, model.Choice{})
	contains.Error(t, must.Err(Run(Request{Matrix: pattern("ring", 2), Machine: machine, Model: m, Methods: MethodNames()})), "below 0")
}

func TestLaunchers(t *testing.T) {
	machine := topology(two(), 2)
	r := run(t, Request{Matrix: pattern("grid2d", 16), Machine: machine})
	m := r.Mapping(Block)
	for _, tt := range []struct{ launcher, want, says string }{
		{"openmpi", "rank 0=+n0 slot=0:0\nrank 1=+n0 slot=0:1\nrank 2=+n0 slot=0:2\nrank 3=+n0 slot=0:3\nrank 4=+n0 slot=1:0\n", ""},
		{"mpich", "-bind-to user:0,1,2,3,4,5,6,7\n", ""},
		{"slurm", "--distribution=arbitrary --cpu-bind=map_cpu:0,1,2,3,4,5,6,7\n", ""},
		{"hosts", "", "the nodes have no names"},
		{"other", "", `unknown launcher "other": take one of openmpi, mpich, slurm, hosts`},
	} {
		var b bytes.Buffer
		err := r.WriteFor(tt.launcher, m, &b)
		contains.Error(t, err, tt.says)
		check.True(t, strings.HasPrefix(b.String(), tt.want), "%s:\n%s", tt.launcher, b.String())
	}
	other := *m
	other.Places = slices.Clone(m.Places)
	other.Places[0], other.Places[1] = other.Places[1], other.Places[0]
	contains.Error(t, r.WriteFor("mpich", &other, &bytes.Buffer{}), "one list for all nodes")
	f := swept(t, two(), 1, 1)
	f.Provenance.Allowed = two().Allowed
	for workers, says := range map[int]string{8: "", 3: "a rankfile counts all cores"} {
		f.Placements[0] = must.Get(two().Place(numa.Local, workers))
		machine, _, err := OfFile(f, numa.Local, "f", 1)
		must.Do(err)
		r := run(t, Request{Matrix: pattern("ring", 2), Machine: machine})
		contains.Error(t, r.WriteFor("openmpi", r.Mapping(Block), &bytes.Buffer{}), says)
	}
	r.Hosts = []string{"a", "b"}
	for _, launcher := range []string{"openmpi", "hosts"} { // package mapping reads both
		var b bytes.Buffer
		must.Do(r.WriteFor(launcher, m, &b))
		on := must.Get(must.Get(mapping.Read(&b, "f")).Map(16, 2))
		for process := range 16 {
			node, _ := r.Place(m, process)
			check.Equal(t, on.Node(process), node, "%s: node of process %d", launcher, process)
		}
	}
}

// Logical numbers are hwloc's: cores in the order of the tree, within their package.
func TestLogicalNumbers(t *testing.T) {
	all := numa.SetOf(lists.Indices(8)...)
	m := &numa.Machine{Allowed: all, Nodes: []numa.Node{{ID: 0, CPUs: all, MemoryBytes: 1 << 30}}}
	// Packages alternate, and cores four apart share a cache.
	m.CPUs = lists.Map(all, func(id int) numa.CPU { return numa.CPU{ID: id, Core: id, Package: 3 - id%2} })
	m.Caches = lists.Map(all[:4], func(first int) numa.Cache {
		return numa.Cache{Level: 2, Type: "Unified", Bytes: 1 << 20, CPUs: numa.SetOf(first, first+4)}
	})
	machine := topology(m, 1)
	want := []Core{{0, 0, 0}, {1, 1, 0}, {2, 0, 2}, {3, 1, 2}, {4, 0, 1}, {5, 1, 1}, {6, 0, 3}, {7, 1, 3}}
	check.Slices(t, machine.CPUs, want, "CPUs")
	// hwloc knows nothing of an affinity, but leaves out what a cpuset does.
	m.Allowed = numa.SetOf(4, 5, 7)
	check.Slices(t, topology(m, 1).CPUs, []Core{want[4], want[5], want[7]}, "of some")
	m.Confined = m.Allowed
	check.Slices(t, topology(m, 1).CPUs, []Core{{4, 0, 0}, {5, 1, 0}, {7, 1, 1}}, "of a cpuset")
	// Packages of a node follow each other.
	m.Allowed, m.Confined, m.Caches, m.Nodes = all, nil, nil, nil
	for i := range m.CPUs {
		m.CPUs[i].Package, m.CPUs[i].Node = i%4, i%2
	}
	for node := range 2 {
		m.Nodes = append(m.Nodes, numa.Node{ID: node, CPUs: numa.SetOf(node, node+2, node+4, node+6), MemoryBytes: 1 << 30, Distances: map[int]int{node: 10, 1 - node: 20}})
	}
	check.Slices(t, topology(m, 1).CPUs, []Core{{0, 0, 0}, {1, 2, 0}, {2, 1, 0}, {3, 3, 0}, {4, 0, 1}, {5, 2, 1}, {6, 1, 1}, {7, 3, 1}}, "of nodes of two packages")
}

func TestFaults(t *testing.T) {
	_, many := Run(Request{Matrix: pattern("ring", 9), Machine: topology(two(), 1), Methods: MethodNames()})
	_, long := Run(Request{Matrix: pattern("ring", 24), Machine: topology(two(), 3), Methods: []string{ES}})
	_, _, unknown := OfFile(&params.File{}, numa.Local, "f", 1)
	for says, err := range map[string]error{"9 processes and 8 cores": many, "too many mappings": long, "does not say what its CPUs share": unknown} {
		contains.Error(t, err, says)
	}
}

// Read accepts only valid results.
func FuzzReadDocument(f *testing.F) {
	seed := must.Get(json.Marshal(run(f, Request{Matrix: pattern("grid2d", 6), Machine: topology(two(), 1)})))
	f.Add(seed)
	f.Add([]byte(`{"processes":1,"sent":[null],"nodes":1,"cores":[{}],"best":"b","mappings":[{"method":"b","places":[0]}],"groups":[[[0]]]}`))
	for _, damage := range []string{`"places":[`, `"to":`, `"groups":[[[`, `"nodes":`, `"processes":`} {
		f.Add([]byte(strings.Replace(string(seed), damage, damage+"9", 1)))
		f.Add([]byte(strings.Replace(string(seed), damage, damage+"-1,", 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data), "f")
		if err != nil {
			check.True(t, strings.HasPrefix(err.Error(), "f is no document of taulop map") && !strings.Contains(err.Error(), "\n"), "%q", err)
			return
		}
		for process := range r.Processes {
			node, _ := r.Place(r.Mapping(r.Best), process)
			check.True(t, node >= 0 && node < r.Nodes, "process %d is on node %d", process, node)
		}
	})
}
