package setups

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/must"
)

// A worker that is moved to another CPU in the middle of a run ends the run with an error.
func TestMovedWorkerEndsTheRun(t *testing.T) {
	team := team(t, 2)
	if team.Placement().Oversubscribed {
		t.Skip("needs 2 CPUs")
	}
	tr := Trial{Setup: Ring, Segments: 2, SegmentBytes: 64, K: 1, Bytes: 64, Messages: 10, Batches: 1}
	if _, err := team.Run(context.Background(), tr); err != nil {
		t.Fatal(err)
	}
	var both unix.CPUSet
	for _, w := range team.workers {
		both.Set(w.cpu)
	}
	must.Do(unix.SchedSetaffinity(team.workers[1].thread, &both))
	if _, err := team.Run(context.Background(), tr); err == nil || !strings.Contains(err.Error(), "moved away from CPU") {
		t.Errorf("a moved worker: %v", err)
	}
}
