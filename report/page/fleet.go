package page

import (
	"fmt"
	"html/template"
	"math"

	"github.com/taulop/taulop/compare"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/report"
)

// A fleet is many machines beside their median.
type fleet struct {
	Conclusion string
	Why        string // nothing was compared
	Outliers   []outlier
	Medians    []median
	Curves     template.JS // the median machine's, for the charts
	Score      float64     // from which on a machine is an outlier
	warnings   []string
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
	v := &fleet{Score: compare.OutlierScore}
	o, err := compare.NewOverview(machines, compare.Choice{})
	if err != nil {
		v.Why = err.Error()
		for n := range drawn {
			x.First = append(x.First, n)
		}
		return v, nil
	}
	v.Conclusion, v.warnings = o.Conclusion(), o.Warnings
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
		v.Outliers = append(v.Outliers, outlier{
			Number: n, Machine: out.Machine, Cell: fmt.Sprintf("%s, L(%s,%d)", out.Channel, report.Bytes(out.Bytes), out.Tau),
			L: value(out.L), Median: report.Digits(out.Median, 0), Times: report.Digits(out.L.Center/out.Median, 0),
			Score: fmt.Sprintf("%+.1f", out.Score), Off: fmt.Sprintf("%d of %d", out.Off, out.Cells),
		})
	}
	for _, t := range o.Tables {
		for _, r := range t.Rows {
			v.Medians = append(v.Medians, median{
				Channel: t.Channel.String() + ", " + report.Bytes(t.Bytes), Tau: r.Tau, Machines: r.Machines,
				Values: []spread{newSpread(r.L), newSpread(r.Bandwidth), newSpread(r.A)},
			})
		}
	}
	var sizes []int
	for _, g := range x.Groups {
		for _, m := range g.Sizes {
			sizes = insert(sizes, m)
		}
	}
	if o, err = compare.NewOverview(machines, compare.Choice{Sizes: sizes}); err != nil {
		return nil, err
	}
	v.Curves, err = encodeMedians(o.Tables, groups)
	return v, err
}

func newSpread(s compare.Spread) spread {
	if s == (compare.Spread{}) {
		return spread{}
	}
	return spread{
		report.Digits(s.Median, 0), report.Digits(s.Least, 0) + " … " + report.Digits(s.Most, 0),
		fmt.Sprintf("± %.1f %%", 100*s.Deviation/s.Median),
	}
}

// encodeMedians makes tables of the median machine, its bounds a robust standard
// deviation away.
func encodeMedians(tables []compare.FleetTable, groups map[compare.Channel]int) (template.JS, error) {
	estimate := func(s compare.Spread) fit.Estimate {
		if s == (compare.Spread{}) {
			return fit.Estimate{Center: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		return fit.Estimate{Center: s.Median, Lo: max(0, s.Median-s.Deviation), Hi: s.Median + s.Deviation}
	}
	var curves []compare.Curve
	for _, t := range tables {
		c := compare.Curve{Channel: t.Channel}
		for _, r := range t.Rows {
			c.Points = append(c.Points, compare.Point{Tau: r.Tau, L: estimate(r.L), A: estimate(r.A), Bandwidth: estimate(r.Bandwidth)})
		}
		curves = append(curves, c)
	}
	return encode(curves, groups)
}
