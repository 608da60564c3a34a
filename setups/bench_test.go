package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// One pulsation of each setup: a segment of 8 KiB through buffers of two.
func BenchmarkPulsation(b *testing.B) {
	for _, s := range append([]Setup{Bare}, All...) {
		b.Run(s.Name, func(b *testing.B) {
			team := team(b, 2)
			if team.Placement().Oversubscribed {
				b.Skip("needs 2 CPUs")
			}
			run := must.Get(team.prepare(Trial{Setup: s, Segments: 2, SegmentBytes: 8 << 10, K: 1, Bytes: 8 << 10, Messages: b.N, Batches: 1}))
			defer run.unmap()
			b.ReportAllocs()
			b.ResetTimer()
			if err := team.run(context.Background(), run); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric(run.took(1)/float64(b.N*s.Transfers), "ns/transfer")
		})
	}
}
