package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Choice says what of the files to draw. What is left empty is what each kind of
// chart takes by itself.
type Choice struct {
	compare.Choice
	Taus       []int
	Variants   []string // parts of names of what surveys measured: float64, read
	Levels     []string // of copies between levels of the memory: L2-memory
	Algorithms []string // of verifications
	P          int      // of verifications and patterns
}

// MaxLines is how many lines a chart holds that can be told apart.
const MaxLines = 16

// tooMany refuses a chart that nobody can read.
func tooMany(lines int, choose string) error {
	if lines <= MaxLines {
		return nil
	}
	return fmt.Errorf("%d lines in a chart cannot be told apart, %d can: take %s; taulop compare sums up many files", lines, MaxLines, choose)
}

// A line is a series that does not have its name yet: that says only in what it
// differs from the others.
type line struct {
	machine string
	traits  []string // as setup, placement, cache, size, τ; "" where it has none
	tau     int
	points  []Point
}

// curves are what the choice takes of each machine: setups all or those chosen, of
// placements and states of the cache the first unless chosen, and sizes that take
// accepts. It fails for a machine that has none of it.
func (ch Choice) curves(machines []compare.Machine, take func(c *compare.Curve) bool, wanted string) (all []compare.Curve, err error) {
	if len(machines) == 0 {
		return nil, fmt.Errorf("there is no file to draw")
	}
	if n := len(machines); n > MaxLines+1 { // of ratios the first has no line
		return nil, tooMany(n, "fewer files")
	}
	for _, m := range machines {
		curves, err := compare.Curves(m.Name, m.File)
		if err != nil {
			return nil, err
		}
		for i := range curves { // a time of 0 has no place
			c := &curves[i]
			c.Points = slices.DeleteFunc(c.Points, func(p compare.Point) bool { return math.IsNaN(p.L.Center) })
		}
		curves = slices.DeleteFunc(curves, func(c compare.Curve) bool { return len(c.Points) == 0 })
		taken := ch.taken(each(curves, channelOf))
		if len(taken) == 0 {
			return nil, fmt.Errorf("%s has no transfers of %s: it has %s", m.Name, ch.described(), channelsText(each(curves, channelOf)))
		}
		sized := keep(curves, func(c compare.Curve) bool { return slices.Contains(taken, c.Channel) && take(&c) })
		if len(sized) == 0 {
			return nil, fmt.Errorf("%s has no L(m,τ) of %s: choose others with -m, -tau, -setup", m.Name, wanted)
		}
		all = append(all, sized...)
	}
	return all, nil
}

// taken are the channels that are chosen: local is the placement, and in cache the
// state of the cache, where they are not chosen but measured.
func (ch Choice) taken(of []compare.Channel) []compare.Channel {
	if len(ch.Setups) > 0 {
		of = keep(of, func(c compare.Channel) bool { return slices.Contains(ch.Setups, c.Setup) })
	}
	local := func(c compare.Channel) bool { return c.Placement == numa.Local }
	switch {
	case len(ch.Placements) > 0:
		of = keep(of, func(c compare.Channel) bool { return slices.Contains(ch.Placements, c.Placement) })
	case slices.ContainsFunc(of, local):
		of = keep(of, local)
	case len(of) > 0:
		of = keep(of, func(c compare.Channel) bool { return c.Placement == of[0].Placement })
	}
	inCache := func(c compare.Channel) bool { return !c.OffCache }
	switch {
	case len(ch.Caches) > 0:
		of = keep(of, func(c compare.Channel) bool { return slices.Contains(ch.Caches, c.OffCache) })
	case slices.ContainsFunc(of, inCache):
		of = keep(of, inCache)
	}
	return of
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

func channelOf(c compare.Curve) compare.Channel { return c.Channel }

// channelsText names channels of any size, once each.
func channelsText(channels []compare.Channel) string {
	return printable.Part(strings.Join(once(each(channels, compare.Channel.String)), "; "))
}

// each is a value of each.
func each[T, V any](of []T, value func(T) V) (values []V) {
	for _, t := range of {
		values = append(values, value(t))
	}
	return values
}

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

// traitsOf are what distinguishes curves of one machine, but for m and τ.
func traitsOf(c *compare.Curve) []string { return channelTraits(c.Setup, c.Placement, c.OffCache) }

func channelTraits(setup string, placement numa.Policy, off bool) []string {
	if setup == params.Published {
		return []string{"published parameters", "", ""}
	}
	return []string{setup, "placement " + string(placement), view.Cache(off)}
}

func tauText(tau int) string { return "τ = " + strconv.Itoa(tau) }

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
		var name, rest []string
		for i, trait := range t {
			if common[i] || trait == "" {
				continue
			}
			name = append(name, trait)
			if i > 0 {
				rest = append(rest, trait)
			}
		}
		machines = append(machines, t[0])
		rests = append(rests, strings.Join(rest, ", "))
		series = append(series, Series{Name: strings.Join(name, ", ")})
	}
	crossed := !common[0] && slices.ContainsFunc(rests, func(r string) bool { return r != rests[0] })
	for i := range series {
		s := &series[i]
		s.Points, s.Colour, s.Style = lines[i].points, i, i
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
