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

// patience is the time in which the other end must move a byte of a batch.
var patience = 10 * time.Second // a test has another

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

	err error // the first one; after it nothing is read, written or waited for
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
func (e *end) pass(g *gate) {
	if e.err != nil {
		return
	}
	round := g.round.Load()
	if int(g.arrived.Add(1)) == g.tau {
		g.arrived.Store(0)
		g.round.Add(1)
		if g.tau > 1 {
			wake(&g.round)
		}
		return
	}
	for began := time.Now(); g.round.Load() == round; {
		switch {
		case e.group.stop.Load():
			e.err = errGivenUp
			return
		case time.Since(began) > spinning:
			sleep(&g.round, round)
		}
	}
}

func (e *end) read(b []byte) {
	if e.err == nil {
		e.err = e.flow.read(b)
	}
}

func (e *end) write(b []byte) {
	if e.err == nil {
		e.err = e.flow.write(b)
	}
}

// await waits until enough of the bytes that the kernel counts.
func (e *end) await(count func() (int, error), enough func(bytes int) bool) {
	for began := time.Now(); e.err == nil; yield() {
		switch n, err := count(); {
		case err != nil:
			e.err = err
		case enough(n):
			return
		case time.Since(began) > patience:
			e.err = stuck()
		}
	}
}

// drain waits until all written bytes have left for the network.
func (e *end) drain() { e.await(e.unsent, func(bytes int) bool { return bytes == 0 }) }

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
func (e *end) prepare(o order, s side) {
	before := e.region
	if e.err = e.hold(int(o.Bytes)); e.err != nil {
		return
	}
	if e.region == before {
		clear(e.in)
	}
	e.content(o, s).Read(e.out)
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
func (e *end) lead(o order) (s span) {
	var ready [1]byte
	e.prepare(o, leading)
	e.write(encoded(o))
	if e.read(ready[:]); e.err != nil {
		return s
	}
	g := e.group.enter(o)
	back := e.in // of an exchange; else a byte acknowledges each message
	if o.Operation != exchange {
		back = ready[:]
	}
	for i := 0; i < int(o.Warm+o.Times) && e.err == nil; i++ {
		if i == int(o.Warm) && o.Operation == stream {
			e.drain()
		}
		e.pass(g)
		began := time.Now()
		if i == int(o.Warm) {
			s.start = began
		}
		e.write(e.out)
		switch o.Operation {
		case exchange, alone:
			if i >= int(o.Warm) {
				s.parts += time.Since(began)
			}
			e.read(back)
		case ignored:
			if i == int(o.Warm)-1 { // the receiver computes from now on
				e.read(back)
			}
			for time.Since(began) < apart { // the kernel receives each by itself
			}
		}
	}
	if o.Operation == stream && e.err == nil {
		var now, least time.Duration
		now, least, e.err = e.queue()
		s.queued = max(0, now-least)
		e.drain()
	}
	s.finish = time.Now()
	var b [resultBytes]byte
	if e.read(b[:]); e.err == nil {
		_, e.err = binary.Decode(b[:], binary.BigEndian, &s.result)
	}
	if e.err == nil && (s.Wrong != 0 || o.Operation == exchange && !e.arrived(o, leading)) {
		e.err = errCorrupt
	}
	return s
}

var errCorrupt = errors.New("what arrived is not what was sent: this network, or a host's memory, cannot be trusted")

// apart is the time between the starts of ignored messages.
const apart = 50 * time.Microsecond

// Reasons why a batch ends early.
var (
	errStuck  = errors.New("nothing moved")
	errHungUp = errors.New("it hung up")
)

func stuck() error {
	return fmt.Errorf("%w for %v: is the host still there, and does the network still carry?", errStuck, patience)
}

// answer carries out a batch from the listening end.
func (e *end) answer(o order) {
	if o.Operation == ignored && int(o.Times)*int(o.Bytes) > mostIgnored {
		e.err = errors.New("the messages to be ignored are more than the kernel keeps")
		return
	}
	if e.prepare(o, answering); e.err != nil {
		return
	}
	var g *gate // of exchanges alone
	if o.Operation == exchange {
		g = e.group.enter(o)
	}
	e.write([]byte{0})
	var r result
	var began time.Time
	var taken time.Duration
	for i := 0; i < int(o.Warm+o.Times) && e.err == nil; i++ {
		if i == int(o.Warm) && o.Operation == ignored {
			taken = e.ignore(int(o.Times) * int(o.Bytes))
		}
		if o.Operation == alone {
			e.await(e.waiting, func(bytes int) bool { return bytes >= len(e.in) })
			began = time.Now()
		}
		e.read(e.in)
		switch {
		case o.Operation == exchange:
			e.pass(g)
			e.write(e.out)
		case o.Operation == alone:
			if i >= int(o.Warm) {
				taken += time.Since(began)
			}
			e.write(e.out[:1])
		case o.Operation == stream && i == int(o.Warm):
			began = time.Now() // from the end of the first message to the end of the last
		}
	}
	if o.Operation == stream {
		taken = time.Since(began)
	}
	r.NS = uint64(max(0, taken))
	if e.err == nil && !e.arrived(o, answering) {
		r.Wrong = 1
	}
	e.write(encoded(r))
}

// mostIgnored bounds unread bytes to what a kernel with the default net.ipv4.tcp_rmem keeps.
const mostIgnored = 48 << 10

// ignore computes on the CPU where the kernel receives until this number of bytes has come. It
// returns the time that receiving took from the computation, without the CPU's usual losses.
func (e *end) ignore(bytes int) (stolen time.Duration) {
	if receiver, err := e.receiver(); err == nil && receiver >= 0 && receiver != e.cpu {
		numa.Pin(receiver) // fails where it is not allowed
		defer numa.Pin(e.cpu)
	}
	const quiet = 5 * time.Millisecond
	lost := gaps(quiet)
	e.write([]byte{0})
	for began := time.Now(); e.err == nil; {
		stolen += gaps(quiet / 10)
		switch n, err := e.waiting(); {
		case err != nil:
			e.err = err
		case n >= bytes:
			whole := time.Since(began)
			return stolen - time.Duration(float64(lost)*float64(whole)/float64(quiet))
		case time.Since(began) > patience:
			e.err = stuck()
		}
	}
	return 0
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
