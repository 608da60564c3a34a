package params

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowedFile is of one cell of two workers whose samples take 1.4 times as long while something slows
// a core, as a share of them does.
func slowedFile(t *testing.T, share float64) *File {
	t.Helper()
	f := &File{Plan: Plan{Setups: []string{Ring}, SegmentBytes: 8192, Segments: 2}}
	random := rand.New(rand.NewPCG(1, uint64(100*share)))
	c := Cell{Key: Key{Kind: TransferCell, Setup: Ring, Placement: "local", Tau: 2, Bytes: 8192}, K: 1, Transfers: 2}
	watch := f.Watch(0, []int{0, 1})
	for launch := range 24 {
		f.Launches = append(f.Launches, Launch{Began: "2026-11-21T20:15:00Z"})
		for range 12 {
			s := Sample{NS: 700 + 10*random.NormFloat64(), Launch: int32(launch), Watch: watch, Before: 60, After: 61, Computed: float32(2650 + 10*random.Float64())}
			if random.Float64() < share {
				s.NS, s.Computed = 1.4*s.NS, float32(3100+2000*random.Float64())
			}
			c.Samples = append(c.Samples, s)
		}
	}
	f.Cells = []Cell{c}
	f.FindStates(0, f.Looks())
	f.Cells[0].Time = f.Sort().Estimate(&f.Cells[0])
	return f
}

func TestSlowedSamplesAreSetAside(t *testing.T) {
	for _, tt := range []struct {
		share  float64
		center float64 // ns
		says   string  // "": nothing
	}{
		{0, 700, ""},
		{0.01, 700, ""}, // chance
		{0.3, 700, "are set aside"},
		{0.6, 700, "are set aside"},
		{0.94, 980, "too many"}, // that is how the machine is
		{1, 980, ""},            // nothing to tell it from
	} {
		f := slowedFile(t, tt.share)
		got := f.Sort().Estimate(&f.Cells[0])
		if !got.Known() || !near(got.Center, tt.center, 0.03) {
			t.Errorf("%g of samples slowed: %v, want %g", tt.share, got, tt.center)
		}
		if err := f.Slowed(); (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%g of samples slowed: says %v, want %q", tt.share, err, tt.says)
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, "again")
		if err != nil {
			t.Fatal(err)
		}
		if after := again.Sort().Estimate(&again.Cells[0]); !near(after.Center, got.Center, 0.001) || (again.Slowed() == nil) != (tt.says == "") {
			t.Errorf("%g of samples slowed: read again %v and %v, was %v", tt.share, after, again.Slowed(), got)
		}
	}
}

// A cell that was never measured undisturbed has a time all the same.
func TestSlowedAlone(t *testing.T) {
	f := slowedFile(t, 0.3)
	alone := f.Cells[0]
	alone.Tau, alone.Samples = 3, nil
	for _, s := range f.Cells[0].Samples {
		if f.slowed(s) {
			alone.Samples = append(alone.Samples, s)
		}
	}
	if got := f.Sort().Estimate(&alone); len(alone.Samples) < 50 || !got.Known() || !near(got.Center, 980, 0.03) {
		t.Errorf("%d samples: %v", len(alone.Samples), got)
	}
}

// What has no sharp lower edge, as where a clock wanders, is not slowed by anything.
func TestWanderingClockIsNotSlowed(t *testing.T) {
	f := slowedFile(t, 0)
	random := rand.New(rand.NewPCG(2, 2))
	for i := range f.Cells[0].Samples {
		f.Cells[0].Samples[i].Computed = float32(2650 * (1 + 0.3*random.Float64()))
	}
	f.FindStates(0, f.Looks())
	if err := f.Slowed(); err != nil {
		t.Error(err)
	}
}
