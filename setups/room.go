package setups

import (
	"errors"
	"fmt"
	"math"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// A Fit fits a series into memory: all user buffers together take at most a quarter of the free memory.
type Fit struct {
	Segments     int // nseg
	SegmentBytes int
	OffCache     bool
	ArenaBytes   int   // wanted for each worker off cache, see ArenaOf
	FreeBytes    int64 // of memory
	Placement    numa.Placement
	Nodes        []numa.Node // with their free memory
}

// ArenaCaches is the size of an arena off cache, as a multiple of the cache that holds a worker's data.
// Caches do not evict by strict age: of an arena of twice the cache a quarter of the next data was
// still cached, of three times up to a fifth, of four times nothing (docs/method.md).
const ArenaCaches = 4

// ArenaOf is the size of an arena, in bytes for each worker of a placement, that is a multiple of the cache
// that holds a worker's data, see NeededCaches. With ArenaCaches the next message is in no cache.
func ArenaOf(m *numa.Machine, p numa.Placement, caches float64) int {
	return int(caches*float64(m.CachedBytes(p))) + 1<<20
}

// ErrNoRoom: the buffers do not fit into memory.
var ErrNoRoom = errors.New("use smaller segments, fewer workers or shorter messages, or another placement")

// Rows returns the ascending ks whose messages fit, and the bytes of each worker's arena, 0 in cache.
// It fails if the first does not fit.
func (f Fit) Rows(ks []int) (fitting []int, arena int, err error) {
	tau := len(f.Placement.Workers)
	n, err := shm.ChannelBytes(f.Segments, f.SegmentBytes, max(1, tau-1))
	if err != nil {
		return nil, 0, err
	}
	if int64(n) > f.FreeBytes/int64(tau) {
		return nil, 0, fmt.Errorf("%d intermediate buffers of %d segments of %d bytes need more than the %d MB of memory that this process may take: use fewer or smaller segments",
			tau, f.Segments, f.SegmentBytes, f.FreeBytes>>20)
	}
	most := f.FreeBytes / 4 / int64(tau)
	for _, k := range ks {
		if f.SegmentBytes > 0 && int64(k) > most/int64(f.SegmentBytes) {
			break
		}
		fitting = append(fitting, k)
	}
	if len(fitting) == 0 {
		return nil, 0, fmt.Errorf("user buffers of %d workers for k = %d need more than a quarter of the %d MB of memory that this process may take: %w",
			tau, ks[0], f.FreeBytes>>20, ErrNoRoom)
	}
	if f.OffCache && f.SegmentBytes > 0 {
		arena = int(min(int64(f.ArenaBytes), most, f.mostOfNodes()))
		arena = max(arena, fitting[len(fitting)-1]*f.SegmentBytes)
	}
	return fitting, arena, f.onNodes(n, max(arena, fitting[len(fitting)-1]*f.SegmentBytes))
}

// mostOfNodes bounds a worker's user buffer by a quarter of its node's free memory, shared among the node's
// workers: off cache a worker has two. A machine of one node was checked as a whole.
func (f Fit) mostOfNodes() int64 {
	workers := lists.Counts(f.Placement.Workers, func(w numa.Worker) int { return w.UserNode })
	most := int64(math.MaxInt64)
	for _, node := range f.Nodes {
		if n := int64(workers[node.ID]); n > 0 && len(f.Nodes) > 1 {
			most = min(most, node.FreeBytes/4/n)
		}
	}
	return most
}

// Partly is a warning if each worker's arena, in bytes, is too small for all user data to come from
// memory; else nil.
func (f Fit) Partly(arena int) error { return Partly("a worker's user buffers", arena, f.ArenaBytes) }

// Partly is a warning if `what`, a plural, walks through fewer bytes than wanted to come from memory;
// else nil.
func Partly(what string, bytes, wanted int) error {
	if bytes >= wanted {
		return nil
	}
	return fmt.Errorf("off cache only in part: %s walk through %d MB where it takes %d MB to have four times what caches hold of them, and a quarter of free memory does not hold more", what, bytes>>20, wanted>>20)
}

// onNodes fails if a node cannot hold its buffers: memory that is bound to a full node does not fail,
// the kernel kills the process. A machine of one node was checked as a whole.
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
		// The kernel keeps a reserve, which buffers must not approach.
		if room := node.FreeBytes * 3 / 4; needs[node.ID] > room {
			return fmt.Errorf("node %d has room for %d MB and the buffers placed there need %d MB: %w",
				node.ID, room>>20, needs[node.ID]>>20, ErrNoRoom)
		}
	}
	return nil
}
