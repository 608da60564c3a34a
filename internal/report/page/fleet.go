package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
)

// A fleet is many machines beside their median.
type fleet struct {
	Conclusion string
	Why        string // nothing was compared
	Outliers   []outlier
	Medians    []median
	Surveys    []outlier   // in surveys
	Curves     template.JS // the median machine's, for the charts
	Measured   template.JS // likewise
	Score      float64     // from which on a machine is an outlier
	warnings   []compare.Warning
}

type outlier struct {
	Number  int // of the machine
	Machine string
	Cell    string // that gave it away
	L       string
	Median  string
	Times   string
	Score   string
	Off     string // cells
}

type median struct {
	Channel  string
	Tau      int
	Machines int
	Values   []spread // L, bandwidth, A
}

type spread struct{ Median, Range, Deviation string }

// drawn is how many machines charts begin with, beside the median: outliers, if
// anything was compared.
const drawn = 3

// newFleet compares segments as taulop compare does, and takes medians of all
// sizes for the charts.
func newFleet(machines []compare.Machine, x *index, groups map[compare.Channel]int) (*fleet, error) {
	v := &fleet{Score: fit.OutlierScore}
	o, err := compare.NewOverview(machines, compare.Choice{})
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
	numbers := make(map[string]int)
	for i, m := range machines {
		numbers[m.Name] = i
	}
	x.First = []int{}
	for _, out := range o.Outliers {
		n := numbers[out.Machine]
		if len(x.First) < drawn {
			x.First = append(x.First, n)
		}
		cell := fmt.Sprintf("%s, L(%s,%d)", out.Channel, view.Bytes(out.Bytes), out.Tau)
		v.Outliers = append(v.Outliers, newOutlier(n, out.Machine, cell, out.L, out.Median, out.Deviation))
	}
	if err := v.surveys(machines, x, o.Surveys, numbers); err != nil {
		return nil, err
	}
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			v.Medians = append(v.Medians, median{
				Channel: t.Channel.String() + ", " + view.Bytes(t.Bytes), Tau: r.Tau, Machines: r.Machines,
				Values: []spread{newSpread(r.L), newSpread(r.Bandwidth), newSpread(r.A)},
			})
		}
	}
	var sizes []int
	for _, g := range x.Groups {
		for _, m := range g.Sizes {
			sizes = lists.Insert(sizes, m)
		}
	}
	if len(o.Tables) > 0 {
		if o, err = compare.NewOverview(machines, compare.Choice{Sizes: sizes}); err != nil {
			return nil, err
		}
	}
	v.Curves, err = encodeMedians(o.Tables, groups)
	return v, err
}

func newOutlier(number int, machine, cell string, ns fit.Estimate, median float64, d compare.Deviation) outlier {
	return outlier{
		Number: number, Machine: machine, Cell: cell, L: value(ns), Median: view.Digits(median, 0), Times: view.Digits(ns.Center/median, 0),
		Score: fmt.Sprintf("%+.1f", d.Score), Off: fmt.Sprintf("%d of %d", d.Off, d.Cells),
	}
}

// mostOff is how many outliers a kind has: of thousands of cells some
// are off by chance on every machine.
const mostOff = 100

// surveys is about what surveys measured: outliers, which
// charts begin with where transfers have shown fewer, and the median machine.
func (v *fleet) surveys(machines []compare.Machine, x *index, kinds []compare.FleetKind, numbers map[string]int) error {
	for _, k := range kinds {
		for _, out := range k.Outliers[:min(mostOff, len(k.Outliers))] {
			n := numbers[out.Machine]
			if len(x.First) < drawn && !slices.Contains(x.First, n) {
				x.First = append(x.First, n)
			}
			v.Surveys = append(v.Surveys, newOutlier(n, out.Machine, out.Key.String(), out.Time, out.Median, out.Deviation))
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	m := newMeasured(medianMachine(machines, kinds))
	x.MedianMaps = len(m.maps)
	var err error
	v.Measured, err = x.lines.encode(m)
	return err
}

func newSpread(s fit.Spread) spread {
	if s == (fit.Spread{}) {
		return spread{}
	}
	return spread{
		view.Digits(s.Median, 0), view.Digits(s.Least, 0) + " … " + view.Digits(s.Most, 0),
		fmt.Sprintf("± %.1f %%", 100*s.Deviation/s.Median),
	}
}

// encodeMedians makes tables of the median machine, its bounds a robust standard
// deviation away.
func encodeMedians(tables []compare.FleetTable, groups map[compare.Channel]int) (template.JS, error) {
	var curves []compare.Curve
	for _, t := range tables {
		c := compare.Curve{Channel: t.Channel}
		for _, r := range t.Rows {
			c.Points = append(c.Points, compare.Point{Tau: r.Tau, L: middle(r.L), A: middle(r.A), Bandwidth: middle(r.Bandwidth)})
		}
		curves = append(curves, c)
	}
	return encode(curves, groups)
}
