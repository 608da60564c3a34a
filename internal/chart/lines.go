package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// draw puts profiles into panels, and facts below the title. Too many machines or variants are thin lines
// about their median.
func (f figure) draw(of []profile, facts ...string) (*Chart, error) {
	if !f.lone && !slices.ContainsFunc(of, func(p profile) bool { return len(p.Points) > 1 }) {
		over, _, _ := strings.Cut(string(of[0].Over), ",")
		return nil, fmt.Errorf("a line over %s needs two values that were measured, and no line has them: %w with %s", over, ErrOthers, f.Measure)
	}
	title, quantity, as := f.Title, Times, of
	if f.Bandwidth {
		title, quantity, of = f.Rate, Bandwidths, bandwidths(of)
	}
	fleet, variants := f.fleet(), of[0].Alike && !f.tellApart(of)
	if f.OnePanel && len(f.machines) == 1 && len(of) <= MaxLines && len(distinct(of, tauOf)) <= len(dashes) {
		for i := range of {
			of[i].Panel = ""
		}
	}
	lines := f.lines(of, fleet, variants)
	switch {
	case len(lines) > MaxLines && !fleet && len(f.machines) >= compare.Fleet:
		f.Out = []string{}
		return f.draw(as, facts...)
	case len(lines) > MaxLines:
		return nil, tooMany(len(lines))
	}
	names := lists.Unique(lists.Map(of, func(p profile) string { return p.Panel }))
	if len(names) > MaxPanels {
		return nil, fmt.Errorf("%d panels in a chart are too many, %d can be read, like %q alone: %w", len(names), MaxPanels, strings.Split(names[0], ", ")[0], ErrNamed)
	}
	looks, caption := named(lines)
	own, common := apart(names)
	c := &Chart{Title: title, Caption: append(caption, common...)}
	var plain []Series // not about a median
	fits := false
	for i, name := range names {
		panel := Panel{Name: own[i], X: Axis{string(of[0].Over), axes[of[0].Over]}, Y: Axis{string(of[0].Time), quantity}, Height: []float64{1, 1, 0.8, 0.7, 0.65}[min(len(names), 4)]} // many panels are still a figure in a column
		most := 0                                                                                                                                                                       // variants about a median
		within := lists.Filter(of, func(p profile) bool { return p.Panel == name })
		for _, alike := range lists.Groups(within, func(p profile) int { return p.line }) {
			series := lists.Map(alike, func(p profile) Series { return p.series(looks[p.line]) })
			if !fleet && len(alike) == 1 {
				plain = append(plain, series...)
			} else {
				var about Band
				if series, about = f.aboutMedian(looks[alike[0].line], alike, series); fleet {
					panel.Bands = append(panel.Bands, about)
				}
				most = max(most, len(alike))
			}
			panel.Series = append(panel.Series, series...)
		}
		if variants && most > 0 {
			panel.Name = joined(": ", own[i], fmt.Sprintf("the median of %d variants", most))
		}
		if bold := lists.Filter(panel.Series, func(s Series) bool { return !s.Faint }); f.Fitted != nil && !f.Bandwidth && len(bold) <= fewVariants {
			for _, s := range bold {
				if fitted, ok := f.startupAndBytes(s); ok {
					fits, panel.Series = true, append(panel.Series, fitted)
				}
			}
		}
		c.Panels = append(c.Panels, panel)
	}
	c.say(printable.If(fits, "pale: T_s + m·τ_d, fitted to every other m"),
		printable.If(fleet, fmt.Sprintf("the median of %s in the band of a robust standard deviation", f.counted(of))),
		printable.Either(fleet, "thin: all others", printable.If(variants, "thin: each variant")), printable.If(len(plain) > 0, certainty(plain)))
	c.say(facts...)
	return c, nil
}

// counted is the number of machines of profiles. A machine whose host moved its CPUs is there once for each
// state.
func (f figure) counted(of []profile) string {
	names := lists.Unique(lists.Map(of, machineOf))
	files := lists.Map(lists.Filter(f.machines, func(m compare.Machine) bool { return slices.Contains(names, m.Name) }), func(m compare.Machine) string { return m.Path })
	return printable.Count(len(lists.Unique(files)), "machine") +
		printable.If(len(names) > len(lists.Unique(files)), fmt.Sprintf(" in %d states", len(names)))
}

// lines are the distinct lines of the profiles, and sets each profile's index. Machines of a fleet, and
// variants about a median, share one.
func (f figure) lines(of []profile, fleet, variants bool) (lines []line) {
	for i := range of {
		p := &of[i]
		l := line{machine: p.machine, name: p.Line}
		l.setup, l.placement, l.cache = p.traits()
		if tau := view.TauName(p.Tau); f.Few && p.Panel != tau {
			if l.tau = tau; l.name == tau {
				l.name = ""
			}
		}
		if fleet {
			l.machine = ""
		}
		if variants {
			l.name = ""
		}
		if p.line = slices.Index(lines, l); p.line < 0 {
			p.line, lines = len(lines), append(lines, l)
		}
	}
	return lines
}

// aboutMedian adds the median to the series of alike profiles.
func (f figure) aboutMedian(median Series, alike []profile, series []Series) ([]Series, Band) {
	least := 1
	for i, p := range alike {
		series[i].Name = p.Line
		if f.fleet() {
			series[i].Name, series[i].Of = p.machine, p.machine
		}
	}
	if f.fleet() { // machines may have different sizes
		median.Of, least = Median, (len(alike)+1)/2
		if median.Name == "" { // the only one
			median.Colour = black
		}
		median.Name = joined(", ", Median, median.Name)
	}
	return crowd(median, series, least, f.Out)
}

// series is the profile with the look of its line.
func (p profile) series(look Series) Series {
	look.Points = lists.Map(p.Points, func(q view.ProfilePoint) Point { return Point{float64(q.X), q.Y} })
	return look
}

// apart splits names into their own and their common parts.
func apart(names []string) (own, common []string) {
	parts := lists.Map(names, func(name string) []string { return strings.Split(name, ", ") })
	common = lists.Filter(parts[0], func(part string) bool {
		return part != "" && !slices.ContainsFunc(parts, func(p []string) bool { return !slices.Contains(p, part) })
	})
	own = lists.Map(parts, func(p []string) string {
		return strings.Join(lists.Filter(p, func(part string) bool { return !slices.Contains(common, part) }), ", ")
	})
	return own, common
}

// startupAndBytes is the line T_s + m·τ_d fitted to the drawing's sizes of a series; false with too few.
func (f figure) startupAndBytes(s Series) (Series, bool) {
	sizeOf := func(p Point) int { return int(p.X) }
	ms := lists.Map(s.Points, sizeOf)
	sizes := f.Fitted(ms)
	fitted := lists.Filter(s.Points, func(p Point) bool { return slices.Contains(sizes, int(p.X)) })
	times := lists.Map(fitted, func(p Point) float64 { return p.Y.Center })
	through, err := fit.LineOf(lists.Map(fitted, sizeOf), times)
	if err != nil {
		return Series{}, false
	}
	s.Faint, s.Fitted, s.Points = true, true, nil
	const steps = 4 // an octave: on logarithmic axes the line is a curve
	for m := float64(ms[0]); m < float64(ms[len(ms)-1]); m *= math.Pow(2, 1./steps) {
		s.Points = append(s.Points, Point{m, exactly(through.At(int(m)))})
	}
	last := ms[len(ms)-1]
	s.Points = append(s.Points, Point{float64(last), exactly(through.At(last))})
	return s, true
}

// bandwidths turns times of messages into bandwidths of all τ together.
func bandwidths(times []profile) (all []profile) {
	for _, p := range times {
		p.Time = view.Throughput
		p.Points = lists.Map(p.Points, func(at view.ProfilePoint) view.ProfilePoint {
			bytes := at.X * max(1, p.Tau)
			if p.Over == view.Tau {
				bytes = p.Size * at.X
			}
			return view.ProfilePoint{X: at.X, Y: at.Y.Rate(float64(bytes))}
		})
		all = append(all, p)
	}
	return all
}
