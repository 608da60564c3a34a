package setups

import (
	"context"
	"slices"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Arenas from this size on, in bytes of a worker alone, take long to map: a trial finds out whether smaller
// ones do.
const largeArena = 512 << 20

// mostHeld is the share of an arena's older half that caches may seem to hold if it is beyond them. Loads of
// memory differ by 10 % from one to the next.
const mostHeld = 0.15

// NeededCaches is the size of arenas on this machine, as a multiple of the cache that holds a worker's data:
// ArenaCaches, or less where these would be large and a trial finds that the caches hold less than the kernel
// says. A cluster of a processor, or a guest beside others, may have a part of a cache. Arenas then have twice
// the size of which the caches do not hold the older half, and at least that of the cache. Nothing is tried
// unless data are to be off cache, one of caches is true.
func NeededCaches(m *numa.Machine, caches []bool) float64 {
	if !slices.Contains(caches, true) {
		return ArenaCaches
	}
	place, err := m.Place(numa.Local, 1)
	if err != nil {
		return ArenaCaches
	}
	wanted := ArenaOf(m, place, ArenaCaches)
	free, err := numa.FreeMemoryBytes("/")
	if wanted < largeArena || err != nil || int64(wanted) > free {
		return ArenaCaches
	}
	team, err := NewTeam(place)
	if err != nil {
		return ArenaCaches
	}
	defer team.Close()
	for _, part := range []int{2 * ArenaCaches, ArenaCaches} {
		held, err := team.held(wanted / part)
		if err != nil {
			break
		}
		if held <= mostHeld {
			return 2 * ArenaCaches / float64(part)
		}
	}
	return ArenaCaches
}

// held is the share of the older half of an arena that caches hold, by the loads of several trials; 1 if that
// cannot be measured.
func (t *Team) held(bytes int) (share float64, err error) {
	const trials = 5
	t.workers[0].loads = params.Loads{}
	for range trials {
		t.memory.forget() // the arena is initialised again
		trial := Trial{Setup: Bare, Segments: 1, SegmentBytes: unitBytes, K: 1, Bytes: unitBytes, ArenaBytes: bytes}
		if _, err := trial.repeat(context.Background(), t, 1, 1); err != nil {
			return 1, err
		}
	}
	loads := t.Loads()
	if !loads.Known() {
		return 1, nil
	}
	return loads.InCache(), nil
}
