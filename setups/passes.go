package setups

import (
	"context"
	"fmt"
	"time"

	"github.com/taulop/taulop/shm"
)

// Passes are repeated passes of the first worker over an array of its own (usc-hpc-benchmarks-1999,
// Figs. 6 and 7): timed batches, after an untimed one that warms up. The other workers sleep.
type Passes struct {
	Bytes int // of the array
	// ArenaBytes > 0: each pass takes the next array of an arena, which stays mapped from call to call.
	// In an arena larger than the last-level cache, the next array is in no cache.
	// Otherwise every pass takes the same array, mapped afresh unless mapping would take longer than
	// the passes.
	ArenaBytes int
	// Laid names the contents that Lay writes: an arena that holds them already is left as it is.
	Laid string
	Lay  func(mem []byte, at int) // from byte `at` of it on
	// Pass, which is timed, passes over the array `times` times. It returns Want, or the first result
	// that differs.
	Pass func(array []byte, times int) float64
	Want float64
	// Check fails if the array is not the result of that many passes, and restores its contents.
	Check func(array []byte, passes int) error
}

// repeat fails if mapping fails, if a pass has a wrong result, if ctx ends, or if the worker stops making
// progress.
func (p Passes) repeat(ctx context.Context, t *Team, n, batches int) ([]float64, error) {
	if p.ArenaBytes == 0 && p.Bytes >= keptArray {
		p.ArenaBytes = p.Bytes
	}
	run := &passes{Passes: p, count: n, found: p.Want}
	defer run.unmap()
	if err := run.enlist(t, 1, batches, 1); err != nil {
		return nil, err
	}
	life, bytes := fresh, p.Bytes
	if p.ArenaBytes > 0 {
		life, bytes = kept, p.ArenaBytes
	}
	r, err := run.region(key{of: arrayOfPasses}, bytes, life, p.Lay)
	if err != nil {
		return nil, err
	}
	if r.ready = r.ready && r.holds == p.Laid; !r.ready {
		r.holds, r.next = p.Laid, 0
	}
	if run.mem = r.mem[:bytes]; life == kept {
		run.arena = r
	}
	if err := t.run(ctx, run); err != nil {
		return nil, err
	}
	return run.times(n), nil
}

// keptArray is the size from which on an array stays mapped: an arena of one.
var keptArray = 256 << 20 // a test has another

type passes struct {
	Passes
	measurement
	count  int // passes in a batch
	mem    []byte
	arena  *region
	first  int     // offset of the first pass
	last   int     // offset at which the next pass would begin
	found  float64 // Want, or a pass's wrong result
	warmed int     // passes before the first batch
}

func (p *passes) measure(w *worker) error {
	at := p.begin()
	p.first = at
	if p.arena == nil {
		if err := p.warm(); err != nil {
			return err
		}
	} else {
		shm.Reach(p.mem[at:min(len(p.mem), at+p.total()*p.stride())])
	}
	for b := range p.batches + 1 {
		p.look(w)
		p.startAlone(w, b)
		if p.arena == nil {
			if got := p.Pass(p.mem, p.count); got != p.Want {
				p.found = got
			}
		} else {
			for range p.count {
				if at+p.Bytes > len(p.mem) {
					at = 0
				}
				if got := p.Pass(p.mem[at:at+p.Bytes], 1); got != p.Want {
					p.found = got
				}
				at += p.stride()
			}
		}
		p.finish(w, b)
		if !p.step() {
			return gaveUp{"its next batch"}
		}
	}
	p.look(w)
	p.last = at
	return nil
}

func (p *passes) verify(w *worker) error {
	if p.arena != nil && p.Bytes < len(p.mem) {
		p.read(w, sending, p.last)
	}
	if p.found != p.Want {
		return fmt.Errorf("a pass found %g where %g lies: this machine's arithmetic cannot be trusted", p.found, p.Want)
	}
	return p.check(p.first)
}

// A last-level cache takes in a newly written array only after several passes: an array of 64 MB was
// passed over at the memory's speed up to twenty times.
const (
	warmPasses = 24
	warmTime   = 100 * time.Millisecond // the limit for arrays that fit no cache
)

// warm passes over the array until, with the first batch, the caches have taken it in.
func (p *passes) warm() error {
	for began := time.Now(); p.warmed+p.count < warmPasses && time.Since(began) < warmTime; p.warmed++ {
		p.Pass(p.mem, 1)
		if !p.step() {
			return gaveUp{"its array to be warm"}
		}
	}
	return nil
}

// stride is the distance between the beginnings of two arrays of an arena.
func (p *passes) stride() int { return unitsOf(p.Bytes) * unitBytes }

func (p *passes) total() int { return p.warmed + p.count*(p.batches+1) }

// begin is the offset of the first pass: where the last call's passes ended, if all passes fit in from
// there, so that arrays do not overlap.
func (p *passes) begin() int {
	if p.arena == nil || p.arena.next+p.total()*p.stride() > len(p.mem) {
		return 0
	}
	return p.arena.next
}

// check checks every array that was passed over, and restores the arena's contents.
func (p *passes) check(begin int) error {
	if p.arena == nil {
		return p.Check(p.mem, p.total())
	}
	arrays := min(p.total(), (len(p.mem)-begin-p.Bytes)/p.stride()+1)
	for i := range arrays {
		at, visits := begin+i*p.stride(), p.total()/arrays
		if i < p.total()%arrays {
			visits++
		}
		if err := p.Check(p.mem[at:at+p.Bytes], visits); err != nil {
			return err
		}
		p.steps.Add(1)
		p.arena.next = at + p.stride()
	}
	return nil
}
