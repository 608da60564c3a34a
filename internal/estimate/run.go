package estimate

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// Kind is the kind of Survey's cells, whose variant names the program.
const Kind params.Kind = "program"

// Survey runs programs that are estimated, too: a Cannon in both variants.
var Survey = survey.Register(&survey.Survey{
	Name: "programs", Doc: "matrix multiplication, as it is estimated",
	Decode: survey.Decoder[Cannon],
})

// Cells has a cell for each variant.
func (c Cannon) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, variant := range []string{Plain, Transposed} {
		cells = append(cells, engine.Cell{Cell: params.Cell{Key: params.Key{Kind: Kind, Placement: numa.Local, Tau: c.P, Bytes: c.blockBytes(), Variant: params.Name(variant)}}})
	}
	return cells, nil, nil
}

func (c Cannon) blockBytes() int { return 8 * c.N * c.N }

// Memory is the memory of all ranks.
func (c Cannon) Memory() int64 { return int64(c.P) * matrices * int64(c.blockBytes()) }

// matrices is the number of a rank's blocks: A, B, C, C transposed, and received blocks of B and C.
const matrices = 6

// Open returns the sampler.
func (c Cannon) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, c.sample), nil }

// A sample is one run of longRun or more, or the median of up to mostRuns runs in that time.
const (
	longRun  = 100 * time.Millisecond
	mostRuns = 20
)

// sample runs the program once, and repeatedly if it is short.
func (c Cannon) sample(ctx context.Context, b *engine.Bench, k params.Key, _ float64) (r engine.Reading, err error) {
	place, err := b.Machine.PlaceFrom(b.FirstCPU, numa.Local, c.P)
	if err != nil {
		return r, err
	}
	run, err := c.lay(place, k.Variant == params.Name(Transposed), b.Huge)
	defer run.close()
	if err != nil {
		return r, err
	}
	defer context.AfterFunc(ctx, func() { run.stop.Store(true) })()
	if procs := c.P + 2; runtime.GOMAXPROCS(0) < procs {
		runtime.GOMAXPROCS(procs) // until the launch ends
	}
	ns, err := run.once(ctx)
	if err != nil {
		return r, err
	}
	times := []float64{ns}
	if more := min(mostRuns, int(float64(longRun)/ns)); more > 0 {
		times = nil
		for range more {
			if ns, err = run.once(ctx); err != nil {
				return r, err
			}
			times = append(times, ns)
		}
	}
	r.NS = fit.Median(times).Center
	return r, nil
}

// A multiplication is a Cannon with its memory.
type multiplication struct {
	Cannon
	transposed bool
	place      numa.Placement
	ranks      []*rank
	regions    []*shm.Region
	barrier    *shm.Barrier
	stop       atomic.Bool
}

// A rank is a worker at row i and column j of the square.
type rank struct {
	i, j                 int
	a, b, c, t           []float64
	nextB, nextC         []float64
	left, up             *shm.Sender
	fromRight, fromBelow *shm.Receiver
	wait                 *shm.Waiter
	round                uint64 // of the barrier
	began, finished      time.Time
}

// Intermediate buffers, as in a sweep.
const (
	segments     = 2
	segmentBytes = 8 << 10
)

// lay maps memory. Its result must be closed, even with an error.
func (c Cannon) lay(place numa.Placement, transposed, huge bool) (*multiplication, error) {
	m := &multiplication{Cannon: c, transposed: transposed, place: place}
	mem, err := m.region(shm.BarrierBytes(c.P), false)
	if err != nil {
		return m, err
	}
	m.barrier = shm.NewBarrier(mem, c.P)
	var left, up []*shm.Channel
	for id := range c.P {
		r := &rank{i: id / c.q(), j: id % c.q(), wait: shm.NewWaiter(&m.stop, place.Oversubscribed)}
		for _, matrix := range []*[]float64{&r.a, &r.b, &r.c, &r.t, &r.nextB, &r.nextC} {
			mem, err := m.region(c.blockBytes(), huge)
			if err != nil {
				return m, err
			}
			*matrix = unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(mem))), c.N*c.N)
		}
		for _, channels := range []*[]*shm.Channel{&left, &up} {
			size, err := shm.ChannelBytes(segments, segmentBytes, 1)
			if err != nil {
				return m, err
			}
			mem, err := m.region(size, false)
			if err != nil {
				return m, err
			}
			*channels = append(*channels, shm.NewChannel(mem, segments, segmentBytes, 1))
		}
		m.ranks = append(m.ranks, r)
	}
	for id, r := range m.ranks {
		r.left, r.up = left[id].Sender(r.wait), up[id].Sender(r.wait)
		r.fromRight, r.fromBelow = left[m.at(r.i, r.j+1)].Receiver(0, r.wait), up[m.at(r.i+1, r.j)].Receiver(0, r.wait)
	}
	return m, nil
}

func (m *multiplication) region(n int, huge bool) ([]byte, error) {
	r, err := shm.MapPrivate(n)
	if err != nil {
		return nil, err
	}
	m.regions = append(m.regions, r)
	// On an error the kernel does not support advice on pages and decides itself, as in passes.
	_ = r.Pages(huge)
	return r.Bytes(), nil
}

func (m *multiplication) close() {
	for _, r := range m.regions {
		r.Close()
	}
}

// at is the rank at a place of the square, which is a torus.
func (m *multiplication) at(i, j int) int { return i%m.q()*m.q() + j%m.q() }

// once runs the program, checks A, and returns the time in ns from the common start to the finish of the
// slowest rank.
func (m *multiplication) once(ctx context.Context) (ns float64, err error) {
	var all sync.WaitGroup
	failed := make([]error, len(m.ranks))
	for id, r := range m.ranks {
		all.Go(func() {
			// The thread stays pinned and dies with this goroutine.
			if failed[id] = numa.Pin(m.place.Workers[id].CPU.ID); failed[id] != nil {
				m.stop.Store(true)
				return
			}
			m.work(r, id)
		})
	}
	all.Wait()
	if err := cmp.Or(failed...); err != nil {
		return 0, err
	}
	if m.stop.Load() {
		return 0, context.Cause(ctx)
	}
	for _, r := range m.ranks {
		if err := m.check(r); err != nil {
			return 0, err
		}
		ns = max(ns, float64(r.finished.Sub(m.ranks[0].began)))
	}
	return ns, nil
}

// work fills a rank's blocks, waits for the other ranks, and multiplies.
func (m *multiplication) work(r *rank, id int) {
	n, q := m.N, m.q()
	for _, matrix := range [][]float64{r.a, r.t, r.nextB, r.nextC} {
		clear(matrix)
	}
	k := (r.i + r.j) % q * n // Cannon's initial skew of the blocks
	for row := range n {
		for column := range n {
			r.b[row*n+column] = elementOfB(r.i*n+row, k+column)
			r.c[row*n+column] = elementOfC(k+row, r.j*n+column)
		}
	}
	r.round++
	if id == 0 {
		if !m.barrier.Gather(r.round, r.wait) {
			return
		}
		r.began = time.Now()
		m.barrier.Release(r.round)
	} else if !m.barrier.Meet(id, r.round, r.wait) {
		return
	}
	m.multiply(r)
	r.finished = time.Now()
}

// multiply is the timed part.
func (m *multiplication) multiply(r *rank) {
	n := m.N
	stride := n
	if m.transposed {
		stride = 1
		for row := range n {
			for column := range n {
				r.t[column*n+row] = r.c[row*n+column]
			}
		}
		r.c, r.t = r.t, r.c
	}
	product := access.Product(stride)
	for step := range m.q() {
		if step > 0 && !(shift(r.left, r.fromRight, r.b, r.nextB) && shift(r.up, r.fromBelow, r.c, r.nextC)) {
			return
		}
		if step > 0 {
			r.b, r.nextB, r.c, r.nextC = r.nextB, r.b, r.nextC, r.c
		}
		for row := range n {
			if m.stop.Load() {
				return
			}
			b, a := r.b[row*n:][:n], r.a[row*n:][:n]
			for column := range a {
				first := column // of the column
				if m.transposed {
					first = column * n
				}
				a[column] += product(r.c[first:], b, n)
			}
		}
	}
}

// shift sends a block and receives another, a segment at a time. It returns false if the run was stopped.
func shift(out *shm.Sender, in *shm.Receiver, send, receive []float64) bool {
	rest, room := bytesOf(send), bytesOf(receive)
	for len(rest) > 0 {
		s := min(segmentBytes, len(rest))
		if !out.Send(rest[:s]) || !in.Receive(room[:s]) {
			return false
		}
		rest, room = rest[s:], room[s:]
	}
	return true
}

func bytesOf(a []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), 8*len(a))
}

// check checks the sum of a rank's block, and some elements. Whole numbers are exact.
func (m *multiplication) check(r *rank) error {
	n, all := m.N, m.N*m.q()
	wrong := func(what string, got, want float64) error {
		return fmt.Errorf("a matrix product: %s of the block at %d, %d is %g, want %g: this machine's arithmetic cannot be trusted", what, r.i, r.j, got, want)
	}
	sum, want := lists.Sum(r.a, func(a float64) float64 { return a }), 0.
	for k := range all {
		var column, row float64
		for i := range n {
			column += elementOfB(r.i*n+i, k)
			row += elementOfC(k, r.j*n+i)
		}
		want += column * row
	}
	if sum != want {
		return wrong("the sum", sum, want)
	}
	for at := 0; at < n*n; at += max(1, n*n/97) {
		want := 0.
		for k := range all {
			want += elementOfB(r.i*n+at/n, k) * elementOfC(k, r.j*n+at%n)
		}
		if r.a[at] != want {
			return wrong(fmt.Sprint("element ", at), r.a[at], want)
		}
	}
	return nil
}

// A Run is a program's measured time and its estimate.
type Run struct {
	*Estimate
	Variant  string       `json:"variant"`
	Measured fit.Estimate `json:"measured_ns"`
	Error    float64      `json:"error"` // relative to Measured
}

// Runs compares estimates with the cells of a file.
func (c Cannon) Runs(f *params.File, m *Machine) (runs []Run, err error) {
	for _, variant := range []string{Plain, Transposed} {
		i := slices.IndexFunc(f.Cells, func(cell params.Cell) bool {
			return cell.Kind == Kind && cell.Variant == params.Name(variant) && cell.Tau == c.P && cell.Bytes == c.blockBytes()
		})
		if i < 0 {
			continue // the budget did not suffice
		}
		e, err := m.Estimate(c.Program(variant))
		if err != nil {
			return runs, err
		}
		measured := f.Cells[i].Time
		runs = append(runs, Run{e, variant, measured, e.Total.Center/measured.Center - 1})
	}
	return runs, nil
}
