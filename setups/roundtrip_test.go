package setups

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Round trips wait for the delay between messages, and messages of every size arrive.
func TestRoundTrips(t *testing.T) {
	team := team(t, 3)
	for _, m := range []int{0, 1, 1000, 5000} {
		rt := RoundTrip{N: 5, Bytes: m, Segments: 2, SegmentBytes: 1024, Runs: 3}
		if times, err := team.RoundTrips(context.Background(), rt); err != nil || len(times) != 3 || !(times[0] > 0) {
			t.Errorf("m = %d: %v, %v", m, times, err)
		}
		rt.ArenaBytes = 1 << 16
		if times, err := team.RoundTrips(context.Background(), rt); err != nil || len(times) != 3 || !(times[0] > 0) {
			t.Errorf("off cache, m = %d: %v, %v", m, times, err)
		}
		rt.Delay = time.Millisecond
		times, err := team.RoundTrips(context.Background(), rt)
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range times {
			if ns < 4e6 { // what delays took longer than that is taken off, and no more
				t.Errorf("m = %d: 5 messages with 1 ms between them took %g ns", m, ns)
			}
		}
		rt.Receiver = true
		times, err = team.RoundTrips(context.Background(), rt)
		if err != nil || len(times) != 3 {
			t.Fatalf("receiver, m = %d: %v, %v", m, times, err)
		}
		if m <= rt.SegmentBytes && slices.Min(times) > float64(rt.Delay)/2 { // it did not wait for them
			t.Errorf("m = %d: messages that are there took their receiver %v ns", m, times)
		}
	}
	single := team.workers[:1]
	if _, err := (&Team{workers: single}).RoundTrips(context.Background(), RoundTrip{N: 1, Runs: 1}); err == nil {
		t.Error("one worker made a round trip")
	}
}
