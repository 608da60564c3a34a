package params

import (
	"errors"
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// Latency is half the difference of strided and contiguous messages at the level, in or off cache.
func TestLatency(t *testing.T) {
	f := &File{}
	add := func(variant string, bytes int, off bool, ns float64) {
		f.Cells = append(f.Cells, Cell{Key: Key{Kind: PackCell, Placement: numa.List, Tau: 1, Bytes: bytes, OffCache: off}.Named(variant), Time: fit.Estimate{Center: ns}})
	}
	add("1K4S-L3", 1024, false, 300)
	add("1K64S-L3", 1024, false, 700)
	add("4K4S-L3", 4096, false, 900)
	add("4K64S-L3", 4096, false, 2900)
	add("4K64S-L3", 4096, true, 9000) // contiguous was not measured
	add("4K4S-machine", 4096, false, 1000)
	add("4K64S-machine", 4096, false, 990) // noise
	add("4K64S", 4096, false, 800)         // packing alone
	for _, tt := range []struct {
		level string
		bytes int
		want  float64 // ns
	}{{"shared L3", 1024, 200}, {"shared L3", 4096, 1000}, {"nodes 21 apart", 4096, 0}, {"other node", 4096, 0}} {
		c := must.Get(f.Latency(tt.level, 64, false))
		if got, _ := c.At(tt.bytes, 7); math.Abs(got*1e9-tt.want) > 1e-9 {
			t.Errorf("%s, %d bytes: %g ns, want %g", tt.level, tt.bytes, got*1e9, tt.want)
		}
	}
	for _, level := range []string{"same node", "SMT siblings", "shared L2"} {
		if _, err := f.Latency(level, 64, false); !errors.Is(err, ErrUnpacked) {
			t.Errorf("%s: %v", level, err)
		}
	}
	if _, err := f.Latency("shared L3", 64, true); !errors.Is(err, ErrUnpacked) {
		t.Errorf("off cache: %v", err)
	}
}
