package network

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A Host takes part in one run that another host leads: it answers that host, and listens no
// longer than the run lasts.
type Host struct {
	Secret Secret
	CPUs   []int           // that flows are pinned to, in this order, and round again
	Facts  Facts           // what it says of itself
	Wait   time.Duration   // for a run to begin
	Say    func(err error) // is told of connections that were sent away, if not nil

	unproven *unproven
	refusals refusals
	budget   *budget
	begun    chan *net.TCPConn
	mutex    sync.Mutex
	control  *net.TCPConn      // to the host that leads, once it has the facts
	failed   error             // of the first flow that failed by itself
	run      *[16]byte         // taken part in
	groups   map[uint64]*group // by launch, while it has flows
	admitted int               // flows of all groups
	flows    map[*flow]bool
}

// Facts are what a host says of itself when a run begins.
type Facts struct {
	Rank       int               `json:"rank"` // of a task, from 0
	CPUs       int               `json:"cpus"`
	Memory     int               `json:"memory"` // that messages of all flows may take, bytes
	Unread     int               `json:"unread"` // unread bytes that its kernel keeps
	Provenance params.Provenance `json:"provenance"`
}

// An ending is why a run is over.
type ending struct {
	Error string `json:"error,omitempty"` // empty: it was done
}

// Listen opens the port that a host is asked on. The error is a sentence.
func Listen(address string) (*net.TCPListener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use already: another run may be under way; wait for its end, or listen on another port", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s may not be listened on (%w): take a port from 1024 on", address, syscall.EACCES)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s is no address of this host", address)
	case err != nil:
		return nil, sentence(address, err)
	}
	return l.(*net.TCPListener), nil
}

// Serve takes part in one run. It closes the listener.
func (h *Host) Serve(ctx context.Context, l *net.TCPListener) error {
	h.unproven, h.budget = newUnproven(), &budget{most: h.Facts.Memory}
	h.begun = make(chan *net.TCPConn, 1)
	h.groups, h.flows = make(map[uint64]*group), make(map[*flow]bool)
	var all sync.WaitGroup
	defer func() {
		all.Wait()
		h.say(h.refusals.rest())
	}()
	defer h.dismiss()
	defer l.Close()
	if procs := len(h.CPUs) + 2; runtime.GOMAXPROCS(0) < procs {
		runtime.GOMAXPROCS(procs)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // between batches there is time for it
	all.Go(func() {
		for {
			c, err := l.AcceptTCP()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // there are no more descriptors
				h.unproven.displace()
				time.Sleep(10 * time.Millisecond)
			default:
				h.unproven.enter(c)
				all.Go(func() { h.greet(c) })
			}
		}
	})
	var control *net.TCPConn
	select {
	case control = <-h.begun:
	case <-time.After(h.Wait):
		return fmt.Errorf("no run began within %v: start the host that leads, or allow more", h.Wait)
	case <-ctx.Done():
		return ctx.Err()
	}
	defer control.Close()
	defer context.AfterFunc(ctx, func() { control.Close() })()
	facts := h.Facts
	var err error
	if facts.Unread, err = keeps(control); err != nil {
		return err
	}
	control.SetWriteDeadline(time.Now().Add(handshakeTime))
	if err := writeFrame(control, facts); err != nil {
		return fmt.Errorf("the host that leads is gone: %w", err)
	}
	h.mutex.Lock()
	h.control = control
	h.mutex.Unlock()
	var end ending
	err = readFrame(control, &end)
	h.mutex.Lock()
	failed := h.failed
	h.mutex.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed != nil && (err != nil || end.Error != ""):
		return failed
	case err != nil:
		return errors.New("the host that leads is gone without a word: look what it says there")
	case end.Error != "":
		return fmt.Errorf("the host that leads gave up: %s", printable.Sentence(end.Error))
	}
	return nil
}

// say reports an error to Say.
func (h *Host) say(err error) {
	if err != nil && h.Say != nil {
		h.Say(err)
	}
}

// greet shakes hands with a new connection.
func (h *Host) greet(c *net.TCPConn) {
	proven, let := false, false
	hello, err := receive(c, h.Secret, func(hello hello) (a answer) {
		if proven = h.unproven.leave(c); !proven {
			return engaged // it is closed
		}
		a = h.admit(hello)
		let = a == welcome
		return a
	})
	if err != nil && !proven && !h.unproven.leave(c) {
		err = errDisplaced
	}
	h.unproven.done()
	if err != nil {
		c.Close()
		if let { // and hung up before it knew
			h.forget(hello)
		}
		h.say(h.refusals.line(c.RemoteAddr(), err, time.Now()))
		return
	}
	if hello.Purpose == controlling {
		c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: patience / 2, Interval: patience / 5, Count: 3})
		h.begun <- c // it has room for one
		return
	}
	err = h.carry(c, hello)
	h.forget(hello)
	if err == nil || errors.Is(err, errHungUp) || errors.Is(err, errGivenUp) { // the other end has the reason
		return
	}
	h.fail(fmt.Errorf("a flow from %v: %w", c.RemoteAddr(), err))
}

// fail keeps why the run cannot go on, and tells it to the host that leads, which only
// sees a flow end.
func (h *Host) fail(err error) {
	h.mutex.Lock()
	known := h.failed != nil || h.flows == nil // or the run is over
	if !known {
		h.failed = err
	}
	control := h.control
	h.mutex.Unlock()
	if !known && control != nil {
		control.SetWriteDeadline(time.Now().Add(handshakeTime))
		writeFrame(control, ending{err.Error()}) // fails if the host is gone
	}
}

// admit lets in the leader of a run, and then its flows.
func (h *Host) admit(hello hello) answer {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	switch {
	case hello.Purpose == controlling && h.run == nil:
		h.run = &hello.Run
		return welcome
	case hello.Purpose == flowing && h.run != nil && *h.run == hello.Run && hello.Flow < mostFlows:
		if h.admitted == mostFlows {
			return full
		}
		if h.groups[hello.Launch] == nil {
			h.groups[hello.Launch] = newGroup()
		}
		h.groups[hello.Launch].flows++
		h.admitted++
		return welcome
	}
	return engaged
}

// forget undoes admit: of a run that did not begin, and of a flow that ended.
func (h *Host) forget(hello hello) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if hello.Purpose == controlling {
		h.run = nil
		return
	}
	h.admitted--
	if g := h.groups[hello.Launch]; g.flows > 1 {
		g.flows--
	} else {
		delete(h.groups, hello.Launch)
	}
}

// carry answers on a flow until the other end hangs up.
func (h *Host) carry(c *net.TCPConn, hello hello) error {
	f, err := newFlow(c)
	if err != nil {
		return err
	}
	h.mutex.Lock()
	group := h.groups[hello.Launch]
	if h.flows == nil { // the run is over
		h.mutex.Unlock()
		f.close()
		return nil
	}
	h.flows[f] = true
	h.mutex.Unlock()
	defer func() {
		h.mutex.Lock()
		delete(h.flows, f)
		h.mutex.Unlock()
		group.stop.Store(true) // a launch ends all its flows
		f.close()
	}()
	done := make(chan error, 1)
	go func() { // its thread stays pinned, and dies with it
		done <- serveEnd(newEnd(f, int(hello.Flow), h.CPUs[int(hello.Flow)%len(h.CPUs)], group, h.budget))
	}()
	return <-done
}

func serveEnd(e *end) error {
	defer e.release()
	if err := e.pin(); err != nil {
		return err
	}
	for {
		if err := e.flow.patience(0); err != nil { // until the next batch
			return err
		}
		var b [orderBytes]byte
		if err := e.read(b[:1]); err != nil {
			return nil // hung up
		}
		if err := e.flow.patience(patience); err != nil {
			return err
		}
		if err := e.read(b[1:]); err != nil {
			return err
		}
		o, err := decodeOrder(b[:])
		if err != nil {
			return err
		}
		if err := e.answer(o); err != nil {
			return err
		}
	}
}

// dismiss ends all flows.
func (h *Host) dismiss() {
	h.unproven.end()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, g := range h.groups {
		g.stop.Store(true)
	}
	for f := range h.flows {
		f.stop()
	}
	h.flows = nil
}

// A Target is a host to measure with.
type Target struct {
	Name    string `json:"name"`    // as users know it
	Address string `json:"address"` // with a port
}

// at is the name with the address where that says more: node2: 10.0.0.2:7415.
func (t Target) at() string {
	if host, _, _ := net.SplitHostPort(t.Address); t.Name == host || t.Name == t.Address {
		return t.Address
	}
	return t.Name + ": " + t.Address
}

// A Run is hosts that take part in a measurement, from Begin to End.
type Run struct {
	ID      [16]byte
	Targets []Target
	Facts   []Facts // by target
	Segment int     // what a packet holds of a message, bytes, the least of all targets
	Unread  int     // unread bytes that kernels keep, the least of all targets
	// Interface is the one through which the first target was reached, or tcp if its name
	// cannot name a network.
	Interface string
	controls  []net.Conn
}

// Begin has all targets take part. It retries for the given time while a target does not listen
// yet. On error, one sentence, no host takes part.
func Begin(ctx context.Context, targets []Target, s Secret, wait time.Duration) (r *Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r = &Run{ID: nonce(), Targets: targets}
	defer func() {
		if err == nil {
			return
		}
		// Targets that were not asked yet need not wait until their patience ends.
		told, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		for _, t := range targets[min(len(targets), len(r.controls)+1):] {
			if c, failed := call(told, t, s, hello{Purpose: controlling, Run: r.ID}, false); failed == nil {
				r.controls = append(r.controls, c)
			}
		}
		r.End(err)
	}()
	for _, t := range targets {
		c, err := call(ctx, t, s, hello{Purpose: controlling, Run: r.ID}, true)
		if err != nil {
			return r, err
		}
		r.controls = append(r.controls, c)
		c.SetDeadline(time.Now().Add(handshakeTime))
		var facts Facts
		if err := readFrame(c, &facts); err != nil {
			return r, sentence(t.Name, silent(err))
		}
		c.SetDeadline(time.Time{})
		if facts.CPUs < 1 || facts.CPUs > 1<<16 {
			return r, fmt.Errorf("%s says that it has %d CPUs", t.Name, facts.CPUs)
		}
		if r.Facts = append(r.Facts, facts); len(r.Facts) == 1 || facts.Unread < r.Unread {
			r.Unread = facts.Unread
		}
		holds, err := segment(c)
		if err != nil {
			return r, sentence(t.Name, err)
		}
		if r.Interface == "" {
			r.Interface = interfaceOf(c)
		}
		if r.Segment == 0 || holds < r.Segment {
			r.Segment = holds
		}
	}
	return r, nil
}

func interfaceOf(c *net.TCPConn) string {
	at, _ := c.LocalAddr().(*net.TCPAddr)
	all, _ := net.Interfaces() // without them it has no name
	for _, i := range all {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if of, ok := a.(*net.IPNet); ok && at != nil && of.IP.Equal(at.IP) && (params.Network{Name: i.Name, Kind: "tcp"}).Check() == nil {
				return i.Name
			}
		}
	}
	return "tcp"
}

// Why adds to an error of the run what hosts say that made it fail.
func (r *Run) Why(err error) error {
	until := time.Now().Add(time.Second) // they see the end of a flow when this host does
	for i, c := range r.controls {
		var e ending
		c.SetReadDeadline(until)
		switch failed := readFrame(c, &e); {
		case failed == nil && e.Error != "":
			why, memory := strings.CutSuffix(e.Error, ErrMemory.Error())
			if err = fmt.Errorf("%w: %s says: %s", err, r.Targets[i].Name, printable.Sentence(why)); memory {
				err = fmt.Errorf("%w%w", err, ErrMemory)
			}
		case errors.Is(failed, io.EOF):
			err = fmt.Errorf("%w: %s is gone without a word: look what it says there", err, r.Targets[i].Name)
		}
	}
	return err
}

// End lets all hosts go; err, if not nil, is told to them.
func (r *Run) End(err error) {
	var e ending
	if err != nil {
		e.Error = err.Error()
	}
	for _, c := range r.controls {
		c.SetDeadline(time.Now().Add(handshakeTime))
		writeFrame(c, e) // fails if the host is gone
		c.Close()
	}
	r.controls = nil
}

// call connects to a host and shakes hands. A handshake that is cut off, as where strangers
// flood the host, is retried as long as an end's patience. With again it retries until ctx ends
// while the host does not listen yet.
func call(ctx context.Context, t Target, s Secret, h hello, again bool) (*net.TCPConn, error) {
	if !again {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var last error
	var cut time.Time // when a handshake was cut off first
	for {
		c, err := connect(ctx, t, s, h)
		switch {
		case err == nil:
			return c, nil
		case errors.As(err, new(cutOff)):
			if last = sentence(t.Name, fmt.Errorf("%w: is taulop net running there, or is the port another program's, or flooded with connections?", err)); cut.IsZero() {
				cut = time.Now()
			} else if time.Since(cut) > patience {
				return nil, last
			}
		case again && errors.Is(err, syscall.ECONNREFUSED):
			last = unreached(ctx, t, err)
		case last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, last
		default:
			return nil, unreached(ctx, t, err)
		}
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-ctx.Done():
		}
	}
}

// connect makes one try of a call.
func connect(ctx context.Context, t Target, s Secret, h hello) (*net.TCPConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	err = introduce(c, s, h)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// An UnknownError is about a host whose name does not resolve.
type UnknownError struct{ error }

// ErrNobody: the host is up and no run waits there.
var ErrNobody = errors.New("nobody listens there: begin with the host that listens")

// unreached explains why the host was not reached.
func unreached(ctx context.Context, t Target, err error) error {
	var unknown *net.DNSError
	var late net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &unknown):
		return UnknownError{fmt.Errorf("%s: no address is known of this name: is it spelled as the system knows it? An address like 10.0.0.2 always works", t.Name)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: %w", t.at(), ErrNobody)
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer at all: is the host up, and does no firewall in between drop what comes to that port?", t.at())
	}
	return sentence(t.Name, err)
}

// sentence has an error of a connection begin with a name.
func sentence(name string, err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// launchID tells launches apart.
func launchID() uint64 {
	n := nonce()
	return binary.BigEndian.Uint64(n[:])
}
