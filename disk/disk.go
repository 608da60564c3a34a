// Package disk measures what it costs to move data between memory and a file:
// the start of a transfer and its bandwidth, reading and writing, past the page
// cache and through it (usc-hpc-benchmarks-1999, section 4.2.3).
//
// Its opinion: the page cache is memory, so a time says whether it took part;
// files have no name, so that nothing can be left behind; and what was read is
// compared with what was written.
package disk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// BlockBytes is what sizes of transfers and files are multiples of: the page
// cache is passed by in whole blocks only.
const BlockBytes = 4096

// A Plan is what to measure.
type Plan struct {
	Dir       string
	FileBytes int   // of each file: one for each state of the page cache
	Sizes     []int // m, of a transfer
	Modes     []Mode
	Width     float64
	Time      time.Duration
}

// A Mode says whether the page cache takes part.
type Mode string

const (
	Direct Mode = "direct" // it does not, O_DIRECT
	Cached Mode = "cached" // it does: data may lie in memory only
)

// Operations are the directions.
var Operations = []string{"read", "write"}

// VariantOf splits the variant of a cell, read-direct, into its parts; false where
// it has none such.
func VariantOf(k params.Key) (operation string, mode Mode, ok bool) {
	operation, name, _ := strings.Cut(k.Variant, "-")
	mode = Mode(name)
	return operation, mode, k.Kind == params.DiskCell && slices.Contains(Operations, operation) && (mode == Direct || mode == Cached)
}

// Check says what is wrong with a plan.
func (p Plan) Check() error {
	if p.FileBytes < BlockBytes || p.FileBytes%BlockBytes != 0 {
		return fmt.Errorf("a file of %d bytes: want a multiple of %d", p.FileBytes, BlockBytes)
	}
	for _, m := range p.Sizes {
		switch {
		case m < BlockBytes || m%BlockBytes != 0:
			return fmt.Errorf("a transfer of %d bytes: want a multiple of %d, for the page cache is passed by in whole blocks only", m, BlockBytes)
		case m > p.FileBytes:
			return fmt.Errorf("a transfer of %d bytes does not fit into a file of %d: use a larger file or smaller transfers", m, p.FileBytes)
		}
	}
	return nil
}

// A RefusedError is what the folder does not allow: it is full, read-only, not
// there or no folder.
type RefusedError struct {
	Dir string
	Err error
}

func (e RefusedError) Error() string { return e.Dir + ": " + e.Err.Error() }
func (e RefusedError) Unwrap() error { return e.Err }

// Progress is how far a measurement is.
type Progress struct{ Done, Cells int }

// Measure measures a plan on one CPU, in random order: a few transfers of each
// kind and size at a time, until intervals are narrow enough or the time is up.
// Files are gone when it returns, whatever ended it. Where the folder's file
// system does not pass by the page cache, those cells are left out with a
// warning. When ctx ends it returns what there is, and ctx's error.
func Measure(ctx context.Context, place numa.Placement, plan Plan, report func(Progress)) (cells []params.Cell, warnings []error, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread stays pinned and dies with this goroutine.
		if err = numa.Pin(place.Workers[0].CPU.ID); err == nil {
			cells, warnings, err = measure(ctx, place, plan, report)
		}
	}()
	<-done
	return cells, warnings, err
}

func measure(ctx context.Context, place numa.Placement, plan Plan, report func(Progress)) (cells []params.Cell, warnings []error, err error) {
	end := time.Now().Add(plan.Time)
	content, err := shm.MapPrivate(plan.FileBytes)
	if err != nil {
		return nil, nil, err
	}
	defer content.Close()
	buffer, err := shm.MapPrivate(slices.Max(plan.Sizes))
	if err != nil {
		return nil, nil, err
	}
	defer buffer.Close()
	rand.NewChaCha8([32]byte{}).Read(content.Bytes()) // which no disk makes smaller
	var all []*cell
	for _, mode := range plan.Modes {
		f, err := open(ctx, plan, mode, content.Bytes()[:plan.FileBytes])
		if errors.Is(err, errNotDirect) {
			warnings = append(warnings, fmt.Errorf("the page cache cannot be kept out: the file system of %s does not take O_DIRECT; what was measured is with it", plan.Dir))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		f.buffer = buffer.Bytes()
		for _, operation := range Operations {
			for _, m := range plan.Sizes {
				all = append(all, &cell{file: f, operation: operation, bytes: m})
			}
		}
	}
	if inMemory(plan.Dir) {
		warnings = append(warnings, fmt.Errorf("%s is in memory (tmpfs): no disk was measured", plan.Dir))
	}
	err = visits(ctx, all, plan.Width, end, report)
	for _, c := range all {
		if len(c.samples) > 0 {
			cells = append(cells, params.Cell{
				Key:  params.Key{Kind: params.DiskCell, Placement: place.Policy, Tau: 1, Bytes: c.bytes, Variant: c.operation + "-" + string(c.file.mode)},
				Time: c.time(), Samples: params.Samples(c.samples...),
			})
		}
	}
	if missing := len(all) - ready(all); missing > 0 {
		warnings = append(warnings, fmt.Errorf("%d of %d cells have too few samples for an interval: allow more time, or fewer sizes", missing, len(all)))
	}
	return cells, warnings, err
}

// visits takes samples of all cells, then of those that are not narrow enough, the
// wider half of them.
func visits(ctx context.Context, all []*cell, width float64, end time.Time, report func(Progress)) error {
	for visit := 0; ; visit++ {
		var todo []*cell
		for _, c := range all {
			if len(c.samples) < setups.LeastTrials || visit >= setups.LeastTrials && c.time().Width() > width {
				todo = append(todo, c)
			}
		}
		if len(todo) == 0 {
			return nil
		}
		if visit >= setups.LeastTrials {
			slices.SortFunc(todo, func(a, b *cell) int { return cmp.Compare(b.time().Width(), a.time().Width()) })
			todo = todo[:(len(todo)+1)/2]
		}
		rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		for _, c := range todo {
			if time.Now().After(end) {
				return nil
			}
			if report != nil {
				report(Progress{ready(all), len(all)})
			}
			if err := c.visit(ctx); err != nil {
				return err
			}
		}
	}
}

func ready(all []*cell) (n int) {
	for _, c := range all {
		if len(c.samples) >= setups.LeastTrials {
			n++
		}
	}
	return n
}

// A cell collects samples of a transfer, each the mean of a few in a row.
type cell struct {
	file      *file
	operation string
	bytes     int
	samples   []float64
}

func (c *cell) time() fit.Estimate { return fit.Median(c.samples) }

// A sample is as many transfers as last so long, but a few at the most: a disk
// has no memory that a walk could wear out, only a queue.
const (
	sampleTime    = 5 * time.Millisecond
	mostTransfers = 64
)

func (c *cell) visit(ctx context.Context) error {
	var took time.Duration
	n := 0
	for took < sampleTime && n < mostTransfers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := c.file.transfer(c.operation, c.bytes)
		if err != nil {
			return err
		}
		took, n = took+t, n+1
	}
	c.samples = append(c.samples, float64(took)/float64(n))
	return nil
}

// transfer moves m bytes at the next place of the file, and returns how long the
// call took.
func (f *file) transfer(operation string, m int) (took time.Duration, err error) {
	if f.next+m > len(f.content) {
		f.next = 0
	}
	at, blocks := f.next, m/BlockBytes
	f.next += m
	if operation == "write" {
		from := rand.IntN(len(f.content)/BlockBytes - blocks + 1)
		data := f.content[from*BlockBytes:][:m]
		begin := time.Now()
		_, err = f.WriteAt(data, int64(at))
		took = time.Since(begin)
		for i := range blocks {
			f.holds[at/BlockBytes+i] = from + i
		}
		return took, f.refused(err)
	}
	data := f.buffer[:m]
	clear(data) // what was there before is no proof
	begin := time.Now()
	_, err = f.ReadAt(data, int64(at))
	took = time.Since(begin)
	if err != nil {
		return took, f.refused(err)
	}
	for i := range blocks {
		was := f.content[f.holds[at/BlockBytes+i]*BlockBytes:][:BlockBytes]
		if !bytes.Equal(data[i*BlockBytes:][:BlockBytes], was) {
			return took, fmt.Errorf("%s: block %d of the file does not hold what was written there: this disk cannot be trusted", f.dir, at/BlockBytes+i)
		}
	}
	return took, nil
}

// A Fit is T_s + m·τ of an operation: the line's costs are the start in ns, and ns
// a byte, the inverse of the bandwidth (usc-hpc-benchmarks-1999, section 5.2.3).
type Fit struct {
	Operation string
	Mode      Mode
	fit.Sum
}

// Fits are the fits of a file's cells; what has too few cells is left out.
func Fits(cells []params.Cell) (fits []Fit) {
	for _, mode := range []Mode{Direct, Cached} {
		for _, operation := range Operations {
			var terms [][]float64
			var times []float64
			for _, c := range cells {
				if o, m, ok := VariantOf(c.Key); ok && o == operation && m == mode {
					terms = append(terms, []float64{1, float64(c.Bytes)})
					times = append(times, c.Time.Center)
				}
			}
			if line, err := fit.SumOf(terms, times); err == nil {
				fits = append(fits, Fit{operation, mode, line})
			}
		}
	}
	return fits
}
