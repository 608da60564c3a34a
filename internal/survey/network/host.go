package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Host answers the leading host in one run, and listens no longer than the run lasts.
type Host struct {
	Secret Secret
	CPUs   []int           // to which flows are pinned, in this order, round-robin
	Facts  Facts           // sent to the leading host
	Wait   time.Duration   // for a run to begin
	Say    func(err error) // reports refused connections, if not nil

	unproven *unproven
	refusals refusals
	budget   *budget
	begun    chan *net.TCPConn
	mutex    sync.Mutex
	control  *net.TCPConn      // to the leading host, once it has the facts
	failed   error             // of the first flow that failed by itself
	run      *[16]byte         // ID of the run; nil before it begins
	groups   map[uint64]*group // by launch, while it has flows
	admitted int               // flows of all groups
	flows    map[*flow]bool
}

// Facts describe a host when a run begins.
type Facts struct {
	Rank       int               `json:"rank"` // of a task, from 0
	CPUs       int               `json:"cpus"`
	Memory     int               `json:"memory"` // bound on messages of all flows, bytes
	Unread     int               `json:"unread"` // unread bytes that its kernel keeps
	Provenance params.Provenance `json:"provenance"`
}

// An ending is the reason why a run is over.
type ending struct {
	Error string `json:"error,omitempty"` // empty: success
}

// Listen opens a host's port. The error is a sentence.
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
	h.unproven, h.budget = &unproven{slots: make(chan struct{}, mostUnproven)}, &budget{most: h.Facts.Memory}
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
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // fewer collections within batches
	all.Go(func() {
		for {
			c, err := l.AcceptTCP()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // out of file descriptors
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
			return engaged // the connection is closed
		}
		a = h.admit(hello)
		let = a == welcome
		return a
	})
	if err != nil && !proven && !h.unproven.leave(c) {
		err = errors.New("it did not prove the secret before its place was needed")
	}
	h.unproven.done()
	if err != nil {
		c.Close()
		if let { // and the peer hung up before the verdict
			h.forget(hello)
		}
		h.say(h.refusals.line(c.RemoteAddr(), err))
		return
	}
	if hello.Purpose == controlling {
		c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: patience / 2, Interval: patience / 5, Count: 3})
		h.begun <- c // does not block: one run, room for one
		return
	}
	err = h.carry(c, hello)
	h.forget(hello)
	if err == nil || errors.Is(err, errHungUp) || errors.Is(err, errGivenUp) { // the other end knows the reason
		return
	}
	h.fail(fmt.Errorf("a flow from %v: %w", c.RemoteAddr(), err))
}

// fail records the error that ends the run, and sends it to the leading host, which only sees a flow
// end.
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
		writeFrame(control, ending{err.Error()})              // fails if the host is gone
		control.SetReadDeadline(time.Now().Add(2 * patience)) // no answer if the network is cut
	}
}

// admit decides whether a peer with the secret takes part: the leader of a run, then its flows.
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

// forget undoes admit, for a run that did not begin or a flow that ended.
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
	go func() { // its thread stays pinned and ends with it
		n := int(hello.Flow)
		done <- serveEnd(&end{flow: f, index: n, cpu: h.CPUs[n%len(h.CPUs)], group: group, budget: h.budget})
	}()
	return <-done
}

func serveEnd(e *end) error {
	defer e.release()
	for e.err = numa.Pin(e.cpu); e.err == nil; {
		if e.err = e.wait(0); e.err != nil { // until the next batch
			break
		}
		var b [orderBytes]byte
		if e.read(b[:1]); e.err != nil {
			return nil // hung up
		}
		e.err = e.wait(patience)
		if e.read(b[1:]); e.err != nil {
			break
		}
		var o order
		if o, e.err = decodeOrder(b[:]); e.err == nil {
			e.answer(o)
		}
	}
	return e.err
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
