package loaded

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A point is a latency and what was injected meanwhile, at one level.
type point struct {
	level   int
	latency fit.Estimate // ns
	GBs     fit.Estimate
}

// A curve is the points of a read or a pair, rising in level.
type curve struct {
	what      string
	placement numa.Policy
	cores     int
	points    []point
}

// curves puts cells together; a level of which one half is missing is left out.
func curves(cells []params.Cell) (all []curve) {
	at := make(map[params.Key]fit.Estimate)
	for _, c := range cells {
		at[c.Key] = c.Time
	}
	for _, c := range cells {
		what, level, rate, ok := parse(c.Key)
		if !ok || rate || !(c.Time.Center > 0) {
			continue
		}
		p := point{level: level, latency: c.Time, GBs: fit.Estimate{N: c.Time.N}}
		if level > 0 {
			k := c.Key
			k.Variant = variant(what, level, true)
			line, found := at[k]
			if !found || !(line.Center > 0) {
				continue
			}
			p.GBs = line.Rate(lineBytes)
		}
		same := func(o curve) bool { return o.what == what && o.placement == c.Placement && o.cores == c.Tau }
		i := slices.IndexFunc(all, same)
		if i < 0 {
			i, all = len(all), append(all, curve{what: what, placement: c.Placement, cores: c.Tau})
		}
		all[i].points = append(all[i].points, p)
	}
	for _, c := range all {
		slices.SortFunc(c.points, func(a, b point) int { return a.level - b.level })
	}
	slices.SortStableFunc(all, func(a, b curve) int { return strings.Compare(b.what, a.what) }) // reads first
	return all
}

// Profiles are latencies over the bandwidth that was injected.
func Profiles(cells []params.Cell) (profiles []*view.Profile) {
	for _, c := range curves(cells) {
		p := &view.Profile{Kind: Kind, Panel: fmt.Sprintf("%d cores", c.cores), Line: c.what, Placement: c.placement, OffCache: true, Tau: c.cores,
			Over: view.Bandwidth, Time: view.Time}
		for _, q := range c.points {
			p.Points = append(p.Points, view.ProfilePoint{X: int(math.Round(1e3 * q.GBs.Center)), Y: q.latency})
		}
		slices.SortFunc(p.Points, func(a, b view.ProfilePoint) int { return a.X - b.X })
		profiles = append(profiles, p)
	}
	return profiles
}

// names are what latencies are of, for readers.
var names = map[string]string{Read: "a read of memory", Pair: "a pair, 64 bytes one way"}

// Tables are one for reads and one for pairs, each with what it means.
func Tables(f *params.File) (tables []view.Table) {
	for _, c := range curves(f.Cells) {
		t := view.Table{
			Title:   fmt.Sprintf("Latency of %s while others of %d cores read memory", names[c.what], c.cores),
			Columns: view.Numbers("injected", "GB/s", "95 % interval", "ns", "95 % interval", "launches"),
		}
		for _, p := range c.points {
			bandwidth, interval := "0", ""
			if p.level > 0 {
				bandwidth, interval = view.Rough(p.GBs), view.Interval(p.GBs)
			}
			t.Add(fmt.Sprintf("%d %%", p.level), bandwidth, interval, view.Rough(p.latency), view.Interval(p.latency), strconv.Itoa(p.latency.N))
		}
		t.Notes = []string{c.meaning()}
		tables = append(tables, t)
	}
	return tables
}

// meaning sums a curve up in a sentence.
func (c curve) meaning() string {
	first, last := c.points[0], c.points[len(c.points)-1]
	most := slices.MaxFunc(c.points, func(a, b point) int {
		if a.GBs.Center < b.GBs.Center {
			return -1
		}
		return 1
	})
	var parts []string
	if first.level == 0 {
		parts = append(parts, fmt.Sprintf("idle latency %s ns", view.Rough(first.latency)))
		doubled := slices.IndexFunc(c.points, func(p point) bool { return p.latency.Center >= 2*first.latency.Center })
		switch {
		case doubled >= 0:
			parts = append(parts, fmt.Sprintf("twice that from %s GB/s on", view.Rough(c.points[doubled].GBs)))
		case last.level > 0:
			parts = append(parts, fmt.Sprintf("%.2f times that at %s GB/s, nowhere twice", last.latency.Center/first.latency.Center, view.Rough(last.GBs)))
		}
	}
	if last.level == 100 {
		parts = append(parts, fmt.Sprintf("the others inject %s GB/s at the most", view.Rough(most.GBs)))
	}
	if len(parts) == 0 {
		return "Levels 0 and 100 % would say what is idle and what is saturated."
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}
