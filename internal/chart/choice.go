package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
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
}

// MaxLines is how many lines a chart holds that can be told apart.
const MaxLines = 16

// tooMany refuses a chart that nobody can read.
func tooMany(lines int) error {
	return fmt.Errorf("%d lines in a chart cannot be told apart, %d can: %w", lines, MaxLines, ErrFewer)
}

// A line is a series that does not have its name yet: that says only in what it
// differs from the others.
type line struct {
	machine string
	traits  []string // as setup, placement, cache, size, τ; "" where it has none
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

// each is a value of each.
func each[T, V any](of []T, value func(T) V) (values []V) {
	for _, t := range of {
		values = append(values, value(t))
	}
	return values
}

func sizesText(sizes []int) string { return strings.Join(each(sizes, view.Bytes), ", ") }

func keep[T any](all []T, take func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !take(t) })
}

// once are the values without those that were there before.
func once[T comparable](values []T) (first []T) {
	for _, v := range values {
		if !slices.Contains(first, v) {
			first = append(first, v)
		}
	}
	return first
}

// named makes series of lines: what they have in common goes into the caption,
// what differs into their names. Machines have a colour each where their lines
// differ in more than that, and marks and dashes tell the rest.
func named(lines []line) (series []Series, caption []string) {
	var traits [][]string // of each line, the machine first
	for _, l := range lines {
		traits = append(traits, append([]string{l.machine}, l.traits...))
	}
	common := make([]bool, len(traits[0]))
	for i := range common {
		common[i] = !slices.ContainsFunc(traits, func(t []string) bool { return t[i] != traits[0][i] })
		if common[i] && traits[0][i] != "" {
			caption = append(caption, traits[0][i])
		}
	}
	var machines, rests []string
	for _, t := range traits {
		machine := t[0]
		for i := range t {
			if common[i] {
				t[i] = ""
			}
		}
		machines, rests = append(machines, machine), append(rests, joined(", ", t[1:]...))
		series = append(series, Series{Name: joined(", ", t...)})
	}
	crossed := !common[0] && slices.ContainsFunc(rests, func(r string) bool { return r != rests[0] })
	for i := range series {
		s := &series[i]
		s.Colour, s.Style = i, i
		if crossed {
			s.Colour, s.Style = slices.Index(once(machines), machines[i]), slices.Index(once(rests), rests[i])
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
