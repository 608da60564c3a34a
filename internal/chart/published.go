package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
)

// Published is predicted over measured time of published collectives over P, the median over m, and below
// it the mean absolute error, a line for each algorithm: Figs. 10–12 and 15 of taulop-2015. By default it
// takes the first collective with two values of P, and mapping core if that has two.
func Published(d *report.Published, ch Choice) (*Chart, error) {
	cells, err := ch.published(d)
	if err != nil {
		return nil, err
	}
	called := func(c published.Cell) string {
		return printable.Either(c.Setting.Own(), "own choice", c.Setting.Name)
	}
	groups := lists.Groups(cells, called)
	if len(groups) > MaxLines {
		return nil, tooMany(len(groups))
	}
	slices.SortStableFunc(groups, func(a, b []published.Cell) int {
		return cmp.Compare(uint(a[0].Setting.ID-1), uint(b[0].Setting.ID-1)) // its own choice last
	})
	var ratios, errors []Series
	for i, group := range groups {
		ratio := Series{Name: called(group[0]), Colour: i, Style: i}
		off := ratio
		for _, at := range lists.Groups(group, func(c published.Cell) int { return c.P }) {
			var quotients []float64
			sum := 0.0
			for _, c := range at {
				quotients = append(quotients, 1+*c.Error)
				sum += math.Abs(*c.Error)
			}
			p := float64(at[0].P)
			ratio.Points = append(ratio.Points, Point{p, exactly(fit.Median(quotients).Center)})
			off.Points = append(off.Points, Point{p, exactly(sum / float64(len(at)))})
		}
		ratios, errors = append(ratios, ratio), append(errors, off)
	}
	sizes := lists.Rising(lists.Map(cells, func(c published.Cell) int { return c.Bytes }))
	over := printable.If(sizes[0] > 0, "m = "+view.Bytes(sizes[0]))
	if len(sizes) > 1 {
		over = fmt.Sprintf("over %d sizes, %s to %s", len(sizes), view.Bytes(sizes[0]), view.Bytes(sizes[len(sizes)-1]))
	}
	caption := append([]string{d.Machine, "mapping " + cells[0].Mapping},
		stated(over, d.Version, fmt.Sprintf("grey lines: right, and off by a factor of %g", published.Factor))...)
	x := Axis{"P, ranks", Counts}
	return &Chart{
		Title:   "Predicted over measured time: " + cells[0].Collective,
		Caption: caption,
		Panels: []Panel{
			{X: x, Y: Axis{"predicted / measured", Proportions}, Levels: []float64{1 / published.Factor, 1, published.Factor}, Series: ratios},
			{X: x, Y: Axis{"mean |error|", Shares}, Height: 0.7, Levels: []float64{0}, Series: errors},
		},
	}, nil
}

// published are the chosen cells of one collective and mapping, P rising.
func (ch Choice) published(d *report.Published) (cells []published.Cell, err error) {
	cells = lists.Filter(d.Cells, func(c published.Cell) bool {
		return c.Error != nil && (len(ch.Sizes) == 0 || slices.Contains(ch.Sizes, c.Bytes))
	})
	of := rows[published.Cell]{all: cells, done: "compared", name: func(c published.Cell) string { return c.Collective + ":" + c.Setting.Name }}
	of.is = func(c published.Cell, algorithm string) bool {
		return slices.Contains([]string{c.Collective, of.name(c), c.Collective + ":" + strconv.Itoa(c.Setting.ID)}, algorithm)
	}
	if len(cells) > 0 {
		if cells, err = of.named(ch); err != nil {
			return nil, err
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("nothing is predicted of what was asked for: %w", ErrOthers)
	}
	slices.SortStableFunc(cells, func(a, b published.Cell) int {
		return cmp.Or(strings.Compare(a.Collective, b.Collective), lists.FalseFirst(a.Mapping != "core")-lists.FalseFirst(b.Mapping != "core"), a.P-b.P)
	})
	alike := lists.Groups(cells, func(c published.Cell) [2]string { return [2]string{c.Collective, c.Mapping} })
	if i := slices.IndexFunc(alike, func(cells []published.Cell) bool { return cells[0].P < cells[len(cells)-1].P }); i >= 0 {
		return alike[i], nil
	}
	all := lists.Map(alike, func(cells []published.Cell) string {
		return fmt.Sprintf("%s, mapping %s, has P = %d", cells[0].Collective, cells[0].Mapping, cells[0].P)
	})
	return nil, fmt.Errorf("a line over P needs two values of P, and each collective has one: %s: %w", printable.Part(strings.Join(all, "; ")), ErrOthers)
}
