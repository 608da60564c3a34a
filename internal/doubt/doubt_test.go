package doubt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Eq. (8) does not compare an isolated message with a ring off cache, which receives into another buffer.
func TestBoundsOfRingOffCache(t *testing.T) {
	for _, tt := range []struct {
		setup string
		off   bool
		want  int
	}{{params.Ring, true, 0}, {params.Ring, false, 1}, {params.Sendrecv, true, 1}} {
		f := transfers(tt.setup, tt.off, map[int]float64{1: 4000, 2: 2000})
		check.Equal(t, len(Bounds(f.Transfers())), tt.want, "%s, off cache %v", tt.setup, tt.off)
	}
}

// transfers have times in ns of two transfers by τ; one between two processes is isolated.
func transfers(setup string, off bool, times map[int]float64) *params.File {
	f := &params.File{Plan: params.Plan{Setups: []string{setup}, Policies: []numa.Policy{numa.Local}, Caches: []bool{off}}}
	for tau, ns := range times {
		k := params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, OffCache: off, Tau: tau, Bytes: 64}
		if tau == 1 {
			k.Setup = params.Isolated
		}
		f.Cells = append(f.Cells, params.Cell{Key: k, K: 1, Transfers: 2, Time: exactly(ns)})
	}
	return f
}

func exactly(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6} }

// The first two times are of metropolis. Without intervals every difference counts.
func TestBoundsOfPublishedFile(t *testing.T) {
	table := &params.Table{Transfers: params.Curve{Sizes: []int{1}, Taus: []int{1, 2, 3}, Times: [][]float64{{289.4e-9, 147.725e-9, 900e-9}}}, Overheads: []float64{0}}
	check.Slices(t, lists.Map(Bounds(params.FromText(table, nil).Transfers()), Violation.Error), []string{
		"eq. (8) is broken (published, placement published, in cache): L(1,2) = 147.72 ns is below L(1,1) = 289.4 ns, with fewer transfers at once",
		"eq. (8) is broken (published, placement published, in cache): L(1,3) = 900 ns is above 3 times L(1,1) = 289.4 ns: worse than one after the other",
	}, "Bounds")
}

// Only breaches beyond the intervals count, and none with too few samples.
func TestBoundsWithinIntervals(t *testing.T) {
	f := transfers(params.Ring, false, map[int]float64{2: 240, 4: 480})
	check.Equal(t, len(Bounds(f.Transfers())), 0, "Bounds")
	four := &f.Cells[slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Tau == 4 })] // L = 240, twice L(64,2)
	four.Time = fit.Estimate{Center: 500, Lo: 470, Hi: 520, N: 6}
	check.Equal(t, len(Bounds(f.Transfers())), 0, "within its interval")
	four.Time = fit.Estimate{Center: 500, Lo: 490, Hi: 520, N: 6}
	got := Bounds(f.Transfers())
	check.True(t, len(got) == 1 && got[0].Tau == 2 && got[0].A == 2 && got[0].Above && got[0].Many.Center == 250 && strings.Contains(got[0].Error(), "L(64,4) = 250 [245, 260] ns is above 2 times L(64,2) = 120 ns"),
		"got %v", got)
	four.Time = fit.Median([]float64{900, 901})
	check.Equal(t, len(Bounds(f.Transfers())), 0, "of two samples")
}

// Of machines of 64 cores whose L is the same at every τ, but for noise of 3 %, one in ten gets a warning at most.
// A breach of 20 % is found among as many comparisons.
func TestBoundsOfManyComparisons(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cell := func(tau int, ns float64) *params.Cell {
		times := lists.Map(lists.Indices(16), func(int) float64 { return ns * math.Exp(0.03*random.NormFloat64()) })
		return &params.Cell{Key: params.Key{Setup: params.Ring, Tau: tau}, Time: fit.Median(times)}
	}
	warned := 0
	for range 50 {
		tables := make([]params.Transfers, 24)
		for i := range tables {
			tables[i].Cells = lists.Map([]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 63, 64}, func(tau int) *params.Cell { return cell(tau, 100) })
		}
		warned += min(1, len(Bounds(tables)))
		tables[5].Cells[4] = cell(6, 80)
		got := Bounds(tables)
		check.True(t, slices.ContainsFunc(got, func(v Violation) bool { return v.A*v.Tau == 6 && !v.Above }), "no breach at τ = 6 in %v", got)
	}
	check.AtMost(t, warned, 5, "of 50 equal machines, those that break eq. (8)")
}

// Data count as in a cache if half of the launches at a placement and τ found them there, not one launch alone.
func TestInCache(t *testing.T) {
	launch := func(loads ...params.Loads) params.Launch { return params.Launch{Loads: loads} }
	memory := func(tau int) params.Loads {
		return params.Loads{Placement: numa.Local, Tau: tau, Next: 112, Flushed: 116, Cached: 4.4}
	}
	cache := func(tau int) params.Loads { l := memory(tau); l.Next = 60; return l }
	for _, tt := range []struct {
		launches []params.Launch
		want     string
	}{
		{nil, ""},
		{[]params.Launch{launch(), launch()}, ""},
		{[]params.Launch{launch(memory(1), memory(2)), launch(memory(1), cache(2)), launch(memory(2), memory(1))}, ""},
		{[]params.Launch{launch(memory(1), cache(2)), launch(cache(2), cache(1)), launch(memory(1), memory(2))},
			"in placement local, τ = 2: a cache held 50 % of the next messages' data; a read took 60 ns, from memory 116 ns"},
		{[]params.Launch{launch(cache(1), cache(2))}, "in placement local, τ = 1, and in 1 more"},
	} {
		contains.Error(t, InCache(&params.File{Launches: tt.launches}), tt.want)
	}
}

func TestUnsteady(t *testing.T) {
	// launches of a session: what an instruction took, and a flag at the beginning and the end, ns.
	type launch struct{ instruction, first, last float64 }
	steady := launch{0.055, 37, 39}
	for _, c := range []struct {
		name     string
		launches []launch
		want     string
	}{
		{"steady", []launch{steady, steady, steady, steady, steady, steady, {0.06, 45, 30}}, ""},
		{"one slow launch and one look elsewhere", []launch{steady, steady, steady, steady, steady, steady, {0.1, 37, 150}}, ""},
		{"neighbours", []launch{steady, {0.1, 37, 38}, steady, {0.1, 37, 38}, {0.098, 37, 39}, steady, steady}, "an instruction took 0.055 ns in the quickest quarter of launches and 0.1 in the slowest"},
		{"moved", []launch{steady, {0.055, 150, 152}, steady, {0.055, 37, 157}, steady, steady}, "took 39 ns in most readings of the probe, and twice as long or half in 3 of 12"},
		{"nearer", []launch{steady, {0.055, 12, 12}, steady, steady, steady, steady}, "twice as long or half in 2 of 12"},
		{"few", []launch{steady, {0.1, 150, 150}}, ""},
		{"other processors", []launch{{0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}, {0, 37, 38}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := new(params.File)
			for session := range 2 { // the first is always steady
				all := c.launches
				if session == 0 {
					all = []launch{steady, steady, steady, steady, steady, steady}
				}
				for _, l := range all {
					f.Launches = append(f.Launches, params.Launch{Session: session, Instruction: l.instruction, Probe: []params.ProbeReading{
						{Key: params.Key{Kind: params.NullCell}, NS: l.first}, {Key: params.Key{Kind: params.TransferCell}, NS: 10 * l.first}, {Key: params.Key{Kind: params.NullCell}, NS: l.last},
					}})
				}
			}
			contains.Error(t, Steady(f), c.want, "in session 2,")
		})
	}
}

// The probe's readings of workers whose samples are sorted by state give no warning, whether states alternate
// or follow each other. Readings of other workers do.
func TestSortedIsSteady(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 4} {
		f := new(params.File)
		for i := range 12 {
			flag, instruction := 60., 0.05
			if i >= 6 { // as if it rose
				flag, instruction = 240+float64(i), 0.1
			}
			f.Launches = append(f.Launches, params.Launch{Instruction: instruction, Probe: []params.ProbeReading{{Key: params.Key{Kind: params.NullCell, Setup: params.Ring, Tau: 2}, NS: flag + float64(i)}}})
		}
		if workers > 0 {
			f.Watches = []params.Watch{{CPUs: make([]int, workers), States: []params.State{{NS: 60, Share: 0.5}, {NS: 240, Above: 120, Share: 0.5}}}}
		}
		said := fmt.Sprint(Steady(f))
		for what, with := range map[string]int{"an instruction took": 1, "a flag between two CPUs took": 2} {
			check.Equal(t, strings.Contains(said, what), (workers != with), "states of %d workers: %s", workers, said)
		}
		drifts := Drifts(f)
		check.True(t, (len(drifts) > 0) == (workers != 2), "states of %d workers: %v", workers, drifts)
	}
}

// Drifts are found among as many launches as a file may hold, in one session or in thousands, within seconds.
func TestManyLaunches(t *testing.T) {
	const launches = 1 << 16
	for _, sessions := range []int{1, launches / 16} {
		f := new(params.File)
		each := launches / sessions
		for i := range launches {
			at := 1 + float64(i%each)/float64(each) // twice as long at the end
			f.Launches = append(f.Launches, params.Launch{Session: i / each, Probe: []params.ProbeReading{{Key: params.Key{Kind: params.NullCell, Tau: 2}, NS: 100 * at}}})
		}
		for session := range sessions {
			f.Watches = append(f.Watches, params.Watch{Session: session, CPUs: []int{0, 1, 2}, States: []params.State{{NS: 60, Share: 0.5}, {NS: 240, Above: 120, Share: 0.5}}})
		}
		drifts := Drifts(f)
		check.Need(t, len(drifts) == sessions, "%d of %d sessions drift", len(drifts), sessions)
		d := drifts[0].(Drift)
		check.True(t, math.Abs(d.Change-1) <= 0.5, "%d sessions: %+v", sessions, d)
		check.NoError(t, Steady(f), "Steady")
	}
}

// carrying is a machine of two NUMA nodes with four cores each, which placement local fills in turn. Rates
// are GB/s of copies of 1 MiB, read and written, by τ.
func carrying(peak float64, nodes int, rates map[int]float64) *params.File {
	f := &params.File{Provenance: params.Provenance{Memory: &params.Memory{PeakGBs: peak, Given: true, Nodes: nodes}}, Placements: []numa.Placement{{Policy: numa.Local}}}
	f.Placements[0].Workers = lists.Map(lists.Indices(8), func(i int) numa.Worker { return numa.Worker{UserNode: i / 4} })
	for tau, rate := range rates {
		ns := float64(2*tau*leastCarried) / rate
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OwnCell, Placement: numa.Local, OffCache: true, Tau: tau, Bytes: leastCarried},
			Time: fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 10}})
	}
	return f
}

// Low bandwidth is reported only if all nodes are loaded, more load brings no more, and write-allocate does
// not explain it.
func TestMemoryDoubts(t *testing.T) {
	full := map[int]float64{1: 10, 2: 20, 4: 22, 8: 44} // of a node: 20 with two workers, 22 with four
	rising := map[int]float64{1: 10, 2: 20, 4: 40, 8: 80}
	for _, tt := range []struct {
		peak      float64
		nodes     int
		rates     map[int]float64
		said, low string
	}{
		{100, 2, full, "44 GB/s at the most (copies of 1048576 bytes, 8 workers), 44 % (66 % if lines are read before they are written) of the 100 GB/s given",
			"44 % (66 % if lines are read before they are written) of the 100 GB/s given: memory slots and clock"},
		{90, 2, full, "49 % (73 %", ""},
		{200, 2, rising, "; more workers may carry more", ""},
		{100, 3, full, "; on 2 of 3 NUMA nodes", ""},
		{100, 0, full, "44 %", "44 %"}, // how many nodes there are is unknown
		{100, 1, map[int]float64{1: 20, 2: 22}, "22 %", "22 %"},
		{100, 1, map[int]float64{1: 10, 2: 22, 4: 20}, "22 %", "22 %"},
		{100, 1, map[int]float64{2: 22}, "; more workers may carry more", ""},
		{40, 2, full, "110 %", "more than the peak of 40 GB/s"},
		{0, 2, full, "8 workers)", ""},
	} {
		f := carrying(tt.peak, tt.nodes, tt.rates)
		all, low := Memory(f, f), fmt.Sprint(OfMemory(f))
		check.True(t, len(all) == 1 && strings.Contains(all[0].String(), tt.said), "%v of %g: %v, want %q", tt.rates, tt.peak, all, tt.said)
		check.True(t, (low == "[]") == (tt.low == "") && strings.Contains(low, tt.low), "%v of %g: %s, want %q", tt.rates, tt.peak, low, tt.low)
	}
	f := carrying(100, 2, full)
	for i := range f.Cells { // too few launches for an interval
		f.Cells[i].Time = fit.Median([]float64{f.Cells[i].Time.Center})
	}
	check.Empty(t, OfMemory(f), "doubts")
}

// Reads under load show the bandwidth of memory once latency has doubled.
func TestCarriedUnderLoad(t *testing.T) {
	for _, tt := range []struct {
		idle, loaded float64
		want         string
	}{{100, 300, "memory carried 64 GB/s at the most (reads), 64 % of the 100 GB/s of its modules; the firmware lists 4 modules in 8 slots at 2400 of 3200 MT/s, on 4 of 8 channels"},
		{100, 150, "[]"}} {
		f := &params.File{Provenance: params.Provenance{Memory: &params.Memory{PeakGBs: 100, Nodes: 1, Modules: 4, Slots: 8, Filled: 4, Channels: 8, MTs: 2400, RatedMTs: 3200}}}
		add := func(variant string, center, lo, hi float64) {
			k := params.Key{Kind: params.LoadedCell, Placement: numa.List, OffCache: true, Tau: 8, Bytes: 64}.Named(variant)
			f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: center, Lo: lo, Hi: hi, N: 10}})
		}
		for variant, ns := range map[string]float64{"read-0": tt.idle, "read-100": tt.loaded, "rate-read-50": 2, "rate-read-100": 1} {
			add(variant, ns, 0.99*ns, 1.01*ns)
		}
		contains.All(t, fmt.Sprint(OfMemory(f)), tt.want)
		add("rate-read-80", 0.8, 0.7, 0.9)
		check.Slices(t, lists.Map(Memory(f, f), func(c Carried) string { return c.String()[:len("80 GB/s at the most")] }), []string{"80 GB/s at the most"}, "Memory")
	}
}

// visited is a file of launches that visited copies of many sizes at τ. Last says which CPU was the last, and
// how much slower than the median of the others.
func visited(tau, launches, visits int, last func(launch int) (cpu int, slower float64)) *params.File {
	f := &params.File{Launches: make([]params.Launch, launches)}
	for v := range visits {
		c := params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: numa.Local, Tau: tau, Bytes: v + 1}}
		for l := range launches {
			cpu, slower := last(l)
			typical := float32(1 / (1 + slower))
			c.Samples = append(c.Samples, params.Sample{NS: 1, Launch: int32(l), Workers: params.Workers{Fastest: typical, Typical: typical, Last: int32(cpu)}})
		}
		f.Cells = append(f.Cells, c)
	}
	return f
}

// A slow CPU is found with its slowdown, but rarely one among equal CPUs, and none that is last by little or in
// some launches.
func TestSlowCPUs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, tau := range []int{2, 4, 64} {
		const tries = 300
		wrong, found := 0, 0
		for range tries {
			wrong += min(1, len(slowCPUs(visited(tau, 8, 20, func(int) (int, float64) { return r.IntN(tau), 0.2 * r.Float64() }))))
			slow := slowCPUs(visited(tau, 8, 20, func(int) (int, float64) {
				if r.Float64() < 0.2 {
					return r.IntN(tau), 0.02
				}
				return 1, 0.2
			}))
			if len(slow) == 1 && slow[0].CPU == 1 && math.Abs(slow[0].Slower.Center-0.2) < 0.01 && slow[0].Tau == tau {
				found++
			}
		}
		check.True(t, 100*wrong <= tries && 100*found >= 95*tries,
			"τ = %d: of %d machines that are alike %d have a slow CPU; one is found in %d", tau, tries, wrong, found)
	}
	for name, last := range map[string]func(int) (int, float64){
		"by a little":   func(int) (int, float64) { return 1, 0.01 },
		"in some":       func(launch int) (int, float64) { return launch % 2, 0.5 },
		"in one launch": func(launch int) (int, float64) { return min(launch, 3), 0.5 },
	} {
		check.Empty(t, slowCPUs(visited(4, 8, 20, last)), "%s", name)
	}
	said := slowCPUs(visited(4, 8, 20, func(int) (int, float64) { return 7, 0.1 }))[0].Error()
	want := "CPU 7 is slower than the others: of τ = 4 (placement local) it was the last in 100 % of the visits, and took 10 % longer"
	check.True(t, strings.HasPrefix(said, want), "%q, want %q", said, want)
}
