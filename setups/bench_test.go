package setups

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// BenchmarkLooks compares samples with looks and without them, in turn. A pair counts if glances
// before, between and after it found one state. It reports the ratio of medians, 1 if looks change
// nothing, and the share of the time that looks take.
func BenchmarkLooks(b *testing.B) {
	const segment, arena = 8 << 10, 64 << 20 // bytes
	for _, c := range []struct {
		name string
		Trial
	}{
		{"y", Trial{Setup: Ring, K: 1}},
		{"ring-8K", Trial{Setup: Ring, K: 1, Bytes: segment}},
		{"ring-512K", Trial{Setup: Ring, K: 64, Bytes: 64 * segment}},
		{"ring-512K-off", Trial{Setup: Ring, K: 64, Bytes: 64 * segment, ArenaBytes: arena}},
		{"ping-8K", Trial{Setup: Ping, K: 1, Bytes: segment}},
		{"ping-512K-off", Trial{Setup: Ping, K: 64, Bytes: 64 * segment, ArenaBytes: arena}},
		{"sendrecv-8K", Trial{Setup: Sendrecv, K: 1, Bytes: segment}},
		{"sendrecv-512K", Trial{Setup: Sendrecv, K: 64, Bytes: 64 * segment}},
		{"isolated-8K", Trial{Setup: Isolated, K: 1, Bytes: segment}},
	} {
		b.Run(c.name, func(b *testing.B) {
			team, ctx := team(b, 2), context.Background()
			skip.If(b, team.Placement().Oversubscribed, "needs 2 CPUs")
			if c.Segments = 2; c.Bytes > 0 {
				c.SegmentBytes = segment
			}
			hint := must.Get(team.Sample(ctx, c.Trial, 0)).NS
			glance := func() float64 {
				ns, computed, err := team.Look(ctx, 2)
				if err != nil || computed > slowedInBenchmark {
					return 0
				}
				return ns
			}
			var took, spent [2][]float64 // without looks and with them
			for i := 0; len(took[0]) < b.N && i < 1000*b.N; i++ {
				before := glance()
				var pair, times [2]float64
				same := before > 0
				for turn := range 2 {
					with := (i + turn) % 2
					team.calibrates = with == 0
					began := time.Now()
					pair[with] = must.Get(team.Sample(ctx, c.Trial, hint)).NS
					times[with] = float64(time.Since(began))
					team.calibrates = false
					now := glance()
					same = same && now > 0 && math.Abs(math.Log(now/before)) < math.Log(1.25)
				}
				if same {
					for with := range 2 {
						took[with], spent[with] = append(took[with], pair[with]), append(spent[with], times[with])
					}
				}
			}
			skip.If(b, len(took[0]) == 0, "the machine was in no state for long enough, or slowed all the time")
			b.ReportMetric(median(took[1])/median(took[0]), "ratio")
			b.ReportMetric(100*(1-median(spent[0])/median(spent[1])), "%looks")
			b.ReportMetric(float64(len(took[0])), "pairs")
		})
	}
}

// slowedInBenchmark is more clock cycles for 32 sums than a core takes that does nothing else.
const slowedInBenchmark = 9.2
