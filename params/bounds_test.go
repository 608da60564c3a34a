package params

import (
	"testing"

	"github.com/taulop/taulop/numa"
)

// Off cache a ring's transfers differ from an isolated message's, and eq. (8) says nothing of the
// two; of sendrecv it does, and in cache.
func TestBoundsOfRingOffCache(t *testing.T) {
	for _, tt := range []struct {
		setup string
		off   bool
		want  int
	}{{Ring, true, 0}, {Ring, false, 1}, {Sendrecv, true, 1}} {
		f := &File{Plan: Plan{Setups: []string{tt.setup}, Policies: []numa.Policy{numa.Local}, Sizes: []int{8192}, Taus: []int{1, 2}, Caches: []bool{tt.off}}}
		for _, c := range []Cell{
			{Key: Key{Kind: TransferCell, Setup: Isolated, Tau: 1}, Time: exactly(2000)},
			{Key: Key{Kind: TransferCell, Setup: tt.setup, Tau: 2}, Time: exactly(1000)},
		} {
			c.Placement, c.OffCache, c.Bytes, c.K, c.Transfers = numa.Local, tt.off, 8192, 1, 1
			f.Cells = append(f.Cells, c)
		}
		if got := Bounds(f.Transfers()); len(got) != tt.want {
			t.Errorf("%s, off cache %v: %v, want %d", tt.setup, tt.off, got, tt.want)
		}
	}
}
