package setups

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/taulop/taulop/shm"
)

// MPI-3.1, section 5.9.2 and 5.9.4, on two elements each.
func TestOperators(t *testing.T) {
	ints := map[string][2][3]int32{ // in, inout, result
		"MAX_I": {{3, -5, 3}, {-7, 2, 2}}, "MIN_I": {{3, -5, -5}, {-7, 2, -7}},
		"SUM_I": {{3, -5, -2}, {1 << 30, 1 << 30, math.MinInt32}}, "PROD_I": {{3, -5, -15}, {0, 9, 0}},
		"LAND_I": {{3, 4, 1}, {0, 4, 0}}, "LOR_I": {{0, 0, 0}, {0, 4, 1}}, "LXOR_I": {{3, 4, 0}, {0, 4, 1}},
		"BAND_I": {{6, 3, 2}, {8, 7, 0}}, "BOR_I": {{6, 3, 7}, {8, 7, 15}}, "BXOR_I": {{6, 3, 5}, {8, 8, 0}},
	}
	reals := map[string][2][3]float64{
		"MAX_R": {{1.5, -2, 1.5}, {-3, 2, 2}}, "MIN_R": {{1.5, -2, -2}, {-3, 2, -3}},
		"SUM_R": {{1.5, -2, -0.5}, {0.25, 0.5, 0.75}}, "PROD_R": {{1.5, -2, -3}, {0, 7, 0}},
	}
	r, err := shm.Map(4096)
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	in, inout := r.Bytes()[:64], r.Bytes()[64:128]
	put := binary.NativeEndian
	for _, o := range Operators {
		if want, ok := ints[o.Name]; ok {
			for i, w := range want {
				put.PutUint32(in[4*i:], uint32(w[0]))
				put.PutUint32(inout[4*i:], uint32(w[1]))
			}
			o.Apply(inout[:8], in[:8])
			for i, w := range want {
				if got := int32(put.Uint32(inout[4*i:])); got != w[2] {
					t.Errorf("%s(%d, %d) = %d, want %d", o.Name, w[0], w[1], got, w[2])
				}
			}
		} else if want, ok := reals[o.Name]; ok {
			for i, w := range want {
				put.PutUint64(in[8*i:], math.Float64bits(w[0]))
				put.PutUint64(inout[8*i:], math.Float64bits(w[1]))
			}
			o.Apply(inout[:16], in[:16])
			for i, w := range want {
				if got := math.Float64frombits(put.Uint64(inout[8*i:])); got != w[2] {
					t.Errorf("%s(%g, %g) = %g, want %g", o.Name, w[0], w[1], got, w[2])
				}
			}
		}
	}
	// Of equal values the lower index counts, whichever side it comes from.
	for _, tt := range []struct {
		op                 string
		a, b               int32
		ai, bi, value, idx int32
	}{
		{"MAXLOC_I", 5, 7, 1, 2, 7, 2}, {"MAXLOC_I", 7, 7, 3, 2, 7, 2}, {"MAXLOC_I", 7, 7, 1, 2, 7, 1},
		{"MINLOC_I", 5, 7, 1, 2, 5, 1}, {"MINLOC_I", 7, 7, 3, 2, 7, 2},
	} {
		o, err := LookupOperator(tt.op)
		if err != nil {
			t.Fatal(err)
		}
		put.PutUint32(in, uint32(tt.a))
		put.PutUint32(in[4:], uint32(tt.ai))
		put.PutUint32(inout, uint32(tt.b))
		put.PutUint32(inout[4:], uint32(tt.bi))
		o.Apply(inout[:8], in[:8])
		if v, i := int32(put.Uint32(inout)), int32(put.Uint32(inout[4:])); v != tt.value || i != tt.idx {
			t.Errorf("%s((%d,%d), (%d,%d)) = (%d,%d)", tt.op, tt.a, tt.ai, tt.b, tt.bi, v, i)
		}
	}
	if _, err := LookupOperator("SUM_X"); err == nil {
		t.Error("found SUM_X")
	}
}

// Every operator runs as a trial on any size of vector, its operand untouched.
func TestReducing(t *testing.T) {
	team := team(t, 2)
	for _, o := range Operators {
		for _, m := range []int{4, 64, 5000} {
			m = max(m, o.Element)
			if _, err := team.Run(context.Background(), Trial{Setup: Reducing(o), Segments: 1, SegmentBytes: m, K: 1, Bytes: m,
				Messages: 3, Batches: 1}); err != nil {
				t.Errorf("%s on %d bytes: %v", o.Name, m, err)
			}
		}
	}
}

func TestIsolatedNeverOverlaps(t *testing.T) {
	team := team(t, 2)
	run, err := team.prepare(Trial{Setup: Isolated, Segments: 8, SegmentBytes: 1024, K: 3, Bytes: 3000, Messages: 5, Batches: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer run.unmap()
	if run.Segments != 1 {
		t.Errorf("isolated has %d segments: its sender could be ahead of its receiver", run.Segments)
	}
	if err := team.run(context.Background(), run); err != nil {
		t.Error(err)
	}
	if Isolated.Workers(1) != 2 || Ring.Workers(3) != 3 {
		t.Error("workers of isolated and ring")
	}
}
