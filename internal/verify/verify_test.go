package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
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
		check.True(t, ps[i].Model == Models[i] && math.Abs(ps[i].Ns-want) <= 1e-6 && math.Abs(ps[i].Error-(want-5000)/5000) <= 1e-9,
			"%s says %g ns, an error of %g; want %g", ps[i].Model, ps[i].Ns, ps[i].Error, want)
	}
	// An unknown prediction does not affect the others, and a time of 0 has no error.
	models := fixedModels()
	models[0].in[false] = model.TauLop{Channels: model.Uniform(unknown{}), Segment: 1024}
	models[2].in[false] = model.TauLop{}
	delete(models[4].in, false)
	ps, err := predict(models, false, c.Schedule, 5000)
	check.True(t, len(ps) == 2 && ps[0].Model == Full && ps[1].Model == "log_nP" && err != nil && strings.HasPrefix(err.Error(), Session),
		"%+v, %v", ps, err)
	ps, err = predict(fixedModels(), false, c.Schedule, 0)
	check.True(t, len(ps) == 0 && err == nil, "%+v, %v", ps, err)
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
		a := must.Get(collective.Lookup("allgather:ring"))
		s := must.Get(a.Schedule(collective.Call{P: 2, M: 3000}))
		runs.Cases = append(runs.Cases, c, Case{a.String(), off, s})
	}
	request := schedules{Segments: 2, SegmentBytes: 1024, ArenaBytes: map[int]int{2: 1 << 20}, Operator: "SUM_I", cases: runs.Cases}
	runs.File = surveytest.Run(t, m, Survey, request)
	rows := must.Get(runs.Rows(fixedModels()))
	check.Need(t, runs.Rounds() == 1 && len(rows) == 4, "%d rows of %d rounds", len(rows), runs.Rounds())
	for _, row := range rows {
		check.True(t, row.Measured.Center > 0 && len(row.Predicted) == len(Models), "%s: %+v", row.Name, row)
		for _, p := range row.Predicted {
			want := (p.Ns - row.Measured.Center) / row.Measured.Center
			check.True(t, p.Error == want && !math.IsInf(want, 0), "%s: error of %s is %g, want %g", row.Name, p.Model, p.Error, want)
		}
	}
}

// A launch makes the case of every key.
func TestCaseOf(t *testing.T) {
	cases := []Case{must.Get(MessageCase(99, false))}
	for _, a := range collective.All() {
		if a.Among.Has(4) {
			cases = append(cases, Case{a.String(), true, must.Get(a.Schedule(collective.Call{P: 4, M: 4096, Element: 4}))})
		}
	}
	for _, pattern := range Patterns() {
		of, _, err := pattern.Cases(4, []int{64}, false, 0)
		must.Do(err)
		cases = append(cases, of...)
	}
	seen := make(map[params.Key]bool)
	for _, c := range cases {
		k := c.Key()
		check.True(t, !seen[k], "two cases of key %v", k)
		seen[k] = true
		got := must.Get(schedules{}.caseOf(k, 4))
		was, is := c.Schedule.Call, got.Schedule.Call
		was.Element, is.Element = 0, 0 // of reductions alone
		check.True(t, got.Name == c.Name && got.OffCache == c.OffCache && was == is && got.Schedule.Len() == c.Schedule.Len(),
			"%s %+v became %s %+v", c.Name, was, got.Name, is)
	}
	check.AtLeast(t, len(cases), 40, "cases")
}

// Among P = 1 … 17 ranks a permutation has every distance, a ping-pong every pair once, and other
// patterns every root. All names differ.
func TestPatternVariants(t *testing.T) {
	for p := 1; p <= 17; p++ {
		want := map[string]int{Permutation: p - 1, "ping-pong": p * (p - 1) / 2, "scatter": p, "broadcast": p}
		for _, pattern := range Patterns() {
			cases, leftOut, err := pattern.Cases(p, []int{100}, false, 0)
			must.Do(err)
			names, partners := make(map[string]bool), make(map[[3]int]bool)
			for _, c := range cases {
				check.Equal(t, PatternOf(c.Name), pattern.Name, "pattern of %s", c.Name)
				call := c.Schedule.Call
				names[c.Name] = true
				other := (call.Root + call.Distance) % p
				if pattern.Name == Permutation {
					other = 0
				}
				partners[[3]int{min(call.Root, other), max(call.Root, other), call.Distance}] = true
			}
			check.True(t, len(cases) == want[pattern.Name] && len(names) == len(cases) && len(partners) == len(cases) && leftOut == 0,
				"%s, P = %d: %d cases, %d names, %d different, want %d", pattern.Name, p, len(cases), len(names), len(partners), want[pattern.Name])
			few, leftOut, err := pattern.Cases(p, []int{100, 200}, false, 5)
			check.True(t, err == nil && len(few) == 2*min(5, len(cases)) && leftOut == max(0, len(cases)-5),
				"%s, P = %d: %d of at most 5 variants, %d left out, %v", pattern.Name, p, len(few)/2, leftOut, err)
		}
	}
	contains.Error(t, must.Err(LookupPattern("pingpong")), `"ping-pong"`)
}

func TestFittedSizes(t *testing.T) {
	for _, tt := range []struct{ ms, want []int }{
		{[]int{1, 2, 4, 8, 16}, []int{1, 4, 16}}, {[]int{1, 2, 4, 8, 16, 32}, []int{1, 4, 16, 32}},
		{[]int{1, 2, 3, 4, 5, 6, 7}, []int{1, 3, 5, 7}},
	} {
		got := FittedSizes(tt.ms)
		check.Slices(t, got, tt.want, "%v", tt.ms)
		check.True(t, len(got) >= fit.LeastSizes && len(got) != len(tt.ms), "%v: nothing to test a line on", tt.ms)
	}
}

// If every pattern takes the time of Kang et al., both lines are exact at sizes that they were not
// fitted to, and τ-Lop predicts by transfers of 1 ns a byte.
func TestPatternRows(t *testing.T) {
	const startup, perByte = 500, 2
	r := Runs{File: &params.File{Format: params.Format, Version: params.Version}}
	for _, pattern := range Patterns() {
		cases, _, err := pattern.Cases(2, []int{1024, 2048, 4096, 8192, 16384}, false, 0)
		must.Do(err)
		r.Cases = append(r.Cases, cases...)
	}
	for _, c := range r.Cases {
		halves := map[string]float64{Permutation: 2, "ping-pong": 2, "scatter": 1, "broadcast": 1}[PatternOf(c.Name)] // there and back
		samples := slices.Repeat([]float64{startup + halves/2*perByte*float64(c.Schedule.Call.M)}, 6)
		r.File.Cells = append(r.File.Cells, params.Cell{Key: c.Key(), Time: fit.Median(samples), Samples: params.Samples(samples...)})
	}
	fits := must.Get(r.PatternFits())
	check.Equal(t, len(fits), 1+1+1+2+2, "fits") // and one of all permutations
	models := fixedModels()[1:2]
	rows := must.Get(r.PatternRows(models, fits))
	for _, row := range rows {
		check.True(t, len(row.Predicted) == len(PatternModels) && math.Abs(row.Predicted[1].Error) <= 1e-6 && math.Abs(row.Predicted[2].Error) <= 1e-6,
			"%s, m = %d: %+v", row.Name, row.Bytes, row.Predicted)
		check.Equal(t, row.Fitted, slices.Contains([]int{1024, 4096, 16384}, row.Bytes), "m = %d: fitted", row.Bytes)
		k := float64(row.Bytes) / 1024
		want := map[string]float64{Permutation: 2 * k, "ping-pong": 2 * (k + 1), "scatter": k + 1, "broadcast": k + 1}[row.Pattern] * 1024
		check.Near(t, row.Predicted[0].Ns, want, 1e-6, "%s, m = %d: τ-Lop", row.Name, row.Bytes)
	}
	tested := Tested(rows)
	check.True(t, len(tested) == 4*2 && tested[0].Variants == 1 && tested[7].Variants == 2, "%d rows: %+v", len(tested), tested)
	means := PatternMeans(rows)
	check.True(t, len(means) == 5 && means[0].Of == Permutation && means[4].Of == "all" && means[4].Errors[1].Mean <= 1e-6 && means[4].Errors[0].Mean > 0.01,
		"%+v", means)
	must.Do(r.File.Validate())
	r.File.Cells = r.File.Cells[1:] // stopped before it
	check.Equal(t, len(must.Get(r.PatternRows(models, fits))), len(rows)-1, "rows when stopped")
}
