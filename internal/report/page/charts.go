package page

import (
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// sketch is a chart that is drawn later.
func sketch(choice map[string]string, draw func() (*chart.Chart, error)) document.Sketch {
	return document.Sketch{Choice: choice, Draw: func() (document.Drawing, error) { return draw() }}
}

// charts has a section for each group. The first chart of the main group stands beside the verdict.
func (x *index) charts() *document.Document {
	var all document.Document
	for i := range x.groups {
		var d document.Document
		charts := x.transfers(&x.groups[i])
		if i == x.main && len(charts) > 0 {
			x.first, charts = charts[0], charts[1:]
		}
		for _, c := range charts {
			c.Later = i != x.main
			d.Chart(c)
		}
		label := groupLabel(x.groups[i].channel)
		if !x.fleet {
			d.Section(document.Section{Title: "The numbers of " + label, Class: "numbers scripted", Folded: true, Later: true}, x.numbers(&x.groups[i]))
		}
		if len(charts) > 0 {
			all.Section(document.Section{Title: label, Class: "group", Folded: true, Open: i == x.main}, &d)
		}
	}
	return &all
}

// having selects the machines with a curve of the group for which take is true, and these curves. Published
// parameters, whose channel is unknown, count as local memory in cache.
func (x *index) having(g *group, take func(compare.Curve) bool) (machines []compare.Machine, curves func(compare.Machine) []compare.Curve) {
	own, taken := false, make(map[string][]compare.Curve)
	for i, m := range x.of {
		taken[m.Name] = lists.Filter(x.curves[i], func(c compare.Curve) bool {
			ofGroup := grouped(c.Channel) == g.channel && take(c)
			own = own || ofGroup
			return ofGroup || g.local() && c.Setup == params.Published && take(c)
		})
		if len(taken[m.Name]) > 0 {
			machines = append(machines, m)
		}
	}
	if !own {
		return nil, nil
	}
	return machines, func(m compare.Machine) []compare.Curve { return taken[m.Name] }
}

// mostSizes is the number of message sizes with charts over τ. Tables have all sizes.
const mostSizes = 3

// transfers are the charts of a group: memory concurrency, bandwidth and time over τ, and time over m.
// With fewer than three τ all are over m.
func (x *index) transfers(g *group) []*document.Chart {
	choice := chart.Choice{Choice: compare.Choice{Setups: []string{g.channel.Setup}, Placements: []numa.Policy{g.channel.Placement}, Caches: []bool{g.channel.OffCache}}}
	if x.fleet {
		choice.Out = append([]string{}, lists.Map(x.outliers, func(i int) string { return x.of[i].Name })...)
	}
	type drawn = func([]compare.Machine, chart.Choice) (*chart.Chart, error)
	perSize := func(name string, draw drawn, bandwidth bool) *document.Chart {
		c := &document.Chart{Name: name, Keys: []string{"m"}}
		sizes := lists.Unique(append([]int{x.bytes}, lists.Spread(g.sizes, mostSizes)...))
		if x.main < 0 || g != &x.groups[x.main] { // more sizes would double the page
			sizes = sizes[:1]
		}
		for _, m := range sizes {
			ch := choice
			ch.Sizes, ch.Bandwidth = []int{m}, bandwidth
			machines, curves := x.having(g, func(c compare.Curve) bool { return c.Bytes == m })
			ch.Curves = curves
			c.Sketches = append(c.Sketches, sketch(map[string]string{"m": view.Bytes(m)}, func() (*chart.Chart, error) { return draw(machines, ch) }))
		}
		return c
	}
	overSize := func(name string, draw drawn, bandwidth bool) *document.Chart { // of few τ, or if these are too many the largest
		ch, largest := choice, g.taus[len(g.taus)-1]
		all, curves := x.having(g, func(compare.Curve) bool { return true })
		ch.Bandwidth, ch.Curves = bandwidth, curves
		return &document.Chart{Name: name, Sketches: []document.Sketch{sketch(nil, func() (*chart.Chart, error) {
			c, err := draw(all, ch)
			if err != nil {
				machines, _ := x.having(g, func(c compare.Curve) bool { _, measured := c.At(largest); return measured })
				ch.Taus = []int{largest}
				return draw(machines, ch)
			}
			return c, nil
		})}}
	}
	if len(g.taus) < 3 {
		return []*document.Chart{overSize("concurrency", chart.ConcurrencyOverSize, false), overSize("bandwidth", chart.TransfersOverSize, true),
			overSize("transfers", chart.TransfersOverSize, false)}
	}
	return []*document.Chart{perSize("concurrency", chart.Concurrency, false), perSize("bandwidth", chart.TransfersOverTau, true),
		perSize("transfers", chart.TransfersOverTau, false), overSize("transfers", chart.TransfersOverSize, false)}
}

// numbers are the rows behind a group's charts.
func (x *index) numbers(g *group) *document.Document {
	t := view.Table{Columns: append(view.Words("machine"), view.Numbers("m", "τ", "L(m,τ), ns", "A(τ)", "GB/s")...)}
	var bounds report.Bounds
	for _, c := range slices.Concat(x.curves...) {
		for _, p := range c.Points {
			if grouped(c.Channel) == g.channel {
				t.Add(c.Machine, view.Bytes(c.Bytes), p.Tau, view.Within(p.L), strings.TrimSpace(view.Within(p.A)+" "+bounds.Mark(p.A, p.Tau)), view.Within(p.Bandwidth))
			}
		}
	}
	bounds.Note(&t)
	var d document.Document
	d.Table(t)
	return &d
}
