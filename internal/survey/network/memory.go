package network

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/shm"
)

// DefaultMemory bounds messages on a listening host by default.
const DefaultMemory = "256M"

// ErrMemory: messages need more memory than the listening host allows.
var ErrMemory = errors.New("let the host that listens take more memory, or choose smaller messages or fewer flows")

// aligned has what comes begin on a page of its own.
const aligned = 4 << 10

// room is the memory of a flow with messages of that many bytes: one that it sends and one that
// it receives.
func room(bytes int) int { return 2 * ((bytes + aligned - 1) / aligned * aligned) }

// A budget bounds what the messages of all flows take. A nil one has no bound: a host that
// leads chooses its messages itself.
type budget struct {
	most  int
	taken atomic.Int64
}

// take reserves bytes. It waits a moment, because flows of a launch that has just ended may
// still hold some.
func (b *budget) take(bytes int) error {
	if b == nil {
		return nil
	}
	for began := time.Now(); bytes <= b.most; time.Sleep(time.Millisecond) {
		if taken := b.taken.Load(); int(taken)+bytes <= b.most {
			if b.taken.CompareAndSwap(taken, taken+int64(bytes)) {
				return nil
			}
		} else if time.Since(began) > handshakeTime {
			break
		}
	}
	return fmt.Errorf("messages of all flows may take %s here, and this flow needs %s for its own: %w", view.Size(b.most), view.Size(bytes), ErrMemory)
}

func (b *budget) give(bytes int) {
	if b != nil {
		b.taken.Add(-int64(bytes))
	}
}

// hold makes e.out and e.in that many bytes long. The memory is mapped, because the garbage
// collector would keep a multiple of it for a while.
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

// release gives the memory back. Only the end's own thread may call it, because only it knows
// whether the memory is in use.
func (e *end) release() {
	e.region.Close()
	e.budget.give(e.room)
	e.out, e.in, e.room = nil, nil, 0
}

// Fits says which host does not take messages as large as a request has.
func (r *Run) Fits(q Request) error {
	m := max(q.Sizes[len(q.Sizes)-1], queueBytes)
	for i, f := range r.Facts {
		tau := 1 // of the way to others than the first
		if i == 0 {
			tau = q.Taus[len(q.Taus)-1]
		}
		if need := tau * room(m); need > f.Memory {
			return fmt.Errorf("%s takes %s for messages, and τ = %d with m = %s needs %s: %w", r.Targets[i].Name, view.Size(f.Memory), tau, view.Size(m), view.Size(need), ErrMemory)
		}
	}
	return nil
}
