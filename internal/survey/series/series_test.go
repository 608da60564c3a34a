package series

import (
	"fmt"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Means are over rows with enough launches for an interval; the others are named.
func TestShort(t *testing.T) {
	for _, tt := range []struct {
		launches []int // for k = 1, 2, 4; 0: not reached
		L        float64
		over     string
		want     string
	}{
		{[]int{6, 6, 6}, 200, "[]", ""},
		{[]int{6, 3, 6}, 200, "[1 4]", "of 3 rows 1 has too few launches for an interval (k = 2): means are over k = 1, 4"},
		{[]int{6, 0, 0}, 100, "[1]", "of 3 rows 2 were not reached (k = 2, 4): means are over k = 1"},
		{[]int{6, 2, 0}, 100, "[1]", "of 3 rows 1 was not reached (k = 4) and 1 has too few launches for an interval (k = 2): means are over k = 1"},
		{[]int{2, 1, 0}, 150, "[1 2]", "of 3 rows 1 was not reached (k = 4) and 2 have too few launches for an interval (k = 1, 2): means are over k = 1, 2"},
		{[]int{1, 1, 1}, 200, "[]", "of 3 rows 3 have too few launches for an interval (k = 1, 2, 4): means are over k = 1, 2, 4"},
	} {
		r := Request{Setup: "ring", Placement: numa.Placement{Policy: numa.Local, Workers: make([]numa.Worker, 2)}, Segments: 2, SegmentBytes: 8192, K: []int{1, 2, 4}}
		f := &params.File{}
		for i, n := range tt.launches {
			if n == 0 {
				continue
			}
			k := r.K[i]
			c := params.Cell{Key: r.key(params.TransferCell, k), K: k, Transfers: 1}
			for range n {
				c.Samples = append(c.Samples, params.Sample{NS: float64(100 * (i + 1) * k)})
			}
			c.Time = fit.Median(c.Values())
			f.Cells = append(f.Cells, c)
		}
		res := r.Conclude(&numa.Machine{}, f)
		short := ""
		if err := r.Short(res); err != nil {
			short = err.Error()
		}
		if res.L.Center != tt.L || fmt.Sprint(res.Over) != tt.over || short != tt.want {
			t.Errorf("launches %v: L = %v over %v, %q; want %v over %s, %q", tt.launches, res.L.Center, res.Over, short, tt.L, tt.over, tt.want)
		}
	}
}
