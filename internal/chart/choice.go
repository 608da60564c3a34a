package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
)

// A Choice says what of the files to draw. What is left empty is what each kind of
// chart takes by itself.
type Choice struct {
	compare.Choice
	Taus       []int
	Variants   []string // parts of names of what surveys measured: float64, read, L2-memory
	Algorithms []string // of verifications
	P          int      // of verifications, patterns and costs
	Nodes      int      // of costs; 0 and 1 are one
	Bandwidth  bool     // instead of the times of messages
}

// MaxLines is how many lines a chart holds that can be told apart.
const MaxLines = 16

// tooMany refuses a chart with too many lines to read.
func tooMany(lines int) error {
	return fmt.Errorf("%d lines in a chart cannot be told apart, %d can: %w", lines, MaxLines, ErrFewer)
}

// A line is a series that does not have its name yet: that says only in what it
// differs from the others.
type line struct {
	machine string
	tau     string   // "τ = 2" where lines are told apart by it
	traits  []string // its own name, and setup, placement, cache; "" where it has none
}

func (ch Choice) described() string {
	var parts []string
	if len(ch.Setups) > 0 {
		parts = append(parts, "setup "+strings.Join(ch.Setups, ", "))
	}
	for _, p := range ch.Placements {
		parts = append(parts, "placement "+string(p))
	}
	for _, off := range ch.Caches {
		parts = append(parts, view.Cache(off))
	}
	return strings.Join(parts, ", ")
}

func sizesText(sizes []int) string { return strings.Join(lists.Map(sizes, view.Bytes), ", ") }

// named makes series of lines: what they have in common goes into the caption,
// what differs into their names. Of lines that differ in two ways the one has colours
// and marks, and the other dashes: machines have a colour each, and of one machine what
// is copied where, while τ is the dash. No two lines differ by colour alone.
func named(lines []line) (series []Series, caption []string) {
	var traits [][]string // of each line: machine, name, τ, …
	for _, l := range lines {
		traits = append(traits, append([]string{l.machine, l.traits[0], l.tau}, l.traits[1:]...))
	}
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

// certainty says what the bars are, or why there are none.
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
		return "bars: 95 % intervals, where there are samples enough"
	case sampled:
		return "no intervals: too few samples"
	}
	return "no intervals: no samples"
}
