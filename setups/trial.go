package setups

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// A Trial is a message and how often it is sent: batches of messages back to
// back, after one batch that warms up and is not counted.
type Trial struct {
	Setup        Setup
	Segments     int // nseg, segments of the intermediate buffer
	SegmentBytes int // S; 0 for null transfers
	K            int // segments of the message
	Bytes        int // m = k·S, or less: the last segment may be short
	Messages     int // in a batch
	Batches      int
	// ArenaBytes > 0: user buffers walk through that much memory per worker,
	// which stays mapped from trial to trial.
	ArenaBytes int
	// Kept buffers stay mapped for the team's next trial that keeps them.
	Kept bool
}

// Run runs a trial and returns the time of one message in each batch, in ns:
// from the release of the workers to the finish of the last one, divided by
// the messages. Intermediate buffers, and user buffers below 8 MiB outside an
// arena, are mapped afresh unless they are kept. It fails if mapping does, if bytes arrived that were not
// sent, if ctx ends, or if the workers stop making progress.
func (t *Team) Run(ctx context.Context, tr Trial) ([]float64, error) {
	run, err := t.prepare(tr)
	defer func() {
		if t.broken == nil { // else a worker may still be in there
			run.unmap()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := t.run(ctx, run); err != nil {
		t.forget() // stopped half-way: who knows what lies where
		return nil, err
	}
	if t.Huge && !tr.Kept {
		t.share = t.hugeShare(run)
	}
	times := make([]float64, tr.Batches)
	for b := range times {
		var last time.Duration
		for _, w := range t.workers {
			last = max(last, w.finish[b+1])
		}
		times[b] = float64(last-run.start[b+1]) / float64(tr.Messages)
	}
	return times, nil
}

// leastWarm is how many messages it takes until memory that was just laid has
// found its place in the caches. The first two reductions of 4 MiB take half as
// long again as the others.
const leastWarm = 3

// A trial is a Trial with its memory.
type trial struct {
	Trial
	tau       int
	placement numa.Placement
	warm      int // messages of the warm-up batch
	clock
	channels []*shm.Channel        // by writer; nil where nobody reads
	regions  map[use][]*shm.Region // to unmap after the trial
	walk     *walk                 // as it will be after the trial
	begin    int                   // unit of user memory at which the first message begins
	units    int                   // of a message
	users    [][]byte              // by worker
	patterns [][]byte              // by worker
	where    *where
	fill     bool // users hold nothing yet
}

func (t *Team) prepare(tr Trial) (*trial, error) {
	if tr.Setup.segments > 0 {
		tr.Segments = tr.Setup.segments
	}
	run := &trial{
		Trial: tr, tau: t.Tau(), placement: t.placement, where: &t.where, patterns: t.patterns,
		regions: make(map[use][]*shm.Region),
		clock:   clock{epoch: time.Now(), start: make([]time.Duration, tr.Batches+2)},
	}
	if o := tr.Setup.operator; o != nil {
		run.patterns = slices.Repeat([][]byte{ones(*o)}, run.tau)
	}
	for _, w := range t.workers {
		w.finish = make([]time.Duration, tr.Batches+1)
	}
	// A ring that goes round a whole number of times ends as it began, whatever
	// was copied: end one message beyond.
	run.warm = max(tr.Messages, leastWarm)
	if tr.Bytes >= keptBytes {
		run.warm = tr.Messages // its memory is warm, and it takes its time
	}
	if run.tau > 1 && run.total()%run.tau == 0 {
		run.warm++
	}
	mem, err := run.mapped(t, meeting, 0, shm.BarrierBytes(run.tau))
	if err != nil {
		return run, err
	}
	run.barrier = shm.NewBarrier(mem, run.tau)
	run.channels = make([]*shm.Channel, run.tau)
	for w := range run.tau {
		readers := len(tr.Setup.readers(w, run.tau))
		if readers == 0 {
			continue
		}
		n, err := shm.ChannelBytes(tr.Segments, tr.SegmentBytes, readers)
		if err != nil {
			return run, err
		}
		mem, err := run.mapped(t, intermediate, w, n)
		if err != nil {
			return run, err
		}
		run.channels[w] = shm.NewChannel(mem, tr.Segments, tr.SegmentBytes, readers)
	}
	if tr.ArenaBytes > 0 || tr.Bytes >= keptBytes {
		err = t.layArena(run, max(tr.ArenaBytes, tr.Setup.userBytes(tr.Bytes)))
	} else {
		err = t.layFresh(run)
	}
	if err != nil {
		return run, err
	}
	run.units = unitsOf(tr.Bytes)
	run.begin = run.walk.begin(run.units)
	run.walk.advance(tr.Setup, run.units, run.total())
	return run, nil
}

// layFresh gives the trial user buffers of its own, each for one message.
func (t *Team) layFresh(run *trial) error {
	for w := range run.tau {
		mem, err := run.mapped(t, userBuffer, w, run.Setup.userBytes(run.Bytes))
		if err != nil {
			return err
		}
		run.users = append(run.users, mem)
	}
	run.walk, run.fill = newWalk(run.Setup, run.Bytes, t.visits), true
	t.visits = run.walk.visits
	return nil
}

// A use is what memory of a trial is for.
type use int

const (
	meeting use = iota // the barrier
	intermediate
	userBuffer
)

// A piece is memory of one worker.
type piece struct {
	of     use
	worker int
}

// mapped maps n bytes of a worker until the end of the trial, or has them from
// a trial before.
func (tr *trial) mapped(t *Team, of use, worker, n int) ([]byte, error) {
	key, keep := piece{of, worker}, tr.Kept && of != meeting // where rounds are counted
	if r := t.kept[key]; keep && r != nil {
		if mem := r.Bytes(); len(mem) >= n {
			return mem[:max(n, 1)], nil
		}
		delete(t.kept, key)
		r.Close()
	}
	how := shm.Map
	if of == userBuffer {
		how = shm.MapPrivate
	}
	node, _ := tr.where.place(of, worker)
	r, err := t.mapOn(how, n, node)
	if err != nil {
		return nil, err
	}
	if keep {
		if t.kept == nil {
			t.kept = make(map[piece]*shm.Region)
		}
		t.kept[key] = r
		return r.Bytes()[:max(n, 1)], nil
	}
	tr.regions[of] = append(tr.regions[of], r)
	return r.Bytes(), nil
}

func (tr *trial) unmap() {
	for _, regions := range tr.regions {
		for _, r := range regions {
			r.Close()
		}
	}
}

// keptBytes is where user buffers stay mapped from trial to trial even in
// cache: a thousand pages are a sample by themselves, and take longer to map
// than to measure.
const keptBytes = 8 << 20

// layArena gives the trial the team's arena, where its messages go on from
// where the last ones ended.
func (t *Team) layArena(run *trial, bytes int) error {
	if t.arena == nil || t.arena.bytes != bytes {
		t.arena.close()
		var err error
		if t.arena, err = t.newArena(bytes); err != nil {
			return err
		}
	}
	a := t.arena
	if !a.walk.takes(run.Setup) {
		a.walk, run.fill = newWalk(run.Setup, run.Setup.room(bytes), a.visits), true
		a.visits = a.walk.visits
	}
	run.walk = a.walk
	for _, r := range a.regions {
		run.users = append(run.users, r.Bytes())
	}
	return nil
}

// forget has the arena filled again before its next use.
func (t *Team) forget() {
	if t.arena != nil {
		t.arena.walk = nil
	}
}

// total is how many messages the trial sends, warm-up included.
func (tr *trial) total() int { return tr.warm + tr.Messages*tr.Batches }

// progress grows as long as any worker gets anywhere.
func (tr *trial) progress() (n uint64) {
	for w, c := range tr.channels {
		n += tr.barrier.Arrived(w)
		if c != nil {
			n += c.Progress()
		}
	}
	return n
}

// work is one worker's part of the trial.
func (tr *trial) work(w *worker) error {
	if err := tr.touch(w.id); err != nil {
		return err
	}
	user, ends, own := tr.users[w.id], tr.ends(w), tr.own(w.id)
	at, sent, ok := tr.begin*unitBytes, 0, true
	for b := range tr.Batches + 1 {
		n := tr.Messages
		if b == 0 {
			n = tr.warm
		}
		if !tr.meet(w, b) {
			return tr.missing(b)
		}
		if tr.Setup.alone {
			at = tr.workAlone(user, own, at, sent, n)
		} else if at, ok = tr.exchange(user, ends, at, n); !ok {
			return ends.waiting(tr.Setup.source(w.id, tr.tau))
		}
		w.finish[b] = time.Since(tr.epoch)
		sent += n
	}
	// Checking is traffic too: not while another still measures.
	if !tr.meet(w, tr.Batches+1) {
		return tr.missing(tr.Batches + 1)
	}
	if err := tr.check(w.id); err != nil {
		return err
	}
	return tr.stays(w.id)
}

// stays fails if the kernel has moved the buffers during the trial, as it does
// when a cpuset loses nodes. Arenas, which are large, are left out: the
// intermediate buffer moves with them.
func (tr *trial) stays(w int) error {
	if tr.fill && len(tr.regions[userBuffer]) > 0 {
		if err := tr.where.stays(tr.users[w], userBuffer, w); err != nil {
			return err
		}
	}
	if c := tr.channels[w]; c != nil {
		return tr.where.stays(c.Bytes(), intermediate, w)
	}
	return nil
}

// touch is the first write to the worker's memory, from its own thread, so
// that pages which are not bound lie where the worker is. Then the kernel is
// asked where they are, and holds them there.
func (tr *trial) touch(w int) error {
	if tr.fill {
		for at, user := 0, tr.users[w]; at < len(user); at += pieceBytes {
			piece := user[at:min(at+pieceBytes, len(user))]
			lay(piece, tr.patterns[w], at)
			if err := tr.where.settle(piece, userBuffer, w); err != nil {
				return err
			}
		}
	}
	c := tr.channels[w]
	if c == nil {
		return nil
	}
	clear(c.Bytes())
	return tr.where.settle(c.Bytes(), intermediate, w)
}

// own are the segments of the worker's intermediate buffer.
func (tr *trial) own(w int) (segments [][]byte) {
	if c := tr.channels[w]; c != nil {
		for i := range tr.Segments {
			segments = append(segments, c.Segment(i))
		}
	}
	return segments
}

// ends are a worker's ends of the channels that it writes and reads.
type ends struct {
	out *shm.Sender
	in  *shm.Receiver
}

func (tr *trial) ends(w *worker) (e ends) {
	if c := tr.channels[w.id]; c != nil {
		e.out = c.Sender(w.wait)
	}
	if src := tr.Setup.source(w.id, tr.tau); src != nobody {
		for i, r := range tr.Setup.readers(src, tr.tau) {
			if r == w.id {
				e.in = tr.channels[src].Receiver(i, w.wait)
			}
		}
	}
	return e
}

// waiting says what a worker that gave up had waited for. It sends before it
// receives: if it has sent more, it waited to receive.
func (e ends) waiting(source int) error {
	if e.in != nil && (e.out == nil || e.out.Sent() > e.in.Received()) {
		return gaveUp{fmt.Sprintf("segment %d from worker %d", e.in.Received(), source)}
	}
	return gaveUp{fmt.Sprintf("its readers to make room for segment %d", e.out.Sent())}
}

// missing says for whom a worker that gave up at the barrier had waited.
func (tr *trial) missing(b int) error {
	for w := range tr.tau {
		if tr.barrier.Arrived(w) < uint64(b+1) {
			return gaveUp{fmt.Sprintf("worker %d to come to the barrier", w)}
		}
	}
	return gaveUp{"the barrier to open"}
}

// exchange sends n messages from and into the user buffer, beginning at byte
// `at`, and returns where the next one begins: the timed loop of every setup
// with flags.
func (tr *trial) exchange(user []byte, e ends, at, n int) (next int, ok bool) {
	stride, size, segment, k := tr.units*unitBytes, tr.Bytes, tr.SegmentBytes, tr.K
	last := tr.walk.units*unitBytes - stride
	out, in, apart := e.out, e.in, tr.apart()
	for range n {
		rest, room := user[at:at+size], user[apart+at:apart+at+size]
		for range k {
			s := min(segment, len(rest))
			if out != nil && !out.Send(rest[:s]) {
				return at, false
			}
			if in != nil && !in.Receive(room[:s]) {
				return at, false
			}
			rest, room = rest[s:], room[s:]
		}
		if at += stride; at > last {
			at = 0
		}
	}
	return at, true
}

// apart is how far beyond what it sends a worker receives.
func (tr *trial) apart() int {
	if tr.Setup.apart {
		return tr.walk.units * unitBytes
	}
	return 0
}

// workAlone is the timed loop without flags: each segment into the worker's own
// buffer and back, or reduced into it, after `sent` messages before.
func (tr *trial) workAlone(user []byte, own [][]byte, at, sent, n int) (next int) {
	stride, size, segment, k := tr.units*unitBytes, tr.Bytes, tr.SegmentBytes, tr.K
	last := tr.walk.units*unitBytes - stride
	operator := tr.Setup.operator
	i := sent * k % len(own)
	for range n {
		rest := user[at : at+size]
		for range k {
			s := rest[:min(segment, len(rest))]
			if operator != nil {
				operator.apply(own[i][:len(s)], s)
			} else {
				shm.Copy(own[i], s)
				shm.Copy(s, own[i])
			}
			rest = rest[len(s):]
			if i++; i == len(own) {
				i = 0
			}
		}
		if at += stride; at > last {
			at = 0
		}
	}
	return at
}

// check proves that the bytes which arrived are those that were sent, wherever
// the trial's messages went. It is not timed.
func (tr *trial) check(w int) error {
	at, laps := tr.begin, 0
	for range tr.total() {
		if err := tr.checkMessage(w, at); err != nil {
			return err
		}
		next := tr.walk.after(at, tr.units)
		if next <= at {
			if laps++; laps == 2 { // been everywhere
				break
			}
		}
		at = next
	}
	if tr.Setup.source(w, tr.tau) == w && tr.Setup.operator == nil {
		return tr.checkOwn(w)
	}
	return nil
}

func (tr *trial) wrong(w, from, at int) error {
	return fmt.Errorf("%s: byte %d of a message that worker %d holds is not what worker %d sent: this machine's copies cannot be trusted",
		tr.Setup.Name, at, w, from)
}

// checkMessage checks the message that begins at unit `at`, in stretches of
// equal origin.
func (tr *trial) checkMessage(w, at int) error {
	begin, end := at*unitBytes, at*unitBytes+tr.Bytes
	if tr.Setup.apart {
		from, room := tr.Setup.source(w, tr.tau), tr.users[w][tr.apart():]
		if bad := differ(room[begin:end], tr.patterns[from], begin); bad >= 0 {
			return tr.wrong(w, from, bad)
		}
		return nil
	}
	for u := at; u < at+tr.units; {
		visits := tr.walk.visits[u]
		stretch := u * unitBytes
		for u < at+tr.units && tr.walk.visits[u] == visits {
			u++
		}
		from := tr.walk.moved.origin(w, tr.tau, int(visits))
		upto := u * unitBytes
		if bad := differ(tr.users[w][stretch:min(upto, end)], tr.patterns[from], stretch); bad >= 0 {
			return tr.wrong(w, from, stretch+bad-begin)
		}
		if upto > end && upto <= len(tr.users[w]) {
			// The rest of the last unit was left behind: a longer message may come
			// by, and units are counted as a whole.
			lay(tr.users[w][end:upto], tr.patterns[from], end)
		}
	}
	return nil
}

// checkOwn is for a worker that sends to itself, whose user buffer would look
// right if nothing had been copied: the last segment must be in its
// intermediate buffer too.
func (tr *trial) checkOwn(w int) error {
	at := tr.begin
	for range (tr.total() - 1) % (tr.walk.units / tr.units) {
		at = tr.walk.after(at, tr.units)
	}
	offset := (tr.K - 1) * tr.SegmentBytes
	last := tr.users[w][at*unitBytes+offset : at*unitBytes+tr.Bytes]
	own := tr.own(w)[(tr.total()*tr.K-1)%tr.Segments]
	if string(own[:len(last)]) != string(last) {
		return fmt.Errorf("%s: the last segment that worker %d sent is not in its buffer: this machine's copies cannot be trusted", tr.Setup.Name, w)
	}
	return nil
}
