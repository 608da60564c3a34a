package hierarchy

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A job is a cell of a file and how it is measured.
type job struct {
	key    params.Key
	team   *setups.Team
	cell   *setups.Cell
	factor float64 // of a sample, to become the cell's
}

// Rounds are how cells are measured: in passes in random order, until each is
// narrow enough or the time is up.
type Rounds struct {
	Width  float64 // relative half-width of an interval that is narrow enough
	Budget time.Duration
	// Have are cells of an earlier run: their samples count.
	Have []params.Cell
	// Add takes each cell whenever it has changed.
	Add func(params.Cell) error
	// Report, if not nil, hears of each visit: cells with an interval, of all.
	Report func(done, all int)
}

const trialsPerVisit = setups.LeastTrials / 2

// measure runs the rounds, and counts the cells that have too few samples then.
func (r Rounds) measure(ctx context.Context, jobs []*job) (missing int, err error) {
	over := time.Now().Add(r.Budget)
	at := make(map[params.Key]int)
	for i, c := range r.Have {
		at[c.Key] = i
	}
	for _, j := range jobs {
		if i, ok := at[j.key]; ok {
			for _, s := range r.Have[i].Samples {
				j.cell.Samples = append(j.cell.Samples, s/j.factor)
			}
		}
	}
	lacking := func() (n int) {
		for _, j := range jobs {
			if len(j.cell.Samples) < setups.LeastTrials {
				n++
			}
		}
		return n
	}
	for {
		var todo []*job
		for _, j := range jobs {
			if len(j.cell.Samples) < setups.LeastTrials {
				todo = append(todo, j)
			}
		}
		lacks := len(todo) > 0
		if !lacks {
			for _, j := range jobs {
				if j.cell.Message().Width() > r.Width {
					todo = append(todo, j)
				}
			}
			slices.SortFunc(todo, func(a, b *job) int { return cmp.Compare(b.cell.Message().Width(), a.cell.Message().Width()) })
			todo = todo[:(len(todo)+1)/2]
		}
		if len(todo) == 0 {
			return 0, nil
		}
		rand.Shuffle(len(todo), func(i, k int) { todo[i], todo[k] = todo[k], todo[i] })
		if lacks { // a short time is not to be spent on mapping arenas alone
			slices.SortStableFunc(todo, func(a, b *job) int { return a.arena() - b.arena() })
		}
		for _, j := range todo {
			if !time.Now().Before(over) {
				return lacking(), nil
			}
			if r.Report != nil {
				r.Report(len(jobs)-lacking(), len(jobs))
			}
			had := len(j.cell.Samples)
			for range trialsPerVisit {
				if err = j.cell.Run(ctx, j.team); err != nil {
					break
				}
			}
			if len(j.cell.Samples) > had {
				if failed := r.Add(j.done()); failed != nil {
					return lacking(), failed
				}
			}
			if ctx.Err() != nil {
				return lacking(), ctx.Err()
			}
			if err != nil {
				return lacking(), fmt.Errorf("%v: %w", j.key, err)
			}
		}
	}
}

// arena is 1 for a cell that needs gigabytes mapped first, else 0.
func (j *job) arena() int {
	if b := j.cell.Between; j.key.OffCache || b != nil && (b.From.Memory || b.To.Memory) {
		return 1
	}
	return 0
}

// done is the cell as it is now.
func (j *job) done() params.Cell {
	c := params.Cell{Key: j.key, Time: j.cell.Message().Scale(j.factor)}
	for _, s := range j.cell.Samples {
		c.Samples = append(c.Samples, s*j.factor)
	}
	return c
}

// Collect is an Add that puts cells where they belong in a list.
func Collect(cells *[]params.Cell) func(params.Cell) error {
	at := make(map[params.Key]int)
	for i, c := range *cells {
		at[c.Key] = i
	}
	return func(c params.Cell) error {
		i, ok := at[c.Key]
		if !ok {
			i = len(*cells)
			at[c.Key] = i
			*cells = append(*cells, c)
		}
		(*cells)[i] = c
		return nil
	}
}
