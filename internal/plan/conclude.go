package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
)

// A Conclusion is the library's choice for a cell.
type Conclusion struct {
	*Cell
	Setting mpi.Setting // zero: its own choice stays
	Timed   bool        // here, with its own choice; else nearby
	// OwnUS and US are the times of the own choice and of the setting in µs, timed or estimated; 0: unknown.
	OwnUS, US float64
	Gain      fit.Estimate // the share of the own choice's time that is saved
}

// Conclude decides by timings. A timed setting is taken if the interval of its gain over the library's
// own choice is above zero, also when corrected for the number of comparisons. A setting that was not
// timed is taken if predictions corrected with nearby timings show it to be cheaper than the own choice,
// by twice the margin if that was timed, and than the best timed setting. The cells beyond are
// predictions for other ranks or sizes than the plan's.
func (m *Manifest) Conclude(r *Results, beyond []Cell) []Conclusion {
	cells := lists.Map(m.Cells, func(w Work) Cell { return w.Cell })
	cells = append(cells, lists.Filter(beyond, func(c Cell) bool {
		return !slices.ContainsFunc(m.Cells, func(w Work) bool { return before(&w.Cell, &c) == 0 })
	})...)
	times, quicker := r.medians(cells), r.quicker(cells)
	all := make([]Conclusion, len(cells))
	for i, d := range Decide(cells, times) {
		c := &all[i]
		c.Cell = &cells[i]
		far := sure * d.Error
		if times.has(i, 0) {
			c.OwnUS = 1e6 * times[i][0].Seconds
			far *= 2
		}
		if quicker.best(i, c, times) {
			far -= math.Log1p(-c.Gain.Center)
		}
		if d.Option == 0 || times.has(i, d.Option) || d.Ratio < far {
			continue
		}
		c.Setting, c.Timed, c.US = c.Options[d.Option].Setting, false, 0
		at := func(errors float64) float64 { return -math.Expm1(-d.Ratio - errors*d.Error) }
		c.Gain = fit.Estimate{Center: at(0), Lo: at(-sure), Hi: at(sure)}
	}
	return all
}

// sure is half of a 95 % interval in standard errors.
const sure = 1.96

// medians are the times of cells and options with enough passes for an interval.
func (r *Results) medians(cells []Cell) Times {
	times := make(Times, len(cells))
	for i, c := range cells {
		times[i] = make([]Time, len(c.Options))
		for o := range c.Options {
			var us []float64
			for _, pass := range r.Passes {
				if v, there := pass[[2]int{i, o}]; there {
					us = append(us, v)
				}
			}
			if of := fit.Median(us); of.Known() {
				times[i][o] = Time{of.Center / 1e6, of.Width() / sure}
			}
		}
	}
	return times
}

// ratios are the own choice's time over an option's, by cell and option.
type ratios map[[2]int]fit.Estimate

// quicker are the ratios of options that were certainly quicker than the own choice. Each pass times
// both, so that drift affects both. Among hundreds of comparisons some have an interval above one by
// chance: one in forty of the returned ratios is expected to be wrong (fit.Adjust).
func (r *Results) quicker(cells []Cell) ratios {
	var at [][2]int
	var of []fit.Estimate
	var ps []float64
	for cell, c := range cells {
		for o := 1; o < len(c.Options); o++ {
			if ratio := fit.Median(r.pairs(cell, o)); ratio.Known() {
				half := math.Log(ratio.Center / ratio.Lo)
				at, of, ps = append(at, [2]int{cell, o}), append(of, ratio), append(ps, fit.Above(math.Log(ratio.Center), half/sure, ratio.N-1))
			}
		}
	}
	all := make(ratios)
	for i, p := range fit.Adjust(ps) {
		if p < (1-fit.Confidence)/2 && of[i].Lo > 1 {
			all[at[i]] = of[i]
		}
	}
	return all
}

// best takes the setting of a cell with the largest certain gain.
func (r ratios) best(cell int, c *Conclusion, times Times) (taken bool) {
	for o := 1; o < len(c.Options); o++ {
		ratio, there := r[[2]int{cell, o}]
		if !there || taken && 1-1/ratio.Lo <= c.Gain.Lo {
			continue
		}
		taken = true
		c.Setting, c.Timed, c.US = c.Options[o].Setting, true, 1e6*times[cell][o].Seconds
		c.Gain = fit.Estimate{Center: 1 - 1/ratio.Center, Lo: 1 - 1/ratio.Lo, Hi: 1 - 1/ratio.Hi, N: ratio.N}
	}
	return taken
}

// pairs are the own choice's time over an option's, in each pass with both.
func (r *Results) pairs(cell, option int) (ratios []float64) {
	for _, pass := range r.Passes {
		own, there := pass[[2]int{cell, 0}]
		if of, too := pass[[2]int{cell, option}]; there && too {
			ratios = append(ratios, own/of)
		}
	}
	return ratios
}

// A Comparison compares a component with the library's own choice.
type Comparison struct {
	mpi.Component
	Cells   int     `json:"cells"`   // with an interval
	Quicker int     `json:"quicker"` // in which it certainly is
	Slower  int     `json:"slower"`
	Gain    float64 `json:"gain"` // the share of the time that is saved, of the geometric mean over cells
}

// Compared are the comparisons of the plan's components.
func (m *Manifest) Compared(r *Results) (all []Comparison) {
	for i, c := range m.Components {
		of, logs := Comparison{Component: c}, 0.0
		for cell, w := range m.Cells {
			ratio := fit.Median(r.pairs(cell, len(w.Options)+i))
			switch {
			case !ratio.Known():
				continue
			case ratio.Lo > 1:
				of.Quicker++
			case ratio.Hi < 1:
				of.Slower++
			}
			of.Cells++
			logs += math.Log(ratio.Center)
		}
		if of.Cells > 0 {
			of.Gain = -math.Expm1(-logs / float64(of.Cells))
		}
		all = append(all, of)
	}
	return all
}

// Rules are the choices that differ from the library's own, by collective, rising P and m. A choice holds
// to the middle between two sizes, but not beyond a size at which the library's own choice changes.
func Rules(of []Conclusion, library *mpi.Library, nodes func(p int) int) (rules []mpi.Rule) {
	all := slices.Clone(of)
	slices.SortStableFunc(all, func(a, b Conclusion) int { return before(a.Cell, b.Cell) })
	for i, c := range all {
		if c.Setting.Own() {
			continue
		}
		from, to := c.Bytes, c.Bytes
		same := func(j int) bool {
			return j >= 0 && j < len(all) && all[j].Collective == c.Collective && all[j].P == c.P
		}
		on := collective.Named(c.Collective)
		if same(i - 1) {
			from, _ = border(library, on, c.P, nodes(c.P), all[i-1].Bytes, c.Bytes)
		}
		if same(i + 1) {
			_, to = border(library, on, c.P, nodes(c.P), c.Bytes, all[i+1].Bytes)
		}
		if n := len(rules); n > 0 && rules[n-1].Collective == on && rules[n-1].P == c.P && rules[n-1].To+1 == from && rules[n-1].Setting == c.Setting {
			rules[n-1].To = to
			continue
		}
		rules = append(rules, mpi.Rule{Collective: on, P: c.P, Nodes: nodes(c.P), From: from, To: to, Setting: c.Setting})
	}
	return rules
}

func before(a, b *Cell) int {
	return cmp.Or(cmp.Compare(a.Collective, b.Collective), a.P-b.P, a.Bytes-b.Bytes)
}

// border is where the choice of size low ends and the choice of size high begins: at the first and the
// last change of the library's own choice between them, else at their geometric mean.
func border(library *mpi.Library, on *collective.Collective, p, nodes, low, high int) (from, to int) {
	middle := int(math.Sqrt(float64(max(1, low)) * float64(high)))
	from, to = middle+1, middle
	first, known := library.Own(on, p, nodes, low)
	last, there := library.Own(on, p, nodes, high)
	if !known || !there || first == last {
		return from, to
	}
	same := func(m int, as mpi.Setting) bool { // and between the two sizes
		own, _ := library.Own(on, p, nodes, m)
		return low < m && m < high && own == as
	}
	from, to = high, low
	for step := (high - low) / 2; step > 0; step /= 2 {
		for same(to+step, first) {
			to += step
		}
		for same(from-step, last) {
			from -= step
		}
	}
	return from, to
}
