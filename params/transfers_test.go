package params

import (
	"testing"

	"github.com/taulop/taulop/fit"
)

// Alone subtracts half of y(1) from each isolated transfer, paired by launch if possible, at most half of the time,
// and nothing if y is unknown.
func TestAlone(t *testing.T) {
	y := Cell{Key: Key{Kind: NullCell, Setup: Isolated, Placement: "local", Tau: 1}, Time: fit.Estimate{Center: 60, Lo: 50, Hi: 70}}
	key := Key{Kind: TransferCell, Setup: Isolated, Placement: "local", Tau: 1, Bytes: 16384}
	c := Cell{Key: key, K: 2, Transfers: 2, Time: fit.Estimate{Center: 4000, Lo: 3900, Hi: 4100}}
	f := &File{Cells: []Cell{y, c}}
	if got := f.Alone(&c).Time; got != (fit.Estimate{Center: 3880, Lo: 3760, Hi: 4000}) { // four transfers, two waits of 60
		t.Errorf("got %+v", got)
	}
	ring := c
	ring.Setup = Ring
	if f.Alone(&ring) != &ring || (&File{Cells: []Cell{c}}).Alone(&c) != &c {
		t.Error("a transfer in a ring, or one without y, is changed")
	}
	short := c
	short.Time.Center = 100
	if got := f.Alone(&short).Time.Center; got != 50 {
		t.Errorf("%g ns remain of 100", got)
	}

	f = &File{Launches: make([]Launch, 7)}
	for n := range f.Launches {
		y.Samples = append(y.Samples, Sample{NS: 50 + float64(10*n), Launch: int32(n)})
		c.Samples = append(c.Samples, Sample{NS: 4000 + float64(20*n), Launch: int32(n)})
	}
	y.Samples = y.Samples[:6] // launch 6 takes the centre, 60
	f.Cells = []Cell{y, c}
	alone := f.Alone(&f.Cells[1])
	for n, s := range alone.Samples {
		want := 3900.0 // the launch's effect cancels
		if n == 6 {
			want = 4000
		}
		if s.NS != want {
			t.Errorf("launch %d: %g ns, want %g", n, s.NS, want)
		}
	}
	if alone.Time.Center != 3900 || alone.Time.N != 7 || f.Cells[1].Samples[0].NS != 4000 {
		t.Errorf("got %+v of %+v", alone.Time, f.Cells[1])
	}
}
