package sweep_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/params"
)

// If the host moves its CPUs, a file has the numbers of each state, and their shares within 5 points.
func TestStates(t *testing.T) {
	skip.Short(t, "takes long under the race detector, and nothing is shared")
	const launches, within = 300, 0.05
	seeds := uint64(1)
	if os.Getenv("TAULOP_LONG") != "" {
		seeds = 6
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 2))
		cpus := 2 + random.IntN(7)
		states := []surveytest.State{{Flag: 60, Times: 1}, {Flag: 60 * (1.6 + 2*random.Float64())}}
		states[1].Times = states[1].Flag / 60
		if seed == 1 { // something slows a core
			cpus, states[0].Slowed = 2, 1
			states[1] = surveytest.State{Flag: 60, Slowed: 1.2 + random.Float64(), Times: 1.1 + random.Float64()/2}
		}
		share := 0.05 + 0.9*random.Float64()
		period := 20 * math.Pow(50, random.Float64()) // ms
		for i, part := range []float64{share, 1 - share} {
			states[i].Lasts = time.Duration(part * period * float64(time.Millisecond))
		}
		f, s := sweeptest.Moving(t, cpus, states, launches, 0, seed)
		found, put := f.Sort().States(cpus), s.Shares()
		check.Need(t, len(found) == len(states), "seed %d: %v of %v with shares %.2f", seed, found, states, put)
		for i, state := range found {
			check.Near(t, state.Share, put[i], within, "seed %d: share", seed)
			check.Near(t, state.NS/states[i].Flag, 1, 0.02, "seed %d: flag as a share", seed)
			sorting := f.Sort()
			for j := range f.Cells {
				c := &f.Cells[j]
				if c.Kind != params.TransferCell || c.Setup != "ring" {
					continue
				}
				in := *c
				in.Samples = sorting.In(c, i)
				check.Need(t, len(in.Samples) > 0, "seed %d: %v has no sample in %v", seed, c.Key, state)
				in.Time = in.Replicates(f).Estimate()
				want := states[i].Times * s.L(c.Bytes, cpus)
				check.Near(t, in.Segment().Center/want, 1, 0.02, "seed %d: L(%d,%d) in %v by the one put in", seed, c.Bytes, cpus, state)
			}
		}
	}
}

// A machine whose CPUs stay has one state: of 1,000 machines (TAULOP_LONG) at least 990.
func TestOneState(t *testing.T) {
	machines, wrong := 7, 0
	if os.Getenv("TAULOP_LONG") != "" {
		machines = 1000
	}
	for seed := range uint64(machines) {
		f, _ := sweeptest.Moving(t, 2+int(seed%7), nil, 12, 0, seed)
		if found := f.Sort().States(2 + int(seed%7)); len(found) > 0 {
			wrong++
			t.Logf("seed %d: %v", seed, found)
			continue
		}
		for i := range f.Cells {
			c := &f.Cells[i]
			of := c.Replicates(f).Estimate()
			check.True(t, len(c.Samples) == 12 && c.Time.Center == of.Center && c.Time.Width() <= 1.3*of.Width(),
				"seed %d: %v: %v instead of %v", seed, c.Key, c.Time, of)
		}
	}
	check.AtMost(t, wrong, machines/100, "of %d machines, those with several states", machines)
}
