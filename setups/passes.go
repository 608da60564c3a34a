package setups

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/taulop/taulop/shm"
)

// Passes are what the first worker does to an array of its own, again and again
// (usc-hpc-benchmarks-1999, Figs. 6 and 7): batches of passes, each timed, after
// one that warms up and is not counted. The other workers sleep.
type Passes struct {
	Bytes   int // of the array
	Count   int // passes in a batch
	Batches int
	// ArenaBytes > 0: each pass takes the next array of an arena, which stays
	// mapped for the passes after these. Where the arena is larger than the
	// last-level cache, what comes next is not in any. Else every pass takes the
	// same array, which is mapped afresh unless it is so large that this would take
	// longer than the passes.
	ArenaBytes int
	// Laid names what Lay lays into memory: an arena that holds it already is
	// left as it is.
	Laid string
	Lay  func(mem []byte)
	// Pass is timed: it passes over the array so often. It returns a number that
	// says what it found, Want, or that of the first pass that found another.
	Pass func(array []byte, times int) float64
	Want float64
	// Check fails if an array is not what so many passes make of it, and lays
	// again what was there.
	Check func(array []byte, passes int) error
}

// Passes runs passes and returns the time of one in each batch, in ns. It fails
// if mapping does, if a pass did not find or leave what it should, if ctx ends,
// or if the worker stops making progress.
func (t *Team) Passes(ctx context.Context, p Passes) ([]float64, error) {
	if p.ArenaBytes == 0 && p.Bytes >= keptArray {
		p.ArenaBytes = p.Bytes
	}
	run := &passes{Passes: p, where: &t.where, stop: &t.stop, times: make([]float64, p.Batches+1)}
	if p.ArenaBytes > 0 {
		if t.laid == nil || len(t.laid.region.Bytes()) < p.ArenaBytes {
			t.laid.close()
			t.laid = nil
			r, err := t.mapOn(shm.MapPrivate, p.ArenaBytes, t.placement.Workers[0].UserNode)
			if err != nil {
				return nil, err
			}
			t.laid = &laid{region: r}
		}
		run.mem = t.laid.region.Bytes()[:p.ArenaBytes]
		run.arena = t.laid
		run.lay = t.laid.what != p.Laid
	} else {
		r, err := t.mapOn(shm.MapPrivate, p.Bytes, t.placement.Workers[0].UserNode)
		if err != nil {
			return nil, err
		}
		defer func() {
			if t.broken == nil { // else the worker may still be in there
				r.Close()
			}
		}()
		run.mem, run.lay = r.Bytes()[:p.Bytes], true
	}
	err := t.run(ctx, run)
	if run.arena != nil && err != nil {
		run.arena.what = "" // stopped half-way: who knows what lies where
	}
	if err != nil {
		return nil, err
	}
	return run.times[1:], nil
}

// keptArray is the size from which on an array stays mapped: an arena of one.
var keptArray = 256 << 20 // a test has another

// laid is an arena of passes, and what lies in it.
type laid struct {
	region *shm.Region
	what   string
	next   int // where the next pass begins
}

func (l *laid) close() {
	if l != nil {
		l.region.Close()
	}
}

type passes struct {
	Passes
	mem    []byte
	arena  *laid
	lay    bool
	where  *where
	stop   *atomic.Bool
	steps  atomic.Uint64
	times  []float64 // by batch, the first of which warms up
	warmed int       // passes before
}

func (p *passes) progress() uint64 { return p.steps.Load() }

// passLay is how much is laid between two signs of life.
const passLay = 64 << 20

func (p *passes) work(w *worker) error {
	if w.id > 0 {
		return nil
	}
	if p.lay {
		for at := 0; at < len(p.mem); at += passLay {
			if p.stop.Load() {
				return gaveUp{"its memory to be laid"}
			}
			p.Lay(p.mem[at:min(len(p.mem), at+passLay)])
			p.steps.Add(1)
		}
		if err := p.where.settle(p.mem, userBuffer, 0); err != nil {
			return err
		}
		if p.arena != nil {
			p.arena.what, p.arena.next = p.Laid, 0
		}
	}
	at := p.begin()
	begin, found := at, p.Want
	if p.arena == nil {
		if err := p.warm(); err != nil {
			return err
		}
	}
	for b := range p.times {
		start := time.Now()
		if p.arena == nil {
			if got := p.Pass(p.mem, p.Count); got != p.Want {
				found = got
			}
		} else {
			for range p.Count {
				if at+p.Bytes > len(p.mem) {
					at = 0
				}
				if got := p.Pass(p.mem[at:at+p.Bytes], 1); got != p.Want {
					found = got
				}
				at += p.step()
			}
		}
		p.times[b] = float64(time.Since(start)) / float64(p.Count)
		p.steps.Add(1)
		if p.stop.Load() {
			return gaveUp{"its next batch"}
		}
	}
	if found != p.Want {
		return fmt.Errorf("a pass found %g where %g lies: this machine's arithmetic cannot be trusted", found, p.Want)
	}
	return p.check(begin)
}

// A last-level cache takes in an array that was just laid only after several passes:
// one of 64 MB was passed over at the memory's speed up to twenty times.
const (
	warmPasses = 24
	warmTime   = 100 * time.Millisecond // at the most, of what fits no cache
)

// warm passes over the array until it lies where it will, beside the first batch.
func (p *passes) warm() error {
	for began := time.Now(); p.warmed+p.Count < warmPasses && time.Since(began) < warmTime; p.warmed++ {
		p.Pass(p.mem, 1)
		p.steps.Add(1)
		if p.stop.Load() {
			return gaveUp{"its array to be warm"}
		}
	}
	return nil
}

// step is from the beginning of one array of an arena to that of the next.
func (p *passes) step() int { return unitsOf(p.Bytes) * unitBytes }

func (p *passes) total() int { return p.warmed + p.Count*len(p.times) }

// begin is where the first pass begins: where those before ended if all fit in
// from there, so that no array lies across another.
func (p *passes) begin() int {
	if p.arena == nil || p.arena.next+p.total()*p.step() > len(p.mem) {
		return 0
	}
	return p.arena.next
}

// check looks at every array that the passes took, and leaves the arena as it
// was laid.
func (p *passes) check(begin int) error {
	if p.arena == nil {
		return p.Check(p.mem, p.total())
	}
	arrays := min(p.total(), (len(p.mem)-begin-p.Bytes)/p.step()+1)
	for i := range arrays {
		at, visits := begin+i*p.step(), p.total()/arrays
		if i < p.total()%arrays {
			visits++
		}
		if err := p.Check(p.mem[at:at+p.Bytes], visits); err != nil {
			return err
		}
		p.steps.Add(1)
		p.arena.next = at + p.step()
	}
	return nil
}
