package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// TransfersOverTau is L(m,τ) against τ, a line for each setup and machine: Fig. 21
// of taulop-2015. By itself it takes messages of one segment.
func TransfersOverTau(machines []compare.Machine, ch Choice) (*Chart, error) {
	series, caption, size, err := ch.overTau(machines, func(p compare.Point) fit.Estimate { return p.L })
	if err != nil {
		return nil, err
	}
	return &Chart{
		Title:   "Time of a transfer while τ of them are active",
		Caption: append(caption, certainty(series), "lower is better"),
		Panels: []Panel{{
			X: Axis{"τ, concurrent transfers", Counts}, Y: Axis{fmt.Sprintf("L(%s,τ)", size), Times},
			Series: series,
		}},
	}, nil
}

// Concurrency is the memory concurrency A(τ) = τ·L(m,1)/L(m,τ) within the bounds
// of eq. (8): 1, where the channel is serial, and τ, where it is perfect.
func Concurrency(machines []compare.Machine, ch Choice) (*Chart, error) {
	series, caption, size, err := ch.overTau(machines, func(p compare.Point) fit.Estimate { return p.A })
	if err != nil {
		return nil, err
	}
	var taus []float64
	for _, s := range series {
		for _, p := range s.Points {
			taus = append(taus, p.X)
		}
	}
	slices.Sort(taus)
	if taus = slices.Compact(taus); taus[0] > 1 {
		taus = append([]float64{1}, taus...)
	}
	ones := slices.Repeat([]float64{1}, len(taus))
	return &Chart{
		Title:   "Memory concurrency: transfers carried at once",
		Caption: append(caption, fmt.Sprintf("A(τ) = τ·L(%[1]s,1)/L(%[1]s,τ)", size), certainty(series), "higher is better"),
		Panels: []Panel{{
			X: Axis{"τ, concurrent transfers", Counts}, Y: Axis{"A(τ)", Counts},
			Bands:  []Band{{Name: "bounds of eq. (8)", X: taus, Lo: ones, Hi: taus, LoLabel: "serial: A = 1", HiLabel: "perfect: A = τ"}},
			Series: series,
		}},
	}, nil
}

// overTau are lines over τ, and the size that they have in common, m where it is
// none.
func (ch Choice) overTau(machines []compare.Machine, y func(compare.Point) fit.Estimate) (series []Series, caption []string, size string, err error) {
	segment := make(map[string]int) // by machine
	for _, m := range machines {
		segment[m.Name] = cmp.Or(m.File.Plan.SegmentBytes, compare.Customary)
	}
	curves, err := ch.curves(machines, func(c *compare.Curve) bool {
		if len(ch.Sizes) > 0 {
			return slices.Contains(ch.Sizes, c.Bytes)
		}
		return c.Bytes == segment[c.Machine]
	}, ch.sizesWanted("messages of one segment"))
	if err != nil {
		return nil, nil, "", err
	}
	var lines []line
	longest := 0
	name := "S"
	if slices.ContainsFunc(curves, func(c compare.Curve) bool { return !c.Segment }) {
		name = "m"
	}
	for _, c := range curves {
		l := line{machine: c.Machine, traits: append(traitsOf(&c), name+" = "+view.Bytes(c.Bytes))}
		for _, p := range c.Points {
			if v := y(p); (len(ch.Taus) == 0 || slices.Contains(ch.Taus, p.Tau)) && !math.IsNaN(v.Center) {
				l.points = append(l.points, Point{float64(p.Tau), v})
			}
		}
		if longest = max(longest, len(l.points)); len(l.points) > 0 {
			lines = append(lines, l)
		}
	}
	if longest < 2 {
		return nil, nil, "", fmt.Errorf("a line over τ needs two τ that were measured, and L(m,1) for A(τ), and there is none: choose others with -setup and -tau, or sweep more")
	}
	if err := tooMany(len(lines), "fewer with -setup, -placement, -cache or -m"); err != nil {
		return nil, nil, "", err
	}
	if size = view.Bytes(curves[0].Bytes); slices.ContainsFunc(curves, func(c compare.Curve) bool { return c.Bytes != curves[0].Bytes }) {
		size = "m"
	}
	series, caption = named(lines)
	return series, caption, size, nil
}

func sizesText(sizes []int) string { return strings.Join(each(sizes, view.Bytes), ", ") }

// TransfersOverSize is L(m,τ) against m, a line for each τ. By itself it takes the
// ring, the setup to trust for collectives, and few τ.
func TransfersOverSize(machines []compare.Machine, ch Choice) (*Chart, error) {
	curves, err := ch.curves(machines, ch.overSize(machines), ch.sizesWanted("any m"))
	if err != nil {
		return nil, err
	}
	var measured []measuredPoint
	for _, c := range curves {
		for _, p := range c.Points {
			measured = append(measured, measuredPoint{c.Machine, traitsOf(&c), p.Tau, c.Bytes, p.L})
		}
	}
	return overSize(measured, ch, len(machines),
		"Time of a transfer against the size of its message", "L(m,τ)", "longer messages than a segment as a whole", "lower is better")
}

// overSize accepts curves of the setup of choice, and of sizes.
func (ch Choice) overSize(machines []compare.Machine) func(c *compare.Curve) bool {
	hasRing := make(map[string]bool)
	for _, m := range machines {
		hasRing[m.Name] = slices.ContainsFunc(m.File.Cells, func(c params.Cell) bool {
			return c.Kind == params.TransferCell && c.Setup == setups.Ring.Name
		})
	}
	return func(c *compare.Curve) bool {
		if len(ch.Setups) == 0 && hasRing[c.Machine] && c.Setup != setups.Ring.Name {
			return false
		}
		return len(ch.Sizes) == 0 || slices.Contains(ch.Sizes, c.Bytes)
	}
}

// sizesWanted names the sizes that are chosen.
func (ch Choice) sizesWanted(otherwise string) string {
	if len(ch.Sizes) > 0 {
		return "m = " + sizesText(ch.Sizes)
	}
	return otherwise
}

// Copies is the cost of a copy c(m,τ) against m, a line for each τ: Fig. 4. Between
// levels of the memory, where those are chosen or all that a file has, there is a line
// for each two levels too.
func Copies(machines []compare.Machine, ch Choice) (*Chart, error) {
	var measured []measuredPoint
	if err := tooMany(len(machines), "fewer files"); err != nil {
		return nil, err
	}
	for _, m := range machines {
		levels, err := ch.betweenLevels(m)
		if err != nil {
			return nil, err
		}
		if len(levels) > 0 {
			measured = append(measured, levels...)
			continue
		}
		copies := keep(m.File.Cells, func(c params.Cell) bool { return c.Kind == params.CopyCell })
		if len(copies) == 0 {
			return nil, fmt.Errorf("%s has no copies, c(m,τ): published files never have; measure them with taulop sweep", m.Name)
		}
		channels := once(each(copies, copyChannel))
		of := ch
		of.Setups = nil // copies have none
		taken := of.taken(channels)
		copies = keep(copies, func(c params.Cell) bool {
			return slices.Contains(taken, copyChannel(c)) && (len(ch.Sizes) == 0 || slices.Contains(ch.Sizes, c.Bytes))
		})
		if len(copies) == 0 {
			return nil, fmt.Errorf("%s has no copies of %s%s: it has %s", m.Name, ch.sizesWanted("any m"), and(of.described()), channelsText(channels))
		}
		for _, c := range copies {
			measured = append(measured, measuredPoint{m.Name, channelTraits("", c.Placement, c.OffCache), c.Tau, c.Bytes, c.Time})
		}
	}
	return overSize(measured, ch, len(machines), "Cost of a copy while τ processes copy at once", "c(m,τ)", "without flags and partners", "lower is better")
}

// betweenLevels are a machine's copies between levels, if they are chosen, or if it
// has no others: then those within one level.
func (ch Choice) betweenLevels(m compare.Machine) (measured []measuredPoint, err error) {
	cells := keep(m.File.Cells, func(c params.Cell) bool { return c.Kind == params.LevelCell })
	levels := once(each(cells, func(c params.Cell) string { return c.Variant }))
	others := slices.ContainsFunc(m.File.Cells, func(c params.Cell) bool { return c.Kind == params.CopyCell })
	wanted := ch.Levels
	if len(wanted) == 0 && others || len(wanted) == 0 && len(levels) == 0 {
		return nil, nil
	}
	if len(levels) == 0 {
		return nil, fmt.Errorf("%s has no copies between levels of the memory: measure them with taulop copy, or taulop sweep -with copy", m.Name)
	}
	if len(wanted) == 0 {
		for _, l := range levels {
			if from, to, _ := strings.Cut(l, "-"); from == to {
				wanted = append(wanted, l)
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b string) int { return cmp.Compare(farness(a), farness(b)) })
	for _, l := range wanted {
		if !slices.Contains(levels, l) {
			return nil, fmt.Errorf("%s has no copies between %s: it has %s", m.Name, l, printable.List(levels))
		}
	}
	for _, l := range levels {
		for _, c := range cells {
			if c.Variant == l && slices.Contains(wanted, l) && (len(ch.Sizes) == 0 || slices.Contains(ch.Sizes, c.Bytes)) {
				measured = append(measured, measuredPoint{m.Name, []string{strings.Replace(l, "-", "→", 1), "", ""}, c.Tau, c.Bytes, c.Time})
			}
		}
	}
	if len(measured) == 0 {
		return nil, fmt.Errorf("%s has no copies between levels of %s: choose others with -m", m.Name, ch.sizesWanted("any m"))
	}
	return measured, nil
}

// farness orders copies between levels from the core outwards.
func farness(variant string) (n int) {
	from, to, _ := strings.Cut(variant, "-")
	return 8*slices.Index(levels.Order, from) + slices.Index(levels.Order, to)
}

// copyChannel is where a copy was measured, of any size.
func copyChannel(c params.Cell) compare.Channel {
	return compare.Channel{Setup: "copies", Placement: c.Placement, OffCache: c.OffCache}
}

func and(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// A measuredPoint is one time of a table over m and τ.
type measuredPoint struct {
	machine string
	traits  []string
	tau, m  int
	ns      fit.Estimate
}

// overSize draws a table, a line for each τ.
func overSize(measured []measuredPoint, ch Choice, machines int, title, label string, facts ...string) (*Chart, error) {
	taus := ch.Taus
	if len(taus) == 0 {
		taus = fewTaus(measured, machines)
	}
	var lines []line
	longest := 0
	for _, p := range measured {
		if p.m < 1 || !slices.Contains(taus, p.tau) || !(p.ns.Center > 0) {
			continue
		}
		traits := append(slices.Clone(p.traits), tauText(p.tau))
		i := slices.IndexFunc(lines, func(l line) bool { return l.machine == p.machine && slices.Equal(l.traits, traits) })
		if i < 0 {
			i = len(lines)
			lines = append(lines, line{machine: p.machine, traits: traits, tau: p.tau})
		}
		lines[i].points = append(lines[i].points, Point{float64(p.m), p.ns})
		longest = max(longest, len(lines[i].points))
	}
	if longest < 2 {
		return nil, fmt.Errorf("a line over m needs two sizes that were measured with the same τ, and there is none: choose others with -m and -tau")
	}
	if err := tooMany(len(lines), "fewer with -tau, -placement or -cache"); err != nil {
		return nil, err
	}
	byTau(lines)
	for _, l := range lines {
		slices.SortFunc(l.points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	series, caption := named(lines)
	return &Chart{
		Title:   title,
		Caption: append(append(caption, facts...), certainty(series)),
		Panels:  []Panel{{X: Axis{"m, bytes", Sizes}, Y: Axis{label, Times}, Series: series}},
	}, nil
}

// byTau sorts lines of each machine by τ.
func byTau(lines []line) {
	order := once(each(lines, func(l line) string { return l.machine }))
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(slices.Index(order, a.machine)-slices.Index(order, b.machine), a.tau-b.tau)
	})
}

// fewTaus are powers of two and the largest τ of one machine, the smallest and the
// largest common τ of several.
func fewTaus(measured []measuredPoint, machines int) (taus []int) {
	for _, tau := range once(each(measured, func(p measuredPoint) int { return p.tau })) {
		having := keep(measured, func(p measuredPoint) bool { return p.tau == tau })
		if len(once(each(having, func(p measuredPoint) string { return p.machine }))) == machines {
			taus = append(taus, tau)
		}
	}
	slices.Sort(taus)
	if len(taus) < 2 {
		return taus
	}
	last := taus[len(taus)-1]
	if machines > 1 {
		return []int{taus[0], last}
	}
	return slices.DeleteFunc(taus, func(tau int) bool { return tau&(tau-1) != 0 && tau != last })
}

// Ratios is L(m,τ) of each machine over that of the first, against m: above 1 a
// machine is slower.
func Ratios(machines []compare.Machine, ch Choice) (*Chart, error) {
	if len(machines) < 2 {
		return nil, fmt.Errorf("a ratio needs two machines: name two parameter files or more, the one to compare with first")
	}
	curves, err := ch.curves(machines, ch.overSize(machines), ch.sizesWanted("any m"))
	if err != nil {
		return nil, err
	}
	first := make(map[compare.Channel]compare.Curve)
	for _, c := range curves {
		if c.Machine == machines[0].Name {
			first[c.Channel] = c
		}
	}
	var measured []measuredPoint
	shared := map[string]bool{machines[0].Name: true}
	for _, c := range curves {
		base, common := first[c.Channel]
		if !common || c.Machine == machines[0].Name {
			continue
		}
		for _, p := range c.Points {
			if b, common := base.At(p.Tau); common && b.L.Center > 0 {
				shared[c.Machine] = true
				measured = append(measured, measuredPoint{c.Machine, traitsOf(&c), p.Tau, c.Bytes, p.L.Div(b.L)})
			}
		}
	}
	for _, m := range machines {
		if !shared[m.Name] {
			return nil, fmt.Errorf("%s has nothing in common with %s: the same setup, placement, cache, m and τ must be in both; they have %s, and %s",
				m.Name, machines[0].Name, ofMachine(curves, m.Name), ofMachine(curves, machines[0].Name))
		}
	}
	if len(ch.Taus) == 0 {
		if ch.Taus = fewTaus(measured, len(machines)-1); len(machines) > 3 && len(ch.Taus) > 0 {
			ch.Taus = ch.Taus[len(ch.Taus)-1:]
		} else if len(ch.Taus) > 2 {
			ch.Taus = []int{ch.Taus[0], ch.Taus[len(ch.Taus)-1]}
		}
	}
	c, err := overSize(measured, ch, len(machines)-1, "Time of a transfer, as a ratio to "+machines[0].Name, "", "below 1 faster than "+machines[0].Name)
	if err != nil {
		return nil, err
	}
	panel := &c.Panels[0]
	panel.Y = Axis{"ratio of L(m,τ)", Proportions}
	panel.Levels = []float64{1}
	return c, nil
}

func ofMachine(curves []compare.Curve, name string) string {
	return channelsText(each(keep(curves, func(c compare.Curve) bool { return c.Machine == name }), channelOf))
}
