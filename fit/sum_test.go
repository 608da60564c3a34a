package fit

import (
	"math"
	"testing"
)

// Table 3 of usc-hpc-benchmarks-1999, the IBM SP: T_n = 120 ns, T_c = 135 ns and
// T_e = 100 ns come back from times made of them.
func TestSumTable3(t *testing.T) {
	sp := []float64{120, 135, 100}
	var terms [][]float64
	var times []float64
	for _, n := range []float64{512, 1024, 5120} {
		for _, s := range []float64{1, 4, 8, 16, 32} {
			row := []float64{n, min(n, n*s/16), s} // lines of 16 elements
			terms = append(terms, row)
			times = append(times, Sum{Costs: []Coefficient{{Value: sp[0]}, {Value: sp[1]}, {Value: sp[2]}}}.Time(row...))
		}
	}
	line, err := SumOf(terms, times)
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range line.Costs {
		if !close(c.Value, sp[j], 1e-6) || c.Held {
			t.Errorf("cost %d is %+v, Table 3 says %g ns", j, c, sp[j])
		}
	}
	if line.Residual > 1e-6 || line.N != 15 {
		t.Errorf("%+v", line)
	}
}

// Table 6, reading from a disk of the SP: 1.0 ms and 255 MB/s; and what has no
// such cost.
func TestSumTable6(t *testing.T) {
	var terms [][]float64
	var times, falling []float64
	for m := 1 << 16; m <= 16<<20; m *= 2 {
		terms = append(terms, []float64{1, float64(m)})
		times = append(times, 1e6+float64(m)/255e6*1e9)
		falling = append(falling, max(1, float64(m)-1e4)) // start-up below 0
	}
	line, err := SumOf(terms, times)
	if err != nil || !close(line.Costs[0].Value, 1e6, 1e-6) || !close(line.Costs[1].Value, 1/.255, 1e-6) {
		t.Errorf("%+v, %v; want 1 ms and %g ns a byte", line, err, 1/.255)
	}
	line, err = SumOf(terms, falling)
	if err != nil || !line.Costs[0].Held || line.Costs[0].Value != 0 || !(line.Costs[1].Value > 0) {
		t.Errorf("%+v, %v: no time to begin is below 0", line, err)
	}
}

func TestSumRefuses(t *testing.T) {
	for _, tt := range []struct {
		terms [][]float64
		times []float64
	}{
		{nil, nil},
		{[][]float64{{1, 1}}, []float64{1}},
		{[][]float64{{1}, {2}}, []float64{1}},
		{[][]float64{{1}, {2}}, []float64{1, 0}},
		{[][]float64{{1}, {2}}, []float64{1, math.NaN()}},
		{[][]float64{{0}, {0}}, []float64{1, 1}},
	} {
		if line, err := SumOf(tt.terms, tt.times); err == nil {
			t.Errorf("%v of %v: %+v", tt.times, tt.terms, line)
		}
	}
	// One stride alone: the lines are in proportion to the elements.
	line, err := SumOf([][]float64{{512, 32, 1}, {1024, 64, 1}, {2048, 128, 1}}, []float64{1000, 2000, 4000})
	if err != nil || !close(line.Time(4096, 256, 1), 8000, 1e-3) {
		t.Errorf("%+v, %v", line, err)
	}
}

// Time is what the fit says of a row of terms.
func (l Sum) Time(terms ...float64) (t float64) {
	for j, c := range l.Costs {
		t += c.Value * terms[j]
	}
	return t
}
