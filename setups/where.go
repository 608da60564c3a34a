package setups

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/taulop/taulop/numa"
)

// where knows what the kernel allows about the place of memory. What it forbids is tried once,
// and reported.
type where struct {
	workers                        []numa.Worker
	stop                           *atomic.Bool // memory is laid piece by piece, and this ends it
	unbound, unverified, unadvised atomic.Pointer[error]
}

// place is the node that a worker's buffer belongs on, and its name.
func (w *where) place(k key) (node int, name string) {
	if k.of.onIntermediateNode() {
		return w.workers[k.worker].IntermediateNode, fmt.Sprintf("intermediate buffer of worker %d", k.worker)
	}
	return w.workers[k.worker].UserNode, fmt.Sprintf("user buffer of worker %d", k.worker)
}

// settle binds a buffer to its node after its worker has touched it, and fails if a page lies
// elsewhere and cannot be moved. It does not bind before, because on a full node the kernel
// kills a process that touches bound memory.
func (w *where) settle(mem []byte, k key) error {
	if w.stop != nil && w.stop.Load() {
		return gaveUp{"its memory to be initialised"}
	}
	node, name := w.place(k)
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
	if err := t.memory.unbound.Load(); err != nil {
		warnings = append(warnings, errors.New("memory was not bound to its nodes but lies where its worker touched it first: "+(*err).Error()))
	}
	if err := t.memory.unverified.Load(); err != nil {
		warnings = append(warnings, errors.New("where memory lies was not verified: "+(*err).Error()))
	}
	if err := t.memory.unadvised.Load(); err != nil {
		warnings = append(warnings, fmt.Errorf("which pages memory has is the kernel's choice: %w", *err))
	}
	return warnings
}

// A HugeShare is how much of the buffers of a trial lay in huge pages, 0 … 1.
type HugeShare struct {
	User         float64 `json:"user"`
	Intermediate float64 `json:"intermediate"`
}

// hugeShare asks the kernel about the regions of a trial that has run.
func (m *memory) hugeShare() *HugeShare {
	share := func(of ...purpose) float64 {
		var huge, all int
		for _, r := range m.used {
			if slices.Contains(of, r.of) {
				n, err := r.pages.HugeBytes()
				if err != nil {
					m.unadvised.CompareAndSwap(nil, &err)
				}
				huge, all = huge+n, all+len(r.pages.Bytes())
			}
		}
		return float64(huge) / float64(max(1, all))
	}
	return &HugeShare{share(userBuffer, arenaOfTrials), share(intermediate)}
}
