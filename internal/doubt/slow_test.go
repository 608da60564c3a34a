package doubt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

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
