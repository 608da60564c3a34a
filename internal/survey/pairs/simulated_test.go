package pairs

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// moving is a file of pairs on a machine whose host moves CPUs between two states.
func moving(t *testing.T, cpus, launches int, seed uint64) (*params.File, *surveytest.Simulated) {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, cpus, 1), Latency: 60, Far: 1, PerByte: 0.05, Noise: 0.02, Between: 300 * time.Millisecond,
		States: []surveytest.State{{Flag: 60, Times: 1, Lasts: 300 * time.Millisecond}, {Flag: 240, Times: 4, Lasts: 200 * time.Millisecond}}}, seed)
	f := &params.File{Format: params.Format, Version: params.Version}
	f.Provenance.Levels = s.Machine.Levels(s.Machine.Allowed)
	x := &engine.Experiment{File: f, Time: time.Hour, Launches: launches, Start: s.Start(), Seed: 1}
	must.Get(survey.Add(x, Survey, Request{CPUs: s.Machine.CoreCPUs(), Sizes: []int{0, SegmentBytes}}, s.Machine))
	must.Do(x.Run(context.Background()))
	return f, s
}

// If the host moves CPUs, pairs have states, and their times are means by the states' shares.
func TestMoving(t *testing.T) {
	f, s := moving(t, 3, 200, 1)
	p, err := f.Pairs()
	if err != nil || len(p.Pairs) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	put := s.Shares()
	for _, pair := range p.Pairs {
		if len(pair.States) != 2 || math.Abs(pair.States[0].Share-put[0]) > 0.1 {
			t.Fatalf("%+v, put in shares of %.2f", pair, put)
		}
		mean := 0.
		for i, of := range pair.States {
			want := s.Latency * s.States[i].Times
			if got := of.Times[0]; math.Abs(got.Center/want-1) > 0.03 || !got.Known() || math.Abs(of.NS/s.States[i].Flag-1) > 0.03 {
				t.Errorf("%d-%d takes %v in %+v, put in %g", pair.From, pair.To, got, of.State, want)
			}
			mean += of.Share * of.Times[0].Center
		}
		if math.Abs(pair.Times[0].Center/mean-1) > 1e-9 {
			t.Errorf("%v is not the mean of %+v", pair.Times[0], pair.States)
		}
	}
	var b strings.Builder
	view.WriteTables(&b, Tables(f))
	contains.All(t, b.String(), "states of pairs, told apart by what a flag takes", " 0-1 ", " 0-2 ", " 1-2 ")
}

// Two states of pairs are no two groups of CPUs, whether or not samples suffice to tell the states.
func TestMovingIsNoGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing is shared")
	}
	for seed := range uint64(20) {
		for _, launches := range []int{engine.LeastLaunches, 60} {
			if launches > engine.LeastLaunches && seed > 1 {
				continue
			}
			f, _ := moving(t, 8, launches, seed)
			p := must.Get(f.Pairs())
			if groups := FindGroups(p, f.Provenance.Levels); len(groups) > 0 {
				t.Errorf("seed %d, %d launches: %v", seed, launches, groups)
			}
		}
	}
}

// Hidden siblings are groups even if the host moves cores between caches; CPUs that are close only for
// some time are none.
func TestGroupsOfMovedPairs(t *testing.T) {
	p := &params.Pairs{Sizes: []int{0}, Levels: []params.PairLevel{{Name: "same node"}}}
	known := numatest.EPYC(1, 1, 1, 8, 1).Levels(numatest.EPYC(1, 1, 1, 8, 1).Allowed)
	p.Levels[0].Name = known[0].Name
	for i := range 8 {
		p.CPUs = append(p.CPUs, i)
		for j := range i {
			of := pair(0, j, i, 28)
			if i/2 != j/2 {
				of = pair(0, j, i, 150)
				of.States = []params.PairState{{State: params.State{NS: 60, Share: 0.5}, Times: pair(0, j, i, 60).Times}, {State: params.State{NS: 240, Share: 0.5}, Times: pair(0, j, i, 240).Times}}
			}
			p.Pairs = append(p.Pairs, of)
		}
	}
	if groups := FindGroups(p, known); len(groups) != 1 || len(groups[0].Groups) != 4 {
		t.Errorf("siblings: %v", groups)
	}
	for i := range p.Pairs { // the others are as near as those at times
		if of := &p.Pairs[i]; len(of.States) > 0 {
			of.States[0].Times = pair(0, of.From, of.To, 28).Times
		}
	}
	if groups := FindGroups(p, known); len(groups) != 0 {
		t.Errorf("for a while: %v", groups)
	}
}
