package network

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/taulop/taulop/internal/printable"
)

// mostUnproven is how many connections may be without a proof at once.
const mostUnproven = 128

// Unproven are connections whose handshake is under way. They have slots of their own: if all
// are taken the oldest connection makes room for the newest; connections that have proved the
// secret are never closed for others.
type unproven struct {
	slots chan struct{} // one for each handshake that has not returned
	mutex sync.Mutex
	conns []*net.TCPConn // oldest first
	over  bool           // none enters any more
}

func newUnproven() *unproven { return &unproven{slots: make(chan struct{}, mostUnproven)} }

// enter takes a slot for c. It waits no longer than a closed connection's handshake takes
// to return.
func (u *unproven) enter(c *net.TCPConn) {
	select {
	case u.slots <- struct{}{}:
	default:
		u.displace()
		u.slots <- struct{}{}
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.over {
		c.Close()
		return
	}
	u.conns = append(u.conns, c)
}

// displace closes the oldest connection.
func (u *unproven) displace() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if len(u.conns) > 0 {
		u.conns[0].SetLinger(0) // else the kernel keeps what strangers left
		u.conns[0].Close()
		u.conns = u.conns[1:]
	}
}

// leave removes c from the connections that can be displaced, and reports whether it was there.
func (u *unproven) leave(c *net.TCPConn) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	i := slices.Index(u.conns, c)
	if i >= 0 {
		u.conns = slices.Delete(u.conns, i, i+1)
	}
	return i >= 0
}

// done gives the slot of a handshake back.
func (u *unproven) done() { <-u.slots }

// end closes all connections, and whatever comes later.
func (u *unproven) end() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.over = true
	for _, c := range u.conns {
		c.Close()
	}
	u.conns = nil
}

var errDisplaced = errors.New("it did not prove the secret before its place was needed")

// Of connections that are sent away, mostLines are told at once, and then one in each
// lineTime.
const (
	mostLines = 4
	lineTime  = 10 * time.Second
)

// Refusals reports connections that were sent away. A stranger can cause thousands a second, so
// most are only counted.
type refusals struct {
	mutex  sync.Mutex
	told   int       // lines that count against mostLines
	since  time.Time // when told last changed with time
	untold int       // connections of which nothing was said yet
}

// line is what to say of a connection, if anything, at a time.
func (r *refusals) line(from net.Addr, why error, now time.Time) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.told == 0 {
		r.since = now
	}
	if n := now.Sub(r.since) / lineTime; n > 0 {
		r.told, r.since = max(0, r.told-int(n)), now
	}
	if r.told == mostLines {
		r.untold++
		return nil
	}
	r.told++
	if r.untold == 0 {
		return fmt.Errorf("%v was sent away: %w", from, why)
	}
	before := printable.Count(r.untold, "other connection")
	r.untold = 0
	return fmt.Errorf("%v was sent away after %s: %w", from, before, why)
}

// rest is what to say of connections that nothing was said of, if there are any.
func (r *refusals) rest() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.untold == 0 {
		return nil
	}
	return fmt.Errorf("also sent away: %s", printable.Count(r.untold, "more connection"))
}
