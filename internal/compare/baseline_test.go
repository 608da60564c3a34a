package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// hours makes a file of ten cells whose sessions differ by drift and launches by 1 %, times
// slower than 1000 ns.
func hours(r *rand.Rand, host string, sessions int, drift float64, slower func(cell int) float64) *params.File {
	f := &params.File{Provenance: params.Provenance{Hostname: host}}
	for m := range 10 {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: "local", Tau: 2, Bytes: m + 1}})
	}
	for s := range sessions {
		hour := math.Exp(drift * r.NormFloat64())
		for range 8 {
			f.Launches = append(f.Launches, params.Launch{Session: s})
			for m := range f.Cells {
				ns := 1000 * hour * slower(m) * math.Exp(0.01*r.NormFloat64())
				f.Cells[m].Samples = append(f.Cells[m].Samples, params.Sample{NS: ns, Launch: int32(len(f.Launches) - 1)})
			}
		}
	}
	for m := range f.Cells {
		f.Cells[m].Time = f.Cells[m].Replicates(f).Estimate()
	}
	return f
}

// A node that is as it was is found to be in nearly all checks, one that is half as slow
// again in all of them.
func TestBaseline(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	levels := Levels{0.1, 0.3}
	same := func(int) float64 { return 1 }
	found := make(map[string]map[State]int)
	for range 200 {
		was := hours(r, "node07", 5, 0.02, same)
		test := fit.Test{Drift: OwnDrift(was), Least: DefaultLeast}
		if !(test.Drift > 0 && test.Drift < 0.1) {
			t.Fatalf("drift %g of sessions that differ by 0.02", test.Drift)
		}
		for name, slower := range map[string]func(int) float64{
			"same":     same,
			"all":      func(int) float64 { return 1.5 },
			"one":      func(m int) float64 { return 1 + 0.6*float64(m/9) },
			"a little": func(int) float64 { return 1.22 },
			"faster":   func(int) float64 { return 0.7 },
		} {
			b := NewBaseline(was, hours(r, "node07", 1, 0.02, slower), test, levels)
			if found[name] == nil {
				found[name] = make(map[State]int)
			}
			found[name][b.State]++
			if name == "one" && b.State == Critical && !strings.Contains(b.Text, "1 of 10 cells is slower by 10 % or more, most of all the copy, placement local, in cache, τ = 2, m = 10, × 1.") {
				t.Error(b.Text)
			}
		}
	}
	for name, want := range map[string]State{"same": OK, "all": Critical, "one": Critical, "a little": Warned, "faster": OK} {
		if n := found[name][want]; n < 180 {
			t.Errorf("%s: %v in %d of 200 checks: %v", name, want, n, found[name])
		}
	}
}

// What could not be seen is not said to be well.
func TestBaselineUnknown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	same := func(int) float64 { return 1 }
	once, other := hours(r, "golden", 1, 0, same), hours(r, "node07", 1, 0, same)
	test := fit.Test{Drift: OwnDrift(once), Least: DefaultLeast}
	if test.Drift != DefaultDrift {
		t.Errorf("one session differs by %g", test.Drift)
	}
	b := NewBaseline(once, other, test, Levels{0.1, 0.3})
	if b.State != Unknown || !strings.Contains(b.Text, "cannot be told from the hour: the baseline has 1 session") {
		t.Errorf("%v: %s", b.State, b.Text)
	}
	if b = NewBaseline(once, other, fit.Test{Drift: 0.01, Least: DefaultLeast}, Levels{0.1, 0.3}); b.State != OK || !strings.Contains(b.Text, "none of 10 cells is slower than on golden by 10 % or more") {
		t.Errorf("%v: %s", b.State, b.Text)
	}
	for i := range other.Cells {
		other.Cells[i].Samples = other.Cells[i].Samples[:5]
	}
	if b = NewBaseline(once, other, fit.Test{Drift: 0.01}, Levels{0.1, 0.3}); b.State != Unknown || !strings.HasPrefix(b.Text, "nothing could be tested") {
		t.Errorf("%v: %s", b.State, b.Text)
	}
	if s := fmt.Sprint(OK, Warned, Critical, Unknown); s != "OK WARNING CRITICAL UNKNOWN" {
		t.Error(s)
	}
}
