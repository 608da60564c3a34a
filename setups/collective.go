package setups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// A Collective is a schedule to carry out on this machine's memory: each rank is a worker, and messages
// go through a segmented channel for each pair of ranks.
type Collective struct {
	Schedule     *collective.Schedule `json:"-"`
	Segments     int                  // nseg of each channel
	SegmentBytes int                  // S
	Operator     *reduce.Operator     `json:"-"` // of a reduction
	Runs         int                  // timed, after some that warm up
	ArenaBytes   int                  // > 0: off cache, ranks' buffers walk through at least that much each

	Single    bool // messages are single copies out of the senders' memory; ranks are processes
	Rewritten bool // in cache, ranks rewrite their send buffers before each run, untimed
	Null      bool // single copies are synchronised but not copied
}

// RunCollective carries out a schedule and returns the time of each run in ns, from the announced start
// to the last rank's finish, less the time of an empty run. It fails if a rank's result is wrong.
//
// Off cache, ranks send from one arena and receive into another.
func (t *Team) RunCollective(ctx context.Context, c Collective) ([]float64, error) {
	if p := c.Schedule.Call.P; p != t.Tau() {
		return nil, fmt.Errorf("a schedule for %d ranks needs as many workers, there are %d", p, t.Tau())
	}
	if c.Single && t.processes == nil {
		return nil, errors.New("single copies go from process to process, and these workers are threads")
	}
	run, err := t.lay(c)
	defer run.unmap()
	if err != nil {
		if t.processes != nil { // they no longer share the same memory
			t.broken = err
		}
		return nil, err
	}
	err = t.run(ctx, run)
	if t.processes != nil {
		run.keepClock()
	}
	if err != nil {
		return nil, err
	}
	rounds, _ := run.measured()
	return t.beyond(lists.Map(rounds, func(r int) float64 { return run.took(r - 1) }), lists.Map(rounds, run.took)), nil
}

// beyond subtracts the median of empty rounds, the clock's share, from times. With oversubscription it
// subtracts nothing: empty rounds then measure the scheduler.
func (t *Team) beyond(empty, times []float64) []float64 {
	share := median(empty)
	if t.placement.Oversubscribed {
		share = 0
	}
	return lists.Map(times, func(ns float64) float64 { return max(0, ns-share) })
}

// A performance is a Collective with its memory and a program for each rank.
//
// Even rounds are empty, and measure the clock's share. Odd rounds are runs, the first of which warms
// up.
type performance struct {
	Collective
	measurement
	ranks      []*rank
	arenaBytes int   // of each arena; 0: in cache
	since      int64 // of processes: the epoch on the system's clock, ns
}

type rank struct {
	buffers [3]buffer // by collective.Buffer
	steps   []step
	arrived []byte       // received operands of a reduction
	done    atomic.Int64 // finished rounds
}

// A buffer is a rank's buffer. Off cache it walks through its arena from run to run.
type buffer struct {
	walk
	mem  []byte
	size int
}

// A step is a rank's part of a stage: it sends and receives segments in turn, or copies.
type step struct {
	out        *shm.Sender
	in         *shm.Receiver
	send, recv collective.Span
	peer       int // the rank that it receives from
	reduce     bool
	copies     []spanCopy
	meet       bool // a barrier comes first: copies between ranks begin together
	offers     []*shm.Offer
	fetches    []fetch
}

// A spanCopy is a copy that the rank carries out itself.
type spanCopy struct {
	from     int
	src, dst collective.Span
}

// A fetch is a single copy from another rank's memory.
type fetch struct {
	*shm.Taker
	spanCopy
}

// lay prepares a collective: its clock, the ranks' programs and their memory.
func (t *Team) lay(c Collective) (*performance, error) {
	run := &performance{Collective: c, since: shm.Monotonic()}
	run.every = max(1, c.Runs/looksBetween)
	if err := run.enlist(t, t.Tau(), c.Runs, 2); err != nil {
		return run, err
	}
	for range t.workers {
		run.ranks = append(run.ranks, &rank{})
	}
	if err := run.program(t); err != nil {
		return run, err
	}
	return run, run.place(t)
}

// brings reports whether a buffer holds input of the collective.
func (p *performance) brings(id int, b collective.Buffer) bool {
	input := p.Schedule.Brings(id)
	return input.Buffer == b && input.Bytes > 0
}

// place gives every buffer its memory.
func (p *performance) place(t *Team) error {
	var largest [2]int // buffer of each side off cache
	for id, r := range p.ranks {
		for b := range r.buffers {
			size, side := p.Schedule.Size(id, collective.Buffer(b)), p.side(id, collective.Buffer(b))
			if r.buffers[b] = (buffer{walk: walk{places: 1}, size: size}); size > 0 && side >= 0 && p.ArenaBytes > 0 {
				largest[side] = max(largest[side], unitsOf(size)*unitBytes)
			}
		}
	}
	if most := max(largest[sending], largest[receiving]); most > 0 {
		p.arenaBytes = t.memory.common(arena, max(p.ArenaBytes, 2*most))
	}
	for id, r := range p.ranks {
		for b := range r.buffers {
			buf, side := &r.buffers[b], p.side(id, collective.Buffer(b))
			of, n := userBuffer, buf.size
			if buf.size > 0 && side >= 0 && p.ArenaBytes > 0 {
				of, n = arena, p.arenaBytes
			}
			var err error
			if buf.mem, err = p.user(of, id, side, n); err != nil {
				return err
			}
		}
	}
	if p.arenaBytes > 0 {
		p.walk(largest)
	}
	return nil
}

// walk sets the walks of buffers through the arenas, by the largest size of each side.
func (p *performance) walk(largest [2]int) {
	var walks [2]walk
	down := p.team.arenas()
	for side, size := range largest {
		if size > 0 {
			walks[side] = newWalk(p.arenaBytes, size, down)
		}
	}
	// Each time that runs receive at a place again, they send from another place than before: stale
	// bytes there are wrong ones, and check finds them.
	if n := walks[sending].places; n > 0 && walks[receiving].places%n == 0 {
		walks[receiving].places--
	}
	further := sending
	if largest[receiving] > largest[sending] {
		further = receiving
	}
	p.team.down = walks[further].down(len(p.started) / 2)
	for id, r := range p.ranks {
		for b := range r.buffers {
			if buf, side := &r.buffers[b], p.side(id, collective.Buffer(b)); buf.size > 0 && side >= 0 {
				buf.walk = walks[side]
			}
		}
	}
}

// side is the arena of a buffer off cache, −1 if it is in none.
func (p *performance) side(id int, b collective.Buffer) int {
	switch {
	case p.brings(id, b):
		return sending
	case b == collective.Recv:
		return receiving
	}
	return -1
}

// reach maps the pages of arenas that the runs reach.
func (r *rank) reach(runs int) {
	for i := range r.buffers {
		if b := &r.buffers[i]; b.end > 0 {
			b.walk.reach(b.mem, b.size, runs)
		}
	}
}

// A link is a sending rank with the receiving one.
type link struct{ from, to int }

// copied reports whether receivers copy out of the senders' buffers.
func copied(p collective.Pattern) bool { return p == collective.Local || p == collective.Transfer }

// connect makes a channel for each link, or a post where messages are single copies.
func (p *performance) connect(t *Team) (wires map[link]wire, err error) {
	wires = make(map[link]wire)
	peers := make(map[int][]int) // by rank: the ranks that it sends to
	for _, stage := range p.Schedule.Steps() {
		if copied(stage.Pattern) {
			continue
		}
		for m := range stage.Messages() {
			if !slices.Contains(peers[m.From], m.To) {
				peers[m.From] = append(peers[m.From], m.To)
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(peers)) { // processes map memory in the same order
		to := peers[from]
		if p.Single {
			r, err := p.region(key{of: intermediate, worker: from}, len(to)*shm.PostBytes, fresh, zeros)
			if err != nil {
				return nil, err
			}
			for i, peer := range to {
				post := shm.NewPost(r.mem, i*shm.PostBytes)
				p.posts = append(p.posts, post)
				wires[link{from, peer}] = wire{offer: post.Offer(t.workers[from].wait), take: post.Taker(t.workers[peer].wait)}
			}
			continue
		}
		all, err := p.channelsOf(from, len(to), p.Segments, p.SegmentBytes, 1, fresh)
		if err != nil {
			return nil, err
		}
		for i, c := range all {
			wires[link{from, to[i]}] = wire{out: c.Sender(t.workers[from].wait), in: c.Receiver(0, t.workers[to[i]].wait)}
		}
	}
	return wires, nil
}

// A wire holds both ends of a link's channel or post.
type wire struct {
	out   *shm.Sender
	in    *shm.Receiver
	offer *shm.Offer
	take  *shm.Taker
}

// program translates the schedule into each rank's steps.
func (p *performance) program(t *Team) error {
	wires, err := p.connect(t)
	if err != nil {
		return err
	}
	reduced := make([]int, t.Tau()) // by rank: bytes of the largest operand that arrives
	for _, stage := range p.Schedule.Steps() {
		parts := make(map[int]*step)
		part := func(rank int) *step {
			if parts[rank] == nil {
				parts[rank] = &step{reduce: stage.Reduce}
			}
			return parts[rank]
		}
		for m := range stage.Messages() {
			if copied(stage.Pattern) {
				s := part(m.To)
				s.copies = append(s.copies, spanCopy{m.From, m.Src, m.Dst})
				continue
			}
			from, to := part(m.From), part(m.To)
			if ends := wires[link{m.From, m.To}]; p.Single {
				from.offers = append(from.offers, ends.offer)
				to.fetches = append(to.fetches, fetch{ends.take, spanCopy{m.From, m.Src, m.Dst}})
			} else {
				if from.out != nil || to.in != nil {
					return fmt.Errorf("%s: rank %d sends, or rank %d receives, several messages at once, which single copies alone do", p.Schedule.Algorithm, m.From, m.To)
				}
				from.out, from.send = ends.out, m.Src
				to.in, to.recv, to.peer = ends.in, m.Dst, m.From
			}
			if stage.Reduce {
				reduced[m.To] = max(reduced[m.To], m.Bytes())
			}
		}
		for r := range p.ranks {
			if stage.Pattern == collective.Transfer {
				part(r).meet = true
			}
			if s := parts[r]; s != nil {
				p.ranks[r].steps = append(p.ranks[r].steps, *s)
			}
		}
	}
	for id, bytes := range reduced {
		if bytes > 0 {
			var err error
			if p.ranks[id].arrived, err = p.user(userBuffer, id, receiving, bytes); err != nil {
				return err
			}
		}
	}
	return nil
}
