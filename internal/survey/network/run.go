package network

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

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
