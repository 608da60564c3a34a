package verify

import (
	"math"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

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
			if len(cases) != want[pattern.Name] || len(names) != len(cases) || len(partners) != len(cases) || leftOut != 0 {
				t.Errorf("%s, P = %d: %d cases, %d names, %d different, want %d", pattern.Name, p, len(cases), len(names), len(partners), want[pattern.Name])
			}
			few, leftOut, err := pattern.Cases(p, []int{100, 200}, false, 5)
			if err != nil || len(few) != 2*min(5, len(cases)) || leftOut != max(0, len(cases)-5) {
				t.Errorf("%s, P = %d: %d of at most 5 variants, %d left out, %v", pattern.Name, p, len(few)/2, leftOut, err)
			}
		}
	}
}

func TestLookupPattern(t *testing.T) {
	contains.Error(t, must.Err(LookupPattern("pingpong")), `"ping-pong"`)
}

func TestFittedSizes(t *testing.T) {
	for _, tt := range []struct{ ms, want []int }{
		{[]int{1, 2, 4, 8, 16}, []int{1, 4, 16}},
		{[]int{1, 2, 4, 8, 16, 32}, []int{1, 4, 16, 32}},
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
		halves := 2. // a permutation, and there and back
		if p := PatternOf(c.Name); p == "scatter" || p == "broadcast" {
			halves = 1
		}
		samples := slices.Repeat([]float64{startup + halves/2*perByte*float64(c.Schedule.Call.M)}, 6)
		r.File.Cells = append(r.File.Cells, params.Cell{Key: c.Key(), Time: fit.Median(samples), Samples: params.Samples(samples...)})
	}
	fits := must.Get(r.PatternFits())
	check.Equal(t, len(fits), 1+1+1+2+2, "fits") // and one of all permutations
	models := fixedModels()[1:2]
	rows := must.Get(r.PatternRows(models, fits))
	for _, row := range rows {
		if len(row.Predicted) != len(PatternModels) || math.Abs(row.Predicted[1].Error) > 1e-6 || math.Abs(row.Predicted[2].Error) > 1e-6 {
			t.Errorf("%s, m = %d: %+v", row.Name, row.Bytes, row.Predicted)
		}
		check.Equal(t, row.Fitted, slices.Contains([]int{1024, 4096, 16384}, row.Bytes), "m = %d: fitted", row.Bytes)
		k := float64(row.Bytes) / 1024
		want := map[string]float64{Permutation: 2 * k, "ping-pong": 2 * (k + 1), "scatter": k + 1, "broadcast": k + 1}[row.Pattern] * 1024
		check.Near(t, row.Predicted[0].Ns, want, 1e-6, "%s, m = %d: τ-Lop", row.Name, row.Bytes)
	}
	if tested := Tested(rows); len(tested) != 4*2 || tested[0].Variants != 1 || tested[7].Variants != 2 {
		t.Errorf("%d rows: %+v", len(tested), tested)
	}
	means := PatternMeans(rows)
	if len(means) != 5 || means[0].Of != Permutation || means[4].Of != "all" || means[4].Errors[1].Mean > 1e-6 || !(means[4].Errors[0].Mean > 0.01) {
		t.Errorf("%+v", means)
	}
	must.Do(r.File.Validate())
	r.File.Cells = r.File.Cells[1:] // stopped before it
	check.Equal(t, len(must.Get(r.PatternRows(models, fits))), len(rows)-1, "rows when stopped")
}
