package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/params"
)

// hours makes a file of ten cells whose sessions differ by drift and launches by 1 %, times slower than 1000 ns.
func hours(r *rand.Rand, host string, sessions int, drift float64, slower func(cell int) float64) *params.File {
	f := &params.File{Provenance: params.Provenance{Hostname: host}}
	for m := range 10 {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: "local", Tau: 2, Bytes: m + 1}})
	}
	visited(r, f, sessions, drift, 0, 0.01, func(m int) float64 { return 1000 * slower(m) })
	return f
}

// A node that is as it was is found to be in nearly all checks, one that is half as slow again in all of them.
func TestBaseline(t *testing.T) {
	r, levels := rand.New(rand.NewPCG(1, 2)), Levels{0.1, 0.3}
	same, found := func(int) float64 { return 1 }, make(map[string]map[State]int)
	for range 200 {
		was, test := hours(r, "node07", 5, 0.02, same), Test{Least: DefaultLeast}
		drift := OwnDrift(was)
		check.Need(t, drift.InCache > 0 && drift.InCache < 0.1 && drift.OffCache == drift.InCache, "drift %v of sessions that differ by 0.02", drift)
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
			check.True(t, name != "one" || b.State != Critical || strings.Contains(b.Text, "1 of 10 cells is slower by 10 % or more, most of all the copy, placement local, in cache, τ = 2, m = 10, × 1."),
				"%v", b.Text)
		}
	}
	for name, want := range map[string]State{"same": OK, "all": Critical, "one": Critical, "a little": Warned, "faster": OK} {
		check.AtLeast(t, found[name][want], 180, "%s: %v, of 200 checks: %v", name, want, found[name])
	}
}

// What could not be seen is not said to be well.
func TestBaselineUnknown(t *testing.T) {
	r, same := rand.New(rand.NewPCG(1, 2)), func(int) float64 { return 1 }
	once, other := hours(r, "golden", 1, 0, same), hours(r, "node07", 1, 0, same)
	test := Test{Least: DefaultLeast}
	check.Equal(t, OwnDrift(once), MixedDrift, "drift of one session")
	b := NewBaseline(once, other, test, Levels{0.1, 0.3})
	check.Equal(t, b.State, Unknown, "state")
	contains.All(t, b.Text, "cannot be told from the hour: the baseline has 1 session")
	check.True(t, b.Blame("lack of time") && strings.HasSuffix(b.Text, " % cannot be told, for lack of time"), "%s", b.Text)
	b = NewBaseline(once, other, Test{Drift: Everywhere(0.01), Least: DefaultLeast}, Levels{0.1, 0.3})
	check.Equal(t, b.State, OK, "state")
	contains.All(t, b.Text, "none of 10 cells is slower than on golden by 10 % or more")
	check.True(t, !b.Blame("lack of time"), "%s", b.Text)
	for slower, want := range map[float64]State{3: Unknown, 6: Critical} { // a factor of 4.3 would have been seen
		b = NewBaseline(once, hours(r, "node07", 1, 0, func(int) float64 { return slower }), test, Levels{0.1, 0.3})
		check.Equal(t, b.State, want, "× %g: state", slower)
		contains.All(t, b.Text, "10 of 10 cells are slower", "would have been seen in 9 of 10 cases")
	}
	for i := range other.Cells {
		other.Cells[i].Samples = other.Cells[i].Samples[:5]
	}
	b = NewBaseline(once, other, Test{Drift: Everywhere(0.01)}, Levels{0.1, 0.3})
	check.True(t, b.State == Unknown && strings.HasPrefix(b.Text, "nothing could be tested"), "%v: %s", b.State, b.Text)
	check.Equal(t, fmt.Sprint(OK, Warned, Critical, Unknown), "OK WARNING CRITICAL UNKNOWN", "states")
}

// A check compares like states; that the host moved the CPUs is no change of the machine.
func TestBaselineStates(t *testing.T) {
	node := func(seed uint64, stays ...stay) *params.File {
		f := moved("node07", seed, stays...).File
		f.Provenance.Hypervisor = "KVM"
		return f
	}
	near, far, both := stay{60, 1, 1}, stay{240, 1, 1}, []stay{{60, 0.5, 1}, {240, 0.5, 1}}
	bare, slow := node(3, far), node(4, stay{60, 0.3, 1}, stay{240, 0.7, 1.6})
	bare.Provenance.Hypervisor = ""
	try := func(name string, was, now *params.File, want State, says string, flags []float64) { // flags: of cells
		t.Helper()
		for i := range now.Launches {
			now.Launches[i].Session = 0
		}
		b := NewBaseline(was, now, Test{Drift: Everywhere(0.01), Least: DefaultLeast}, Levels{0.1, 0.3})
		check.True(t, b.State == want && strings.Contains(b.Text, says) && b.Unmet() == (flags == nil), "%s: %v: %s", name, b.State, b.Text)
		at := 0
		for _, c := range b.Cells {
			for at < len(flags) && math.Abs(c.Flag-flags[at]) > 0.05*flags[at] {
				at++
			}
			if at == len(flags) {
				t.Errorf("%s: a cell with a flag of %g ns, want %v", name, c.Flag, flags)
				break
			}
		}
		check.True(t, len(flags) == 0 || len(b.Cells) == 1+3*max(1, len(flags)-1), "%s: %d cells", name, len(b.Cells))
	}
	try("stayed", node(1, near), node(2, near), OK, "none of 4 cells is slower by 10 % or more; a change of", []float64{0})
	try("moved since", node(1, near), node(2, far), Unknown, "the machine is in a state with a flag of 240 ns, which the baseline has not met", nil)
	try("not by a host", func() *params.File { f := node(1, near); f.Provenance.Hypervisor = ""; return f }(), bare, Critical, "3 of 4 cells are slower", []float64{0})
	try("in one of two", node(1, both...), node(2, far), OK, "the machine was in a state with a flag of 240 ns", []float64{0, 240})
	try("from one to two", node(1, far), node(2, both...), OK, "which the baseline has not met and nothing is said of", []float64{0, 240})
	try("other shares", node(1, both...), node(2, stay{60, 0.2, 1}, stay{240, 0.8, 1}), OK, "the machine was in states with flags of 60 ns (", []float64{0, 60, 240})
	try("slower in one", node(1, both...), slow, Critical, "with a flag of 240 ns, × 1.6", []float64{0, 60, 240})
}

// Sessions of the same hour are one: what they differ by is not what hours do.
func TestHourly(t *testing.T) {
	try := func(began []string, want int) { // began: of sessions
		t.Helper()
		was := hours(rand.New(rand.NewPCG(1, 2)), "node07", len(began), 0.02, func(int) float64 { return 1 })
		for i := range was.Launches {
			was.Launches[i].Began = began[was.Launches[i].Session]
		}
		now := hours(rand.New(rand.NewPCG(3, 2)), "node07", 1, 0.02, func(int) float64 { return 1 })
		b := NewBaseline(was, now, Test{Least: DefaultLeast}, Levels{0.1, 0.3})
		check.Equal(t, b.Sessions, want, "%v: sessions", began)
		check.Equal(t, was.Sessions(), len(began), "%v: sessions of the file", began)
		check.Equal(t, b.Drift == AssumedDrift(was), want < 3, "%v: drift %v is the assumed one", began, b.Drift)
		if close := fmt.Sprintf("the baseline has %s (%d, but sessions that began less than an hour apart count as one)", printable.Count(want, "session"), len(began)); b.State == Unknown && strings.Contains(b.Text, close) != (want < len(began)) {
			t.Errorf("%v: %s", began, b.Text)
		} else if want == 1 && b.State != Unknown {
			t.Errorf("%v: %v: %s", began, b.State, b.Text)
		}
	}
	try([]string{"2026-11-21T10:00:00Z", "2026-11-21T10:00:20Z", "2026-11-21T10:00:40Z"}, 1)
	try([]string{"2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z", "2026-11-22T10:00:40Z"}, 3)
	try([]string{"2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z", "2026-11-21T10:50:00Z", "2026-11-21T11:40:00Z"}, 2)
	try([]string{"2026-11-21T10:00:00+02:00", "2026-11-21T08:30:00Z"}, 1)
	try([]string{"", "", ""}, 3) // unknown
}

// Memory that carries less than it should is a warning, though nothing has changed.
func TestBaselineOfMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		peak float64
		want State
		text string
	}{{0, OK, "none of 10 cells"}, {10, OK, "; memory carried 8.42 GB/s at the most"}, {20, Warned, "memory carried 8.42 GB/s at the most (copies of 1048576 bytes), 42 % (63 % if"}} {
		file := func(sessions int) *params.File {
			f := hours(r, "node07", sessions, 0.01, func(int) float64 { return 1 })
			f.Provenance.Memory = &params.Memory{PeakGBs: tt.peak, Given: true}
			for tau, ns := range map[int]float64{1: 1 << 18, 2: 1 << 18 * 1.9} { // 2^21·τ bytes each
				f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OwnCell, Placement: "local", OffCache: true, Tau: tau, Bytes: 1 << 20},
					Time: fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 8}})
			}
			return f
		}
		b := NewBaseline(file(5), file(1), Test{Drift: Everywhere(0.02), Least: DefaultLeast}, Levels{0.1, 0.3})
		check.True(t, b.State == tt.want && strings.Contains(b.Text, tt.text) && (b.Memory == nil) == (tt.peak == 0),
			"%g GB/s: %v, %s; want %v, %q", tt.peak, b.State, b.Text, tt.want, tt.text)
	}
}
