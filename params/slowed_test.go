package params

import (
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// slowedFile has a cell of two workers. Something slows a core during a share of its samples, which take 1.4
// times as long.
func slowedFile(t *testing.T, share float64) *File {
	t.Helper()
	f := &File{Plan: Plan{Setups: []string{Ring}, SegmentBytes: 8192, Segments: 2}}
	random := rand.New(rand.NewPCG(1, uint64(100*share)))
	c := Cell{Key: Key{Kind: TransferCell, Setup: Ring, Placement: "local", Tau: 2, Bytes: 8192}, K: 1, Transfers: 2}
	watch := f.Watch(0, []int{0, 1})
	for launch := range 24 {
		f.Launches = append(f.Launches, Launch{Began: "2026-11-21T20:15:00Z"})
		for range 12 {
			s := Sample{NS: 700 + 10*random.NormFloat64(), Launch: int32(launch), Watch: watch, Before: 60, After: 61, Computed: float32(8.3 + 0.03*random.Float64())}
			if random.Float64() < share {
				s.NS, s.Computed = 1.4*s.NS, float32(9.9+6*random.Float64())
			}
			c.Samples = append(c.Samples, s)
		}
	}
	f.Cells = []Cell{c}
	f.FindStates(0, f.Looks())
	f.Cells[0].Time = f.Sort().Estimate(&f.Cells[0])
	return f
}

func TestSlowedIsAState(t *testing.T) {
	for _, tt := range []struct {
		share float64
		two   bool
	}{{0, false}, {0.01, false}, {0.3, true}, {0.6, true}, {0.94, true}, {1, false}} { // 1: there are no undisturbed sums to compare with
		f := slowedFile(t, tt.share)
		states := f.States()
		if !tt.two {
			if len(states) != 0 || !near(f.Cells[0].Time.Center, 700*(1+0.4*tt.share), 0.03) {
				t.Errorf("%g of samples slowed: %v, %v", tt.share, states, f.Cells[0].Time)
			}
			continue
		}
		if len(states) != 2 || states[0].Slow != 0 || states[1].Slow == 0 || !near(states[1].Share, tt.share, 0.1) || states[0].Same(states[1]) {
			t.Fatalf("%g of samples slowed: %+v", tt.share, states)
		}
		if got, want := f.Cells[0].Time.Center, 700*(1+0.4*states[1].Share); !near(got, want, 0.02) {
			t.Errorf("%g of samples slowed: %g, want the mean by shares, %g", tt.share, got, want)
		}
		for i, want := range []float64{700, 980} {
			in := must.Get(f.InState(2, states[i]))
			if e := in.Cells[0].Time; !e.Known() || !near(e.Center, want, 0.02) {
				t.Errorf("%g of samples slowed: %v in %s, want %g", tt.share, e, states[i].Name(), want)
			}
		}
		if again := reread(t, written(t, f)).States(); len(again) != 2 || again[0] != states[0] || again[1] != states[1] {
			t.Errorf("%g of samples slowed: %+v, was %+v", tt.share, again, states)
		}
	}
}

// Provenance.SumsAlone shows that a core was slowed all the time.
func TestSlowedAllTheTime(t *testing.T) {
	for _, tt := range []struct{ share, alone, slowed float64 }{{1, 0, 0}, {1, 8.5, 1}, {1, 14, 0}, {0.99, 8.5, 1}, {0, 8.5, 0}, {0.3, 8.5, 0.3}} {
		f := slowedFile(t, tt.share)
		f.Provenance.SumsAlone = tt.alone
		f.FindStates(0, f.Looks())
		states, slowed := f.States(), 0.
		for _, s := range states {
			if s.Slow > 0 {
				slowed += s.Share
			}
		}
		if !near(slowed+1, tt.slowed+1, 0.05) || tt.slowed == 1 && len(states) != 1 {
			t.Errorf("%g of samples slowed, alone %g: %+v", tt.share, tt.alone, states)
		}
		if len(states) == 1 {
			if in := must.Get(f.InState(2, states[0])); !near(in.Cells[0].Time.Center, 980, 0.02) {
				t.Errorf("%g of samples slowed: %v, want 980", tt.share, in.Cells[0].Time)
			}
		}
	}
}

// Sessions share states; moving CPUs have two states for each flag if they are slowed.
func TestSlowedOfSessions(t *testing.T) {
	f := slowedFile(t, 0.3)
	f.Watches = append(f.Watches, Watch{Session: 1, CPUs: []int{0, 1}, States: []State{{NS: 240, Share: 0.5}, {NS: 240, Share: 0.5, Slow: 10}}})
	states := f.States()
	if len(states) != 4 || states[1].Slow == 0 || states[2].Slow != 0 || states[2].Above != states[3].Above || !near(states[2].NS, 240, 0.01) {
		t.Fatalf("%+v", states)
	}
	w := Watch{States: states}
	for want, look := range [][2]float64{{60, 8.3}, {60, 12}, {240, 0}, {240, 12}} {
		if at := w.At(look[0], look[1]); at != want {
			t.Errorf("a look of %v is of state %d, want %d", look, at, want)
		}
	}
}

// Two workers on one core slow each other equally all the time, which is no slowed state. Sums without a sharp
// lower edge, as with a varying clock, are no evidence for one, either, unless SumsAlone is known.
func TestSiblingsAndWanderingClocksAreNotSlowed(t *testing.T) {
	for _, tt := range []struct{ least, spread, alone, slowed float64 }{{14, 0.4, 8.5, 0}, {8.3, 0.3 * 8.3, 0, 0}, {8.3, 0.3 * 8.3, 8.5, 0.5}} {
		f := slowedFile(t, 0)
		f.Provenance.SumsAlone = tt.alone
		random := rand.New(rand.NewPCG(2, 2))
		for i := range f.Cells[0].Samples {
			f.Cells[0].Samples[i].Computed = float32(tt.least + tt.spread*random.Float64())
		}
		f.FindStates(0, f.Looks())
		if states := f.States(); tt.slowed == 0 && len(states) != 0 || tt.slowed > 0 && (len(states) != 2 || !near(states[1].Share, tt.slowed, 0.1)) {
			t.Errorf("%+v: %+v", tt, states)
		}
	}
}
