package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// stay is a state of a hand-made machine: the flag of two workers, the share of the time, and
// how many times as long as by the flag a transfer takes.
type stay struct{ flag, share, slower float64 }

// moved is a machine that its host moves from state to state, three sessions of twelve launches: in
// each it visits a ring of two, and two alone, ten times, and one worker's copy once.
func moved(name string, seed uint64, stays ...stay) Machine {
	r := rand.New(rand.NewPCG(seed, 7))
	noise := func(ns float64) float64 { return ns * math.Exp(0.02*r.NormFloat64()) }
	f := &params.File{Complete: true, Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local},
		Segments: 2, SegmentBytes: 8192, Sizes: []int{8192}, Taus: []int{2}, Caches: []bool{false}}}
	f.Provenance.Hostname = name
	key := func(kind params.Kind, setup, variant string, tau int) params.Key {
		return params.Key{Kind: kind, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: 8192}.Named(variant)
	}
	f.Cells = []params.Cell{
		{Key: key(params.TransferCell, params.Isolated, "", 1), K: 1, Transfers: 2},
		{Key: key(params.TransferCell, params.Ring, "", 2), K: 1, Transfers: 2},
		{Key: key(params.PairCell, "", "0-1", 1)},
		{Key: key(params.LevelCell, "", "L1-L1", 1)},
	}
	for launch := range 36 {
		session := launch / 12
		f.Launches = append(f.Launches, params.Launch{Session: session, Began: fmt.Sprintf("2026-11-2%dT10:%02d:00Z", session, launch)})
		add := func(cell int, flag, ns float64, cpus ...int) {
			c := &f.Cells[cell]
			c.Samples = append(c.Samples, params.Sample{NS: noise(ns), Launch: int32(launch), At: float32(len(c.Samples)),
				Watch: f.Watch(session, cpus), Before: float32(noise(flag)), After: float32(noise(flag))})
		}
		for visit := range 10 {
			at, sum := 0, 0.
			for u := (float64(visit) + r.Float64()) / 10; at < len(stays)-1; at++ {
				if sum += stays[at].share; u < sum {
					break
				}
			}
			for cell := range 3 {
				add(cell, stays[at].flag, stays[at].flag*10*stays[at].slower, 0, 1)
			}
		}
		add(3, 0.1, 100, 0)
	}
	looks := f.Looks()
	for session := range 3 {
		f.FindStates(session, looks)
	}
	s := f.Sort()
	for i := range f.Cells {
		f.Cells[i].Time = s.Estimate(&f.Cells[i])
	}
	return Machine{Name: name, Path: name + ".json", File: f}
}

// Machines are compared state by state: other shares are no difference, and a state of one machine alone is named.
func TestStates(t *testing.T) {
	a, forgotten := moved("a", 1, stay{60, 0.7, 1}, stay{240, 0.3, 1}), moved("old", 2, stay{60, 1, 1})
	forgotten.File.Watches = nil
	for i := range forgotten.File.Cells {
		for j := range forgotten.File.Cells[i].Samples {
			s := &forgotten.File.Cells[i].Samples[j]
			s.Watch, s.Before, s.After = 0, 0, 0
		}
	}
	try := func(name string, others []Machine, flags []float64, differing []int, says string) { // by table: its flag, and how many of two ratios differ
		t.Helper()
		c := must.Get(New(append([]Machine{a}, others...), Choice{Test: &Test{Drift: Everywhere(0.01), Least: DefaultLeast}}))
		contains.All(t, c.Compared(), says)
		check.Empty(t, c.Warnings, "%s: warnings", name)
		check.Need(t, len(c.Tables) == len(flags), "%s: %d tables: %s", name, len(c.Tables), c.Compared())
		for i, table := range c.Tables {
			ns, differ := 0., 0
			if table.State != nil {
				ns = table.State.NS
			}
			for _, p := range table.Rows[len(table.Rows)-1].Points {
				if !p.Ratio.Tested {
					t.Errorf("%s: τ = %d is not tested", name, p.Tau)
				} else if p.Ratio.Differs {
					differ++
				}
			}
			check.True(t, math.Abs(ns-flags[i]) <= 0.05*flags[i] && (differing == nil || differ == differing[i]),
				"%s: %d differ with a flag of %g ns, want %v: %s", name, differ, ns, differing, c.Verdict.Text)
		}
		kinds := lists.Counts(c.Surveys, func(s SurveyTable) params.Kind { return s.Kind })
		check.Equal(t, kinds[params.LevelCell], 1, "%s: surveys of levels", name)
		check.Equal(t, kinds[params.PairCell], len(flags), "%s: surveys of pairs", name)
	}
	try("alike but for shares", []Machine{moved("b", 3, stay{60, 0.2, 1}, stay{240, 0.8, 1})}, []float64{60, 240}, []int{0, 0}, "240 ns (a 31 %")
	try("slower in one", []Machine{moved("b", 4, stay{62, 0.4, 1}, stay{235, 0.6, 1.15})}, []float64{60, 240}, []int{0, 2}, "60 ns (a 69 %")
	try("one state", []Machine{moved("b", 5, stay{240, 1, 1})}, []float64{240}, []int{0}, "b 100 % of the time). Only a has a state with a flag of 60")
	try("another state", []Machine{moved("b", 6, stay{28, 0.5, 1}, stay{60, 0.5, 1})}, []float64{60}, []int{0}, "Only b has a state with a flag of 28")
	try("none in common", []Machine{moved("b", 7, stay{28, 0.5, 1}, stay{120, 0.5, 1})}, []float64{0}, []int{2}, "no two machines have a state in common, their flags take 28")
	try("state unknown", []Machine{forgotten}, []float64{0}, nil, "means over states by their shares of the time: the state of old is not known")
	try("elsewhere", []Machine{moved("b", 10, stay{500, 1, 1})}, []float64{0}, nil, "no two machines have a state in common")
	try("three", []Machine{moved("b", 8, stay{60, 1, 1}), moved("c", 9, stay{240, 1, 1.2})}, []float64{60, 240}, []int{0, 2}, "a 69 %")
}

// Machines of one state each are compared as they are, and of virtual ones a warning says that the flags differ.
func TestOneState(t *testing.T) {
	for _, hypervisor := range []string{"", "KVM"} {
		a, b := moved("a", 1, stay{60, 1, 1}), moved("b", 2, stay{240, 1, 1})
		b.File.Provenance.Hypervisor = hypervisor
		c := must.Get(New([]Machine{a, b}, Choice{}))
		check.True(t, c.Compared() == "" && len(c.Tables) == 1 && c.Tables[0].State == nil && len(c.Surveys) == 2, "%q: %s %+v", hypervisor, c.Compared(), c.Tables)
		check.Equal(t, strings.Contains(fmt.Sprint(c.Warnings), "a flag between two CPUs takes 60 ns (a), 240 ns (b)"), (hypervisor != ""), "%q", hypervisor)
	}
}

// States are matched nearest first, each once, and not beyond a factor of 1.4.
func TestMatch(t *testing.T) {
	states := func(flags ...float64) []params.State {
		return lists.Map(flags, func(ns float64) params.State { return params.State{NS: ns, Share: 1 / float64(len(flags))} })
	}
	try := func(of [][]params.State, want string) {
		t.Helper()
		got := lists.Map(match([]string{"a", "b", "c"}, of), func(s InState) string {
			return fmt.Sprintf("%g: ", s.NS) + strings.Join(lists.Map(s.Machines, func(m MachineState) string { return m.Machine }), " ")
		})
		check.Equal(t, strings.Join(got, "; "), want, "%v", of)
	}
	try([][]params.State{states(60, 240), states(62, 250)}, "60: a b; 240: a b")
	try([][]params.State{states(60), states(50, 58, 240)}, "50: b; 60: a b; 240: b")
	try([][]params.State{states(100), states(139)}, "100: a b")
	try([][]params.State{states(100), states(141)}, "100: a; 141: b")
	try([][]params.State{states(28, 60), states(240), states(61, 230)}, "28: a; 60: a c; 240: b c")
	try([][]params.State{nil, states(60)}, "60: b")
}

// A fleet is compared in the state that most machines had, and the others are named.
func TestFleetStates(t *testing.T) {
	machines := lists.Map(lists.Indices(14), func(i int) Machine {
		stays := []stay{{60, 0.2 + 0.05*float64(i), 1}, {240, 0.8 - 0.05*float64(i), 1}}
		switch i {
		case 3:
			stays[0].slower, stays[1].slower = 1.3, 1.3
		case 7:
			stays = stays[:1]
			stays[0].share = 1
		case 9:
			stays = []stay{{28, 1, 1}}
		}
		return moved(fmt.Sprintf("n%02d", i), uint64(i), stays...)
	})
	o := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
	check.True(t, o.State != nil && math.Abs(o.State.NS-60) <= 3 && len(o.State.Machines) == 13 && len(o.Machines) == 13, "%d machines in %+v", len(o.Machines), o.State)
	check.True(t, len(o.Outliers) == 1 && o.Outliers[0].Machine == "n03", "outliers %+v", o.Outliers)
	contains.All(t, fmt.Sprint(o.Warnings), "n09: not compared, for there was no state with a flag of")
}

// A machine slowed all the time is not taken for a slower one without a word.
func TestMeetOfSlowed(t *testing.T) {
	alone, slowed := []params.State{{NS: 60, Share: 1}}, []params.State{{NS: 61, Share: 1, Slow: 9.8}}
	for _, of := range [][][]params.State{{alone, slowed}, {slowed, alone}} {
		all, means, err := meet([]string{"a", "b"}, of, false)
		check.True(t, all == nil && means == "" && err != nil && strings.Contains(err.Error(), "slowed a core of "), "%v: %v, %q, %v", of, all, means, err)
	}
	check.NoError(t, must.Err2(meet([]string{"a", "b"}, [][]params.State{slowed, slowed}, true)), "both slowed")
}
