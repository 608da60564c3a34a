package setups

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A purpose is what memory is for. It decides who shares the memory and on which node it belongs.
type purpose int

const (
	meeting       purpose = iota // the barrier
	intermediate                 // segments from worker to worker
	remoteCopies                 // what copies read or write on the node of intermediate buffers
	localCopies                  // the same on the node of user buffers
	userBuffer                   // of one measurement
	largeBuffer                  // of trials in cache, kept because mapping it takes longer than to measure
	arenaOfTrials                // user buffers off cache
	arenaOfRanks                 // likewise, of collectives and round trips: one for each side
	arrayOfPasses
	arenaOfLoad
)

// The sides of a region that only one end of a transfer uses.
const (
	sending = iota
	receiving
)

func (p purpose) shared() bool { return p <= intermediate }

func (p purpose) onIntermediateNode() bool { return p <= remoteCopies }

// A key says which region a measurement means.
type key struct {
	of     purpose
	worker int // its owner
	side   int // sending or receiving; of trials, the ground
	bytes  int // if not 0: regions of other sizes are kept beside it
}

// A lifetime is how long the pages of a region stay mapped, and what it holds.
type lifetime int

const (
	fresh  lifetime = iota // unmapped after the measurement
	reused                 // mapped for the measurements after it, each of which initialises it
	kept                   // with what it holds
)

// A region is memory of one worker.
type region struct {
	key
	mem   []byte // as much as was asked for, of whole pages
	pages *shm.Region
	life  lifetime
	write func(mem []byte, at int) // initialises the bytes from `at` on; nil: not needed
	ready bool                     // initialised, and on its node
	// What its users note between measurements.
	holds string        // what was written
	phase int           // byte of the pattern that mem begins with
	next  int           // byte at which the next message begins
	loads *params.Loads // of an arena, since it was initialised
	noted bool          // they were
}

// extent is what is initialised: whole pages, unless that is done each time.
func (r *region) extent() []byte {
	if r.life == reused {
		return r.mem
	}
	return r.pages.Bytes()
}

// zeros initialises what is received into.
func zeros(mem []byte, _ int) { clear(mem) }

// patternFrom initialises what is sent, from byte `phase` of the pattern on.
func patternFrom(pattern []byte, phase int) func([]byte, int) {
	return func(mem []byte, at int) { lay(mem, pattern, phase+at) }
}

// memory is all that a team has mapped. A measurement asks for the regions that it uses; each
// worker initialises its own, so that unbound pages lie on the worker's node; after the
// measurement fresh regions are unmapped.
type memory struct {
	where
	huge   bool
	shared *shm.Shared // of processes, in place of memory that threads share
	kept   map[key]*region
	used   []*region // by the measurement under way
}

// region returns n bytes or more, untouched if they are fresh.
func (m *memory) region(k key, n int, life lifetime, write func([]byte, int)) (*region, error) {
	n = max(n, 1)
	r := m.kept[k]
	if life == fresh || r == nil || cap(r.mem) < n {
		if life != fresh {
			m.drop(func(old *region) bool { return old.key == k })
		}
		pages, err := m.mapped(k, n)
		if err != nil {
			return nil, err
		}
		r = &region{key: k, pages: pages, mem: pages.Bytes()[:n]}
		if life != fresh {
			m.kept[k] = r
		}
	}
	if life == reused {
		r.ready = false
	}
	if life == reused || len(r.mem) < n {
		r.mem = r.mem[:n]
	}
	r.life, r.write = life, write
	m.used = append(m.used, r)
	return r, nil
}

// mapped maps n bytes that prefer their node until settle binds them. Where the
// kernel forbids that, they will lie where their owner touches them first.
func (m *memory) mapped(k key, n int) (*shm.Region, error) {
	mapping := shm.MapPrivate
	switch {
	case k.of.shared() && m.shared != nil:
		mapping = m.shared.Map
	case k.of.shared():
		mapping = shm.Map
	}
	pages, err := mapping(n)
	if err != nil {
		return nil, err
	}
	if err := pages.Pages(m.huge); err != nil {
		m.unadvised.CompareAndSwap(nil, &err)
	}
	if m.unbound.Load() != nil {
		return pages, nil
	}
	node, _ := m.place(k)
	err = numa.Prefer(pages.Bytes(), node)
	switch {
	case errors.Is(err, numa.ErrForbidden):
		m.unbound.Store(&err)
	case err != nil:
		pages.Close()
		return nil, err
	}
	return pages, nil
}

// pieceBytes is initialised between two calls of step.
const pieceBytes = 4 << 20

// touch initialises the regions of a worker that need it, from the worker's own thread. Then it
// confirms their pages' node and binds them. It gives up if step, called before every piece,
// returns false.
func (m *memory) touch(worker int, step func() bool) error {
	for _, r := range m.used {
		if r.worker != worker || r.write == nil || r.ready {
			continue
		}
		mem := r.extent()
		pieces := (len(mem) + pieceBytes - 1) / pieceBytes
		for i := range pieces {
			if !step() {
				return gaveUp{"its memory to be initialised"}
			}
			at := i * pieceBytes
			if r.of == arenaOfTrials || r.of == arenaOfRanks {
				// Down, as messages go: the first that they reach was written longest ago.
				at = (pieces - 1 - i) * pieceBytes
			}
			piece := mem[at:min(at+pieceBytes, len(mem))]
			shm.Populate(piece)
			r.write(piece, at)
		}
		r.loads, r.noted = nil, false
		if err := m.settle(mem, r.key); err != nil {
			return err
		}
		if m.shared != nil && !r.of.shared() { // others may fetch from it
			for piece := range slices.Chunk(mem, pieceBytes) {
				if !step() {
					return gaveUp{"its memory to be known to the kernel"}
				}
				shm.Activate(piece)
			}
		}
		r.ready = true
	}
	return nil
}

// stays fails if the kernel has moved a worker's regions during a measurement, as it does when a cpuset
// loses nodes. Arenas, which are large, are left out: the others move with them.
func (m *memory) stays(worker int) error {
	for _, r := range m.used {
		if r.worker == worker && r.write != nil && r.life != kept {
			node, name := m.place(r.key)
			if err := m.verify(r.extent(), node, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmap ends a measurement: its fresh regions are unmapped.
func (m *memory) unmap() {
	for _, r := range m.used {
		if r.life == fresh {
			r.pages.Close()
		}
	}
	m.used = nil
}

// drop unmaps the kept regions for which `which` returns true.
func (m *memory) drop(which func(*region) bool) {
	for k, r := range m.kept {
		if which(r) {
			r.pages.Close()
			delete(m.kept, k)
		}
	}
}

// largest is how many bytes the kept user memory of a trial has that needs n: as many as there were
// before, so that messages of different sizes do not map it again and again. All that a worker keeps
// for trials is at most three times the largest part of it, or the rest is dropped.
func (m *memory) largest(of key, n int) int {
	if r := m.kept[of]; r != nil && len(r.mem) >= n {
		return len(r.mem)
	}
	m.drop(func(r *region) bool { return r.of == of.of && r.side == of.side })
	trials := func(r *region) bool { return r.of == largeBuffer || r.of == arenaOfTrials }
	all, most := n, n
	for _, r := range m.kept {
		if trials(r) && r.worker == 0 {
			all, most = all+len(r.mem), max(most, len(r.mem))
		}
	}
	if all > 3*most {
		m.drop(trials)
	}
	return n
}

// forget has all regions initialised again: a measurement stopped half-way.
func (m *memory) forget() {
	for _, r := range m.kept {
		r.ready = false
	}
}

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
