package sweep_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/test/sweeptest"
)

// halves are two states: the nearer one has a share of the time, and the farther one takes
// `slower` times what its flag lets expect.
func halves(share, slower float64) []surveytest.State {
	const period = 100 * time.Millisecond
	return []surveytest.State{{Flag: 60, Times: 1, Lasts: time.Duration(share * float64(period))},
		{Flag: 240, Times: 4 * slower, Lasts: time.Duration((1 - share) * float64(period))}}
}

// Of two machines that move, alike but for how long they are where, nothing differs; of one that
// is slower in one state all does in that one.
func TestStatesCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing is shared")
	}
	test := fit.Test{Drift: 0.01, Least: compare.DefaultLeast}
	a, _ := sweeptest.Moving(t, 2, halves(0.7, 1), 60, 300*time.Millisecond, 1)
	for _, slower := range []float64{1, 1.1} {
		b, _ := sweeptest.Moving(t, 2, halves(0.3, slower), 60, 300*time.Millisecond, 11)
		c := must.Get(compare.New([]compare.Machine{{Name: "a", File: a}, {Name: "b", File: b}}, compare.Choice{Sizes: []int{64, 1024, 8192}, Test: &test}))
		in := make(map[float64]int) // tested ratios by state
		for _, table := range c.Tables {
			for _, p := range table.Rows[1].Points {
				if r := p.Ratio; r.Tested {
					if in[table.State.NS]++; r.Differs != (slower > 1 && table.State.NS > 120) {
						t.Errorf("%g times: %v, τ = %d with a flag of %s: %+v", slower, table.Channel, p.Tau, table.State.Name(), r)
					}
				}
			}
		}
		if len(in) != 2 {
			t.Errorf("ratios %v: %s", in, c.Compared())
		}
	}
}

// A machine that was moved since its baseline, or is at other shares of the time where it was, is
// not called slower; one that is slower in one state is.
func TestStatesChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing is shared")
	}
	there := func(flag, times float64) []surveytest.State {
		s := surveytest.State{Flag: flag, Times: times, Lasts: time.Second}
		return []surveytest.State{s, s}
	}
	for _, tt := range []struct {
		name     string
		was, now []surveytest.State
		want     compare.State
		says     string
	}{
		{"moved", there(60, 1), there(240, 4), compare.Unknown, "which the baseline has not met"},
		{"the same place", there(60, 1), there(60, 1), compare.OK, "none of"},
		{"one of two", halves(0.5, 1), there(240, 4), compare.OK, "the machine was in a state with a flag of 2"},
		{"other shares", halves(0.7, 1), halves(0.3, 1), compare.OK, "none of"},
		{"slower in one", halves(0.5, 1), halves(0.5, 1.6), compare.Critical, "with a flag of 2"},
	} {
		was, sim := sweeptest.Moving(t, 2, tt.was, 60, 300*time.Millisecond, 1)
		was.Provenance = provenance.Read("/", sim.Machine)
		was.Provenance.Give(false)
		was.Provenance.Hypervisor = "KVM"
		must.Do(transfers.Fit(was, sim.Machine))
		x := must.Get(sweep.Check(was, sim.Machine, 0, time.Hour))
		x.Start, x.Launches, x.Seed = sweeptest.Machine(2, tt.now, 300*time.Millisecond, 2).Start(), 60, 1
		must.Do(x.Run(context.Background()))
		b := compare.NewBaseline(was, x.File, fit.Test{Drift: 0.01, Least: compare.DefaultLeast}, compare.Levels{Warning: 0.1, Critical: 0.3})
		if b.State != tt.want || !strings.Contains(b.Text, tt.says) {
			t.Errorf("%s: %v: %s", tt.name, b.State, b.Text)
		}
	}
}
