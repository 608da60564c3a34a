package network

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

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

// mostLines tell of connections that are sent away.
const mostLines = 4

// Refusals reports connections that were sent away. A stranger can cause thousands a second, so
// all but the first are only counted.
type refusals struct {
	mutex        sync.Mutex
	told, untold int
}

// line is what to say of a connection, if anything.
func (r *refusals) line(from net.Addr, why error) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.told == mostLines {
		r.untold++
		return nil
	}
	r.told++
	return fmt.Errorf("%v was sent away: %w", from, why)
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
