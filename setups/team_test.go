package setups

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// place deals workers round the CPUs that the test may use.
func place(t testing.TB, tau int) numa.Placement {
	return must.Get(must.Get(numa.Discover("/")).Place(numa.Local, tau))
}

func team(t testing.TB, tau int) *Team {
	t.Helper()
	team := must.Get(NewTeam(place(t, tau)))
	t.Cleanup(team.Close)
	return team
}

// Workers on sibling threads wait with pauses, workers that share a CPU yield, all others do neither.
func TestWaitersOfSiblings(t *testing.T) {
	var stop atomic.Bool
	alone, yields := shm.NewWaiter(&stop, false), shm.NewWaiter(&stop, true)
	m := numatest.EPYC(1, 1, 1, 4, 2)
	for tau, want := range map[int][]*shm.Waiter{
		4: {alone, alone, alone, alone},
		5: {alone.BesideSibling(), alone, alone, alone, alone.BesideSibling()},
		9: slices.Repeat([]*shm.Waiter{yields}, 9),
	} {
		p := must.Get(m.Place(numa.Local, tau))
		for i, w := range newTeam(p, &stop).workers {
			check.Equal(t, *w.wait, *want[i], "how worker %d of %d waits", i, tau)
		}
	}
}

// Every setup moves its bytes, or Run fails: with 1 to 8 segments, whole and short last segments, in cache and through
// an arena. Many workers, which may take turns on few CPUs, run some numbers and sizes; with TAULOP_LONG all.
func TestEverySetupMovesItsBytes(t *testing.T) {
	long := os.Getenv("TAULOP_LONG") != ""
	for tau := 1; tau <= 8; tau++ {
		if tau > 4 && tau < 8 && !long {
			continue
		}
		team := team(t, tau)
		for _, s := range append([]Setup{Bare, Own, Sendrecv, Share}, All...) {
			if s.Check(tau) != nil {
				continue
			}
			for i, nseg := range []int{1, 2, 3, 8} { // fewer than segments of a message, as many, more
				for j, size := range []struct{ segment, k, bytes int }{
					{0, 5, 0}, {1, 3, 3}, {64, 3, 192},
					{1000, 7, 6500}, // short last segment
					{4096, 1, 100}, {8192, 4, 8192*3 + 1},
				} {
					for l, arena := range []int{0, 256 << 10} {
						for _, messages := range []int{1, 5} {
							if few := i + j + l; !long && (tau <= 2 && (few+messages/5)%2 != 0 || tau > 2 && (messages == 1 || few%8 != 0)) {
								continue
							}
							tr := Trial{Setup: s, Segments: nseg, SegmentBytes: size.segment, K: size.k, Bytes: size.bytes, ArenaBytes: arena}
							times, err := tr.repeat(context.Background(), team, messages, 2)
							check.Need(t, err == nil && len(times) >= 1 && times[0] > 0, "τ=%d %+v: times %v, %v", tau, tr, times, err) // without late batches
						}
					}
				}
			}
		}
	}
}

// unchecked is a trial whose bytes stay where its messages brought them.
type unchecked struct{ *trial }

func (unchecked) verify(*worker) error { return nil }

// The check of a trial must find every wrong byte, wherever it is.
func TestWrongBytesAreFound(t *testing.T) {
	for _, s := range append([]Setup{Bare, Own, Sendrecv, Share}, All...) {
		for _, arena := range []int{0, 64 << 10} {
			team := team(t, 2)
			tr := Trial{Setup: s, Segments: 2, SegmentBytes: 1000, K: 3, Bytes: 2500, ArenaBytes: arena}
			run := must.Get(team.prepare(tr, 3, 1))
			must.Do(team.run(context.Background(), unchecked{run}))
			for _, at := range []int{0, 999, 1000, 2499} {
				held := &run.users[1].into[run.walk.at(0)+at]
				*held ^= 1
				contains.Error(t, run.check(1), "worker 1")
				*held ^= 1
			}
			if s.Name == Bare.Name {
				for _, own := range run.own(0) {
					clear(own)
				}
				check.True(t, run.check(0) != nil, "%s: an empty intermediate buffer went unseen", s.Name)
			}
			run.unmap()
		}
	}
}

// Setups take turns in the arenas, and every trial finds the expected bytes, also messages that take a whole arena.
func TestTurnsInAnArena(t *testing.T) {
	const arena = 40 << 10
	run := func(team *Team, s Setup, bytes, messages int) {
		t.Helper()
		tr := Trial{Setup: s, Segments: 2, SegmentBytes: 1024, K: (bytes-1)/1024 + 1, Bytes: bytes, ArenaBytes: arena}
		_, err := tr.repeat(context.Background(), team, messages, 2)
		check.Need(t, err == nil, "τ=%d, %+v: %v", team.Tau(), tr, err)
	}
	for tau := 2; tau <= 4; tau += 2 {
		team := team(t, tau)
		for i, s := range []Setup{Bare, Ring, Own, Bare, Sendrecv, Own, Own, Bare, Sendrecv, Ring, Ring, Bcast, Bare, Sendrecv, Share, Ping, Share, Share, Own, Share, Bare, Bare, Ring} {
			run(team, s, 1024*(i%3)+1+512*(i%2), 3+i)
		}
	}
	whole := team(t, 2)
	for _, s := range []Setup{Own, Bare, Sendrecv, Ring, Bare, Own} {
		run(whole, s, arena, 3)
	}
}

// In an arena of any size messages of whole pages begin on a page, at both ends.
func TestArenasAreOfPages(t *testing.T) {
	page := os.Getpagesize()
	for _, s := range []Setup{Ring, Sendrecv} {
		run := must.Get(team(t, 2).prepare(Trial{Setup: s, Segments: 2, SegmentBytes: page, K: 2, Bytes: 2 * page, ArenaBytes: 25*page + 64}, 3, 1))
		for i := range run.walk.places {
			for _, mem := range [][]byte{run.users[1].from, run.users[1].into} {
				check.Equal(t, uintptr(unsafe.Pointer(&mem[run.walk.at(i)]))%uintptr(page), 0, "%s: where in a page message %d begins", s.Name, i)
			}
		}
		run.unmap()
	}
}

// Messages of all sizes take turns, each on a grid of its own, and follow each other downwards.
func TestWalk(t *testing.T) {
	for units := 1; units < 12; units++ {
		end, down := units*unitBytes, 0
		for i, n := range []int{1, 2, 3, 7, 11, 1, 4, 25} {
			stride := min(units, 1+i%4) * unitBytes
			k := newWalk(end+unitBytes/2, stride-1, down)
			for j := range n {
				before, at := end-down, k.at(j)
				check.Need(t, at >= 0 && at <= end-stride && (end-at)%stride == 0 && (at+stride <= before || at == end-stride) && at+2*stride > before,
					"%d units, message %d of %d bytes: at %d after %d", units, j, stride, at, before)
				down = k.down(j + 1)
				check.Need(t, down == end-at, "%d units, message %d of %d bytes: came down %d bytes to %d", units, j, stride, down, at)
			}
		}
	}
}

// Works that take turns off cache, and in large buffers, do not initialise memory again after all of it
// was used once: bytes beyond the messages stay.
func TestTurnsLayNothingAnew(t *testing.T) {
	team := team(t, 2)
	schedule := must.Get(must.Get(collective.Lookup("allgather:ring")).Schedule(collective.Call{P: 2, M: 8 << 10}))
	const mark = 0x5a
	for i, s := range []Setup{Ring, Sendrecv, Ping, Own, Isolated, Bare, Share, Ring} {
		for _, wanted := range []int{0, 64 << 20} {
			for _, m := range []int{9 << 20, 8 << 20, 8<<20 + 4096} {
				if wanted > 0 {
					m >>= 10
				}
				tr := Trial{Setup: s, Segments: 2, SegmentBytes: 1 << 20, Bytes: m, ArenaBytes: wanted, K: (m-1)>>20 + 1}
				if i > 1 && m == 9<<20 {
					continue // it would overwrite the marks
				}
				must.Get(tr.repeat(t.Context(), team, 1, 2))
			}
		}
		must.Get(team.RunCollective(t.Context(), Collective{Schedule: schedule, Segments: 2, SegmentBytes: 8 << 10, Runs: 2, ArenaBytes: 64 << 20}))
		if i < 1 {
			continue // not all are used yet
		}
		for k, r := range team.memory.kept {
			last := &r.mem[0] // of an arena, through which messages come down
			if k.of == largeBuffer {
				last = &r.mem[len(r.mem)-1]
			}
			check.True(t, i == 1 || *last == mark, "%s: %+v was initialised again", s.Name, k)
			*last = mark
		}
	}
	check.Equal(t, len(team.memory.kept), 8, "regions are kept")
}

// If a reader never comes, the run ends and its error names each worker and what it waited for.
func TestStalledRunEnds(t *testing.T) {
	team := team(t, 2)
	team.stall = time.Second
	tr := Trial{Setup: Bcast, Segments: 1, SegmentBytes: 64, K: 4, Bytes: 256}
	run := must.Get(team.prepare(tr, 1, 1))
	defer run.unmap()
	r := must.Get(run.region(key{of: meeting}, 8192, fresh, nil))
	run.channels[0] = shm.NewChannel(r.mem, 1, 64, 2) // one reader, worker 1; the other has none
	contains.Error(t, team.run(context.Background(), run), "no worker made progress for 1s", "worker 0 on CPU", "make room for segment 1",
		"worker 1 on CPU", "segment 1 from worker 0")
	// The team is good for another run.
	team.stall = stallAfter
	check.NoError(t, must.Err(Trial{Setup: Ring, Segments: 1, SegmentBytes: 8, K: 1, Bytes: 8}.repeat(context.Background(), team, 10, 1)), "after a stall")
}

func TestCancel(t *testing.T) {
	team := team(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var err error
	for err == nil {
		_, err = Trial{Setup: Ring, Segments: 2, SegmentBytes: 1024, K: 8, Bytes: 8192}.repeat(ctx, team, 1000, 2)
	}
	check.ErrorIs(t, err, context.DeadlineExceeded, "cancelled run")
}

// Initialising memory ends too: gigabytes take seconds.
func TestInitialisingEnds(t *testing.T) {
	const arena = 1 << 30
	free, err := numa.FreeMemoryBytes("/")
	skip.If(t, err != nil || free < 3*arena, "%d bytes of memory are free (%v)", free, err)
	team := team(t, 2)
	tr := Trial{Setup: Ring, Segments: 2, SegmentBytes: 1024, K: 8, Bytes: 8192, ArenaBytes: arena}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	check.ErrorIs(t, must.Err(tr.repeat(ctx, team, 1, 1)), context.DeadlineExceeded, "told to stop, it went on")
	tr.ArenaBytes = 16 << 20
	check.NoError(t, must.Err(tr.repeat(t.Context(), team, 1, 1)), "the next one")
}

// The kernel confirms the node of every page, for every setup and placement. On one node this proves
// little; a virtual machine has several.
func TestPagesLieWherePlaced(t *testing.T) {
	m := must.Get(numa.Discover("/"))
	for i, policy := range numa.Policies {
		setups, arenas, taus := append([]Setup{Bare, Own, Sendrecv, Share}, All...), []int{0, 1 << 20}, []int{1, 2, 4, 8}
		if i > 2 { // the workers of those before in another order
			setups, arenas, taus = []Setup{Ring, Ping}, arenas[:1], []int{4}
		}
		for _, tau := range taus {
			if tau > max(2, m.Allowed.Len()) || !m.Has(policy) {
				continue // more only come round again
			}
			place := must.Get(m.Place(policy, tau))
			team := must.Get(NewTeam(place))
			for _, s := range setups {
				if s.Check(tau) != nil {
					continue
				}
				for _, arena := range arenas {
					run := must.Get(team.prepare(Trial{Setup: s, Segments: 2, SegmentBytes: 8192, K: 4, Bytes: 4 * 8192, ArenaBytes: arena}, 3, 1))
					must.Do(team.run(context.Background(), run))
					for w, worker := range place.Workers {
						onNode(t, fmt.Sprintf("%s %s τ=%d: user buffer of worker %d", policy, s.Name, tau, w), run.users[w].into, worker.UserNode)
						onNode(t, fmt.Sprintf("%s %s τ=%d: send buffer of worker %d", policy, s.Name, tau, w), run.users[w].from, worker.UserNode)
					}
					for _, r := range team.memory.used {
						if r.of == intermediate {
							onNode(t, fmt.Sprintf("%s %s τ=%d: intermediate buffer of worker %d", policy, s.Name, tau, r.worker), r.mem, place.Workers[r.worker].IntermediateNode)
						}
					}
					run.unmap()
				}
			}
			team.Close()
		}
	}
}

func onNode(t *testing.T, name string, mem []byte, want int) {
	t.Helper()
	err := numa.Verify(mem, want, name)
	skip.If(t, errors.Is(err, numa.ErrForbidden), "%v", err)
	check.NoError(t, err, "Verify")
}

// Two hundred teams in one process leave no mapping and no thread.
func TestNoLeaks(t *testing.T) {
	count := func(dir string) int { entries, _ := os.ReadDir(dir); return len(entries) }
	maps := func() int { text, _ := os.ReadFile("/proc/self/maps"); return strings.Count(string(text), "\n") }
	skip.If(t, maps() == 0, "needs /proc")
	p := place(t, 2)
	once := func() {
		team := must.Get(NewTeam(p))
		defer team.Close()
		for _, arena := range []int{0, 64 << 10} {
			must.Get(Trial{Setup: Ring, Segments: 2, SegmentBytes: 1024, K: 2, Bytes: 2048, ArenaBytes: arena}.repeat(context.Background(), team, 2, 1))
		}
	}
	for range 20 {
		once()
	}
	threads, mappings := count("/proc/self/task"), maps()
	for range 200 {
		once()
	}
	// Threads die a little after their goroutines.
	const more = 5 // of the runtime's own
	for deadline := time.Now().Add(time.Minute); count("/proc/self/task") > threads+more && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	check.AtMost(t, count("/proc/self/task"), threads+more, "threads after 200 teams")
	check.AtMost(t, maps(), mappings+100, "mappings after 200 teams") // a leak is one for each team, at least
}

// 256 ranks need fewer mappings than a process may have for a channel between every two of them, and
// carry out an alltoall.
func TestManyRanks(t *testing.T) {
	skip.Short(t, "takes seconds")
	const ranks = 256
	s := must.Get(must.Get(collective.Lookup("alltoall:pairwise")).Schedule(collective.Call{P: ranks, M: 8}))
	check.NoError(t, must.Err(team(t, ranks).RunCollective(context.Background(), Collective{Schedule: s, Segments: 1, SegmentBytes: 64, Runs: 1})), "RunCollective")
}

// 256 workers move their bytes on any number of CPUs, and a trial leaves little garbage, whatever it walked through.
func TestManyWorkers(t *testing.T) {
	skip.Short(t, "takes seconds")
	const workers = 256
	many := team(t, workers)
	made := func(tr Trial) uint64 {
		t.Helper()
		tr.Segments, tr.SegmentBytes, tr.K, tr.Bytes = 2, 512, 1, 512
		bytes := uint64(math.MaxUint64) // the least of several trials: the runtime allocates, too
		for i := range 4 {              // the first lays out what stays
			if of := check.Allocated(func() { must.Get(tr.repeat(context.Background(), many, 1, 1)) }); i > 0 {
				bytes = min(bytes, of)
			}
		}
		return bytes
	}
	const least = 4 << 10 // of a worker: 1.5 KB and some slack
	for _, tr := range []Trial{{Setup: Ring}, {Setup: Ring, ArenaBytes: 64 << 10}, {Setup: Ring, ArenaBytes: 1 << 20}, {Setup: Sendrecv, ArenaBytes: 1 << 20}} {
		garbage := made(tr)
		check.True(t, check.Raced() || garbage <= workers*least, "%s, arenas of %d KB: %d bytes of garbage of a trial, at most %d", tr.Setup.Name, tr.ArenaBytes>>10, garbage, workers*least)
	}
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	most := uint64(workers*(patternBytes+least) + 16<<20)
	check.True(t, heap.HeapAlloc <= most, "the heap has %d MB, want %d", heap.HeapAlloc>>20, most>>20)
}
