package params

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// moved is a file of two sessions of a machine whose host moves two CPUs: a flag between them takes 60 ns in the first
// half of each launch and 240 ns in the second, a transfer 500 and 1500 ns. A copy by one worker takes 100 ns.
func moved(t *testing.T) *File {
	t.Helper()
	f := reread(t, []byte(good))
	f.Cells, f.Launches = nil, nil
	random := rand.New(rand.NewPCG(1, 5))
	noise := func(ns float64) float64 { return ns * math.Exp(0.02*random.NormFloat64()) }
	pair := Cell{Key: Key{Kind: TransferCell, Setup: Ring, Placement: numa.Local, Tau: 2, Bytes: 8192}, K: 1, Transfers: 2}
	alone := Cell{Key: Key{Kind: CopyCell, Placement: numa.Local, Tau: 1, Bytes: 8192}}
	for launch := range 40 {
		session := launch / 20
		f.Launches = append(f.Launches, Launch{Session: session, Began: fmt.Sprintf("2026-11-2%dT10:00:%02dZ", session, launch)})
		for visit := range 10 {
			s := Sample{Launch: int32(launch), At: float32(visit), Watch: f.Watch(session, []int{0, 1})}
			flag, transfer := 60., 500.
			if visit >= 6 {
				flag, transfer = 240, 1500
			}
			s.Before, s.After, s.NS = float32(noise(flag)), float32(noise(flag)), noise(2*transfer)
			if visit == 5 { // the state changed during the visit
				s.After, s.NS = float32(noise(240)), noise(1900)
			}
			pair.Samples = append(pair.Samples, s)
		}
		alone.Samples = append(alone.Samples, Sample{Launch: int32(launch), NS: noise(100), Watch: f.Watch(session, []int{0}), Before: float32(noise(0.1)), After: float32(noise(0.1))})
	}
	f.Cells = []Cell{pair, alone}
	looks := f.Looks()
	for session := range 2 {
		f.FindStates(session, looks)
	}
	s := f.Sort()
	for i := range f.Cells {
		f.Cells[i].Time = s.Estimate(&f.Cells[i])
	}
	must.Do(f.Validate())
	return f
}

// near reports whether the relative error of a value is at most share.
func near(v, want, share float64) bool { return math.Abs(v/want-1) <= share }

func TestStates(t *testing.T) {
	f := moved(t)
	states := f.States()
	// Of nine seconds four are of the first state, and a fifth of the second in which the state changed.
	check.Need(t, len(states) == 2 && near(states[0].NS, 60, 0.02) && near(states[1].NS, 240, 0.02) && near(states[0].Share, 4.2/9, 0.01), "%+v", states)
	check.Equal(t, states[0].Percent()+states[1].Percent(), 100, "percent of all states")
	// The weighted mean, within its interval.
	want := 2 * (states[0].Share*500 + states[1].Share*1500)
	e := f.Cells[0].Time
	check.True(t, near(e.Center, want, 0.01) && e.Lo < e.Center && e.Center < e.Hi && e.Sessions == 2, "%+v, want %g", e, want)
	for ns, transfer := range map[float64]float64{60: 500, 55: 500, 250: 1500} {
		in := must.Get(f.InState(2, State{NS: ns}))
		check.Near(t, in.Cells[0].Segment().Center, transfer, 0.01*transfer, "%g ns", ns)
		for _, s := range in.Cells[0].Samples {
			check.Near(t, s.NS, 2*transfer, 0.1*2*transfer, "%g ns: a sample, ns", ns)
		}
		check.Equal(t, len(in.States()), 0, "%g ns: number of states", ns)
		check.Equal(t, in.Cells[1].Time, f.Cells[1].Time, "%g ns: time of one worker", ns)
		must.Do(in.Validate())
	}
	// A launch is one replicate, however many samples it has.
	check.Equal(t, Paired(f, &f.Cells[0], &f.Cells[1]).Launches(), len(f.Launches), "ratios and launches")
	contains.Error(t, must.Err(f.InState(2, State{NS: 120})), "there is no state in which a flag takes 120 ns; there are 60")
	contains.Error(t, must.Err(f.InState(1, State{NS: 0.1})), "in one state all the time")
	// Writing and reading keeps the states.
	again := reread(t, written(t, f)).States()
	check.True(t, len(again) == 2 && again[0] == states[0] && again[1] == states[1], "%+v, were %+v", again, states)
}

// Less and Alone pair samples of the same state, and return the mean over states.
func TestLessByState(t *testing.T) {
	f := moved(t)
	pair := &f.Cells[0]
	half := pair.Less(f, Part{pair, 0.5})
	check.True(t, near(half.Center, pair.Time.Center/2, 0.01) && half.Known(), "half of %v is %v", pair.Time, half)
	isolated, wait := *pair, *pair
	isolated.Setup, isolated.Tau = Isolated, 1
	wait.Key = Key{Kind: NullCell, Setup: Isolated, Placement: numa.Local, Tau: 1}
	f.Cells = append(f.Cells, isolated, wait)
	check.Near(t, f.Alone(&f.Cells[2]).Time.Center, pair.Time.Center/2, 0.01*pair.Time.Center/2, "%v alone, less half a wait of as much", pair.Time)
	for _, c := range f.byState() { // for exports
		want := 1.
		if c.Setup == Isolated && c.Kind == TransferCell {
			want = 0.5
		}
		check.Near(t, c.alone.Time.Center, want*c.Time.Center, 0.01*want*c.Time.Center, "%s of %s in %v: %v alone, of %v", c.Kind, c.Setup, c.State, c.alone.Time, c.Time)
	}
}

// Throughout leaves out a cell with samples in one of two states if other cells of its kind have both; exports
// have it in its state.
func TestThroughout(t *testing.T) {
	f := moved(t)
	states := f.Sort()
	small, middle := f.Cells[0], f.Cells[0]
	small.Bytes, middle.Bytes = 64, 1024
	partial := f.Cells[0]
	partial.Bytes, partial.Samples = 4096, states.In(&partial, 1)[:1]
	f.Cells = append(f.Cells, small, middle, partial)
	kept := f.Throughout().Cells
	check.True(t, len(kept) == len(f.Cells)-1 && !slices.ContainsFunc(kept, func(c Cell) bool { return c.Bytes == partial.Bytes }),
		"%d of %d cells", len(kept), len(f.Cells))
	for _, c := range f.byState() {
		check.True(t, c.Bytes != partial.Bytes || c.State != nil && near(c.NS, 240, 0.1), "a cell in the state of 240 ns has %+v", c.State)
	}
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Bytes == 1024 || c.Bytes == 64 })
	check.Equal(t, len(f.Throughout().Cells), len(f.Cells), "cells where one alone has both states")
}

// Exports have a row for each state, with the time of a flag in it.
func TestExportByState(t *testing.T) {
	f := moved(t)
	far := must.Get(f.InState(2, State{NS: 240}))
	still := *far
	still.Cells, still.state = far.Cells[1:], nil
	try := func(name string, f *File, want []string, benchmarks, inStates int) { // want: by rows of CSV, in tens of ns; "": none
		t.Helper()
		var b bytes.Buffer
		must.Do(f.WriteValues(&b, ','))
		rows := must.Get(csv.NewReader(&b).ReadAll())
		var states []string
		for _, row := range rows[1:] {
			if at := slices.Index(rows[0], "state_ns"); at >= 0 {
				ns, err := strconv.ParseFloat(row[at], 64)
				states = append(states, map[bool]string{true: fmt.Sprintf("%.0f", ns/10)}[err == nil])
			}
		}
		check.Slices(t, states, want, "%s: states", name)
		b.Reset()
		must.Do(f.WriteBenchmarks(&b))
		got := [2]int{strings.Count(b.String(), "\nBenchmark"), strings.Count(b.String(), "/state=")}
		check.Equal(t, got, [2]int{benchmarks, inStates}, "%s: results, and those in states", name)
	}
	try("both", f, []string{"6", "24", ""}, 40*(1+9), 40*9)
	try("far", far, []string{"24", "24"}, 40*(1+4), 0)
	try("one state", &still, nil, 40, 0)
}

// Each pair of CPUs has its own shares of states: of three pairs one is near for a quarter of the time, one for
// three quarters, and one never.
func TestStatesOfPairs(t *testing.T) {
	f := reread(t, []byte(good))
	f.Cells, f.Launches = nil, nil
	random := rand.New(rand.NewPCG(1, 6))
	noise := func(ns float64) float64 { return ns * math.Exp(0.02*random.NormFloat64()) }
	nears := map[[2]int]int{{0, 1}: 20, {0, 2}: 60, {1, 2}: 0} // of 80 samples
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		f.Cells = append(f.Cells, Cell{Key: Key{Kind: PairCell, Placement: numa.List, Tau: 1, Variant: PairOf(pair[0], pair[1], UnknownHome)}})
		for launch := range 80 {
			if len(f.Launches) <= launch {
				f.Launches = append(f.Launches, Launch{Began: fmt.Sprintf("2026-11-22T10:%02d:%02dZ", launch/60, launch%60)})
			}
			flag := 60.
			if launch >= nears[pair] {
				flag = 240
			}
			f.Cells[len(f.Cells)-1].Samples = append(f.Cells[len(f.Cells)-1].Samples, Sample{Launch: int32(launch), NS: noise(flag),
				Watch: f.Watch(0, pair[:]), Before: float32(noise(flag)), After: float32(noise(flag))})
		}
	}
	f.FindStates(0, f.Looks())
	s := f.Sort()
	for i := range f.Cells {
		f.Cells[i].Time = s.Estimate(&f.Cells[i])
		check.AtLeast(t, s.Launches(&f.Cells[i], 0), 10, "launches of %s", f.Cells[i].Variant)
	}
	p := must.Get(f.Pairs())
	for _, pair := range p.Pairs {
		share := float64(nears[[2]int{pair.From, pair.To}]) / 80
		check.Need(t, near(pair.Times[0].Center, share*60+(1-share)*240, 0.02) && (len(pair.States) == 2) == (share > 0), "%+v, near in %g of the time", pair, share)
		check.True(t, share == 0 || math.Abs(pair.States[0].Share-share) <= 0.01 && near(pair.States[0].Times[0].Center, 60, 0.02) && near(pair.States[1].Times[0].Center, 240, 0.02),
			"%+v, near in %g of the time", pair.States, share)
	}
}

// A Cycle depends neither on the first CPU nor on the direction, but on the neighbours.
func TestCycle(t *testing.T) {
	for want, same := range map[string][][]int{
		"[]": {nil}, "[3]": {{3}}, "[1 3]": {{1, 3}, {3, 1}},
		"[1 3 7 5]": {{1, 3, 7, 5}, {7, 5, 1, 3}, {5, 7, 3, 1}, {3, 1, 5, 7}}, "[1 5 3 7]": {{1, 5, 3, 7}, {7, 3, 5, 1}},
	} {
		for _, cpus := range same {
			check.Equal(t, fmt.Sprint(Cycle(cpus)), want, "%v", cpus)
		}
	}
}

// Launches take turns at two pairs of CPUs, of which one had two states and the other one of them: samples of
// the latter are of that state alone.
func TestSortTakesCPUsOfACellTogether(t *testing.T) {
	f := &File{Launches: make([]Launch, 20)}
	c := Cell{Key: Key{Kind: TransferCell, Setup: Ring, Placement: numa.Local, Tau: 2, Bytes: 8192}}
	looks := make(map[int32][]Sample)
	for launch := range 20 {
		cpus, flag := [][]int{{0, 1}, {2, 3}}[launch%2], []float64{93, 450, 450, 450}[launch%4]
		w := f.Watch(0, cpus)
		looks[w] = append(looks[w], slices.Repeat([]Sample{{Launch: int32(launch), At: float32(launch), Before: float32(flag), After: float32(flag)}}, 3)...)
		c.Samples = append(c.Samples, Sample{Launch: int32(launch), NS: 3 * flag, Watch: w, Before: float32(flag), After: float32(flag)})
	}
	f.Cells = []Cell{c}
	f.FindStates(0, looks)
	s := f.Sort()
	states := s.States(2)
	check.Need(t, len(states) == 2, "states %v, want two", states)
	near, far := len(s.In(&c, 0)), len(s.In(&c, 1))
	check.True(t, near == 5 && far == 15, "%d samples of the state of 93 ns and %d of that of 450, want 5 and 15", near, far)
}

// A session with too few looks to find states has those of other sessions.
func TestFewLooks(t *testing.T) {
	f := &File{Cells: []Cell{{Key: Key{Kind: NullCell, Tau: 2}}}}
	for session, n := range []int{100, 6} {
		for i := range 2 * n {
			ns := []float64{60, 240}[i%2] * (1 + 0.001*float64(i%7))
			number := f.Watch(session, []int{0, 1})
			f.Cells[0].Samples = append(f.Cells[0].Samples, Sample{Launch: Unlaunched, NS: 2 * ns, Watch: number, Before: float32(ns), After: float32(ns)})
		}
		f.FindStates(session, f.Looks())
	}
	few := f.Watches[1].States
	check.Need(t, len(few) == 1, "%v: 12 looks tell states", few)
	s := f.Sort()
	for _, x := range f.Cells[0].Samples {
		want := int(x.NS) / 300
		check.Need(t, s.Of(x) == want, "%+v is of state %d of %v, want %d", x, s.Of(x), s.States(2), want)
	}
	for _, state := range s.watches[1].States {
		check.Near(t, state.Share, 0.5, 0.01, "share of %+v", state)
	}
}

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

// States with a slowed core have their own times, and the cell has the mean by shares. SumsAlone shows that a core was
// slowed all the time. Two workers on one core slow each other equally all the time, which is no slowed state. Sums
// without a sharp lower edge, as with a varying clock, are no evidence for one, either, unless SumsAlone is known.
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
		states := f.States()
		slowed := lists.Sum(lists.Filter(states, func(s State) bool { return s.Slow > 0 }), func(s State) float64 { return s.Share })
		check.True(t, len(states) == tt.states && near(1+slowed, 1+tt.slowed, 0.05) && near(f.Cells[0].Time.Center, 700*(1+0.4*tt.share), 0.03),
			"%+v: %+v, %v", tt, states, f.Cells[0].Time)
		for i := range states {
			want := 700.
			if states[i].Slow > 0 {
				want = 980
			}
			in := must.Get(f.InState(2, states[i]))
			e := in.Cells[0].Time
			check.True(t, tt.least != 0 || e.Known() && near(e.Center, want, 0.02), "%+v: %v in %s, want %g", tt, e, states[i].Name(), want)
		}
		again := reread(t, written(t, f)).States()
		check.True(t, slices.Equal(again, states) && (len(states) != 2 || !states[0].Same(states[1])), "%+v: %+v, was %+v", tt, again, states)
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
	check.Need(t, len(states) == 4 && states[1].Slow != 0 && states[2].Slow == 0 && states[2].Above == states[3].Above && near(states[2].NS, 240, 0.01),
		"%+v", states)
	w := Watch{States: states}
	for want, look := range [][2]float64{{60, 8.3}, {60, 12}, {240, 0}, {240, 12}} {
		check.Equal(t, w.At(look[0], look[1]), want, "state of a look of %v", look)
	}
}
