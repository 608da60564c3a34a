package network

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/shm"
)

// DefaultMemory is the default bound on messages on a listening host.
const DefaultMemory = "256M"

// ErrMemory: messages need more memory than the listening host allows.
var ErrMemory = errors.New("let the host that listens take more memory, or choose smaller messages or fewer flows")

// pageBytes aligns the received message.
const pageBytes = 4 << 10

// room is the memory of a flow: one message to send and one to receive, in whole pages.
func room(bytes int) int { return 2 * ((bytes + pageBytes - 1) / pageBytes * pageBytes) }

// A budget bounds the memory of all flows' messages. Nil is unbounded, for the leading host, which
// chooses the messages.
type budget struct {
	most  int
	taken atomic.Int64
}

// take reserves bytes. It waits for a few seconds, because flows of the previous launch may still
// hold some.
func (b *budget) take(bytes int) error {
	if b == nil {
		return nil
	}
	for began := time.Now(); bytes <= b.most && time.Since(began) < handshakeTime; time.Sleep(time.Millisecond) {
		if int(b.taken.Add(int64(bytes))) <= b.most {
			return nil
		}
		b.give(bytes)
	}
	return fmt.Errorf("messages of all flows may take %s here, and this flow needs %s for its own: %w", view.Size(b.most), view.Size(bytes), ErrMemory)
}

func (b *budget) give(bytes int) {
	if b != nil {
		b.taken.Add(-int64(bytes))
	}
}

// hold gives e.out and e.in this length. Their memory is mapped, because the garbage collector would
// return it late.
func (e *end) hold(bytes int) (err error) {
	if need := room(bytes); need > e.room {
		e.release()
		if err := e.budget.take(need); err != nil {
			return err
		}
		if e.region, err = shm.MapPrivate(need); err != nil {
			e.budget.give(need)
			return err
		}
		e.room = need
	}
	memory := e.region.Bytes()
	e.out, e.in = memory[:bytes], memory[e.room/2:][:bytes]
	return nil
}

// release frees the memory. Only the end's own thread, which uses the memory, may call it.
func (e *end) release() {
	e.region.Close()
	e.budget.give(e.room)
	e.out, e.in, e.room = nil, nil, 0
}

// Fits returns an error that names a host whose memory is too small for the request.
func (r *Run) Fits(q Request) error {
	m := max(q.Sizes[len(q.Sizes)-1], queueBytes)
	for i, f := range r.Facts {
		tau := 1 // other hosts than the first have one flow
		if i == 0 {
			tau = q.Taus[len(q.Taus)-1]
		}
		if need := tau * room(m); need > f.Memory {
			return fmt.Errorf("%s takes %s for messages, and τ = %d with m = %s needs %s: %w", r.Targets[i].Name, view.Size(f.Memory), tau, view.Size(m), view.Size(need), ErrMemory)
		}
	}
	return nil
}
