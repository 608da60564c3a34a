package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
)

// A Choice selects what to draw of the files. Empty fields are each chart's default.
type Choice struct {
	compare.Choice
	Taus       []int
	Variants   []string                              // parts of names of surveys' variants: float64, read, L2-memory
	Algorithms []string                              // of verifications
	P          int                                   // of verifications, patterns and costs
	Nodes      int                                   // of costs; 0 and 1 are one
	Bandwidth  bool                                  // instead of the times of messages
	Out        []string                              // outliers of a fleet; nil: no fleet, unless there are more machines than lines
	Curves     func(compare.Machine) []compare.Curve // of transfers; nil: the file's
}

func (ch Choice) better() string {
	return printable.Either(ch.Bandwidth, "higher is better", "lower is better")
}

// MaxLines is the number of lines in a chart that can be told apart.
const MaxLines = 16

func tooMany(lines int) error {
	return fmt.Errorf("%d lines in a chart cannot be told apart, %d can: %w", lines, MaxLines, ErrFewer)
}

// rows are the calls of a document with costs or times.
type rows[R any] struct {
	all      []R
	done     string // for errors: verified, predicted
	name     func(R) string
	is       func(r R, algorithm string) bool
	p, bytes func(R) int
}

// named are the calls of a choice's algorithms, in its order; all calls if it names none.
func (of rows[R]) named(ch Choice) (taken []R, err error) {
	if len(ch.Algorithms) == 0 {
		return of.all, nil
	}
	for _, algorithm := range ch.Algorithms {
		found := lists.Filter(of.all, func(r R) bool { return of.is(r, algorithm) })
		if len(found) == 0 {
			return nil, fmt.Errorf("%s was not %s: there are %s", algorithm, of.done, printable.List(lists.Unique(lists.Map(of.all, of.name))))
		}
		taken = append(taken, found...)
	}
	return taken, nil
}

// ofRanks selects the calls with the P of a choice, or the largest.
func (of rows[R]) ofRanks(ch Choice, some []R) (taken []R, p int, err error) {
	p = cmp.Or(ch.P, slices.Max(lists.Map(some, of.p)))
	if taken = lists.Filter(some, func(r R) bool { return of.p(r) == p }); len(taken) == 0 {
		return nil, 0, fmt.Errorf("nothing was %s with P = %d, as it was with P = %d: %w", of.done, p, of.p(some[0]), ErrOthers)
	}
	return taken, p, nil
}

// ofSizes selects the calls with the sizes of a choice, two at least, m rising.
func (of rows[R]) ofSizes(ch Choice, some []R) ([]R, error) {
	taken := lists.Filter(some, func(r R) bool { return len(ch.Sizes) == 0 || slices.Contains(ch.Sizes, of.bytes(r)) })
	if len(lists.Unique(lists.Map(taken, of.bytes))) < 2 {
		return nil, fmt.Errorf("a line over m needs two sizes: %w", ErrOthers)
	}
	slices.SortStableFunc(taken, func(a, b R) int { return of.bytes(a) - of.bytes(b) })
	return taken, nil
}

// A line is the properties of a series. Its name will be those in which it differs from other lines.
type line struct {
	machine, name           string
	tau                     string // "τ = 2" if lines differ in it
	setup, placement, cache string // "" for none
}

func (ch Choice) described() string {
	return strings.Join(slices.Concat(
		lists.Map(ch.Setups, func(s string) string { return "setup " + s }),
		lists.Map(ch.Placements, func(p numa.Policy) string { return "placement " + string(p) }),
		lists.Map(ch.Caches, view.Cache)), ", ")
}

func sizesText(sizes []int) string { return strings.Join(lists.Map(sizes, view.Bytes), ", ") }

// named makes series of lines: common properties go into the caption, others into their names. If lines
// differ in two properties, one is the colour and mark and the other the dash: machines are colours, and
// on one machine τ is the dash. No two lines differ by colour alone.
func named(lines []line) (series []Series, caption []string) {
	traits := lists.Map(lines, func(l line) []string {
		return []string{l.machine, l.name, l.tau, l.setup, l.placement, l.cache}
	})
	common := make([]bool, len(traits[0]))
	for i := range common {
		common[i] = !slices.ContainsFunc(traits, func(t []string) bool { return t[i] != traits[0][i] })
		if common[i] && traits[0][i] != "" {
			caption = append(caption, traits[0][i])
		}
	}
	for i, t := range traits {
		for j := range t {
			if common[j] {
				t[j] = ""
			}
		}
		series = append(series, Series{Name: joined(", ", t...), Of: lines[i].machine, order: i})
	}
	crossing := func(colour, dash func(t []string) string) bool {
		ofColour, ofDash := lists.Map(traits, colour), lists.Map(traits, dash)
		colours, rests := lists.Unique(ofColour), lists.Unique(ofDash)
		if len(colours) < 2 || len(colours) > len(palette) || len(rests) < 2 {
			return false
		}
		marked := len(colours) <= len(marks) && len(rests) <= len(dashes)
		for i := range series {
			s := &series[i]
			s.Marked, s.Colour, s.Style = marked, slices.Index(colours, ofColour[i]), i
			if marked {
				s.Style = slices.Index(rests, ofDash[i])
			}
		}
		return true
	}
	if !crossing(func(t []string) string { return t[0] }, func(t []string) string { return joined(", ", t[1:]...) }) &&
		!crossing(func(t []string) string { return joined(", ", t[1], joined(", ", t[3:]...)) }, func(t []string) string { return t[2] }) {
		for i := range series {
			series[i].Colour, series[i].Style = i, i
		}
	}
	return series, caption
}

// certainty explains the bars, or why there are none.
func certainty(series []Series) string {
	some, all, sampled := false, true, false
	for _, s := range series {
		for _, p := range s.Points {
			if p.Y.Lo != p.Y.Hi { // not A(1), which is 1 by definition
				some, all, sampled = some || p.Y.Known(), all && p.Y.Known(), sampled || p.Y.N > 0
			}
		}
	}
	switch {
	case some && all:
		return "bars: 95 % intervals"
	case some:
		return "bars: 95 % intervals, where known"
	case sampled:
		return "no intervals: too few samples"
	}
	return "no intervals: no samples"
}
