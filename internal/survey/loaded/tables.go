package loaded

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A curve identifies the points of one latency.
type curve struct {
	what      string
	placement numa.Policy
	cores     int
}

// A point is a latency and the injected bandwidth at one level.
type point struct {
	curve
	level   int
	latency fit.Estimate // ns
	GBs     fit.Estimate // NaN: hardly anything was injected, for want of CPU time
}

// measured reports whether others injected enough for the level.
func (p point) measured() bool { return !math.IsNaN(p.GBs.Center) }

// The least injected bandwidth: a share of the level's part of the greatest, and GB/s that any running
// core exceeds.
const (
	leastShare = 0.1
	leastGBs   = 0.001
)

// curves combines latencies and rates, the points of each curve rising in level. A level without
// either is left out.
func curves(cells []params.Cell) [][]point {
	times := lists.ToMap(cells, func(c params.Cell) (params.Key, fit.Estimate) { return c.Key, c.Time })
	var all []point
	for _, c := range cells {
		l, ok := c.Variant.(params.Load)
		if !ok || l.Rate || !(c.Time.Center > 0) {
			continue
		}
		p := point{curve{l.What, c.Placement, c.Tau}, l.Level, c.Time, fit.Estimate{N: c.Time.N}}
		if l.Level > 0 {
			k := c.Key
			k.Variant = params.Load{What: l.What, Level: l.Level, Rate: true}
			line, found := times[k]
			if !found || !(line.Center > 0) {
				continue
			}
			p.GBs = line.Rate(lineBytes)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Or(strings.Compare(b.what, a.what), a.level-b.level) }) // reads first
	grouped := lists.Groups(all, func(p point) curve { return p.curve })
	for _, points := range grouped {
		most := slices.MaxFunc(points, byRate).GBs.Center
		for i := range points {
			if p := &points[i]; p.level > 0 && p.GBs.Center < max(leastGBs, leastShare*most*float64(p.level)/100) {
				p.GBs = fit.Median(nil)
			}
		}
	}
	return grouped
}

func byRate(a, b point) int { return cmp.Compare(a.GBs.Center, b.GBs.Center) }

// Profiles are latencies over injected bandwidth, in MB/s.
func Profiles(cells []params.Cell) (profiles []view.Profile) {
	for _, points := range curves(cells) {
		c := points[0].curve
		p := view.Profile{Kind: params.LoadedCell, Panel: fmt.Sprintf("%d cores", c.cores), Line: c.what, Tau: c.cores,
			Over: view.Bandwidth, Time: view.Time}
		p.Points = lists.Map(lists.Filter(points, point.measured), func(q point) view.ProfilePoint {
			return view.ProfilePoint{X: int(math.Round(1e3 * q.GBs.Center)), Y: q.latency}
		})
		slices.SortFunc(p.Points, func(a, b view.ProfilePoint) int { return a.X - b.X })
		profiles = append(profiles, p)
	}
	return profiles
}

// names describe the latencies.
var names = map[string]string{params.LoadedRead: "a read of memory", params.LoadedPair: "a pair, 64 bytes one way"}

// quantities tell the measuring workers' states apart.
var quantities = map[string]string{params.LoadedRead: "an instruction", params.LoadedPair: "flag"}

// Tables are one for reads and one for pairs, each with its meaning; if the host moves the measuring
// CPUs, one for each state.
func Tables(f *params.File) (tables []view.Table) {
	for points, state := range each(f) {
		if state != "" {
			state = "; " + state
		}
		tables = append(tables, table(points, state))
	}
	return tables
}

// Answer is the meaning of each table.
func Answer(f *params.File) string {
	var lines []string
	for points, state := range each(f) {
		if state != "" {
			state = " (" + state + ")"
		}
		text := meaning(points)
		lines = append(lines, view.Capital(names[points[0].what])+state+": "+strings.ToLower(text[:1])+text[1:])
	}
	return strings.Join(lines, "\n")
}

// each yields the curves with their state in words, which is "" unless the host moves the measuring
// CPUs.
func each(f *params.File) iter.Seq2[[]point, string] {
	return func(yield func([]point, string) bool) {
		sorting := f.Sort()
		for _, points := range curves(f.Cells) {
			c := points[0].curve
			states := statesOf(f, sorting, c)
			if len(states) == 0 && !yield(points, "") {
				return
			}
			for _, state := range states {
				in, err := f.InState(measuring[c.what], state)
				if err != nil {
					continue
				}
				for _, points := range curves(in.Cells) {
					if points[0].curve == c && !yield(points, fmt.Sprintf("%s %s, %.0f %% of the time", quantities[c.what], state.Name(), state.Percent())) {
						return
					}
				}
			}
		}
	}
}

// statesOf are the states of a curve's measuring workers with a settled share of the time; none if
// there is only one.
func statesOf(f *params.File, sorting *params.Sorting, c curve) []params.State {
	for i := range f.Cells {
		cell := &f.Cells[i]
		if l, ok := cell.Variant.(params.Load); ok && (curve{l.What, cell.Placement, cell.Tau}) == c && len(cell.Samples) > 0 {
			return lists.Filter(sorting.StatesOf(cell), func(s params.State) bool { return s.Share >= params.Settled })
		}
	}
	return nil
}

// table has the points of a curve in a state.
func table(points []point, state string) view.Table {
	c := points[0].curve
	t := view.Table{
		Title:   fmt.Sprintf("Latency of %s while others of %d cores read memory%s", names[c.what], c.cores, state),
		Columns: view.Numbers("injected", "GB/s", "95 % interval", "ns", "95 % interval", "launches"),
	}
	blank := false
	for _, p := range points {
		if !p.measured() {
			t.Add(fmt.Sprintf("%d %%", p.level), "not measured")
			blank = true
			continue
		}
		bandwidth, interval := "0", ""
		if p.level > 0 {
			bandwidth, interval = view.Rough(p.GBs), view.Interval(p.GBs)
		}
		t.Add(fmt.Sprintf("%d %%", p.level), bandwidth, interval, view.Rough(p.latency), view.Interval(p.latency), strconv.Itoa(p.latency.N))
	}
	t.Note("%s", meaning(points))
	t.NoteIf(blank, "not measured: the cores that inject had next to no CPU time")
	return t
}

// meaning sums up a curve in a sentence.
func meaning(points []point) string {
	if points = lists.Filter(points, point.measured); len(points) == 0 {
		return "Nothing was injected, for want of CPU time."
	}
	first, last := points[0], points[len(points)-1]
	most := slices.MaxFunc(points, byRate)
	var parts []string
	if first.level == 0 {
		parts = append(parts, "idle latency "+view.Known(first.latency, " ns"))
		if last.level > 0 {
			parts = append(parts, rise(points))
		}
	}
	if last.level == 100 {
		parts = append(parts, "the others inject "+view.Known(most.GBs, " GB/s")+" at the most")
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("latency %s while the others inject %s", view.Known(last.latency, " ns"), view.Known(last.GBs, " GB/s")))
	}
	return view.Capital(strings.Join(parts, "; ") + ".")
}

// rise tells the bandwidth from which on the latency is twice the first, idle one, as far as intervals
// allow.
func rise(points []point) string {
	idle, last := points[0].latency, points[len(points)-1]
	doubled := slices.IndexFunc(points, func(p point) bool { return p.latency.Div(idle).Lo >= 2 })
	perhaps := slices.IndexFunc(points[1:], func(p point) bool { return !(p.latency.Div(idle).Hi < 2) }) + 1
	switch {
	case perhaps == 0:
		return fmt.Sprintf("%.2f times that at %s GB/s, and below twice at every level", last.latency.Center/idle.Center, view.Rough(last.GBs))
	case doubled == perhaps:
		return fmt.Sprintf("twice that from %s GB/s on", view.Rough(points[doubled].GBs))
	case doubled > 0:
		return fmt.Sprintf("twice that from %s GB/s on, perhaps from %s", view.Rough(points[doubled].GBs), view.Rough(points[perhaps].GBs))
	}
	widest := idle.Width()
	for _, p := range points[perhaps:] {
		widest = max(widest, p.latency.Width())
	}
	why := "there are too few launches for intervals"
	if !math.IsInf(widest, 0) {
		why = fmt.Sprintf("intervals are too wide (±%.0f %%)", 100*widest)
	}
	return "whether it comes to twice that could not be told: " + why
}
