package verify

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// fixed is a machine whose transfers take 1 ns a byte, whatever τ is.
type fixed struct{}

func (fixed) L(m, tau int) (float64, bool) { return float64(m) * 1e-9, false }
func (fixed) O(m int) (float64, bool)      { return 0, false }

// fixedModels are Models on it.
func fixedModels() (models []Model) {
	taulop := model.TauLop{Channels: model.Uniform(fixed{}), Segment: 1024}
	lognp, _ := model.LogNPOf(taulop)
	for i, m := range []model.Coster{taulop, taulop, taulop, lognp, model.LogGP{Latency: 1e-6, Overhead: 1e-7, Gap: 1e-7, GapPerByte: 1e-9, Segment: 1024}} {
		models = append(models, Model{Name: Models[i], in: map[bool]model.Coster{false: m, true: m}})
	}
	return models
}

func TestPredict(t *testing.T) {
	c := must.Get(MessageCase(4096, false))
	ps := must.Get(predict(fixedModels(), false, c.Schedule, 5000))
	// Eq. (10): 2·1024 + 3·1024; log_nP the same; eq. (3): 2o + L + 3g + (4·1024 − 4)G.
	for i, want := range []float64{5120, 5120, 5120, 5120, 200 + 1000 + 300 + 4092} {
		if ps[i].Model != Models[i] || math.Abs(ps[i].Ns-want) > 1e-6 || math.Abs(ps[i].Error-(want-5000)/5000) > 1e-9 {
			t.Errorf("%s says %g ns, an error of %g; want %g", ps[i].Model, ps[i].Ns, ps[i].Error, want)
		}
	}
	// An unknown prediction does not affect the others, and a time of 0 has no error.
	models := fixedModels()
	models[0].in[false] = model.TauLop{Channels: model.Uniform(unknown{}), Segment: 1024}
	models[2].in[false] = model.TauLop{}
	delete(models[4].in, false)
	ps, err := predict(models, false, c.Schedule, 5000)
	if len(ps) != 2 || ps[0].Model != Full || ps[1].Model != "log_nP" || err == nil || !strings.HasPrefix(err.Error(), Session) {
		t.Errorf("%+v, %v", ps, err)
	}
	if ps, err = predict(fixedModels(), false, c.Schedule, 0); len(ps) > 0 || err != nil {
		t.Errorf("%+v, %v", ps, err)
	}
}

// unknown is a machine without measurements.
type unknown struct{ fixed }

func (unknown) L(m, tau int) (float64, bool) { return math.NaN(), false }

func TestMeans(t *testing.T) {
	row := func(name string, p int, off bool, errors ...float64) Row {
		r := Row{Name: name, P: p, OffCache: off}
		for i, e := range errors {
			if !math.IsNaN(e) {
				r.Predicted = append(r.Predicted, Prediction{Model: Models[i], Error: e})
			}
		}
		return r
	}
	rows := []Row{
		row(Message, 2, false, 0.1, 0.2), row(Message, 2, false, -0.3, 0.2),
		row("bcast:linear", 2, false, 0, 1), row("bcast:binomial", 2, false, math.NaN(), 1),
		row("bcast:linear", 2, true, 0.5, -0.5), row("bcast:linear", 4, true),
	}
	for i := range 19 { // 1 … 19 %, of which nine of ten are 18 % at the most
		rows = append(rows, row(Message, 8, false, -0.01*float64((i*7)%19+1)))
	}
	want := []Mean{
		{Message, 2, false, params.State{}, 0, []Errors{{Strict, 2, 0.2, 0.3, -0.1}, {Full, 2, 0.2, 0.2, 0.2}}},
		{"bcast", 2, false, params.State{}, 0, []Errors{{Strict, 1, 0, 0, 0}, {Full, 2, 1, 1, 1}}},
		{"all", 2, false, params.State{}, 0, []Errors{{Strict, 3, 0.4 / 3, 0.3, -0.2 / 3}, {Full, 4, 0.6, 1, 0.6}}},
		{"bcast", 2, true, params.State{}, 0, []Errors{{Strict, 1, 0.5, 0.5, 0.5}, {Full, 1, 0.5, 0.5, -0.5}}},
		{"all", 2, true, params.State{}, 0, []Errors{{Strict, 1, 0.5, 0.5, 0.5}, {Full, 1, 0.5, 0.5, -0.5}}},
		{Message, 8, false, params.State{}, 0, []Errors{{Strict, 19, 0.1, 0.18, -0.1}}},
		{"all", 8, false, params.State{}, 0, []Errors{{Strict, 19, 0.1, 0.18, -0.1}}},
	}
	check.Equal(t, fmt.Sprintf("%.6v", Means(rows)), fmt.Sprintf("%.6v", want), "Means")
}

// Cases run in cache and off cache, and rows have measured and predicted times.
func TestRuns(t *testing.T) {
	m := surveytest.Machine(t, 2)
	var runs Runs
	for _, off := range []bool{false, true} {
		c := must.Get(MessageCase(3000, off))
		a, _ := collective.Lookup("allgather:ring")
		s := must.Get(a.Schedule(collective.Call{P: 2, M: 3000}))
		runs.Cases = append(runs.Cases, c, Case{a.String(), off, s})
	}
	request := schedules{Segments: 2, SegmentBytes: 1024, ArenaBytes: map[int]int{2: 1 << 20}, Operator: "SUM_I", cases: runs.Cases}
	runs.File = surveytest.Run(t, m, Survey, request)
	rows := must.Get(runs.Rows(fixedModels()))
	if runs.Rounds() != 1 || len(rows) != 4 {
		t.Fatalf("%d rows of %d rounds", len(rows), runs.Rounds())
	}
	for _, row := range rows {
		check.True(t, row.Measured.Center > 0 && len(row.Predicted) == len(Models), "%s: %+v", row.Name, row)
		for _, p := range row.Predicted {
			if want := (p.Ns - row.Measured.Center) / row.Measured.Center; p.Error != want || math.IsInf(want, 0) {
				t.Errorf("%s: error of %s is %g, want %g", row.Name, p.Model, p.Error, want)
			}
		}
	}
}

// A launch makes the case of every key.
func TestCaseOf(t *testing.T) {
	var cases []Case
	for _, a := range collective.All() {
		if !a.Among.Has(4) {
			continue
		}
		s := must.Get(a.Schedule(collective.Call{P: 4, M: 4096, Element: 4}))
		cases = append(cases, Case{a.String(), true, s})
	}
	for _, pattern := range Patterns() {
		of, _, err := pattern.Cases(4, []int{64}, false, 0)
		must.Do(err)
		cases = append(cases, of...)
	}
	message, _ := MessageCase(99, false)
	cases = append(cases, message)
	seen := make(map[params.Key]bool)
	for _, c := range cases {
		k := c.Key()
		check.True(t, !seen[k], "two cases of key %v", k)
		seen[k] = true
		got := must.Get(schedules{}.caseOf(k, 4))
		was, is := c.Schedule.Call, got.Schedule.Call
		was.Element, is.Element = 0, 0 // of reductions alone
		if got.Name != c.Name || got.OffCache != c.OffCache || was != is || got.Schedule.Len() != c.Schedule.Len() {
			t.Errorf("%s %+v became %s %+v", c.Name, was, got.Name, is)
		}
	}
	check.AtLeast(t, len(cases), 40, "cases")
}
