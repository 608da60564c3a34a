package model

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// What a choice leaves open is the file's.
func TestPredictorFillsIn(t *testing.T) {
	f := twoNodes()
	p, err := NewPredictor(f, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Model != "taulop" || p.Setup != "ring" || p.Placement != numa.Local || p.Segment != 8192 || p.Largest != 8192 || p.NoGamma == nil || len(p.Warnings) > 0 {
		t.Errorf("%+v", p)
	}
	if want := "ring, one way ping, placement local, in cache"; p.Channel != want {
		t.Errorf("%q, want %q", p.Channel, want)
	}
	if p, err = NewPredictor(f, Choice{Setup: "ping", Placement: numa.Spread}); err != nil || p.Channel != "ping, placement spread, in cache" {
		t.Errorf("%q, %v", p.Channel, err)
	}
	// A message across nodes: 2L(S,1), which costs what ping measured there.
	m := schedule(t, "bcast:linear", collective.Call{P: 2, M: 8192})
	if c, err := p.Cost(m); err != nil || math.Abs(c.Seconds-2*3010e-9) > 1e-12 || c.Extrapolated != true {
		t.Errorf("%g s, extrapolated %v, %v; want 6020 ns, from τ = 2 to 1", c.Seconds, c.Extrapolated, err)
	}
	f.Placements[0].Oversubscribed = true
	if p, err = NewPredictor(f, Choice{}); err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Error(), "more workers than CPUs") {
		t.Errorf("%v, %v", p.Warnings, err)
	}
}

func TestPredictorRefuses(t *testing.T) {
	for _, tt := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Model: "hockney"}, "take one of taulop, libtaulop, lognp, mlognp, loggp"},
		{Choice{Model: "loggp", Stride: 64}, "contiguous messages only"},
		{Choice{Stride: 64}, "no packed messages"},
		{Choice{Setup: "bcast"}, "no transfers of bcast"},
		{Choice{OffCache: true}, "off cache"},
		{Choice{Model: "loggp"}, "no LogGP parameters"},
		{Choice{Model: "mlognp"}, "no pairs"},
	} {
		if _, err := NewPredictor(twoNodes(), tt.choice); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want one with %q", tt.choice, err, tt.want)
		}
	}
}

// What rests on a time of 0 is unknown, under log_nP too.
func TestPredictorKnowsZeros(t *testing.T) {
	f := twoNodes()
	for i := range f.Cells {
		if c := &f.Cells[i]; c.Kind == params.TransferCell && c.Bytes == 1024 {
			c.Time = fit.Estimate{}
		}
	}
	for _, model := range []string{"taulop", "libtaulop", "lognp"} {
		p, err := NewPredictor(f, Choice{Model: model})
		if err != nil || len(p.Warnings) != 1 {
			t.Fatalf("%v, %v", p, err)
		}
		for m, want := range map[int]bool{1024: true, 8192: false} {
			if c, err := p.Cost(schedule(t, "allgather:ring", collective.Call{P: 2, M: m})); err != nil || c.Unknown != want {
				t.Errorf("%s, m = %d: unknown %v, %v; want %v", model, m, c.Unknown, err, want)
			}
		}
	}
}

// A local copy costs what somebody knows, else the file's bare copy; one model of a call
// does not tell another.
func TestPredictorCountsLocalCopies(t *testing.T) {
	f := twoNodes()
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: numa.Local, Tau: tau, Bytes: m},
				K: 1, Transfers: 1, Time: fit.Estimate{Center: 100, Lo: 100, Hi: 100, N: 6}})
		}
	}
	s := schedule(t, "allgather:ring", collective.Call{P: 2, M: 8192})
	cost := func(c Choice) float64 {
		t.Helper()
		p, err := NewPredictor(f, c)
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Cost(s)
		if err != nil {
			t.Fatal(err)
		}
		return found.Seconds * 1e9
	}
	known := func(ranks, m, tau int) (float64, bool) { return 700e-9, ranks == 2 && m == 8192 && tau == 2 }
	without := cost(Choice{})
	if bare, better := cost(Choice{LocalCopies: true})-without, cost(Choice{LocalCopies: true, LocalCopy: known})-without; math.Abs(bare-100) > 1e-6 || math.Abs(better-700) > 1e-6 {
		t.Errorf("local copies take %g ns, and %g ns as measured; want 100 and 700", bare, better)
	}
}
