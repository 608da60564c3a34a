package network

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// patience is the default time in which the other end must move a byte of a batch.
const patience = 10 * time.Second

// An end is one side of a flow: a thread pinned to a CPU.
type end struct {
	*flow
	index int
	cpu   int
	group *group

	budget *budget
	region *shm.Region
	room   int    // bytes of region
	out    []byte // to be sent
	in     []byte // received
}

// A group is the ends of a launch on one host, whose messages in a batch start together.
type group struct {
	flows int         // on a listening host, guarded by Host.mutex
	stop  atomic.Bool // an end has failed: the others do not wait for it
	mutex sync.Mutex
	gates map[uint32]*gate // by batch in progress
}

func newGroup() *group { return &group{gates: make(map[uint32]*gate)} }

// A gate is a barrier of a batch's flows before each message. Waiting flows spin first and then
// sleep, because CPUs may be fewer than flows.
type gate struct {
	tau, left int // flows, and flows that have not entered yet
	arrived   atomic.Uint32
	round     atomic.Uint32
}

// enter returns the gate of a batch.
func (g *group) enter(o order) *gate {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	found := g.gates[o.Batch]
	if found == nil {
		found = &gate{tau: int(o.Tau), left: int(o.Tau)}
		g.gates[o.Batch] = found
	}
	if found.left--; found.left <= 0 {
		delete(g.gates, o.Batch)
	}
	return found
}

var errGivenUp = errors.New("another flow of the batch failed")

// spinning is longer than the skew of flows that run concurrently.
const spinning = 20 * time.Microsecond

// pass waits until all flows have arrived, or one of the group has failed.
func (g *gate) pass(of *group) error {
	round := g.round.Load()
	if int(g.arrived.Add(1)) == g.tau {
		g.arrived.Store(0)
		g.round.Add(1)
		if g.tau > 1 {
			wake(&g.round)
		}
		return nil
	}
	for began := time.Now(); g.round.Load() == round; {
		switch {
		case of.stop.Load():
			return errGivenUp
		case time.Since(began) > spinning:
			sleep(&g.round, round)
		}
	}
	return nil
}

func newEnd(f *flow, index, cpu int, g *group, b *budget) *end {
	return &end{flow: f, index: index, cpu: cpu, group: g, budget: b}
}

// pin pins the calling goroutine's thread to the end's CPU.
func (e *end) pin() error { return numa.Pin(e.cpu) }

// A side distinguishes the bytes that the two ends send.
type side byte

const (
	leading side = iota
	answering
)

// content generates the bytes that a side sends in a batch.
func (e *end) content(o order, s side) *rand.ChaCha8 {
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], o.Seed)
	binary.BigEndian.PutUint32(seed[8:], uint32(e.index))
	seed[12] = byte(s)
	return rand.NewChaCha8(seed)
}

// prepare fills the buffer that a side sends in a batch, and clears the one that it receives into.
func (e *end) prepare(o order, s side) error {
	before := e.region
	if err := e.hold(int(o.Bytes)); err != nil {
		return err
	}
	if e.region == before {
		clear(e.in)
	}
	e.content(o, s).Read(e.out)
	return nil
}

// arrived reports whether the last message is the one that the other side sent.
func (e *end) arrived(o order, s side) bool {
	var want [4096]byte
	content := e.content(o, 1-s)
	for at := 0; at < len(e.in); at += len(want) {
		part := e.in[at:min(len(e.in), at+len(want))]
		content.Read(want[:])
		if !bytes.Equal(part, want[:len(part)]) {
			return false
		}
	}
	return true
}

// A span is the times of a batch.
type span struct {
	start, finish time.Time
	parts         time.Duration // of writes, in exchange and alone
	queued        time.Duration // of stream: by how much the last round trip exceeds the shortest
	result
}

// lead carries out a batch from the measuring end.
func (e *end) lead(o order) (s span, err error) {
	if err := e.prepare(o, leading); err != nil {
		return s, err
	}
	if err := e.write(encoded(o)); err != nil {
		return s, err
	}
	var ready [1]byte
	if err := e.read(ready[:]); err != nil {
		return s, err
	}
	g := e.group.enter(o)
	back := e.in // of an exchange; else a byte acknowledges each message
	if o.Operation != exchange {
		back = ready[:]
	}
	for i := range int(o.Warm + o.Times) {
		if i == int(o.Warm) && o.Operation == stream {
			if err := e.drain(); err != nil {
				return s, err
			}
		}
		if err := g.pass(e.group); err != nil {
			return s, err
		}
		began := time.Now()
		if i == int(o.Warm) {
			s.start = began
		}
		if err := e.write(e.out); err != nil {
			return s, err
		}
		switch o.Operation {
		case exchange, alone:
			if i >= int(o.Warm) {
				s.parts += time.Since(began)
			}
			if err := e.read(back); err != nil {
				return s, err
			}
		case ignored:
			if i == int(o.Warm)-1 { // the receiver computes from now on
				if err := e.read(back); err != nil {
					return s, err
				}
			}
			for time.Since(began) < apart { // the kernel receives each by itself
			}
		}
	}
	if o.Operation == stream {
		now, least, err := e.queue()
		if err != nil {
			return s, err
		}
		s.queued = max(0, now-least)
		if err := e.drain(); err != nil {
			return s, err
		}
	}
	s.finish = time.Now()
	var b [resultBytes]byte
	if err := e.read(b[:]); err != nil {
		return s, err
	}
	if _, err = binary.Decode(b[:], binary.BigEndian, &s.result); err != nil {
		return s, err
	}
	if s.Wrong != 0 || o.Operation == exchange && !e.arrived(o, leading) {
		return s, errCorrupt
	}
	return s, nil
}

var errCorrupt = errors.New("what arrived is not what was sent: this network, or a host's memory, cannot be trusted")

// apart is the time between the starts of ignored messages.
const apart = 50 * time.Microsecond

// drain waits until all written bytes have left for the network.
func (e *end) drain() error {
	for began := time.Now(); ; {
		switch n, err := e.unsent(); {
		case err != nil:
			return err
		case n == 0:
			return nil
		case time.Since(began) > e.patience:
			return e.stuck()
		}
		yield()
	}
}

// Reasons why a batch ends early.
var (
	errStuck  = errors.New("nothing moved")
	errHungUp = errors.New("it hung up")
)

func (f *flow) stuck() error {
	return fmt.Errorf("%w for %v: is the host still there, and does the network still carry?", errStuck, f.patience)
}

// answer carries out a batch from the listening end.
func (e *end) answer(o order) error {
	if o.Operation == ignored && int(o.Times)*int(o.Bytes) > mostIgnored {
		return errors.New("the messages to be ignored are more than the kernel keeps")
	}
	if err := e.prepare(o, answering); err != nil {
		return err
	}
	var g *gate // of exchanges alone
	if o.Operation == exchange {
		g = e.group.enter(o)
	}
	if err := e.write([]byte{0}); err != nil {
		return err
	}
	var (
		r     result
		began time.Time
		taken time.Duration
	)
	for i := range int(o.Warm + o.Times) {
		if i == int(o.Warm) && o.Operation == ignored {
			stolen, cpu, err := e.ignore(int(o.Times) * int(o.Bytes))
			if err != nil {
				return err
			}
			taken, r.CPU = stolen, uint64(cpu+1)
		}
		if o.Operation == alone {
			if err := e.await(len(e.in)); err != nil {
				return err
			}
			began = time.Now()
		}
		if err := e.read(e.in); err != nil {
			return err
		}
		switch {
		case o.Operation == exchange:
			if err := g.pass(e.group); err != nil {
				return err
			}
			if err := e.write(e.out); err != nil {
				return err
			}
		case o.Operation == alone:
			if i >= int(o.Warm) {
				taken += time.Since(began)
			}
			if err := e.write(e.out[:1]); err != nil {
				return err
			}
		case o.Operation == stream && i == int(o.Warm):
			began = time.Now() // from the end of the first message to the end of the last
		}
	}
	if o.Operation == stream {
		taken = time.Since(began)
	}
	r.NS = uint64(max(0, taken))
	if !e.arrived(o, answering) {
		r.Wrong = 1
	}
	return e.write(encoded(r))
}

// mostIgnored bounds unread bytes to what a kernel with the default net.ipv4.tcp_rmem keeps.
const mostIgnored = 48 << 10

// await waits until this number of bytes can be read at once.
func (e *end) await(bytes int) error {
	for began := time.Now(); ; {
		switch n, err := e.waiting(); {
		case err != nil:
			return err
		case n >= bytes:
			return nil
		case time.Since(began) > e.patience:
			return e.stuck()
		}
		yield()
	}
}

// ignore computes on the CPU where the kernel receives until this number of bytes has come. It
// returns the time that receiving took from the computation, without the CPU's usual losses.
func (e *end) ignore(bytes int) (stolen time.Duration, cpu int, err error) {
	cpu = e.cpu
	if receiver, err := e.receiver(); err == nil && receiver >= 0 && receiver != e.cpu {
		if numa.Pin(receiver) == nil { // else it is not allowed
			cpu = receiver
		}
		defer e.pin()
	}
	const quiet = 5 * time.Millisecond
	lost := gaps(quiet)
	if err := e.write([]byte{0}); err != nil {
		return 0, cpu, err
	}
	began := time.Now()
	for {
		stolen += gaps(quiet / 10)
		switch n, err := e.waiting(); {
		case err != nil:
			return 0, cpu, err
		case n >= bytes:
			whole := time.Since(began)
			return stolen - time.Duration(float64(lost)*float64(whole)/float64(quiet)), cpu, nil
		case time.Since(began) > e.patience:
			return 0, cpu, e.stuck()
		}
	}
}

// gaps reads the clock for a while and returns the sum of long gaps between readings.
func gaps(d time.Duration) (lost time.Duration) {
	const reading = 400 * time.Nanosecond // bound on reading the clock
	began := time.Now()
	for last := time.Duration(0); last < d; {
		now := time.Since(began)
		if now-last > reading {
			lost += now - last
		}
		last = now
	}
	return lost
}
