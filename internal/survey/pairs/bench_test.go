package pairs

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

func survey(tb testing.TB) *Survey {
	tb.Helper()
	m, err := numa.Discover("/")
	if err != nil || m.Allowed.Len() < 2 {
		tb.Skipf("needs 2 CPUs: %v", err)
	}
	s := &Survey{Machine: m, CPUs: m.Allowed[:2], Sizes: []int{0, 8 << 10}, Time: time.Second, Width: 0.02}
	s.typical = make(map[kin]float64)
	return s
}

// collectRarely is what Run does for its visits.
func collectRarely(b *testing.B) func() {
	percent := debug.SetGCPercent(-1)
	b.Cleanup(func() { debug.SetGCPercent(percent) })
	n := 0
	return func() {
		if n++; n%visitsPerGC == 0 {
			runtime.GC()
		}
	}
}

// What a pair costs beside the measurement: a team of its own, made and ended.
func BenchmarkTeam(b *testing.B) {
	s := survey(b)
	place, err := s.Machine.PlaceOn(s.CPUs, 2)
	if err != nil {
		b.Fatal(err)
	}
	collect := collectRarely(b)
	for b.Loop() {
		collect()
		team, err := setups.NewTeam(place)
		if err != nil {
			b.Fatal(err)
		}
		team.Close()
	}
}

// A visit that is given 13 ms, and one that is given nothing: the difference is
// what measures. 8,128 of the former are 128 cores.
func BenchmarkVisit(b *testing.B) {
	for _, given := range []time.Duration{0, 13 * time.Millisecond} {
		b.Run(given.String(), func(b *testing.B) {
			s := survey(b)
			n := 0
			collect := collectRarely(b)
			for b.Loop() {
				collect()
				j := &job{a: s.CPUs[0], b: s.CPUs[1], samples: make([][]float64, len(s.Sizes))}
				if err := s.visit(context.Background(), j, given); err != nil {
					b.Fatal(err)
				}
				n = len(j.samples[0])
			}
			b.ReportMetric(float64(n), "mappings")
		})
	}
}
