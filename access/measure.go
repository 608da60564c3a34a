package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Plan is what to measure.
type Plan struct {
	Passes []Pass
	Caches []bool // false: in cache, true: off cache
	Width  float64
	Time   time.Duration
	// ArenaBytes, off cache, is the memory that passes walk through.
	ArenaBytes int
	// Have are cells of an earlier measurement: their samples count.
	Have []params.Cell
}

// Grid is all operations on all types for all n and strides.
func Grid(operations, types []string, n, strides []int) (passes []Pass) {
	for _, operation := range operations {
		for _, typ := range types {
			for _, stride := range strides {
				for _, n := range n {
					passes = append(passes, Pass{operation, typ, n, stride})
				}
			}
		}
	}
	return passes
}

// Sized is all operations on all types for all strides in arrays of these sizes in
// bytes. The error names an array that has no element at a stride.
func Sized(operations, types []string, sizes, strides []int) (passes []Pass, err error) {
	for _, typ := range types {
		element := ElementBytes(typ)
		for _, size := range sizes {
			if size < element {
				return nil, fmt.Errorf("an array of %d bytes is smaller than one %s: give it %d or more", size, typ, element)
			}
			for _, stride := range strides {
				n := size / element / stride
				if n < 1 {
					return nil, fmt.Errorf("stride %d is beyond an array of %d bytes, which holds %d elements of %s: use a smaller stride or a larger array", stride, size, size/element, typ)
				}
				for _, operation := range operations {
					if p := (Pass{operation, typ, n, stride}); !slices.Contains(passes, p) {
						passes = append(passes, p)
					}
				}
			}
		}
	}
	return passes, nil
}

// What is measured by default: numbers and strides that tell the terms of eq. (4)
// apart.
var (
	DefaultN       = []int{1 << 10, 1 << 12, 1 << 14}
	DefaultStrides = []int{1, 2, 4, 8, 16, 32}
)

// Arena is how much memory passes walk through off cache: more than twice the
// last-level cache, but at most a quarter of what is free, and room for the
// largest array. The error says that the largest is larger than that.
func Arena(m *numa.Machine, place numa.Placement, passes []Pass, caches []bool, free int64) (arena int, warnings []error, err error) {
	wanted := setups.Fit{CacheBytes: m.LastLevelCacheBytes(), Sharers: m.Sharers(place)}.WantedArena()
	most := free / 4
	for _, node := range m.Nodes {
		if node.ID == place.Workers[0].UserNode && node.FreeBytes > 0 {
			most = min(most, node.FreeBytes*3/4)
		}
	}
	largest := slices.MaxFunc(passes, func(a, b Pass) int { return cmp.Compare(a.Bytes(), b.Bytes()) })
	if int64(largest.Bytes()) > most {
		return 0, nil, fmt.Errorf("%d elements of %s at stride %d are an array of %d MB, and this process may take %d MB: use fewer elements or a smaller stride",
			largest.N, largest.Type, largest.Stride, largest.Bytes()>>20, most>>20)
	}
	if !slices.Contains(caches, true) {
		return 0, nil, nil
	}
	arena = max(int(min(int64(wanted), most)), largest.Bytes())
	if arena < wanted {
		warnings = append(warnings, fmt.Errorf("off cache only in part: passes walk through %d MB where it takes %d MB to have twice the last-level cache, and a quarter of free memory does not hold more", arena>>20, wanted>>20))
	}
	return arena, warnings, nil
}

// A Progress is how far a measurement is.
type Progress struct {
	Done, Cells int // cells with an interval, of all
	Pass        Pass
}

// trialsPerVisit, the first two of which make up an interval.
const trialsPerVisit = setups.LeastTrials / 2

// Measure measures a plan on the first worker of a team. Cells are visited in
// random order, off cache those of one type after each other, because laying the
// arena takes longer than a visit: first until all have an interval, then those whose
// interval is not narrow enough, the wider half of them, until the time is up. It calls
// report, if not nil, before each visit. When ctx ends it returns what there is,
// and ctx's error. Cells that were not reached are left out.
func Measure(ctx context.Context, t *setups.Team, plan Plan, report func(Progress)) (cells []params.Cell, warnings []error, err error) {
	end, all := time.Now().Add(plan.Time), plan.cells(t.Placement().Policy)
measuring:
	for {
		todo := order(all, plan.Width)
		if len(todo) == 0 {
			break
		}
		for _, c := range todo {
			if time.Now().After(end) {
				break measuring
			}
			if report != nil {
				report(Progress{done(all), len(all), c.pass})
			}
			if err = c.visit(ctx, t); err != nil {
				if !errors.Is(err, context.Canceled) {
					err = fmt.Errorf("%s, %d elements: %w", c.pass.Variant(), c.pass.N, err)
				}
				break measuring
			}
		}
	}
	var slow, batches int
	for _, c := range all {
		if len(c.samples) == 0 {
			continue
		}
		cells = append(cells, params.Cell{Key: c.key, Time: c.time(), Samples: params.Samples(c.samples...)})
		slow, batches = slow+c.slow, batches+c.batches
	}
	if missing := len(all) - done(all); missing > 0 {
		warnings = append(warnings, fmt.Errorf("%d of %d cells have too few samples for an interval: allow more time, or fewer operations, types, strides or elements", missing, len(all)))
	}
	if share := float64(slow) / float64(max(1, batches)); share > 0.05 {
		warnings = append(warnings, fmt.Errorf("%.0f %% of the batches took more than 1.5 times the median of their trial: something else runs on this CPU", 100*share))
	}
	return cells, append(warnings, t.Warnings()...), err
}

// cells are those of the plan, with the samples that there are.
func (plan Plan) cells(placement numa.Policy) (all []*cell) {
	had := make(map[params.Key][]float64)
	for _, c := range plan.Have {
		had[c.Key] = c.Values()
	}
	for _, off := range plan.Caches {
		for _, p := range plan.Passes {
			c := &cell{pass: p, passes: p.work(), key: params.Key{Kind: params.AccessCell, Placement: placement, OffCache: off, Tau: 1,
				Bytes: p.Bytes(), Variant: p.Variant()}}
			if off {
				c.passes.ArenaBytes = plan.ArenaBytes
			}
			c.samples = slices.Clone(had[c.key])
			all = append(all, c)
		}
	}
	return all
}

// order is what to visit: cells that have no interval, or else those whose interval
// is not narrow enough, the wider half.
func order(all []*cell, width float64) (todo []*cell) {
	for _, c := range all {
		if len(c.samples) < setups.LeastTrials {
			todo = append(todo, c)
		}
	}
	if len(todo) == 0 {
		for _, c := range all {
			if c.time().Width() > width {
				todo = append(todo, c)
			}
		}
		slices.SortFunc(todo, func(a, b *cell) int { return cmp.Compare(b.time().Width(), a.time().Width()) })
		todo = todo[:(len(todo)+1)/2]
	}
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	turns := make(map[string]float64) // of each type off cache, anywhere: that of its first comes too soon
	for _, c := range todo {
		if _, ok := turns[c.pass.Type]; c.key.OffCache && !ok {
			turns[c.pass.Type] = rand.Float64() * float64(len(todo))
		}
	}
	turn := make(map[*cell]float64)
	for i, c := range todo {
		if turn[c] = float64(i); c.key.OffCache {
			turn[c] = turns[c.pass.Type]
		}
	}
	slices.SortStableFunc(todo, func(a, b *cell) int { return cmp.Compare(turn[a], turn[b]) })
	return todo
}

func done(all []*cell) (n int) {
	for _, c := range all {
		if len(c.samples) >= setups.LeastTrials {
			n++
		}
	}
	return n
}

// A cell collects samples of a pass, each the median of a trial's batches.
type cell struct {
	pass          Pass
	key           params.Key
	passes        setups.Passes
	samples       []float64
	slow, batches int
}

func (c *cell) time() fit.Estimate { return fit.Median(c.samples) }

// A batch is long against reading the clock and short against the scheduler's
// time slice.
const (
	batchTime       = 500 * time.Microsecond
	batchesPerTrial = 3
)

func (c *cell) visit(ctx context.Context, t *setups.Team) error {
	for range trialsPerVisit {
		if c.passes.Count == 0 {
			if err := c.calibrate(ctx, t); err != nil {
				return err
			}
		}
		times, err := t.Passes(ctx, c.passes)
		if err != nil {
			return err
		}
		slices.Sort(times)
		center := (times[(len(times)-1)/2] + times[len(times)/2]) / 2
		for _, b := range times {
			if c.batches++; b > 1.5*center {
				c.slow++
			}
		}
		c.samples = append(c.samples, center)
	}
	return nil
}

// calibrate finds out how many passes make a batch.
func (c *cell) calibrate(ctx context.Context, t *setups.Team) error {
	probe := c.passes
	probe.Count, probe.Batches = 1, 1
	for {
		times, err := t.Passes(ctx, probe)
		if err != nil {
			return err
		}
		took := times[0] * float64(probe.Count)
		if enough := float64(batchTime) / 10; took < enough {
			probe.Count *= 2 + int(min(100, enough/max(took, 1)))
			continue
		}
		probe.Count = max(1, int(math.Round(float64(batchTime)/times[0])))
		probe.Batches = batchesPerTrial
		c.passes = probe
		return nil
	}
}
