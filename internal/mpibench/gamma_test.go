package mpibench

import (
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Times by one rank and by two replace γ of the same operator alone. Repeated runs count by their
// median.
func TestTakeGamma(t *testing.T) {
	text := "# MPI_Datatype for reductions : MPI_INT\n"
	for _, ns := range []float64{90, 100, 130} {
		one := func(m int) float64 { return ns + float64(m) }
		text += imbText("Reduce_local", processes(1), "t_max[usec]", []int{0, 64, 4096}, one) +
			imbText("Reduce_local", processes(2), "t_max[usec]", []int{64, 1024, 4096}, func(m int) float64 { return 2 * one(m) })
	}
	results := must.Get(Read(strings.NewReader(text), "out.txt"))
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Spread, numa.Local}, Operators: []string{"MAX_I", "SUM_I", "SUM_I_SCALAR"}}}
	for _, operator := range f.Plan.Operators {
		for _, tau := range []int{1, 2} {
			f.Cells = append(f.Cells, params.Cell{
				Key:  params.Key{Kind: params.GammaCell, Placement: numa.Spread, Operator: operator, Tau: tau, Bytes: 512},
				Time: fit.Estimate{Center: 7, Lo: 7, Hi: 7},
			})
		}
	}
	operators, leftOut := TakeGamma(f, results.Times)
	if !slices.Equal(operators, []string{"SUM_I"}) || len(leftOut) != 1 || leftOut[0].Why != "of m = 1024 not every τ was timed of 1, 2" {
		t.Errorf("γ of %v, left out %v", operators, leftOut)
	}
	must.Do(f.Validate())
	gamma := must.Get(f.Gamma(""))
	for _, want := range []struct {
		operator string
		m, tau   int
		ns       float64
	}{{"SUM_I", 64, 1, 164}, {"SUM_I", 4096, 2, 8392}, {"MAX_I", 512, 2, 7}} {
		s, beyond, err := gamma.Gamma(want.operator, want.m, want.tau)
		if ns := s * 1e9; err != nil || beyond || ns < want.ns-1e-6 || ns > want.ns+1e-6 {
			t.Errorf("γ of %s, m = %d, τ = %d: %g ns, %v, %v; want %g", want.operator, want.m, want.tau, ns, beyond, err, want.ns)
		}
	}
	check.Error(t, must.Err(gamma.Operator("SUM_I_SCALAR")), "γ of one element at a time stayed, which is not how the library reduces")
	if operators, leftOut := TakeGamma(f, results.Times[:0]); operators != nil || leftOut != nil {
		t.Errorf("γ of %v, left out %v, of nothing", operators, leftOut)
	}
}
