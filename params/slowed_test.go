package params

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// slowedFile has a cell of two workers on CPUs whose sums take 8.3 to 8.33 ns. Something slows a core during a
// share of its samples, which take 1.4 times as long.
func slowedFile(share float64) *File {
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
	return f
}

// States with a slowed core have their own times, and the cell has the mean by shares. SumsAlone shows that a core
// was slowed all the time. Two workers on one core slow each other equally all the time, which is no slowed state.
// Sums without a sharp lower edge, as with a varying clock, are no evidence for one, either, unless SumsAlone is
// known.
func TestSlowedIsAState(t *testing.T) {
	for _, tt := range []struct {
		share, alone  float64
		least, spread float64 // of sums, instead; 0: as they are
		states        int
		slowed        float64 // share of slowed states
	}{
		{0, 0, 0, 0, 0, 0}, {0.01, 0, 0, 0, 0, 0}, {0.3, 0, 0, 0, 2, 0.3}, {0.6, 0, 0, 0, 2, 0.6}, {0.94, 0, 0, 0, 2, 0.94},
		{1, 0, 0, 0, 0, 0}, // there are no undisturbed sums to compare with
		{1, 8.5, 0, 0, 1, 1}, {0.99, 8.5, 0, 0, 1, 1}, {0, 8.5, 0, 0, 0, 0}, {0.3, 8.5, 0, 0, 2, 0.3},
		{0, 8.5, 14, 0.4, 0, 0}, {0, 0, 8.3, 0.3 * 8.3, 0, 0}, {0, 8.5, 8.3, 0.3 * 8.3, 2, 0.67},
		{0, 8.5, 6.9, 0.3 * 6.9, 2, 0.67}, {0, 0, 6.9, 0.3 * 6.9, 0, 0}, // a core that computes more at once
	} {
		f := slowedFile(tt.share)
		f.Provenance.SumsAlone = tt.alone
		for i := range f.Cells[0].Samples {
			if s := &f.Cells[0].Samples[i]; tt.least > 0 {
				s.Computed = float32(tt.least + tt.spread*float64(i*89%288)/288)
			}
		}
		f.FindStates(0, f.Looks())
		f.Cells[0].Time = f.Sort().Estimate(&f.Cells[0])
		states, slowed := f.States(), 0.
		for _, s := range states {
			if s.Slow > 0 {
				slowed += s.Share
			}
		}
		if len(states) != tt.states || !near(1+slowed, 1+tt.slowed, 0.05) || !near(f.Cells[0].Time.Center, 700*(1+0.4*tt.share), 0.03) {
			t.Errorf("%+v: %+v, %v", tt, states, f.Cells[0].Time)
		}
		for i := range states {
			want := 700.
			if states[i].Slow > 0 {
				want = 980
			}
			in := must.Get(f.InState(2, states[i]))
			if e := in.Cells[0].Time; tt.least == 0 && (!e.Known() || !near(e.Center, want, 0.02)) {
				t.Errorf("%+v: %v in %s, want %g", tt, e, states[i].Name(), want)
			}
		}
		if again := reread(t, written(t, f)).States(); !slices.Equal(again, states) || len(states) == 2 && states[0].Same(states[1]) {
			t.Errorf("%+v: %+v, was %+v", tt, again, states)
		}
	}
}

// Cores that are undisturbed in 2 % of the looks show that all others were slowed, however much.
func TestSeldomUndisturbed(t *testing.T) {
	f := slowedFile(0)
	f.Provenance.SumsAlone = 8.5
	for i := range f.Cells[0].Samples {
		computed := &f.Cells[0].Samples[i].Computed
		if *computed = float32(8.2 + 4*float64(i*89%288)/288); i%48 == 0 {
			*computed = 5.7
		}
	}
	f.FindStates(0, f.Looks())
	states := f.States()
	check.True(t, len(states) == 1 && states[0].Slow != 0 && states[0].Share == 1, "%+v, want one slowed state", states)
}

// Sessions share states; moving CPUs have two states for each flag if they are slowed.
func TestSlowedOfSessions(t *testing.T) {
	f := slowedFile(0.3)
	f.FindStates(0, f.Looks())
	f.Watches = append(f.Watches, Watch{Session: 1, CPUs: []int{0, 1}, States: []State{{NS: 240, Share: 0.5}, {NS: 240, Share: 0.5, Slow: 10}}})
	states := f.States()
	if len(states) != 4 || states[1].Slow == 0 || states[2].Slow != 0 || states[2].Above != states[3].Above || !near(states[2].NS, 240, 0.01) {
		t.Fatalf("%+v", states)
	}
	w := Watch{States: states}
	for want, look := range [][2]float64{{60, 8.3}, {60, 12}, {240, 0}, {240, 12}} {
		check.Equal(t, w.At(look[0], look[1]), want, "state of a look of %v", look)
	}
}
