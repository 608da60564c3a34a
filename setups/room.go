package setups

import (
	"errors"
	"fmt"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// Fit is how a series is fitted into memory: user buffers together take at
// most a quarter of what is free.
type Fit struct {
	Setup        Setup
	Tau          int
	Segments     int // nseg
	SegmentBytes int
	OffCache     bool
	CacheBytes   int   // last-level cache, 0: unknown
	Sharers      int   // workers that fill one together, see numa.Machine.Sharers
	FreeBytes    int64 // of memory
	Placement    numa.Placement
	Nodes        []numa.Node // with what is free on each
}

// unknownCache is assumed for the last-level cache where the kernel does not
// say how large it is.
const unknownCache = 64 << 20

// WantedArena is in bytes a worker: those who share a last-level cache walk
// through more than twice its size together.
func (f Fit) WantedArena() int {
	cache := f.CacheBytes
	if cache <= 0 {
		cache = unknownCache
	}
	return (2*cache + 1<<20) / max(1, f.Sharers)
}

// ErrNoRoom is of buffers that memory does not hold.
var ErrNoRoom = errors.New("use smaller segments, fewer workers or shorter messages, or another placement")

// Rows returns those of the ascending ks whose messages fit, and the bytes of
// each worker's arena, 0 in cache. An error says that not even the first fits.
func (f Fit) Rows(ks []int) (fitting []int, arena int, err error) {
	readers := max(1, f.Tau-1)
	n, err := shm.ChannelBytes(f.Segments, f.SegmentBytes, readers)
	if err != nil {
		return nil, 0, err
	}
	if int64(n) > f.FreeBytes/int64(f.Tau) {
		return nil, 0, fmt.Errorf("%d intermediate buffers of %d segments of %d bytes need more than the %d MB of memory that this process may take: use fewer or smaller segments",
			f.Tau, f.Segments, f.SegmentBytes, f.FreeBytes>>20)
	}
	most := f.FreeBytes / 4 / int64(f.Tau)
	for _, k := range ks {
		if f.SegmentBytes > 0 && int64(k) > most/int64(f.SegmentBytes) {
			break
		}
		fitting = append(fitting, k)
	}
	if len(fitting) == 0 {
		return nil, 0, fmt.Errorf("user buffers of %d workers for k = %d need more than a quarter of the %d MB of memory that this process may take: %w",
			f.Tau, ks[0], f.FreeBytes>>20, ErrNoRoom)
	}
	if f.OffCache && f.SegmentBytes > 0 {
		arena = int(min(int64(f.WantedArena()), most))
		arena = max(arena, fitting[len(fitting)-1]*f.SegmentBytes)
	}
	return fitting, arena, f.onNodes(n, max(arena, fitting[len(fitting)-1]*f.SegmentBytes))
}

// Partly is a warning of each worker's arena, in bytes, that is too small for all user
// data to come from memory; nil of one that is not.
func (f Fit) Partly(arena int) error {
	return Partly("a worker's user buffers", arena, f.WantedArena())
}

// Partly is a warning that what, in the plural, walks through fewer bytes than wanted to
// come from memory; nil where it does not.
func Partly(what string, bytes, wanted int) error {
	if bytes >= wanted {
		return nil
	}
	return fmt.Errorf("off cache only in part: %s walk through %d MB where it takes %d MB to have twice the last-level cache, and a quarter of free memory does not hold more", what, bytes>>20, wanted>>20)
}

// onNodes refuses what a node does not hold: memory that is bound to a full
// node does not fail, it gets the process killed. A machine of one node has been
// looked at as a whole.
func (f Fit) onNodes(channel, user int) error {
	if len(f.Nodes) < 2 {
		return nil
	}
	needs := make(map[int]int64)
	for _, w := range f.Placement.Workers {
		needs[w.UserNode] += int64(user)
		needs[w.IntermediateNode] += int64(channel)
	}
	for _, node := range f.Nodes {
		// The kernel keeps a reserve, and nothing here must come near it.
		if room := node.FreeBytes * 3 / 4; needs[node.ID] > room {
			return fmt.Errorf("node %d has room for %d MB and the buffers placed there need %d MB: %w",
				node.ID, room>>20, needs[node.ID]>>20, ErrNoRoom)
		}
	}
	return nil
}
