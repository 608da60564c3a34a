package plan

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// A Picker picks the options to time.
type Picker struct {
	Most   int     // settings of a cell beside the library's own choice
	Budget float64 // seconds that all may take; 0: any
	// Cost is the time of timing an option, in seconds.
	Cost func(c *Cell, o Option) float64
}

// A Picked plan has the options to time, and the expected penalty.
type Picked struct {
	Timed    [][]int // of each cell the options, the own choice first; none where neighbours answer
	Expected float64 // penalty, the mean over cells, a share
	Seconds  float64
}

// Some errors are much larger, because no parameter tells, for example, a change of protocol.
const (
	oddly  = 0.15 // share of them
	oddity = 3    // how much larger
)

// draws is the number of error draws for an expected penalty, few enough for thousands of cells.
const draws = 96

// kinds is the number of independent errors; further options reuse them.
const kinds = 64

// far is how far above the cheapest an option may be to be considered, in standard deviations.
const far = 3

// A picking is the state of Pick.
type picking struct {
	Picker
	*rows
	draws    [][draws]float64 // of errors: what algorithms share, then what they do not
	blur     [][draws]float64 // of what neighbours tell wrongly
	scratch  []doubt
	timed    [][]bool
	worth    [][]int // of each cell the options that may be the cheapest, the own choice first
	penalty  []float64
	seconds  float64
	expected float64
}

// Pick picks the timings that lower the expected penalty most for their cost, until none lowers it or the
// budget is spent.
func (by Picker) Pick(cells []Cell) *Picked {
	p := &picking{Picker: by, rows: newRows(cells)}
	p.prepare()
	queue := p.actions()
	heap.Init(&queue)
	for len(queue) > 0 {
		a := heap.Pop(&queue).(*action)
		if !p.weigh(a) {
			continue
		}
		if len(queue) > 0 && a.worth < queue[0].worth {
			heap.Push(&queue, a)
			continue
		}
		if by.Budget > 0 && p.seconds+a.seconds > by.Budget {
			continue
		}
		p.take(a)
	}
	picked := &Picked{Timed: make([][]int, len(cells)), Seconds: p.seconds}
	if n := float64(len(cells)); n > 0 {
		picked.Expected = max(0, p.expected/n) // its differences are rounded
	}
	for cell, options := range p.timed {
		for o, timed := range options {
			if timed {
				picked.Timed[cell] = append(picked.Timed[cell], o)
			}
		}
	}
	return picked
}

func (p *Picked) all(cells []Cell, cost func(*Cell, Option) float64) {
	p.Timed = make([][]int, len(cells))
	for i := range cells {
		for at, o := range cells[i].Options {
			p.Timed[i] = append(p.Timed[i], at)
			p.Seconds += cost(&cells[i], o)
		}
	}
}

// prepare draws errors and computes the expected penalty without timings.
func (p *picking) prepare() {
	random := rand.New(rand.NewPCG(1, 2))
	normal := func() (all [draws]float64) {
		for i := range all {
			if all[i] = random.NormFloat64(); random.Float64() < oddly {
				all[i] *= oddity
			}
		}
		return all
	}
	for range 2 * kinds {
		p.draws, p.blur = append(p.draws, normal()), append(p.blur, normal())
	}
	p.timed, p.worth = make([][]bool, len(p.cells)), make([][]int, len(p.cells))
	p.penalty = make([]float64, len(p.cells))
	for i := range p.cells {
		c := &p.cells[i]
		p.timed[i] = make([]bool, len(c.Options))
		least := math.Inf(1)
		for _, o := range c.Options {
			if o.Seconds > 0 {
				least = min(least, o.Seconds)
			}
		}
		for at, o := range c.Options {
			if at == 0 || o.Seconds > 0 && o.Seconds <= least*math.Exp(far*sigma) {
				p.worth[i] = append(p.worth[i], at)
			}
		}
	}
	for i := range p.cells {
		p.penalty[i] = p.expect(i)
		p.expected += p.penalty[i]
	}
}

// An action is one more option to time in a cell, with the own choice if that is not timed yet.
type action struct {
	cell, option int
	seconds      float64
	worth        float64 // penalty less by second
	changed      []int   // cells
	penalty      []float64
}

type actions []*action

func (a actions) Len() int           { return len(a) }
func (a actions) Less(i, j int) bool { return a[i].worth > a[j].worth }
func (a actions) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *actions) Push(x any)        { *a = append(*a, x.(*action)) }
func (a *actions) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// actions are all actions, unordered but for the best one first.
func (p *picking) actions() (all actions) {
	for cell := range p.cells {
		for _, option := range p.worth[cell] {
			if option > 0 {
				if a := (&action{cell: cell, option: option}); p.weigh(a) {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// weigh computes the worth of an action; false: it is worth nothing or not allowed.
func (p *picking) weigh(a *action) bool {
	timed, c := p.timed[a.cell], &p.cells[a.cell]
	others := 0
	for o := 1; o < len(timed); o++ {
		if timed[o] {
			others++
		}
	}
	if timed[a.option] || others >= p.Most {
		return false
	}
	own := timed[0]
	a.seconds = p.Cost(c, c.Options[a.option])
	if !own {
		a.seconds += p.Cost(c, c.Options[0])
	}
	timed[0], timed[a.option] = true, true
	gain := 0.0
	a.changed, a.penalty = p.near(a.cell), a.penalty[:0]
	for _, cell := range a.changed {
		of := p.expect(cell)
		a.penalty = append(a.penalty, of)
		gain += p.penalty[cell] - of
	}
	timed[0], timed[a.option] = own, false
	a.worth = gain / a.seconds
	return gain > 0
}

func (p *picking) take(a *action) {
	p.timed[a.cell][0], p.timed[a.cell][a.option] = true, true
	p.seconds += a.seconds
	for i, cell := range a.changed {
		p.expected += a.penalty[i] - p.penalty[cell]
		p.penalty[cell] = a.penalty[i]
	}
}

// reach is the number of cells on either side of a line that a timing informs.
const reach = 3

// near are a cell and the cells that its timing informs.
func (p *picking) near(cell int) (all []int) {
	all = append(all, cell)
	for dimension, line := range p.lines[cell] {
		at := p.place[cell][dimension]
		for i := max(0, at-reach); i < min(len(line), at+reach+1); i++ {
			if i != at && p.distance(cell, line[i]) <= memory/2 {
				all = append(all, line[i])
			}
		}
	}
	return all
}

// variance is the variance of the error of an option's estimate: 0 if it is timed, smaller if a
// neighbour's is.
func (p *picking) variance(cell, option int) float64 {
	if p.timed[cell][option] {
		return 0
	}
	s := p.cells[cell].Options[option].Setting
	inverse := 0.0
	for _, other := range p.nearest(cell, func(other int) bool {
		o := p.cells[other].index(s)
		return o >= 0 && p.timed[other][o]
	}) {
		inverse = max(inverse, 1/shift(p.distance(cell, other)))
	}
	return 1 / (inverse + 1/(sigma*sigma))
}

// A doubt is an option of a cell with its uncertainty.
type doubt struct {
	log, spread   float64 // of the time, and of its error
	share, rest   float64 // of the error that is known, and of what is wrongly known
	informed      bool
	common, alone *[draws]float64
}

// doubts are the options of a cell that may be the cheapest.
func (p *picking) doubts(cell int) (all []doubt) {
	c, worth := &p.cells[cell], p.worth[cell]
	all = p.scratch[:0]
	for i, option := range worth {
		o := c.Options[option]
		same := slices.IndexFunc(worth, func(other int) bool {
			s := c.Options[other].Setting
			return s.ID == o.Setting.ID && s.Name == o.Setting.Name
		})
		d := doubt{log: math.Log(o.Seconds), spread: sigma, common: &p.draws[same%kinds], alone: &p.draws[kinds+i%kinds]}
		if !(o.Seconds > 0) {
			d.log, d.spread = math.Log(c.Options[worth[1]].Seconds), unsure
		}
		left := p.variance(cell, option) / (sigma * sigma)
		d.share, d.informed = 1-left, i == 0 || left < 1
		d.rest = sigma * math.Sqrt(max(0, left*(1-left)))
		all = append(all, d)
	}
	p.scratch = all
	return all
}

// expect is the expected penalty of a cell: the mean over error draws of the ratio of two times, of the
// setting that seems the cheapest and of the cheapest.
func (p *picking) expect(cell int) (mean float64) {
	if len(p.worth[cell]) < 2 {
		return 0
	}
	doubts := p.doubts(cell)
	for d := range draws {
		seems, taken, best := math.Inf(1), 0.0, math.Inf(1)
		for i := range doubts {
			o := &doubts[i]
			error := o.spread * (common*o.common[d] + alone*o.alone[d])
			truth := o.log + error
			if estimate := o.log + o.share*error + o.rest*p.blur[i%kinds][d]; o.informed && estimate < seems {
				seems, taken = estimate, truth
			}
			best = min(best, truth)
		}
		if taken > best {
			mean += math.Expm1(taken-best) / draws
		}
	}
	return mean
}

// common and alone are the parts of an error that settings of one algorithm share, and do not share.
var common, alone = math.Sqrt(inCommon), math.Sqrt(1 - inCommon)
