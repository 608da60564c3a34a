package setups

import (
	"context"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/strided"
)

// Copies between rooms of all kinds arrive, trial after trial, or a sample fails.
func TestCopyBetween(t *testing.T) {
	team := team(t, 2)
	rooms := []Room{{Bytes: 4096}, {Bytes: 5 << 20}, {Bytes: 5 << 20, Memory: true}, {Bytes: 5 << 20, Memory: true, Remote: true}}
	for i := range 2 * len(rooms) * len(rooms) {
		for range 2 {
			b := Between{Tau: 2, Bytes: []int{1, 1000}[i%2], From: rooms[i/2/len(rooms)], To: rooms[i/2%len(rooms)]}
			times, err := b.repeat(context.Background(), team, 700, 2)
			check.Need(t, err == nil && len(times) >= 1 && times[0] > 0, "%+v: %v, %v", b, times, err)
		}
	}
	check.Error(t, must.Err((Between{Tau: 3}).repeat(context.Background(), team, 1, 1)), "two workers made three copies at once")
}

// A copy that does not arrive is found: the source moves on between trials, so that the bytes of the
// trial before are wrong.
func TestCopyBetweenFindsWhatDidNotArrive(t *testing.T) {
	team := team(t, 1)
	room := Room{Bytes: 1 << 16, Memory: true}
	b := Between{Tau: 1, Bytes: 4096, From: room, To: room}
	must.Get(b.repeat(context.Background(), team, 64, 1))
	run := &between{Between: b, measurement: measurement{team: team}, ends: []pair{{
		from: team.memory.kept[key{of: localCopies, side: sending}], to: team.memory.kept[key{of: localCopies, side: receiving}]}}}
	check.NoError(t, run.check(0, [2]int{4096, 0}, 16), "what was copied is refused")
	contains.Error(t, run.check(0, [2]int{8192, 0}, 16), "cannot be trusted")
}

// Packed messages arrive, in cache and off cache, or a sample fails.
func TestStridedMessages(t *testing.T) {
	team := team(t, 2)
	for _, text := range []string{"64B4S", "64B64S", "4K8S", "4K512S", "1000B24S8E"} {
		m := must.Get(strided.Parse(text))
		for _, arena := range []int{0, 1 << 20} {
			room := Room{Bytes: max(arena, m.Span()), Memory: arena > 0}
			b := Between{Tau: 1, Bytes: m.Span(), From: room, To: room, Layout: &m}
			for range 2 { // where it stays mapped, the second goes on where the first ended
				check.True(t, must.Get(b.repeat(context.Background(), team, 3, 2))[0] > 0, "%s: no time", text)
			}
			if arena > 0 {
				from, to := team.memory.kept[key{of: localCopies, side: sending}], team.memory.kept[key{of: localCopies, side: receiving}]
				run := &between{Between: b, measurement: measurement{team: team}, ends: []pair{{from: from, to: to}}}
				stride := unitsOf(m.Span()) * unitBytes
				last := [2]int{(from.next - stride + len(from.mem)) % len(from.mem), (to.next - stride + len(to.mem)) % len(to.mem)}
				if from.next > 0 && to.next > 0 {
					check.NoError(t, run.check(0, last, 1), "%s: what was unpacked is refused", text)
					to.mem[last[1]] ^= 1
					check.Error(t, run.check(0, last, 1), "%s: a message with a wrong byte passes", text)
				}
			}
			rt := RoundTrip{N: 1, Bytes: m.Bytes, Segments: 2, SegmentBytes: 1024, Runs: 3, ArenaBytes: arena, Layout: &m}
			check.True(t, must.Get(team.roundTrips(context.Background(), rt))[0] > 0, "%s: no time", text)
		}
	}
}
