package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A figure is a chart in the page, and those that the reader may choose instead.
type figure struct {
	Number  int // in the page
	Name    string
	Shown   drawing
	Selects []selects // what is chosen by itself; m and τ of transfers are chosen for all at once
	Later   bool      // the script shows it once its group is open
	drawn   []drawing // all, if the script shows some of them
}

// A drawing is one of a figure's charts.
type drawing struct {
	Choice map[string]string `json:"choice,omitempty"`
	Title  string            `json:"title"`
	About  string            `json:"about"`
	SVG    template.HTML     `json:"svg"`
	Cells  []string          `json:"cells,omitempty"` // of a heat map, what is said of each pair
}

// Chosen is the drawing's choice for the script.
func (d drawing) Chosen() string {
	if d.Choice == nil {
		return ""
	}
	text, _ := json.Marshal(d.Choice) // strings always can
	return string(text)
}

// Selects are what a reader chooses of, with its values.
type selects struct {
	Name   string
	Values []string
}

// A sketch is a drawing that is still to be made.
type sketch struct {
	choice map[string]string
	chart  func() (*chart.Chart, error)
	cells  []string
}

// The figures of a page are drawn several at a time, in their order.
type figures struct {
	all      []*figure
	sketches [][]sketch // of each
}

// add promises a figure whose first sketch that can be drawn is shown. Which of the choices
// in own have a select of their own is up to the figure.
func (f *figures) add(name string, own []string, of []sketch) *figure {
	fig := &figure{Number: len(f.all), Name: name}
	for _, key := range own {
		values := lists.Unique(lists.Map(of, func(s sketch) string { return s.choice[key] }))
		if len(values) > 1 {
			fig.Selects = append(fig.Selects, selects{key, values})
		}
	}
	f.all, f.sketches = append(f.all, fig), append(f.sketches, of)
	return fig
}

// draw draws them all. What cannot be drawn is left out.
func (f *figures) draw() {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	made := make([][]*drawing, len(f.all))
	for i, of := range f.sketches {
		made[i] = make([]*drawing, len(of))
		for j, s := range of {
			workers.Go(func() error {
				if c, err := s.chart(); err == nil {
					made[i][j] = &drawing{s.choice, c.Title, strings.Join(lists.Map(c.Caption, printable.Line), " · "), template.HTML(c.Inline()), s.cells}
				}
				return nil
			})
		}
	}
	workers.Wait() // none fails
	for i, fig := range f.all {
		for _, d := range made[i] {
			if d != nil {
				fig.drawn = append(fig.drawn, *d)
			}
		}
		if len(fig.drawn) > 0 {
			fig.Shown = fig.drawn[0]
		}
		const heavy = 12 << 10
		switch {
		case fig.Later || len(fig.Shown.SVG) > heavy && fig.Shown.Cells == nil:
			fig.Shown.SVG = "" // packed it is a fifth
		case len(fig.drawn) == 1 && fig.drawn[0].Cells == nil:
			fig.drawn = nil
		}
	}
}

// A more is what the page shows once a reader asks for it.
type more struct {
	Figures map[int][]drawing `json:"figures"`
	Numbers []template.HTML   `json:"numbers"` // tables of the groups
}

// packed is that as the page holds it.
func (f *figures) packed(numbers []template.HTML) (string, error) {
	m := more{make(map[int][]drawing), numbers}
	for _, fig := range f.all {
		if fig.drawn != nil {
			m.Figures[fig.Number] = fig.drawn
		}
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false) // it is packed
	if err := to.Encode(m); err != nil {
		return "", err
	}
	return pack(text.Bytes(), gzip.BestCompression)
}

// pack is text as the page holds it: gzip in URL-safe base64, which HTML does not escape.
func pack(text []byte, level int) (string, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(out.Bytes()), nil
}

// having are the machines with transfers of a group, and beside what was measured with local
// memory and in cache published parameters, whose files do not say how they were.
func (x *index) having(g *group, has func(compare.Curve) bool) (machines []compare.Machine, curves func(compare.Machine) []compare.Curve) {
	own, of := false, make(map[string][]compare.Curve)
	for i, m := range x.of {
		of[m.Name] = lists.Filter(x.curves[i], func(c compare.Curve) bool {
			is := grouped(c.Channel) == g.channel && has(c)
			own = own || is
			return is || g.local() && c.Setup == params.Published && has(c)
		})
		if len(of[m.Name]) > 0 {
			machines = append(machines, m)
		}
	}
	if !own {
		return nil, nil
	}
	return machines, func(m compare.Machine) []compare.Curve { return of[m.Name] }
}

// mostSizes have charts: the numbers behind the charts are of all.
const mostSizes = 3

// local tells local memory and in cache, as published parameters are taken to be.
func (g *group) local() bool { return g.channel.Placement == numa.Local && !g.channel.OffCache }

// few says that a group has too few τ for charts over them.
func (g *group) few() bool { return len(g.Taus) < 3 }

// transfers adds the figures of a group: memory concurrency, bandwidth and time over τ, and
// time over m; of few τ all of them over m.
func (x *index) transfers(f *figures, g *group) (added []*figure) {
	choice := chart.Choice{Choice: compare.Choice{Setups: []string{g.channel.Setup}, Placements: []numa.Policy{g.channel.Placement}, Caches: []bool{g.channel.OffCache}}}
	if x.Fleet {
		choice.Out = append([]string{}, lists.Map(x.First, func(i int) string { return x.of[i].Name })...)
	}
	type drawn = func([]compare.Machine, chart.Choice) (*chart.Chart, error)
	perSize := func(draw drawn, bandwidth bool) (of []sketch) {
		sizes := first(lists.Spread(g.Sizes, mostSizes), x.Bytes)
		if g.Number != x.Main { // which would double the page
			sizes = sizes[:1]
		}
		for _, m := range sizes {
			ch := choice
			ch.Sizes, ch.Bandwidth = []int{m}, bandwidth
			machines, curves := x.having(g, func(c compare.Curve) bool { return c.Bytes == m })
			ch.Curves = curves
			of = append(of, sketch{map[string]string{"m": view.Bytes(m)}, func() (*chart.Chart, error) { return draw(machines, ch) }, nil})
		}
		return of
	}
	overSize := func(draw drawn, bandwidth bool) []sketch { // of few τ, and where these are too many the largest
		ch, largest := choice, g.Taus[len(g.Taus)-1]
		all, curves := x.having(g, func(compare.Curve) bool { return true })
		ch.Bandwidth, ch.Curves = bandwidth, curves
		return []sketch{{nil, func() (*chart.Chart, error) {
			c, err := draw(all, ch)
			if err != nil {
				of, _ := x.having(g, func(c compare.Curve) bool { _, has := c.At(largest); return has })
				ch.Taus = []int{largest}
				return draw(of, ch)
			}
			return c, nil
		}, nil}}
	}
	if g.few() {
		return []*figure{
			f.add("A", nil, overSize(chart.ConcurrencyOverSize, false)),
			f.add("B", nil, overSize(chart.TransfersOverSize, true)),
			f.add("L", nil, overSize(chart.TransfersOverSize, false)),
		}
	}
	return []*figure{
		f.add("A", nil, perSize(chart.Concurrency, false)), f.add("B", nil, perSize(chart.TransfersOverTau, true)),
		f.add("L", nil, perSize(chart.TransfersOverTau, false)), f.add("Lm", nil, overSize(chart.TransfersOverSize, false)),
	}
}

// first are values with one in front.
func first(of []int, one int) []int {
	return append([]int{one}, slices.DeleteFunc(slices.Clone(of), func(v int) bool { return v == one })...)
}

// numbers are the rows behind a group's charts.
func (x *index) numbers(g *group) template.HTML {
	t := view.Table{Columns: append(view.Words("machine"), view.Numbers("m", "τ", "L(m,τ), ns", "A(τ)", "GB/s")...)}
	for _, c := range slices.Concat(x.curves...) {
		for _, p := range c.Points {
			if grouped(c.Channel) == g.channel {
				t.Add(c.Machine, view.Bytes(c.Bytes), p.Tau, value(p.L), value(p.A), value(p.Bandwidth))
			}
		}
	}
	return tables(t)
}
