package setups

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// All buffers have huge pages if they are asked for, and none otherwise, whatever the kernel's setting is.
func TestPages(t *testing.T) {
	for _, huge := range []bool{false, true} {
		team := team(t, 2)
		team.Huge = huge
		tr := Trial{Setup: Ring, Segments: 2, SegmentBytes: 2 << 20, K: 2, Bytes: 4 << 20, ArenaBytes: 16 << 20}
		run := must.Get(team.prepare(tr, 1, 1))
		must.Do(team.run(context.Background(), run))
		skip.If(t, len(team.Warnings()) > 0, "%v", team.Warnings())
		smaps, err := os.ReadFile("/proc/self/smaps")
		skip.Error(t, err)
		for _, r := range team.memory.used {
			n, err := r.pages.HugeBytes()
			flags := flagsOf(string(smaps), unsafe.SliceData(r.mem))
			check.True(t, slices.Contains(flags, "hg") == huge && slices.Contains(flags, "nh") != huge && err == nil && (n == 0 || huge),
				"huge %t: purpose %d of worker %d has flags %v, and %d bytes in huge pages, %v", huge, r.of, r.worker, flags, n, err)
			if huge {
				t.Logf("purpose %d of worker %d: %d of %d bytes in huge pages", r.of, r.worker, n, len(r.pages.Bytes()))
			}
		}
		run.unmap()
	}
}

// flagsOf are the kernel's flags of the mapping that holds a byte: nh for no huge pages (madvise), hg for huge pages.
func flagsOf(smaps string, at *byte) []string {
	inside := false
	for line := range strings.Lines(smaps) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= uintptr(unsafe.Pointer(at)) && uintptr(unsafe.Pointer(at)) < to
		}
		if flags, is := strings.CutPrefix(line, "VmFlags:"); is && inside {
			return strings.Fields(flags)
		}
	}
	return nil
}

// A region that stays is there again for the same request: with its contents if it is kept,
// initialised again if it is reused.
func TestRegionsStay(t *testing.T) {
	team := team(t, 2)
	ones := func(mem []byte, _ int) {
		for i := range mem {
			mem[i]++
		}
	}
	try := func(name string, asked key, life lifetime, length int, same bool, holds byte) { // holds: after the first was overwritten with 7
		t.Helper()
		m := &memory{workers: team.placement.Workers, kept: make(map[key]*region)}
		get := func(k key, n int) *region {
			r := must.Get(m.region(k, n, life, ones))
			must.Do(m.touch(k.worker, func() bool { return true }))
			return r
		}
		first := get(key{of: userBuffer, worker: 1}, 5000)
		copy(first.mem, bytes.Repeat([]byte{7}, len(first.mem)))
		if life != fresh { // else its address could be given out again
			m.unmap()
		}
		second := get(asked, length)
		check.Equal(t, unsafe.SliceData(first.mem) == unsafe.SliceData(second.mem), same, "%s: the same pages", name)
		check.AtLeast(t, len(second.mem), length, "%s: bytes", name)
		check.Equal(t, second.mem[min(length, 5000)-1], holds, "%s: what the last byte holds", name)
		m.forget() // kept ones are initialised again, too
		m.unmap()
		again := get(asked, length).mem[0]
		check.True(t, life == kept && again == holds+1 || life != kept && again != 0, "%s: holds %d when initialised again", name, again)
		m.unmap()
		m.drop(func(*region) bool { return true })
		check.Equal(t, len(m.kept), 0, "%s: number of kept", name)
		check.Equal(t, len(m.used), 0, "%s: number of used", name)
	}
	try("fresh", key{of: userBuffer, worker: 1}, fresh, 5000, false, 1)
	try("reused", key{of: userBuffer, worker: 1}, reused, 5000, true, 8)
	try("reused for less", key{of: userBuffer, worker: 1}, reused, 10, true, 8)
	try("reused for more", key{of: userBuffer, worker: 1}, reused, 50000, false, 1)
	try("kept", key{of: userBuffer, worker: 1}, kept, 5000, true, 7)
	try("kept for less", key{of: userBuffer, worker: 1}, kept, 10, true, 7)
	try("kept, to the end of its pages", key{of: userBuffer, worker: 1}, kept, 8192, true, 7)
	try("kept for more", key{of: userBuffer, worker: 1}, kept, 50000, false, 1)
	try("for another worker", key{of: userBuffer}, kept, 5000, false, 1)
	try("for the other side", key{of: userBuffer, worker: 1, side: receiving}, kept, 5000, false, 1)
	try("for something else", key{of: arrayOfPasses, worker: 1}, kept, 5000, false, 1)
	try("of another size", key{of: userBuffer, worker: 1, bytes: 5000}, kept, 5000, false, 1)
}

// Messages go on through the arenas unless one is to be initialised; then every worker initialises one. In a
// team of processes, each of which sees the others' arenas as not initialised, they go on.
func TestArenasAreBegun(t *testing.T) {
	for _, tt := range []struct {
		processes  *processes
		ready      [3]bool // both arenas of worker 0, and one of worker 1
		down, want int
		then       [3]bool
	}{
		{nil, [3]bool{true, true, true}, 640, 640, [3]bool{true, true, true}},
		{nil, [3]bool{true, false, false}, 640, 0, [3]bool{true, false, false}},
		{nil, [3]bool{true, true, false}, 640, 0, [3]bool{false, false, false}},
		{nil, [3]bool{false, false, false}, 640, 0, [3]bool{false, false, false}},
		{&processes{}, [3]bool{true, true, false}, 640, 640, [3]bool{true, true, false}},
	} {
		team := &Team{processes: tt.processes, down: tt.down}
		for i, k := range []key{{of: arena}, {of: arena, side: receiving}, {of: arena, worker: 1}} {
			team.memory.used = append(team.memory.used, &region{key: k, ready: tt.ready[i]})
		}
		down, then := team.arenas(), [3]bool{}
		for i, r := range team.memory.used {
			then[i] = r.ready
		}
		check.True(t, down == tt.want && team.down == tt.want && then == tt.then, "%+v: messages begin at %d, and %v", tt, down, then)
	}
}

// Only the owner initialises a region, piece by piece, each of which is progress; and it stops when it is told to.
func TestTouchIsProgress(t *testing.T) {
	m := &team(t, 2).memory
	pieces, steps := 0, 0
	r := must.Get(m.region(key{of: userBuffer, worker: 1}, 2*pieceBytes+1, kept, func([]byte, int) { pieces++ }))
	err := m.touch(0, func() bool { steps++; return true })
	check.True(t, err == nil && steps == 0 && !r.ready, "worker 0 took %d steps in memory of worker 1: %v", steps, err)
	err = m.touch(1, func() bool { steps++; return steps < 2 })
	check.True(t, errors.As(err, new(gaveUp)) && !r.ready && pieces == 1, "told to stop after a piece, %d were initialised: %v", pieces, err)
	pieces, steps = 0, 0
	r.write = func(mem []byte, _ int) { clear(mem); pieces++ }
	for range 2 { // the second time there is nothing to do
		err := m.touch(1, func() bool { steps++; return true })
		check.True(t, err == nil && r.ready && pieces == 3 && steps == 3, "%d pieces, %d steps, ready: %t, %v", pieces, steps, r.ready, err)
	}
}

// A page that lies elsewhere is refused: when it is touched, and when a measurement is over.
func TestPagesElsewhereAreRefused(t *testing.T) {
	for _, of := range []purpose{userBuffer, intermediate, remoteCopies, localCopies, largeBuffer, arena, arrayOfPasses} {
		team := team(t, 1)
		m := &team.memory
		here := m.workers
		_, name := m.place(key{of: of})
		elsewhere := slices.Clone(here)
		elsewhere[0].UserNode, elsewhere[0].IntermediateNode = 63, 63
		ask := func() { must.Get(m.region(key{of: of}, 3*4096, fresh, zeros)) }
		goOn := func() bool { return true }
		ask()
		must.Do(m.touch(0, goOn))
		skip.If(t, len(team.Warnings()) > 0, "%v", team.Warnings())
		check.NoError(t, m.stays(0), "%s", name)
		m.workers = elsewhere
		contains.Error(t, m.stays(0), name+": page 0 of 3 should lie on node 63")
		m.unmap()
		m.workers = here
		ask()
		m.workers = elsewhere
		check.Error(t, m.touch(0, goOn), "%s of a node that has no memory was settled", name)
		m.workers = here
	}
}

// More workers than CPUs: everything that a team measures, in turn and again after
// one that was stopped, each worker in memory of its own.
func TestOversubscribedTeamsShareNothing(t *testing.T) {
	tau := len(place(t, 1).Workers)
	for !place(t, tau).Oversubscribed {
		tau++
		skip.If(t, tau > 9, "too many CPUs to oversubscribe")
	}
	team := team(t, tau)
	s := must.Get(must.Get(collective.Lookup("allgather:ring")).Schedule(collective.Call{P: tau, M: 1000}))
	room := Room{Bytes: 1 << 16, Memory: true}
	all := func(ctx context.Context) (errs [5]error) {
		trial := Trial{Setup: Ring, Segments: 2, SegmentBytes: 512, K: 2, Bytes: 1000, ArenaBytes: 1 << 14}
		_, errs[0] = trial.repeat(ctx, team, 2, 2)
		trial.ArenaBytes, trial.Kept = 0, true
		_, errs[1] = trial.repeat(ctx, team, 2, 2)
		_, errs[2] = team.RunCollective(ctx, Collective{Schedule: s, Segments: 2, SegmentBytes: 512, Runs: 2, ArenaBytes: 1 << 14})
		_, errs[3] = Between{Tau: tau, Bytes: 1000, From: room, To: room}.repeat(ctx, team, 10, 2)
		_, errs[4] = team.roundTrips(ctx, RoundTrip{N: 1, Bytes: 1000, Segments: 2, SegmentBytes: 512, Runs: 2, ArenaBytes: 1 << 14})
		return errs
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for i, ctx := range []context.Context{context.Background(), context.Background(), stopped, context.Background()} {
		for what, err := range all(ctx) {
			check.ErrorIs(t, err, ctx.Err(), "round %d, measurement %d", i, what)
		}
	}
	// By worker: two arenas, both ends of copies, and the user and intermediate buffers that were reused.
	check.Equal(t, len(team.memory.kept), 6*tau, "regions stay mapped")
	for k, r := range team.memory.kept {
		check.True(t, k.of != arena || k.side != sending || bytes.Equal(r.mem[:1000], team.patterns[k.worker][:1000]),
			"what worker %d sends is not its own", k.worker)
		for other, o := range team.memory.kept {
			check.True(t, k == other || unsafe.SliceData(r.mem) != unsafe.SliceData(o.mem), "%+v and %+v are one region", k, other)
		}
	}
	team.Release()
	check.Equal(t, len(team.memory.kept)+len(team.memory.used), 0, "regions that Release left mapped")
}

// No worker begins a batch before its moment, and none finishes after its end.
func TestEveryWorkerIsTimed(t *testing.T) {
	team := team(t, 3)
	s := must.Get(must.Get(collective.Lookup("barrier:dissemination")).Schedule(collective.Call{P: 3}))
	trial := must.Get(team.prepare(Trial{Setup: Ring, Segments: 1, SegmentBytes: 64, K: 1, Bytes: 64}, 5, 3))
	try := func(m *measurement, tk task, least int) {
		defer m.unmap()
		must.Do(team.run(context.Background(), tk))
		rounds, forced := m.measured()
		check.True(t, (forced || len(rounds) == 3) && m.rounds >= least, "%d rounds, %d batches, %d of them late", m.rounds, len(rounds), len(m.late))
		for b, at := range m.started[:m.rounds] {
			end := float64(at) + m.took(b)
			for _, w := range m.workers {
				begin, finish := w.start[b], w.finish[b]
				check.True(t, begin >= at && finish >= begin && float64(finish) <= end,
					"batch %d of worker %d from %v to %v, told %v, over at %g", b, w.id, begin, finish, at, end)
			}
			check.True(t, b <= 0 || float64(m.started[b]) >= float64(m.started[b-1])+m.took(b-1), "batch %d begins before the one before is over", b)
		}
	}
	try(&trial.measurement, trial, 4)
	run := must.Get(team.lay(Collective{Schedule: s, Segments: 1, SegmentBytes: 64, Runs: 3}))
	try(&run.measurement, run, 8)
}
