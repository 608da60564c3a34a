package setups

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// where knows what the kernel allows about the place of memory. What it forbids
// is tried once, and said.
type where struct {
	workers                      []numa.Worker
	stop                         *atomic.Bool // memory is laid piece by piece, and this ends it
	unbound, unverified, notHuge atomic.Pointer[error]
}

// mapOn maps n bytes that prefer a node until settle binds them. Where the
// kernel forbids that, they will lie where their owner touches them first.
func (t *Team) mapOn(how func(int) (*shm.Region, error), n, node int) (*shm.Region, error) {
	r, err := how(n)
	if err != nil {
		return nil, err
	}
	if t.Huge {
		if err := r.AskHuge(); err != nil {
			t.where.notHuge.CompareAndSwap(nil, &err)
		}
	}
	if t.where.unbound.Load() != nil {
		return r, nil
	}
	err = numa.Prefer(r.Bytes(), node)
	switch {
	case errors.Is(err, numa.ErrForbidden):
		t.where.unbound.Store(&err)
	case err != nil:
		r.Close()
		return nil, err
	}
	return r, nil
}

// place is the node that a worker's buffer belongs on, and its name.
func (w *where) place(of use, worker int) (node int, name string) {
	if of == userBuffer {
		return w.workers[worker].UserNode, fmt.Sprintf("user buffer of worker %d", worker)
	}
	return w.workers[worker].IntermediateNode, fmt.Sprintf("intermediate buffer of worker %d", worker)
}

// settle binds a buffer from mapOn to its node after its worker has touched it,
// and fails if a page of it lies elsewhere and cannot be moved. On a full node
// the kernel kills those who touch memory that was bound before.
func (w *where) settle(mem []byte, of use, worker int) error {
	if w.stop != nil && w.stop.Load() {
		return gaveUp{"its memory to be laid"}
	}
	node, name := w.place(of, worker)
	err := w.verify(mem, node, name)
	if w.unbound.Load() != nil {
		return err
	}
	if err == nil {
		return numa.Bind(mem, node)
	}
	if err := numa.Move(mem, node); err != nil {
		return err
	}
	return w.verify(mem, node, name)
}

// stays fails if a buffer lies no longer where it was settled.
func (w *where) stays(mem []byte, of use, worker int) error {
	node, name := w.place(of, worker)
	return w.verify(mem, node, name)
}

// verify fails if a page of touched memory lies elsewhere than on the node.
func (w *where) verify(mem []byte, node int, name string) error {
	if w.unverified.Load() != nil {
		return nil
	}
	err := numa.Verify(mem, node, name)
	if errors.Is(err, numa.ErrForbidden) {
		w.unverified.Store(&err)
		return nil
	}
	return err
}

// Warnings say what is not known about where the team's memory lies.
func (t *Team) Warnings() (warnings []error) {
	if err := t.where.unbound.Load(); err != nil {
		warnings = append(warnings, errors.New("memory was not bound to its nodes but lies where its worker touched it first: "+(*err).Error()))
	}
	if err := t.where.unverified.Load(); err != nil {
		warnings = append(warnings, errors.New("where memory lies was not verified: "+(*err).Error()))
	}
	if err := t.where.notHuge.Load(); err != nil {
		warnings = append(warnings, fmt.Errorf("huge pages were refused: %w", *err))
	}
	return warnings
}

// A HugeShare is how much of the buffers of a trial lay in huge pages, 0 … 1.
type HugeShare struct {
	User         float64 `json:"user"`
	Intermediate float64 `json:"intermediate"`
}

// hugeShare asks the kernel about the regions of a trial that has run.
func (t *Team) hugeShare(run *trial) *HugeShare {
	share := func(regions []*shm.Region) float64 {
		var huge, all int
		for _, r := range regions {
			n, err := r.HugeBytes()
			if err != nil {
				t.where.notHuge.CompareAndSwap(nil, &err)
			}
			huge, all = huge+n, all+len(r.Bytes())
		}
		return float64(huge) / float64(max(1, all))
	}
	user := run.regions[userBuffer]
	if len(user) == 0 {
		user = t.arena.regions
	}
	return &HugeShare{share(user), share(run.regions[intermediate])}
}
