package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// TransfersOverTau is L(m,τ) over τ, a line for each setup and machine: Fig. 21 of taulop-2015. By default
// it takes messages of one segment.
func TransfersOverTau(machines []compare.Machine, ch Choice) (*Chart, error) {
	c, size, err := overTau(machines, ch, func(p compare.Point) fit.Estimate { return p.L })
	if err != nil {
		return nil, err
	}
	c.Title, c.Panels[0].Y.Label = "Time of a transfer while τ are active", fmt.Sprintf("L(%s,τ)", size)
	if ch.Bandwidth {
		c.Title, c.Panels[0].Y.Label = "Bandwidth of τ transfers at once", fmt.Sprintf("τ·m/L(%s,τ)", size)
	}
	c.Caption = append(c.Caption, ch.better())
	return c, nil
}

// Concurrency is the memory concurrency A(τ) = τ·L(m,1)/L(m,τ) between the bounds of eq. (8): 1 of a
// serial channel and τ of an ideal one.
func Concurrency(machines []compare.Machine, ch Choice) (*Chart, error) {
	c, size, err := overTau(machines, ch, func(p compare.Point) fit.Estimate { return p.A })
	if err != nil {
		return nil, err
	}
	panel := &c.Panels[0]
	panel.Y = Axis{"A(τ)", Counts}
	if panel.Bands == nil { // a fleet has the band about its median
		xs, _, _, _ := panel.values()
		taus := lists.Rising(append(xs, 1))
		ones := slices.Repeat([]float64{1}, len(taus))
		panel.Bands = []Band{{X: taus, Lo: ones, Hi: taus, LoLabel: "serial, one at a time: A = 1", HiLabel: "ideal, all at once: A = τ"}}
	}
	c.Title = "Memory concurrency: transfers carried at once"
	c.Caption = append(c.Caption, fmt.Sprintf("A(τ) = τ·L(%[1]s,1)/L(%[1]s,τ)", size), "higher is better")
	return c, nil
}

// transfers has the lines of machines' transfers: over τ one for each size, by default that of a segment,
// and over m one for each τ.
func transfers(d view.Drawing, machines []compare.Machine, ch Choice, over view.Quantity, y func(compare.Point) fit.Estimate) figure {
	d.What, d.Measure, d.Few = "transfers", "taulop sweep", over == view.MessageSize
	return figure{&d, ch, machines, func(m compare.Machine) []view.Profile {
		var points []view.Profile
		for _, c := range ch.curves(m, over) {
			for _, q := range c.Points {
				p, x := view.Profile{Where: view.Where{Setup: c.Setup, Placement: c.Placement, Cache: view.Cache(c.OffCache)}, Over: over, Size: c.Bytes}, q.Tau
				if over == view.MessageSize {
					p.Size, p.Tau, p.Line, p.Time, x = 0, q.Tau, view.TauName(q.Tau), "L(m,τ)", c.Bytes
				}
				p.Points = []view.ProfilePoint{{X: x, Y: y(q)}}
				points = append(points, p)
			}
		}
		return view.Gathered(points)
	}, false}
}

// curves are a machine's curves; lines over τ take messages of a segment unless sizes are chosen.
func (ch Choice) curves(m compare.Machine, over view.Quantity) []compare.Curve {
	var curves []compare.Curve
	if ch.Curves != nil {
		curves = ch.Curves(m)
	} else {
		curves, _ = compare.Curves(m.Name, m.File) // an error says that there are none
	}
	segment := cmp.Or(m.File.Plan.SegmentBytes, compare.Customary)
	if ofSegment := lists.Filter(curves, func(c compare.Curve) bool { return c.Bytes == segment }); over == view.Tau && len(ch.Sizes) == 0 && len(ofSegment) > 0 {
		return ofSegment
	}
	return curves
}

// overTau draws lines over τ, and returns their common size, "m" if they have several.
func overTau(machines []compare.Machine, ch Choice, y func(compare.Point) fit.Estimate) (c *Chart, size string, err error) {
	f := transfers(view.Drawing{}, machines, ch, view.Tau, y)
	of, err := f.taken()
	if err != nil {
		return nil, "", err
	}
	if size = view.Bytes(of[0].Size); len(lists.Unique(lists.Concat(of, profile.sizes))) > 1 {
		size = "m"
	}
	letter := "S"
	curves := lists.Concat(machines, func(m compare.Machine) []compare.Curve { return ch.curves(m, view.Tau) })
	if slices.ContainsFunc(curves, func(c compare.Curve) bool { return !c.Segment }) {
		letter = "m"
	}
	for i := range of {
		of[i].Line = letter + " = " + view.Bytes(of[i].Size)
	}
	c, err = f.draw(of)
	return c, size, err
}

// TransfersOverSize is L(m,τ) over m, a line for each τ. By default it takes the ring, which predicts
// collectives best, and few τ.
func TransfersOverSize(machines []compare.Machine, ch Choice) (*Chart, error) {
	return overSize(machines, ch).chart("longer messages than a segment as a whole", ch.better())
}

func overSize(machines []compare.Machine, ch Choice) figure {
	d := view.Drawing{Title: "Time of a transfer against the size of its message", Rate: "Bandwidth of transfers against m", Setup: setups.Ring.Name}
	return transfers(d, machines, ch, view.MessageSize, func(p compare.Point) fit.Estimate { return p.L })
}

// ConcurrencyOverSize is A(τ) over m, a line for each τ above 1, with lines at its bounds.
func ConcurrencyOverSize(machines []compare.Machine, ch Choice) (*Chart, error) {
	d := view.Drawing{Title: "Memory concurrency against m: transfers carried at once", Setup: setups.Ring.Name}
	levels := []float64{1}
	c, err := transfers(d, machines, ch, view.MessageSize, func(p compare.Point) fit.Estimate {
		if p.Tau == 1 {
			return fit.Median(nil)
		}
		levels = append(levels, float64(p.Tau))
		return p.A
	}).chart("A(τ) = τ·L(m,1)/L(m,τ)", "lines at its bounds 1 and τ", "higher is better")
	if err != nil {
		return nil, err
	}
	c.Panels[0].Y, c.Panels[0].Levels = Axis{"A(τ)", Counts}, lists.Rising(levels)
	return c, nil
}

// Copies is the cost of a copy c(m,τ) over m, a line for each τ: Fig. 4. If variants are chosen, or files
// have no others, it draws copies between levels of the memory.
func Copies(machines []compare.Machine, ch Choice) (*Chart, error) {
	copies := func(m compare.Machine) []params.Cell {
		cells := lists.Filter(m.File.Cells, func(c params.Cell) bool { return c.Kind == params.CopyCell })
		for i := range cells { // copies out of one buffer have setup share
			cells[i].Setup = cmp.Or(cells[i].Setup, setups.Bare.Name)
		}
		return cells
	}
	of := levels.Survey.Drawing
	has := func(kind params.Kind) bool {
		return slices.ContainsFunc(machines, func(m compare.Machine) bool {
			return slices.ContainsFunc(m.File.Cells, func(c params.Cell) bool { return c.Kind == kind })
		})
	}
	if len(ch.Variants) > 0 || has(of.Kind) && !has(params.CopyCell) {
		return Profiles(of, machines, ch)
	}
	d := &view.Drawing{Title: of.Title, Rate: of.Rate, What: "copies", Measure: "taulop sweep, or between levels of the memory with taulop copy", Few: true}
	ofTau := view.ByCell(func(c params.Cell, p *view.Profile) (int, fit.Estimate, bool) {
		p.Line, p.Setup, p.Time = view.TauName(c.Tau), c.Setup, "c(m,τ)"
		return c.Bytes, c.Time, true
	})
	return figure{d, ch, machines, func(m compare.Machine) []view.Profile { return ofTau(copies(m)) }, false}.chart("without flags and partners", ch.better())
}

// Ratios is L(m,τ) of each machine divided by the first's, over m: above 1 a machine is slower.
func Ratios(machines []compare.Machine, ch Choice) (*Chart, error) {
	if len(machines) < 2 {
		return nil, fmt.Errorf("a ratio needs two machines: name two parameter files or more, the one to compare with first")
	}
	f := overSize(machines, ch)
	of, err := f.taken()
	if err != nil {
		return nil, err
	}
	first := machines[0].Name
	bases := lists.Filter(of, func(p profile) bool { return p.machine == first })
	var ratios []profile
	for _, m := range machines[1:] {
		own, before := lists.Filter(of, func(p profile) bool { return p.machine == m.Name }), len(ratios)
		for _, p := range own {
			if p.Points = p.over(bases); len(p.Points) > 0 {
				ratios = append(ratios, p)
			}
		}
		if len(ratios) == before {
			nothing := fmt.Errorf("%s has nothing in common with %s: the same setup, placement, cache, m and τ must be in both; they have %s, and %s",
				m.Name, first, placesText(own), placesText(bases))
			if m.Published() != machines[0].Published() {
				return nil, fmt.Errorf("%w; %w", nothing, compare.ErrPublished)
			}
			return nil, nothing
		}
	}
	most := 2
	if len(machines) > 3 {
		most = 1
	}
	c, err := f.draw(f.few(ratios, len(machines)-1, most), "below 1 faster than "+first)
	if err != nil {
		return nil, err
	}
	c.Title = "Time of a transfer, as a ratio to " + first
	if slices.ContainsFunc(c.Caption, func(fact string) bool { return strings.HasPrefix(fact, "bars") }) {
		c.Caption = append(c.Caption, "bars from the intervals of both: wider than those of compare's test")
	}
	c.Panels[0].Y, c.Panels[0].Levels = Axis{"ratio of L(m,τ)", Proportions}, []float64{1}
	return c, nil
}

// over are the points of times over the times of the base with the same place and τ.
func (p profile) over(bases []profile) (ratios []view.ProfilePoint) {
	for _, base := range bases {
		if base.Where != p.Where || base.Tau != p.Tau {
			continue
		}
		for _, q := range p.Points {
			if i := slices.IndexFunc(base.Points, func(b view.ProfilePoint) bool { return b.X == q.X }); i >= 0 {
				ratios = append(ratios, view.ProfilePoint{X: q.X, Y: q.Y.Div(base.Points[i].Y)})
			}
		}
	}
	return ratios
}

// States is L(m,τ) over m, a panel for each state of machines with the same axes, and a line for each τ.
func States(machines []compare.Machine, ch Choice) (*Chart, error) {
	in := lists.Filter(machines, func(m compare.Machine) bool { return m.File.State() != nil })
	if len(in) < 2 {
		return nil, fmt.Errorf("no machine of these was in two states: take the chart l-m, or add sessions at other times")
	}
	f := overSize(in, ch)
	of, err := f.taken()
	if err != nil {
		return nil, err
	}
	of = f.few(of, 1, len(dashes))
	for i := range of {
		of[i].Panel, of[i].machine = strings.ReplaceAll(of[i].machine, ", ", " · "), "" // the same look in all panels
	}
	c, err := f.draw(of, ch.better())
	if err != nil {
		return nil, err
	}
	c.Title = "L(m,τ) in each state of the machine"
	return c, nil
}
