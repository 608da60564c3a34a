package predict

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// ensemble is of twelve launches.
var ensemble = model.NewEnsemble(&params.File{Launches: make([]params.Launch, 12)}, model.Choice{})

// drawn are draws of a cost with noise.
func drawn(cost, noise float64) (all []float64) {
	for i := range 40 {
		all = append(all, cost*(1+noise*float64(i%5-2)))
	}
	return all
}

// machineOf is a machine whose costs in µs are known to 2 %.
func machineOf(name string, rows ...Prediction) *Predictions {
	for i := range rows {
		rows[i].drawn = drawn(rows[i].Microseconds/1e6, 0.01)
	}
	return &Predictions{Source: Source{Machine: name}, Rows: rows, ensemble: ensemble}
}

func call(collective, algorithm string, bytes int, us float64) Prediction {
	return Prediction{Collective: collective, Algorithm: algorithm, P: 4, Bytes: bytes, Microseconds: us}
}

// Each machine has its own cheapest algorithm; costs that cannot be told apart are ties.
func TestMachines(t *testing.T) {
	a := func() *Predictions {
		return machineOf("a", call("bcast", "linear", 8, 4), call("bcast", "binomial", 8, 2), call("bcast", "linear", 64, 10), call("reduce", "linear", 8, 5))
	}
	for _, tt := range []struct {
		others []*Predictions
		test   fit.Test
		marks  string // by rows
		want   string
	}{
		{[]*Predictions{machineOf("b", call("bcast", "linear", 8, 3), call("bcast", "binomial", 8, 4), call("bcast", "linear", 64, 10.1), call("reduce", "linear", 8, 5))},
			fit.Test{Least: 0.03}, "*-----", "a is the better machine: cheaper in 1 of 3 calls, by 1.50 times at the median (bcast in 1 of 2); 2 are ties."},
		{[]*Predictions{machineOf("b", call("bcast", "linear", 8, 3), call("bcast", "linear", 64, 5), call("reduce", "linear", 8, 1))},
			fit.Test{Least: 0.03}, "*--*-*", "It depends: b is cheaper in 2 of 3 calls, by 3.5 times at the median (bcast in 1 of 2, reduce); a is cheaper in 1 of 3 calls, by 1.50 times at the median (bcast in 1 of 2)."},
		// An hour may be as much.
		{[]*Predictions{machineOf("b", call("bcast", "linear", 8, 2.4), call("bcast", "linear", 64, 12), call("reduce", "linear", 8, 6))},
			fit.Test{Drift: 0.2, Least: 0.03}, "------", "Which machine is the better one cannot be told: no difference is certain in 3 calls, corrected for their number. The bare numbers are lower by more than 3 % on a in 3 of 3, by 1.20 times at the median. Single transfers, which taulop compare tests, may differ for certain where whole calls do not. Machines of one or two sessions"},
		{[]*Predictions{machineOf("b", call("bcast", "linear", 8, 2), call("bcast", "linear", 64, 20)), machineOf("c", call("bcast", "linear", 8, 4), call("bcast", "linear", 64, 20))},
			fit.Test{}, "**-*---", "a is the better machine: cheaper in 1 of 2 calls, by 2.0 times at the median (bcast in 1 of 2); 1 is a tie."},
		// A machine that lacks a call does not take part in it, and has tests of its own.
		{[]*Predictions{machineOf("b", call("bcast", "linear", 8, 20), call("bcast", "linear", 64, 10)), machineOf("c", call("bcast", "linear", 64, 10))},
			fit.Test{}, "------", "Which machine is the better one cannot be told: no difference is certain in 1 call."},
		{[]*Predictions{machineOf("b", call("scatter", "linear", 8, 2))}, fit.Test{}, "----", "Nothing can be compared: no call has a cost on every machine."},
	} {
		d := NewMachines(append([]*Predictions{a()}, tt.others...), nil, tt.test)
		marks := ""
		for _, r := range d.Rows {
			if marks += "-"; r.Cheapest {
				marks = marks[:len(marks)-1] + "*"
			}
		}
		if marks != tt.marks || !strings.HasPrefix(d.Verdict.Text, tt.want) {
			t.Errorf("%s: %s\nwant %s: %s", marks, d.Verdict.Text, tt.marks, tt.want)
		}
	}
}
