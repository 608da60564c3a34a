package doubt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// carrying is a machine of two NUMA nodes with four cores each, which placement local fills in turn. Rates
// are GB/s of copies of 1 MiB, read and written, by τ.
func carrying(peak float64, nodes int, rates map[int]float64) *params.File {
	f := &params.File{Provenance: params.Provenance{Memory: &params.Memory{PeakGBs: peak, Given: true, Nodes: nodes}}, Placements: []numa.Placement{{Policy: numa.Local}}}
	for i := range 8 {
		f.Placements[0].Workers = append(f.Placements[0].Workers, numa.Worker{UserNode: i / 4})
	}
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
		if got := Memory(f, f); len(got) != 1 || !strings.Contains(got[0].String(), tt.said) {
			t.Errorf("%v of %g: %v, want %q", tt.rates, tt.peak, got, tt.said)
		}
		if got := fmt.Sprint(OfMemory(f)); (got == "[]") != (tt.low == "") || !strings.Contains(got, tt.low) {
			t.Errorf("%v of %g: %s, want %q", tt.rates, tt.peak, got, tt.low)
		}
	}
	f := carrying(100, 2, full)
	for i := range f.Cells { // too few launches for an interval
		f.Cells[i].Time = fit.Median([]float64{f.Cells[i].Time.Center})
	}
	if got := OfMemory(f); got != nil {
		t.Error(got)
	}
}

// Reads under load show the bandwidth of memory once latency has doubled.
func TestCarriedUnderLoad(t *testing.T) {
	for _, tt := range []struct {
		idle, loaded float64
		want         string
	}{{100, 300, "memory carried 64 GB/s at the most (reads), 64 % of the 100 GB/s of its modules; the firmware lists 4 modules in 8 slots at 2400 of 3200 MT/s, on 4 of 8 channels"},
		{100, 150, "[]"}} {
		f := &params.File{Provenance: params.Provenance{Memory: &params.Memory{PeakGBs: 100, Nodes: 1, Modules: 4, Slots: 8, Filled: 4, Channels: 8, MTs: 2400, RatedMTs: 3200}}}
		for variant, ns := range map[string]float64{"read-0": tt.idle, "read-100": tt.loaded, "rate-read-50": 2, "rate-read-100": 1} {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.LoadedCell, Placement: numa.List, OffCache: true, Tau: 8, Bytes: 64}.Named(variant),
				Time: fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 10}})
		}
		if got := fmt.Sprint(OfMemory(f)); !strings.Contains(got, tt.want) {
			t.Errorf("%s, want %q", got, tt.want)
		}
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
			noise := visited(tau, 8, 20, func(int) (int, float64) { return r.IntN(tau), 0.2 * r.Float64() })
			if slow := SlowCPUs(noise); len(slow) > 0 {
				wrong++
			}
			slow := SlowCPUs(visited(tau, 8, 20, func(int) (int, float64) {
				if r.Float64() < 0.2 {
					return r.IntN(tau), 0.02
				}
				return 1, 0.2
			}))
			if len(slow) == 1 && slow[0].CPU == 1 && math.Abs(slow[0].Slower.Center-0.2) < 0.01 && slow[0].Tau == tau {
				found++
			}
		}
		if 100*wrong > tries || 100*found < 95*tries {
			t.Errorf("τ = %d: of %d machines that are alike %d have a slow CPU; one is found in %d", tau, tries, wrong, found)
		}
	}
	for name, last := range map[string]func(int) (int, float64){
		"by a little":   func(int) (int, float64) { return 1, 0.01 },
		"in some":       func(launch int) (int, float64) { return launch % 2, 0.5 },
		"in one launch": func(launch int) (int, float64) { return min(launch, 3), 0.5 },
	} {
		if slow := SlowCPUs(visited(4, 8, 20, last)); len(slow) > 0 {
			t.Errorf("%s: %v", name, slow)
		}
	}
	said := SlowCPUs(visited(4, 8, 20, func(int) (int, float64) { return 7, 0.1 }))[0].Error()
	if want := "CPU 7 is slower than the others: of τ = 4 (placement local) it was the last in 100 % of the visits, and took 10 % longer"; !strings.HasPrefix(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
