package verify

import (
	"math"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// fixed is a machine whose transfers take 1 ns a byte, whatever τ is.
type fixed struct{}

func (fixed) L(m, tau int) (float64, bool) { return float64(m) * 1e-9, false }
func (fixed) O(m int) (float64, bool)      { return 0, false }

// fixedModels are those of Models on it.
func fixedModels() map[bool][]model.Coster {
	taulop := model.TauLop{Parameters: fixed{}, Segment: 1024}
	lognp, _ := model.LogNPOf(taulop)
	models := []model.Coster{taulop, lognp, model.LogGP{Latency: 1e-6, Overhead: 1e-7, Gap: 1e-7, GapPerByte: 1e-9, Segment: 1024}}
	return map[bool][]model.Coster{false: models, true: models}
}

func TestPredict(t *testing.T) {
	c, err := MessageCase(4096, false)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := predict(fixedModels()[false], Models, c.Schedule, 5000)
	if err != nil {
		t.Fatal(err)
	}
	// Eq. (10): 2·1024 + 3·1024; log_nP the same; eq. (3): 2o + L + 3g + (4·1024 − 4)G.
	for i, want := range []float64{5120, 5120, 200 + 1000 + 300 + 4092} {
		if ps[i].Model != Models[i] || math.Abs(ps[i].Ns-want) > 1e-6 || math.Abs(ps[i].Error-(want-5000)/5000) > 1e-9 {
			t.Errorf("%s says %g ns, an error of %g; want %g", ps[i].Model, ps[i].Ns, ps[i].Error, want)
		}
	}
}

func TestMeans(t *testing.T) {
	row := func(name string, p int, off bool, errors ...float64) Row {
		r := Row{Name: name, P: p, OffCache: off}
		for _, e := range errors {
			r.Predicted = append(r.Predicted, Prediction{Error: e})
		}
		return r
	}
	means := Means([]Row{
		row(Message, 2, false, 0.1, 0.2, 0.3), row(Message, 2, false, 0.3, 0.2, 0.1),
		row("bcast:linear", 2, false, 0, 1, 2), row("bcast:binomial", 2, false, 1, 1, 0),
		row("bcast:linear", 2, true, 0.5, 0.5, 0.5),
	})
	want := []Mean{
		{Message, 2, false, []float64{0.2, 0.2, 0.2}}, {"bcast", 2, false, []float64{0.5, 1, 1}}, {"all", 2, false, []float64{0.35, 0.6, 0.6}},
		{"bcast", 2, true, []float64{0.5, 0.5, 0.5}}, {"all", 2, true, []float64{0.5, 0.5, 0.5}},
	}
	if len(means) != len(want) {
		t.Fatalf("%d means, want %d: %+v", len(means), len(want), means)
	}
	for i, w := range want {
		m := means[i]
		if m.Of != w.Of || m.P != w.P || m.OffCache != w.OffCache {
			t.Errorf("mean %d is of %s, P = %d, off cache %v; want %+v", i, m.Of, m.P, m.OffCache, w)
		}
		for j := range w.Errors {
			if math.Abs(m.Errors[j]-w.Errors[j]) > 1e-9 {
				t.Errorf("mean of %s: %v, want %v", m.Of, m.Errors, w.Errors)
			}
		}
	}
}

// Cases run, in cache and off cache, and rows have what was measured and said.
func TestRuns(t *testing.T) {
	m := surveytest.Machine(t, 2)
	var runs Runs
	for _, off := range []bool{false, true} {
		c, err := MessageCase(3000, off)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := collective.Lookup("allgather:ring")
		s, err := a.Schedule(collective.Call{P: 2, M: 3000})
		if err != nil {
			t.Fatal(err)
		}
		runs.Cases = append(runs.Cases, c, Case{a.String(), off, s})
	}
	request := schedules{Segments: 2, SegmentBytes: 1024, ArenaBytes: map[int]int{2: 1 << 20}, Operator: "SUM_I", cases: runs.Cases}
	runs.File = surveytest.Run(t, m, Survey, request)
	rows, err := runs.Rows(fixedModels())
	if err != nil {
		t.Fatal(err)
	}
	if runs.Launches() != engine.LeastLaunches || len(rows) != 4 {
		t.Fatalf("%d rows of %d launches", len(rows), runs.Launches())
	}
	for _, row := range rows {
		if !row.Measured.Known() || !(row.Measured.Center > 0) || len(row.Predicted) != len(Models) {
			t.Errorf("%s: %+v", row.Name, row)
		}
		for _, p := range row.Predicted {
			if want := math.Abs(p.Ns-row.Measured.Center) / row.Measured.Center; p.Error != want || math.IsInf(want, 0) {
				t.Errorf("%s: error of %s is %g, want %g", row.Name, p.Model, p.Error, want)
			}
		}
	}
}

// A launch makes of every key the case that it is of.
func TestCaseOf(t *testing.T) {
	var cases []Case
	for _, a := range collective.All() {
		s, err := a.Schedule(collective.Call{P: 4, M: 4096, Element: 4})
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, Case{a.String(), true, s})
	}
	for _, pattern := range Patterns() {
		of, _, err := pattern.Cases(4, []int{64}, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, of...)
	}
	message, _ := MessageCase(99, false)
	cases = append(cases, message)
	seen := make(map[params.Key]bool)
	for _, c := range cases {
		k := c.Key()
		if seen[k] {
			t.Errorf("two cases of key %v", k)
		}
		seen[k] = true
		got, err := caseOf(k, 4)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		was, is := c.Schedule.Call, got.Schedule.Call
		was.Element, is.Element = 0, 0 // of reductions alone
		if got.Name != c.Name || got.OffCache != c.OffCache || was != is || got.Schedule.Len() != c.Schedule.Len() {
			t.Errorf("%s %+v became %s %+v", c.Name, was, got.Name, is)
		}
	}
	if len(cases) < 40 {
		t.Errorf("%d cases only", len(cases))
	}
}
