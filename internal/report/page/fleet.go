package page

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
)

// A fleet is many machines beside their median.
type fleet struct {
	Conclusion string
	Why        string        // nothing was compared
	Tables     template.HTML // as taulop compare has them
	warnings   []compare.Warning
	tables     []compare.FleetTable // of all sizes, for charts
	kinds      []compare.FleetKind
}

// drawn is how many machines charts begin with, beside the median: outliers, if
// anything was compared.
const drawn = 3

// newFleet compares segments as taulop compare does, and takes medians of all
// sizes for the charts.
func newFleet(machines []compare.Machine, x *index) (*fleet, error) {
	v := &fleet{}
	reduced := lists.Map(machines, compare.Reduce)
	o, err := compare.OverviewOf(reduced, compare.Choice{})
	if err != nil {
		v.Why = err.Error()
		for n := range drawn {
			x.First = append(x.First, n)
		}
		return v, nil
	}
	v.Conclusion, v.warnings = strings.TrimSpace(o.Means+" "+o.Conclusion()), o.Warnings
	if o.State != nil {
		v.Conclusion = "In the state that most machines have been in" + o.State.Title() + ": " + v.Conclusion
	}
	v.Tables = rendered(report.Overview(o))
	x.begin(o)
	var sizes []int
	for _, g := range x.Groups {
		for _, m := range g.Sizes {
			sizes = lists.Insert(sizes, m)
		}
	}
	if len(o.Tables) > 0 {
		if o, err = compare.OverviewOf(reduced, compare.Choice{Sizes: sizes}); err != nil {
			return nil, err
		}
	}
	v.tables, v.kinds = o.Tables, o.Surveys
	return v, nil
}

// begin chooses the machines that charts begin with: those that are farthest off, in transfers
// and where these show fewer in surveys.
func (x *index) begin(o *compare.Overview) {
	var off []string
	for _, out := range o.Outliers {
		off = append(off, out.Machine)
	}
	for _, k := range o.Surveys {
		for _, out := range k.Outliers {
			off = append(off, out.Machine)
		}
	}
	off = lists.Unique(off)
	for _, name := range off[:min(drawn, len(off))] {
		x.First = append(x.First, slices.IndexFunc(x.of, func(m compare.Machine) bool { return m.Name == name }))
	}
}

// A quantity is what a chart of a fleet shows.
type quantity struct {
	name, title, about string
	y                  chart.Axis
	of                 func(*compare.FleetCell) fit.Spread
	score              func(compare.Score) float64
}

var quantities = []quantity{
	{"A", "Memory concurrency: transfers carried at once", "A(τ) = τ·L(m,1)/L(m,τ) · higher is better", chart.Axis{Label: "A(τ)", Quantity: chart.Counts},
		func(r *compare.FleetCell) fit.Spread { return r.A }, func(s compare.Score) float64 { return s.A }},
	{"B", "Bandwidth of all transfers together", "higher is better", chart.Axis{Label: "τ·m/L(m,τ)", Quantity: chart.Bandwidths},
		func(r *compare.FleetCell) fit.Spread { return r.Bandwidth }, func(s compare.Score) float64 { return s.Bandwidth }},
	{"L", "Time of a transfer while τ of them are active", "lower is better", chart.Axis{Label: "L(m,τ)", Quantity: chart.Times},
		func(r *compare.FleetCell) fit.Spread { return r.Time }, func(s compare.Score) float64 { return s.Time.Center }},
}

// transfers adds the figures of a group: the median of all machines with the band of a robust
// standard deviation, machines that charts begin with, and all others as thin lines, which a
// reader may choose.
func (v *fleet) transfers(f *figures, x *index, g *group) (added []*figure) {
	var tables []compare.FleetTable
	for _, t := range v.tables {
		if grouped(t.Channel) == g.channel {
			tables = append(tables, t)
		}
	}
	over := func(q quantity, choice map[string]string, axis chart.Axis, rows map[int]*compare.FleetCell) sketch {
		return sketch{choice, func() (*chart.Chart, error) { return x.fleetChart(q, choice, axis, rows) }, nil}
	}
	for _, q := range quantities {
		var of []sketch
		for _, m := range first(lists.Spread(g.Sizes, mostSizes), x.Bytes) {
			for _, t := range tables {
				if t.Bytes == m {
					rows := make(map[int]*compare.FleetCell)
					for _, r := range t.Cells {
						rows[r.Tau] = r
					}
					of = append(of, over(q, map[string]string{"m": view.Bytes(m)}, chart.Axis{Label: string(view.Tau), Quantity: chart.Counts}, rows))
				}
			}
		}
		if !g.few() {
			added = append(added, f.add(q.name, nil, of))
		}
		if q.name == "L" || g.few() {
			tau := g.Taus[len(g.Taus)-1]
			rows := make(map[int]*compare.FleetCell)
			for _, t := range tables {
				for _, r := range t.Cells {
					if r.Tau == tau {
						rows[t.Bytes] = r
					}
				}
			}
			of = []sketch{over(q, map[string]string{"τ": view.TauName(tau)}, chart.Axis{Label: string(view.MessageSize), Quantity: chart.Sizes}, rows)}
			added = append(added, f.add(q.name+"m", nil, of))
		}
	}
	return added
}

// median is what a fleet's middle is called.
func (x *index) median() string { return fmt.Sprintf("median of %d", len(x.of)) }

// fleetChart draws what machines have at values of x.
func (x *index) fleetChart(q quantity, choice map[string]string, axis chart.Axis, rows map[int]*compare.FleetCell) (*chart.Chart, error) {
	exactly := func(at int, y float64) chart.Point {
		return chart.Point{X: float64(at), Y: fit.Estimate{Center: y, Lo: y, Hi: y}}
	}
	median := chart.Series{Name: x.median(), Of: x.median(), Colour: chart.Black}
	band := chart.Band{}
	of := make(map[string][]chart.Point)
	for _, at := range slices.Sorted(maps.Keys(rows)) {
		s := q.of(rows[at])
		if s == (fit.Spread{}) {
			continue
		}
		median.Points = append(median.Points, exactly(at, s.Median))
		band.X, band.Lo, band.Hi = append(band.X, float64(at)), append(band.Lo, max(s.Least, s.Median-s.Deviation)), append(band.Hi, s.Median+s.Deviation)
		for _, score := range rows[at].Scores {
			if y := q.score(score); y > 0 {
				of[score.Machine] = append(of[score.Machine], exactly(at, y))
			}
		}
	}
	if len(median.Points) == 0 {
		return nil, chart.ErrOthers
	}
	series := []chart.Series{median}
	for i, m := range x.of {
		s := chart.Series{Name: m.Name, Of: m.Name, Points: of[m.Name], Colour: chart.Black, Faint: true, Unmarked: true}
		if at := slices.Index(x.First, i); at >= 0 {
			s.Colour, s.Style, s.Faint, s.Unmarked = at, at+1, false, false
		}
		if len(s.Points) > 0 {
			series = append(series, s)
		}
	}
	about := []string{"band: a robust standard deviation about the median", "thin: all other machines", q.about}
	for _, value := range choice {
		if _, sized := choice["m"]; sized {
			value = "m = " + value
		}
		about = append([]string{value}, about...)
	}
	return &chart.Chart{Title: q.title, Caption: about, Panels: []chart.Panel{{X: axis, Y: q.y, Bands: []chart.Band{band}, Series: series}}}, nil
}
