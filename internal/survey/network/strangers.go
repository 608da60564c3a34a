package network

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/taulop/taulop/internal/printable"
)

// mostUnproven is the largest number of concurrent handshakes.
const mostUnproven = 128

// unproven is the connections in a handshake. If all slots are taken, the oldest connection is closed
// for the newest; connections that have proved the secret are never closed for others.
type unproven struct {
	slots chan struct{} // one for each handshake that has not returned
	mutex sync.Mutex
	conns []*net.TCPConn // oldest first
	over  bool           // no connection enters any more
}

// enter takes a slot for c. It waits at most until the handshake of a closed connection returns.
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
		u.conns[0].SetLinger(0) // else the kernel keeps unsent data
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

// done frees the slot of a handshake.
func (u *unproven) done() { <-u.slots }

// end closes all connections, and every later one.
func (u *unproven) end() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.over = true
	for _, c := range u.conns {
		c.Close()
	}
	u.conns = nil
}

// mostLines is the number of refused connections that are reported one by one.
const mostLines = 4

// refusals reports refused connections. A stranger can cause thousands a second, so all after the
// first mostLines are only counted.
type refusals struct{ count atomic.Int64 }

// line reports a connection, or returns nil if it is only counted.
func (r *refusals) line(from net.Addr, why error) error {
	if r.count.Add(1) > mostLines {
		return nil
	}
	return fmt.Errorf("%v was sent away: %w", from, why)
}

// rest reports the number of connections that were only counted; nil if there are none.
func (r *refusals) rest() error {
	if n := int(r.count.Load()) - mostLines; n > 0 {
		return fmt.Errorf("also sent away: %s", printable.Count(n, "more connection"))
	}
	return nil
}
