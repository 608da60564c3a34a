package chart

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/view"
)

// StridedCosts is what an algorithm costs for strided messages against the stride, a panel for each
// size and a line for each model: Figs. 3 and 4 of mlognp-2009.
func StridedCosts(d *predict.Strided) (*Chart, error) {
	c := &Chart{Title: "Strided messages under mlog_nP: " + d.Algorithm, Caption: slices.Clone(d.Where)}
	rows := slices.SortedStableFunc(slices.Values(d.Rows), func(a, b predict.StridedCost) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for _, of := range view.Grouped(rows, func(r predict.StridedCost) int { return r.Bytes }) {
		p := Panel{Name: "m = " + view.Bytes(of[0].Bytes), X: Axis{"stride, bytes", Strides}, Y: Axis{"predicted time", Times}, Height: 0.7}
		for i, line := range view.Grouped(of, func(r predict.StridedCost) string { return r.Model }) {
			s := Series{Name: line[0].Model, Colour: i, Style: i}
			for _, r := range line {
				s.Points = append(s.Points, Point{float64(r.Stride), exactly(r.Seconds * 1e9)})
			}
			p.Series = append(p.Series, s)
		}
		c.Panels = append(c.Panels, p)
	}
	if len(c.Panels) > MaxPanels {
		return nil, fmt.Errorf("%d panels in a chart are too many, %d can be read: %w", len(c.Panels), MaxPanels, ErrFewer)
	}
	if slices.ContainsFunc(rows, func(r predict.StridedCost) bool { return r.Extrapolated }) {
		c.Caption = append(c.Caption, "some of it beyond the sizes that were measured")
	}
	c.Caption = append(c.Caption, "predictions of medians, without intervals", "lower is better")
	return c, nil
}
