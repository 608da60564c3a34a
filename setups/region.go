package setups

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// A purpose decides which workers share memory and on which node it belongs.
type purpose int

const (
	meeting      purpose = iota // the barrier
	intermediate                // channels between workers
	remoteCopies                // ends of copies on the node of intermediate buffers
	localCopies                 // ends of copies on the node of user buffers
	userBuffer                  // of one measurement
	largeBuffer                 // user buffers in cache that take longer to map than to measure: kept
	arena                       // user buffers off cache
	arrayOfPasses
	arenaOfLoad
)

// The sides of a transfer, where each has a region of its own. Nothing but the owner's pattern is left
// in a kept region to send from.
const (
	sending = iota
	receiving
)

func (p purpose) shared() bool { return p <= intermediate }

// A key identifies a region of a team.
type key struct {
	of     purpose
	worker int // its owner
	side   int // sending or receiving
	bytes  int // if not 0: a size that has a region of its own
}

// A lifetime says how long the pages of a region stay mapped and whether they keep their contents.
type lifetime int

const (
	fresh  lifetime = iota // unmapped after the measurement
	reused                 // stays mapped; each measurement initialises it
	kept                   // stays mapped with its contents
)

// A region is memory of one worker.
type region struct {
	key
	mem   []byte // the bytes asked for, the first of pages
	pages *shm.Region
	life  lifetime
	write func(mem []byte, at int) // initialises the bytes from `at` on; nil: not needed
	ready bool                     // initialised, and on its node
	// State that its users keep between measurements.
	holds string // name of its contents
	phase int    // byte of the pattern that mem begins with
	next  int    // byte at which the next message begins
	read  bool   // of an arena: its owner has timed loads since it was initialised
}

// extent is the memory to initialise: whole pages once, or the bytes asked for each time.
func (r *region) extent() []byte {
	if r.life == reused {
		return r.mem
	}
	return r.pages.Bytes()
}

// zeros initialises a receive buffer.
func zeros(mem []byte, _ int) { clear(mem) }

// patternFrom initialises a send buffer with the pattern, from its byte `phase` on.
func patternFrom(pattern []byte, phase int) func([]byte, int) {
	return func(mem []byte, at int) { lay(mem, pattern, phase+at) }
}

// memory holds a team's mapped memory. A measurement asks for the regions that it uses; each worker
// initialises its own, so that unbound pages lie on the worker's node (first touch); after the
// measurement fresh regions are unmapped.
type memory struct {
	workers []numa.Worker
	huge    bool
	shared  *shm.Shared // memory that processes share; nil: workers are threads
	kept    map[key]*region
	used    []*region // by the measurement under way
	// Operations that the kernel forbids are tried once.
	unbound, unverified forbidding
	unadvised           atomic.Pointer[error]
}

// region returns a region of n bytes or more, untouched if it is fresh.
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

// mapped maps n bytes that prefer their node until settle binds them. Where the kernel forbids that,
// their owner's first touch decides the node.
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
	node, _ := m.place(k)
	if err := m.unbound.unless(func() error { return numa.Prefer(pages.Bytes(), node) }); err != nil {
		pages.Close()
		return nil, err
	}
	return pages, nil
}

// pieceBytes is the memory initialised between two calls of step.
const pieceBytes = 4 << 20

// touch initialises a worker's regions that need it, on the worker's own thread, then verifies their
// pages' node and binds them. It gives up if step, called before every piece, returns false.
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
			if r.of == arena {
				// Downwards, as messages go: the first one reaches the memory written longest ago.
				at = (pieces - 1 - i) * pieceBytes
			}
			piece := mem[at:min(at+pieceBytes, len(mem))]
			shm.Populate(piece)
			r.write(piece, at)
		}
		r.read = false
		if err := m.settle(mem, r.key); err != nil {
			return err
		}
		if m.shared != nil && !r.of.shared() { // other processes may fetch from it
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

// stays fails if the kernel has moved a worker's regions during a measurement, as it does when a
// cpuset loses nodes. It skips kept regions, which are large: the others would move with them.
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

// common is the size of a purpose's kept regions, whole pages and n bytes at least: the present size where
// that suffices, so that messages of different sizes do not map them again and again. It drops smaller
// ones.
func (m *memory) common(of purpose, n int) int {
	for k, r := range m.kept {
		if k.of == of && len(r.mem) >= n {
			return len(r.mem)
		}
	}
	m.drop(func(r *region) bool { return r.of == of })
	page := os.Getpagesize()
	return (n + page - 1) / page * page
}

// arenas begins a measurement off cache and returns the distance from the arenas' end at which its
// messages begin: where those of the last one ended, or 0 if an arena is still to be initialised,
// downwards. Each worker then initialises one at least, which leaves nothing of its others in a cache. A
// process knows its own arenas alone, and all processes must begin at one place: they always go on.
func (t *Team) arenas() (down int) {
	if t.processes != nil {
		return t.down
	}
	used := lists.Filter(t.memory.used, func(r *region) bool { return r.of == arena })
	unready := lists.Filter(used, func(r *region) bool { return !r.ready })
	if len(unready) == 0 {
		return t.down
	}
	t.down = 0
	for _, r := range used {
		r.ready = r.ready && slices.ContainsFunc(unready, func(other *region) bool { return other.worker == r.worker })
	}
	return t.down
}

// forget marks all regions as uninitialised after an incomplete measurement.
func (m *memory) forget() {
	for _, r := range m.kept {
		r.ready = false
	}
}

// A forbidding tells whether the kernel forbids an operation.
type forbidding struct{ atomic.Bool }

// unless calls the operation unless the kernel has forbidden it before.
func (f *forbidding) unless(operation func() error) error {
	if f.Load() {
		return nil
	}
	err := operation()
	if errors.Is(err, numa.ErrForbidden) {
		f.Store(true)
		return nil
	}
	return err
}

// place returns the node and the name of a buffer.
func (m *memory) place(k key) (node int, name string) {
	if k.of <= remoteCopies {
		return m.workers[k.worker].IntermediateNode, fmt.Sprintf("intermediate buffer of worker %d", k.worker)
	}
	return m.workers[k.worker].UserNode, fmt.Sprintf("user buffer of worker %d", k.worker)
}

// settle binds a buffer to its node after its worker has touched it, and fails if a page lies
// elsewhere and cannot be moved. It does not bind before, because on a full node the kernel
// kills a process that touches bound memory.
func (m *memory) settle(mem []byte, k key) error {
	node, name := m.place(k)
	err := m.verify(mem, node, name)
	if m.unbound.Load() {
		return err
	}
	if err == nil {
		return numa.Bind(mem, node)
	}
	if err := numa.Move(mem, node); err != nil {
		return err
	}
	return m.verify(mem, node, name)
}

// verify fails if a page of touched memory lies elsewhere than on the node.
func (m *memory) verify(mem []byte, node int, name string) error {
	return m.unverified.unless(func() error { return numa.Verify(mem, node, name) })
}

// Warnings say what is unknown about the place and the pages of the team's memory.
func (t *Team) Warnings() (warnings []error) {
	if t.memory.unbound.Load() {
		warnings = append(warnings, fmt.Errorf("memory was not bound to its nodes but lies where its worker touched it first: %w", numa.ErrForbidden))
	}
	if t.memory.unverified.Load() {
		warnings = append(warnings, fmt.Errorf("where memory lies was not verified: %w", numa.ErrForbidden))
	}
	if err := t.memory.unadvised.Load(); err != nil {
		warnings = append(warnings, fmt.Errorf("which pages memory has is the kernel's choice: %w", *err))
	}
	return warnings
}

// HugeShares are the shares of the last trial's user and intermediate buffers in huge pages, 0 … 1; 0
// unless Huge.
func (t *Team) HugeShares() [2]float64 { return t.huge }

// HugeShareOfReads is the share in huge pages of the memory that Passes through an arena and injectors read; 1
// without any.
func (t *Team) HugeShareOfReads() float64 {
	if len(t.memory.kept) == 0 {
		return 1
	}
	return t.memory.hugeShare(slices.Collect(maps.Values(t.memory.kept)), arrayOfPasses, arenaOfLoad)
}

// hugeShare asks the kernel about regions.
func (m *memory) hugeShare(regions []*region, purposes ...purpose) float64 {
	var huge, all int
	for _, r := range regions {
		if slices.Contains(purposes, r.of) {
			n, err := r.pages.HugeBytes()
			if err != nil {
				m.unadvised.CompareAndSwap(nil, &err)
			}
			huge, all = huge+n, all+len(r.pages.Bytes())
		}
	}
	return float64(huge) / float64(max(1, all))
}
