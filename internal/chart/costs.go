package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// Costs is predicted costs of collectives over m, a line for each algorithm, or of several machines for
// each of them. By default it takes the first collective with two sizes, and the largest P.
func Costs(d *predict.Machines, ch Choice) (*Chart, error) {
	several := len(d.Machines) > 1
	topic := func(r predict.MachineCost) string {
		return printable.Either(several, r.Of, r.Collective)
	}
	rows, p, omitted, err := ch.costs(d, topic)
	if err != nil {
		return nil, err
	}
	groups := lists.Groups(rows, func(r predict.MachineCost) [2]string { return [2]string{r.Machine, r.Of} })
	if len(groups) > MaxLines {
		return nil, tooMany(len(groups))
	}
	var lines []line
	for _, of := range groups {
		titled := !several && len(lists.Unique(lists.Map(rows, topic))) == 1
		lines = append(lines, line{machine: of[0].Machine, name: printable.Either(titled, of[0].Algorithm, of[0].Of)})
	}
	series, caption := named(lines)
	extrapolated := false
	for i, of := range groups {
		for _, r := range of {
			y := exactly(r.Microseconds * 1e3)
			if r.Lo != nil && r.Hi != nil {
				y.Lo, y.Hi = *r.Lo*1e3, *r.Hi*1e3
			}
			if ch.Bandwidth {
				y = y.Rate(float64(r.Bytes))
			}
			series[i].Points = append(series[i].Points, Point{float64(r.Bytes), y})
			extrapolated = extrapolated || r.Extrapolated
		}
	}
	of := lists.Unique(lists.Map(rows, topic))
	title, y := "Predicted cost: ", Axis{"predicted time", Times}
	if ch.Bandwidth {
		title, y = "Predicted bandwidth: ", Axis{"m over predicted time", Bandwidths}
	}
	c := &Chart{Title: title + strings.Join(of, ", "), Caption: append(lists.Filter(caption, func(s string) bool { return !slices.Contains(of, s) }), fmt.Sprintf("P = %d", p)), Omitted: omitted}
	models := lists.Unique(lists.Map(d.Machines, func(s predict.Source) string { return s.Model }))
	c.say(strings.Join(models, ", "), printable.If(several, rows[0].HowChosen()),
		printable.If(extrapolated, "some of it beyond what was measured"), predictedCertainty(series), ch.better())
	c.Panels = []Panel{{X: Axis{"m, bytes", Sizes}, Y: y, Series: series}}
	return c, nil
}

// costs are the chosen rows, m rising, their P, and the topics that are not drawn.
func (ch Choice) costs(d *predict.Machines, topic func(predict.MachineCost) string) (taken []predict.MachineCost, p int, omitted []string, err error) {
	of := rows[predict.MachineCost]{lists.Filter(d.Rows, func(r predict.MachineCost) bool { return r.Bytes >= 1 && r.Microseconds > 0 && !r.Unknown }), "predicted",
		func(r predict.MachineCost) string { return r.Of },
		func(r predict.MachineCost, algorithm string) bool { return r.Of == algorithm || topic(r) == algorithm },
		func(r predict.MachineCost) int { return r.P }, func(r predict.MachineCost) int { return r.Bytes }}
	if len(of.all) == 0 {
		return nil, 0, nil, fmt.Errorf("no cost in it is of a message: predict a collective that has some")
	}
	if taken, err = of.named(ch); err != nil {
		return nil, 0, nil, err
	}
	if len(ch.Algorithms) == 0 { // the first topic with two sizes
		topics := lists.Groups(of.all, topic)
		lines := lists.Filter(topics, func(rows []predict.MachineCost) bool {
			return len(lists.Unique(lists.Map(rows, of.bytes))) > 1
		})
		if taken = topics[0]; len(lines) > 0 {
			taken = lines[0]
			omitted = lists.Map(lines[1:], func(rows []predict.MachineCost) string { return topic(rows[0]) })
		}
	}
	if taken, p, err = of.ofRanks(ch, taken); err != nil {
		return nil, 0, nil, err
	}
	taken, err = of.ofSizes(ch, taken)
	return taken, p, omitted, err
}

// predictedCertainty explains the bars of predictions.
func predictedCertainty(series []Series) string {
	for _, s := range series {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Y.Lo != p.Y.Hi }) {
			return "bars: 95 % intervals that the parameters leave"
		}
	}
	return "without intervals"
}

// StridedCosts is predicted costs of strided messages over the stride, a panel for each size and a line
// for each model: Figs. 3 and 4 of mlognp-2009.
func StridedCosts(d *predict.Strided) (*Chart, error) {
	c := &Chart{Title: "Strided messages under mlog_nP: " + d.Algorithm, Caption: slices.Clone(d.Where)}
	rows := slices.SortedStableFunc(slices.Values(d.Rows), func(a, b predict.StridedCost) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for _, of := range lists.Groups(rows, func(r predict.StridedCost) int { return r.Bytes }) {
		p := Panel{Name: "m = " + view.Bytes(of[0].Bytes), X: Axis{"stride, bytes", Sizes}, Y: Axis{"predicted time", Times}, Height: 0.7}
		for i, line := range lists.Groups(of, func(r predict.StridedCost) string { return r.Model }) {
			s := Series{Name: line[0].Model, Colour: i, Style: i}
			s.Points = lists.Map(line, func(r predict.StridedCost) Point {
				return Point{float64(r.Stride), exactly(r.Seconds * 1e9)}
			})
			p.Series = append(p.Series, s)
		}
		c.Panels = append(c.Panels, p)
	}
	if len(c.Panels) > MaxPanels {
		return nil, fmt.Errorf("%d panels in a chart are too many, %d can be read: %w", len(c.Panels), MaxPanels, ErrFewer)
	}
	extrapolated := slices.ContainsFunc(rows, func(r predict.StridedCost) bool { return r.Extrapolated })
	c.say(printable.If(extrapolated, "some of it beyond the sizes that were measured"),
		"predictions of medians, without intervals", "lower is better")
	return c, nil
}
