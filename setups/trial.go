package setups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/shm"
)

// A Trial sends a message many times: batches of messages back to back, after an untimed batch that
// warms up. The time of a message is l(k,τ), and L(S,τ) is l/(Setup.Transfers·k).
type Trial struct {
	Setup        Setup
	Tau          int // workers, the first ones of the team, see Setup.Workers; 0: all
	Segments     int // nseg, segments of the intermediate buffer
	SegmentBytes int // S in bytes; 0 for null transfers
	K            int // k, segments of the message
	Bytes        int // m = k·S, or less: the last segment may be short
	// ArenaBytes > 0: user buffers walk through that much memory per worker,
	// which stays mapped from trial to trial.
	ArenaBytes int
	// Kept buffers stay mapped for the team's next trial that keeps them.
	Kept bool
	// Brief: a sample has short batches, for surveys of many cells.
	Brief bool
	// Page chooses one of several consecutive channels, which begin on different pages: other pages'
	// lines belong to other slices of a cache or memory.
	Page int
}

// repeat sends n messages in each batch and returns the time of one, in ns: from the announced start to
// the last worker's finish, divided by the messages. A batch that a worker began late, by more than
// 1 % of its time, is repeated, up to three batches and a tenth of all. Intermediate buffers, and user
// buffers below 8 MiB outside an arena, are mapped afresh unless they are Kept.
func (tr Trial) repeat(ctx context.Context, t *Team, n, batches int) ([]float64, error) {
	if err := tr.check(t.Tau()); err != nil {
		return nil, err
	}
	run, err := t.prepare(tr, n, batches)
	defer run.unmap()
	if err != nil {
		return nil, err
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	if tr.ArenaBytes > 0 {
		t.down = run.walk.down(run.total())
	}
	if m := &t.memory; t.Huge && !tr.Kept {
		t.huge = [2]float64{m.hugeShare(m.used, userBuffer, arena), m.hugeShare(m.used, intermediate)}
	}
	return run.times(n), nil
}

// leastWarm is the number of warm-up messages for fresh memory in the inner caches.
const leastWarm = 3

// warmFar is the number of warm-up messages for buffers beyond the inner caches: the last-level
// cache fills slowly (docs/method.md).
func warmFar(bytes int) int {
	const least, most, enough = 32, 128, 64 << 20 // bytes
	return min(max(least, enough/bytes), most)
}

// leastFarBytes is the size from which buffers get the warm-up of buffers beyond the inner caches.
const leastFarBytes = 128 << 10

// A trial is a Trial with its memory.
type trial struct {
	Trial
	measurement
	tau      int
	messages int // of a batch
	warm     int // messages of the warm-up batch
	walk     walk
	users    []user   // by worker
	kept     bool     // these stay mapped
	patterns [][]byte // by worker
	phase    int      // byte of the pattern at which the shared buffer begins
}

// A user is a worker's user buffers, one and the same if messages are received over those that were sent.
type user struct{ from, into []byte }

func (t *Team) prepare(tr Trial, n, batches int) (*trial, error) {
	if tr.Setup.segments > 0 {
		tr.Segments = tr.Setup.segments
	}
	run := &trial{Trial: tr, tau: cmp.Or(tr.Tau, t.Tau()), messages: n, patterns: t.patterns}
	if o := tr.Setup.operator; o != nil {
		run.patterns = slices.Repeat([][]byte{ones(*o)}, run.tau)
	}
	// After a multiple of tau messages a ring's bytes are back at their origin, and check would find
	// nothing wrong if none had been copied: such a trial gets one message more.
	switch run.warm = max(n, leastWarm); {
	case tr.Bytes >= keptBytes:
		run.warm = n // its kept memory is warm, and messages take long
	case tr.ArenaBytes == 0 && tr.Bytes >= leastFarBytes:
		run.warm = max(n, warmFar(tr.Bytes))
	}
	if run.tau > 1 && (run.warm+n*batches)%run.tau == 0 {
		run.warm++
	}
	if err := run.enlist(t, run.tau, batches, 1); err != nil {
		return run, err
	}
	for w := range run.tau {
		readers := len(tr.Setup.readers(w, run.tau))
		if readers == 0 {
			run.channels = append(run.channels, nil)
			continue
		}
		all, err := run.channelsOf(w, tr.Page+1, tr.Segments, tr.SegmentBytes, readers, tr.life())
		if err != nil {
			return run, err
		}
		run.channels = append(run.channels[:w], all[tr.Page])
	}
	if err := run.place(); err != nil {
		return run, err
	}
	t.copied++
	run.phase = t.copied
	return run, nil
}

// check rejects a trial that a team of so many workers cannot run.
func (tr *Trial) check(workers int) error {
	s, tau := tr.Setup, cmp.Or(tr.Tau, workers)
	switch {
	case s.source == nil:
		return errors.New("a trial needs a setup, such as setups.Ring")
	case tau > workers:
		return fmt.Errorf("%s among %d workers: the team has %d", s.Name, tau, workers)
	case cmp.Or(s.segments, tr.Segments) < 1:
		return fmt.Errorf("%s needs a segment of the intermediate buffer, or more, got %d", s.Name, tr.Segments)
	case tr.K < 1 || tr.SegmentBytes < 0 || tr.Bytes > tr.K*tr.SegmentBytes || tr.Bytes < 0 || tr.SegmentBytes > 0 && tr.Bytes <= (tr.K-1)*tr.SegmentBytes:
		return fmt.Errorf("%d bytes are no message of %d segments of %d bytes, of which the last alone may be short", tr.Bytes, tr.K, tr.SegmentBytes)
	}
	return s.Check(tau)
}

// life is the lifetime of buffers that a trial does not walk through.
func (tr *Trial) life() lifetime {
	if tr.Kept {
		return reused
	}
	return fresh
}

// place gives every worker its user buffers, and sets the walk: through an arena from where the last
// messages ended, through fresh buffers from their end. In large buffers messages stay at one place.
func (tr *trial) place() error {
	m, of, bytes := &tr.team.memory, userBuffer, tr.Bytes
	switch {
	case tr.ArenaBytes > 0:
		of, bytes = arena, m.common(arena, max(tr.ArenaBytes, tr.Bytes))
	case tr.Bytes >= keptBytes && tr.Setup.operator == nil: // an operator's data differ
		of, bytes = largeBuffer, m.common(largeBuffer, tr.Bytes)
	}
	tr.kept = of != userBuffer
	for w := range tr.tau {
		u, err := tr.buffers(of, w, bytes)
		if err != nil {
			return err
		}
		tr.users = append(tr.users, u)
	}
	switch of {
	case arena:
		tr.walk = newWalk(bytes, tr.Bytes, tr.team.arenas())
	case largeBuffer:
		tr.walk = newWalk(0, tr.Bytes, 0)
	default:
		tr.walk = newWalk(len(tr.users[0].from), tr.Bytes, 0)
	}
	return nil
}

// buffers are worker w's user buffers of a number of bytes: regions of its own to send from and to receive
// into if they are kept, otherwise one beside the other.
func (tr *trial) buffers(of purpose, w, bytes int) (u user, err error) {
	from, into := tr.Setup.sides()
	if tr.kept {
		if u.from, err = tr.user(of, w, from, bytes); err != nil || from == into {
			return user{u.from, u.from}, err
		}
		u.into, err = tr.user(of, w, into, bytes)
		return u, err
	}
	half := unitsOf(bytes) * unitBytes
	if from != into {
		bytes = 2 * half
	}
	r, err := tr.region(key{of: of, worker: w}, bytes, tr.life(), patternFrom(tr.patterns[w], 0))
	switch {
	case err != nil:
		return u, err
	case from != into:
		return user{r.mem[:half], r.mem[half:]}, nil
	}
	return user{r.mem, r.mem}, nil
}

// keptBytes is the size from which user buffers in cache stay mapped from trial to trial: a thousand
// pages are a sample of placements by themselves, and take longer to map than to measure.
const keptBytes = 8 << 20

// total is the number of messages sent, warm-up included.
func (tr *trial) total() int { return tr.warm + tr.messages*(tr.rounds-1) }

// measure is one worker's part of the trial.
func (tr *trial) measure(w *worker) error {
	user, ends, own := tr.users[w.id], tr.ends(w), tr.own(w.id)
	at, sent, ok := tr.walk.at(0), 0, true
	if tr.Setup.shared {
		own = tr.own(0)
		for i, s := range own { // bytes that no worker holds, different ones in each trial
			if w.id == 0 {
				lay(s, tr.patterns[0], tr.phase+i*tr.SegmentBytes)
			}
		}
	}
	if tr.ArenaBytes > 0 {
		most := tr.warm + tr.messages*(tr.batches+tr.spare)
		tr.walk.reach(user.from, tr.Bytes, most)
		tr.walk.reach(user.into, tr.Bytes, most)
	}
	for b := 0; ; b++ {
		n := tr.messages
		if b == 0 {
			n = tr.warm
		}
		if on, err := tr.start(w, b); err != nil {
			return err
		} else if !on {
			break
		}
		if tr.Setup.alone && tr.Setup.Separate {
			at = tr.copyApart(w, user, at, n)
		} else if tr.Setup.alone {
			at = tr.workAlone(user.into, own, at, sent, n)
		} else if at, ok = tr.exchange(user, ends, at, n); !ok {
			return ends.waiting(tr.Setup.source(w.id, tr.tau))
		}
		tr.finish(w, b)
		sent += n
	}
	return nil
}

func (tr *trial) verify(w *worker) error {
	if tr.ArenaBytes > 0 {
		from, into := tr.Setup.sides()
		at := below(tr.walk.end-tr.walk.down(tr.total()), tr.walk.end)
		tr.read(w, from, at)
		tr.read(w, into, at)
	}
	if err := tr.check(w.id); err != nil {
		return err
	}
	return tr.team.memory.stays(w.id)
}

// own returns the segments of the worker's intermediate buffer.
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
	if src := tr.Setup.source(w.id, tr.tau); src != noWorker {
		e.in = tr.channels[src].Receiver(slices.Index(tr.Setup.readers(src, tr.tau), w.id), w.wait)
	}
	return e
}

// waiting is the error of a worker that gave up. It sends before it receives: if it has sent more, it
// waited to receive.
func (e ends) waiting(source int) error {
	if e.in != nil && (e.out == nil || e.out.Sent() > e.in.Received()) {
		return gaveUp{fmt.Sprintf("segment %d from worker %d", e.in.Received(), source)}
	}
	return gaveUp{fmt.Sprintf("its readers to make room for segment %d", e.out.Sent())}
}

// exchange is the timed loop of every setup with flags: it sends and receives n messages in the user
// buffers, the first at byte `at`, and returns where the next one begins.
func (tr *trial) exchange(user user, e ends, at, n int) (next int, ok bool) {
	stride, size, segment, k := tr.walk.stride, tr.Bytes, tr.SegmentBytes, tr.K
	last := tr.walk.end - stride
	out, in, from, into := e.out, e.in, user.from, user.into
	for range n {
		rest, room := from[at:at+size], into[at:at+size]
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
		if at -= stride; at < 0 {
			at = last
		}
	}
	return at, true
}

// workAlone is the timed loop of setups without flags. It copies each segment into the worker's own
// buffer and back, or reduces it into that buffer, which is at its place after `sent` messages; or it
// copies each message out of the shared buffer, from the first segment on.
func (tr *trial) workAlone(user []byte, own [][]byte, at, sent, n int) (next int) {
	stride, size, segment, k := tr.walk.stride, tr.Bytes, tr.SegmentBytes, tr.K
	last := tr.walk.end - stride
	operator, together := tr.Setup.operator, tr.Setup.shared
	i := sent * k % len(own)
	for range n {
		rest := user[at : at+size]
		if together {
			i = 0
		}
		for range k {
			s := rest[:min(segment, len(rest))]
			switch {
			case operator != nil:
				operator.Apply(own[i][:len(s)], s)
			case together:
				shm.Copy(s, own[i])
			default:
				shm.Copy(own[i], s)
				shm.Copy(s, own[i])
			}
			rest = rest[len(s):]
			if i++; i == len(own) {
				i = 0
			}
		}
		if at -= stride; at < 0 {
			at = last
		}
	}
	return at
}

// copyApart is the timed loop of copies from the send to the receive buffer. Each copy's stores are
// complete before the next begins, because in a collective a message follows such a copy.
func (tr *trial) copyApart(w *worker, user user, at, n int) (next int) {
	stride, size := tr.walk.stride, tr.Bytes
	last := tr.walk.end - stride
	for range n {
		shm.Copy(user.into[at:at+size], user.from[at:at+size])
		w.placed.Store(int64(at))
		if at -= stride; at < 0 {
			at = last
		}
	}
	return at
}

// check proves, untimed, that the bytes that arrived are the bytes that were sent, at every place that
// the trial's messages reached. It puts a worker's own bytes back into memory that stays mapped, where
// the next trial expects them.
func (tr *trial) check(w int) error {
	total, places := tr.total(), tr.walk.places
	for i := range min(total, places) {
		messages := total / places
		if i < total%places {
			messages++
		}
		if err := tr.checkPlace(w, tr.walk.at(i), messages); err != nil {
			return err
		}
	}
	if tr.Setup.source(w, tr.tau) == w && tr.Setup.operator == nil && !tr.Setup.shared {
		return tr.checkOwn(w)
	}
	return nil
}

func (tr *trial) wrong(w, from, at int) error {
	return fmt.Errorf("%s: byte %d of a message that worker %d holds is not what worker %d sent: this machine's copies cannot be trusted",
		tr.Setup.Name, at, w, from)
}

// checkPlace checks the place at byte `begin`, which that many messages reached.
func (tr *trial) checkPlace(w, begin, messages int) error {
	if tr.Setup.shared {
		return tr.checkOut(w, begin)
	}
	from, room := w, tr.users[w].into[begin:begin+tr.Bytes]
	switch {
	case tr.Setup.overwrites():
		from = tr.Setup.origin(w, tr.tau, messages)
	case !tr.Setup.alone:
		from = tr.Setup.source(w, tr.tau)
	}
	if bad := differ(room, tr.patterns[from], begin); bad >= 0 {
		return tr.wrong(w, from, bad)
	}
	if from != w && tr.Setup.overwrites() && tr.kept {
		lay(room, tr.patterns[w], begin)
	}
	return nil
}

// checkOut compares the message that begins at byte `at` with the shared buffer's bytes.
func (tr *trial) checkOut(w, at int) error {
	message := tr.users[w].into[at:][:tr.Bytes]
	for done, i := 0, 0; done < len(message); i++ {
		s := message[done:min(done+tr.SegmentBytes, len(message))]
		if bad := differ(s, tr.patterns[0], tr.phase+i%tr.Segments*tr.SegmentBytes); bad >= 0 {
			return tr.wrong(w, 0, done+bad)
		}
		done += len(s)
	}
	return nil
}

// checkOwn checks a worker that sends to itself. Its user buffer would be right without any copy, so
// the last segment must be in its intermediate buffer, too.
func (tr *trial) checkOwn(w int) error {
	at, offset := tr.walk.at(tr.total()-1), (tr.K-1)*tr.SegmentBytes
	last := tr.users[w].into[at+offset : at+tr.Bytes]
	own := tr.own(w)[(tr.total()*tr.K-1)%tr.Segments]
	if string(own[:len(last)]) != string(last) {
		return fmt.Errorf("%s: the last segment that worker %d sent is not in its buffer: this machine's copies cannot be trusted", tr.Setup.Name, w)
	}
	return nil
}
