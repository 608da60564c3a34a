package network

import (
	"context"
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
	Name    string `json:"name"`    // the user's
	Address string `json:"address"` // with a port
}

// full is the name, with the address if that differs: node2: 10.0.0.2:7415.
func (t Target) full() string {
	if host, _, _ := net.SplitHostPort(t.Address); t.Name == host || t.Name == t.Address {
		return t.Address
	}
	return t.Name + ": " + t.Address
}

// A Run is the hosts of a measurement, from Begin to End.
type Run struct {
	ID      [16]byte
	Targets []Target
	Facts   []Facts // by target
	Segment int     // payload of a packet, bytes, the smallest of all targets
	Unread  int     // unread bytes that kernels keep, the smallest of all targets
	// Interface is the interface to the first target, or tcp if its name cannot be a network's.
	Interface string
	controls  []net.Conn
}

// Begin starts a run with all targets. It retries for the given time while a target does not listen
// yet. On error, one sentence, all hosts are released.
func Begin(ctx context.Context, targets []Target, s Secret, wait time.Duration) (r *Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r = &Run{ID: nonce(), Targets: targets}
	defer func() {
		if err == nil {
			return
		}
		// Targets that were not called yet would wait until their patience ends.
		notice, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		for _, t := range targets[min(len(targets), len(r.controls)+1):] {
			if c, failed := call(notice, t, s, hello{Purpose: controlling, Run: r.ID}, false); failed == nil {
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
	local, _ := c.LocalAddr().(*net.TCPAddr)
	interfaces, _ := net.Interfaces() // on error none
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if own, ok := a.(*net.IPNet); ok && local != nil && own.IP.Equal(local.IP) && (params.Network{Name: i.Name, Kind: "tcp"}).Check() == nil {
				return i.Name
			}
		}
	}
	return "tcp"
}

// Why adds the hosts' own reasons to an error of the run.
func (r *Run) Why(err error) error {
	until := time.Now().Add(time.Second) // hosts see a flow's end when this one does
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

// End releases all hosts and tells them err, if not nil.
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

// call connects to a host and shakes hands. It repeats a handshake that is cut off, as while
// strangers flood the host, for the default patience. With wait it retries until ctx ends while the
// host does not listen yet.
func call(ctx context.Context, t Target, s Secret, h hello, wait bool) (*net.TCPConn, error) {
	if !wait {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var last error
	var cut time.Time // of the first handshake that was cut off
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
		case wait && errors.Is(err, syscall.ECONNREFUSED):
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

// connect is one attempt of call.
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

// An UnknownError reports a host whose name does not resolve.
type UnknownError struct{ error }

// ErrNobody: the host is up, but does not listen.
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
		return fmt.Errorf("%s: %w", t.full(), ErrNobody)
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer at all: is the host up, and does no firewall in between drop what comes to that port?", t.full())
	}
	return sentence(t.Name, err)
}

// sentence prefixes a connection's error with a name.
func sentence(name string, err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		err = op.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
