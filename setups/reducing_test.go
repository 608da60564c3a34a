package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/reduce"
)

// Every operator runs as a trial on any size of vector, its operand untouched.
func TestReducing(t *testing.T) {
	team := team(t, 2)
	for _, o := range reduce.Operators {
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
	run := must.Get(team.prepare(Trial{Setup: Isolated, Segments: 8, SegmentBytes: 1024, K: 3, Bytes: 3000, Messages: 5, Batches: 1}))
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
