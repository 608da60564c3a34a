package chart

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/view"
)

// Profiles are what surveys measured of a kind, a panel for each of theirs.
func Profiles(d *view.Drawing, machines []compare.Machine, ch Choice) (*Chart, error) {
	if ch.P > 0 {
		ch.Taus = append(slices.Clone(ch.Taus), ch.P) // cells have it as τ
	}
	return profiling{d}.profiles(machines, ch)
}

// A profiling draws profiles as their survey says.
type profiling struct{ *view.Drawing }

// A profile is one of a machine.
type profile struct {
	machine string
	*view.Profile
	role string // "slowest variant": it stands for others
	of   int    // so many
}

// MaxPanels is how many panels a chart has at most: they are a column of print high.
const MaxPanels = 9

// profiles draws what the choice takes of all machines.
func (d profiling) profiles(machines []compare.Machine, ch Choice) (*Chart, error) {
	if len(machines) == 0 {
		return nil, fmt.Errorf("there is no file to draw")
	}
	if err := tooMany(len(machines), "fewer files"); err != nil {
		return nil, err
	}
	if d.Sizeless != "" && len(ch.Sizes) > 0 {
		return nil, errors.New(d.Sizeless)
	}
	if d.Unplaced && len(ch.Placements) > 0 {
		return nil, fmt.Errorf("-placement chooses where workers are, which %s do not differ in: choose with -variant", d.What)
	}
	if d.Uncached && len(ch.Caches) > 0 {
		return nil, fmt.Errorf("-cache chooses where user data are, which %s do not differ in: choose with -variant, like -variant \"cache out\"", d.What)
	}
	var all []profile
	for _, m := range machines {
		of, err := ch.profilesOf(m, d)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	taken, err := ch.varied(all, d)
	if err != nil {
		return nil, err
	}
	if !ch.numbered(all, d) {
		taken = largest(taken, d, len(machines))
	}
	if !slices.ContainsFunc(taken, func(p profile) bool { return len(p.Points) > 1 }) {
		over, _, _ := strings.Cut(string(taken[0].Over), ",")
		return nil, fmt.Errorf("a line over %s needs two values that were measured, and no line has them: choose others with -variant or -m, or measure more with %s", over, d.Measure)
	}
	if d.Alike && !ch.tellApart(taken, len(machines)) {
		taken = represented(taken, len(machines))
	}
	c, err := d.draw(taken)
	if err != nil {
		return nil, err
	}
	c.Caption = append(c.Caption, "lower is better")
	return c, nil
}

// profilesOf are a machine's, of placements and states of the cache the first unless
// chosen, and of the τ and sizes that are chosen.
func (ch Choice) profilesOf(m compare.Machine, d profiling) (all []profile, err error) {
	var channels []compare.Channel
	for _, p := range report.Profiles(m.File) {
		p.Points = slices.DeleteFunc(p.Points, func(q view.ProfilePoint) bool { return q.X < 1 && !p.Over.FromZero() }) // has no place on the axis
		if p.Kind != d.Kind || len(p.Points) == 0 {
			continue
		}
		if d.Unplaced {
			p.Placement = ""
		}
		all = append(all, profile{machine: m.Name, Profile: p})
		channels = append(channels, all[len(all)-1].channel())
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no %s: measure them with %s", m.Name, d.What, d.Measure)
	}
	of := ch
	of.Setups = nil // they have none
	taken := of.taken(channels)
	if len(taken) == 0 {
		return nil, fmt.Errorf("%s has no %s, %s: it has those %s", m.Name, d.What, of.described(), d.channelsText(channels))
	}
	all = keep(all, func(p profile) bool { return slices.Contains(taken, p.channel()) })
	wanted := keep(all, func(p profile) bool { return len(ch.Taus) == 0 || slices.Contains(ch.Taus, p.Tau) })
	if len(wanted) == 0 {
		tau := "τ"
		if d.Ranks {
			tau = "P"
		}
		return nil, fmt.Errorf("%s has no %s of %s = %s: it has %s", m.Name, d.What, tau, sizesText(ch.Taus), sizesText(distinct(all, func(p profile) []int { return []int{p.Tau} })))
	}
	if len(ch.Sizes) == 0 {
		return d.sorted(wanted), nil
	}
	sized := keep(wanted, func(p profile) bool {
		return slices.ContainsFunc(p.sizes(), func(m int) bool { return slices.Contains(ch.Sizes, m) })
	})
	if len(sized) == 0 {
		return nil, fmt.Errorf("%s has no %s of m = %s: it has %s", m.Name, d.What, sizesText(ch.Sizes), sizesText(distinct(wanted, profile.sizes)))
	}
	for _, p := range sized {
		if p.Over == view.MessageSize {
			p.Points = slices.DeleteFunc(p.Points, func(q view.ProfilePoint) bool { return !slices.Contains(ch.Sizes, q.X) })
		}
	}
	return d.sorted(sized), nil
}

func (p profile) channel() compare.Channel {
	return compare.Channel{Placement: p.Placement, OffCache: p.OffCache}
}

// traits are what channels differ in, "" where it is nothing.
func (d profiling) traits(c compare.Channel) []string {
	t := []string{"", ""}
	if !d.Unplaced {
		t[0] = "placement " + string(c.Placement)
	}
	if !d.Uncached {
		t[1] = view.Cache(c.OffCache)
	}
	return t
}

func (d profiling) channelsText(channels []compare.Channel) string {
	var names []string
	for _, c := range channels {
		names = append(names, joined(", ", d.traits(c)...))
	}
	return printable.Part(strings.Join(once(names), "; "))
}

// sizes are those of the profile's messages.
func (p profile) sizes() (ms []int) {
	if p.Over != view.MessageSize {
		return []int{p.Size}
	}
	for _, q := range p.Points {
		ms = append(ms, q.X)
	}
	return ms
}

// distinct are the values that some of the profiles have, rising.
func distinct(of []profile, values func(profile) []int) (all []int) {
	for _, p := range of {
		all = append(all, values(p)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sorted puts panels, and lines in them, into the order of their kind.
func (d profiling) sorted(all []profile) []profile {
	rank := func(name string) int {
		return slices.IndexFunc(d.Order, func(begin string) bool { return strings.HasPrefix(name, begin) })
	}
	slices.SortStableFunc(all, func(a, b profile) int {
		c := cmp.Compare(rank(a.Panel), rank(b.Panel))
		if d.Number != nil {
			c = cmp.Or(c, cmp.Compare(d.Number(a.Profile), d.Number(b.Profile)))
		}
		return cmp.Or(c, cmp.Compare(rank(a.Line), rank(b.Line)), cmp.Compare(a.Size, b.Size))
	})
	return all
}

// is reports whether the word is a part of the name of the profile's panel or line,
// whatever its case and spaces.
func (p profile) is(word string) bool {
	letters := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "")) }
	return strings.Contains(letters(p.Panel), letters(word)) || strings.Contains(letters(p.Line), letters(word))
}

// varied are those that the words of the choice name. Of words that some profile has
// together it must have all, of others one: float64,read,write are reads and writes
// of float64.
func (ch Choice) varied(all []profile, d profiling) ([]profile, error) {
	for _, word := range ch.Variants {
		if !slices.ContainsFunc(all, func(p profile) bool { return p.is(word) }) {
			return nil, fmt.Errorf("no %s are called %q: there are %s", d.What, word, variantsText(all))
		}
	}
	together := func(a, b string) bool {
		return slices.ContainsFunc(all, func(p profile) bool { return p.is(a) && p.is(b) })
	}
	taken := keep(all, func(p profile) bool {
		for _, word := range ch.Variants {
			if !slices.ContainsFunc(ch.Variants, func(other string) bool { return p.is(other) && (other == word || !together(word, other)) }) {
				return false
			}
		}
		return true
	})
	for _, p := range all {
		if !slices.ContainsFunc(taken, func(t profile) bool { return t.machine == p.machine }) {
			own := keep(all, func(other profile) bool { return other.machine == p.machine })
			return nil, fmt.Errorf("%s has no %s called %s: it has %s", p.machine, d.What, strings.Join(ch.Variants, ", "), variantsText(own))
		}
	}
	return taken, nil
}

// variantsText is what parts of the names of panels, and lines, are called, once each.
func variantsText(of []profile) string {
	const most = 12
	names := make(map[int][]string) // by the place of that part
	for _, p := range of {
		parts := strings.Split(p.Panel, ", ")
		for i, part := range append(parts, p.Line) {
			if i == len(parts) {
				i = math.MaxInt // the line, after all panels
			}
			names[i] = append(names[i], part)
		}
	}
	var lists []string
	for _, i := range slices.Sorted(maps.Keys(names)) {
		list := once(names[i])
		if n := len(list); n > most {
			list = append(list[:most-1], "… "+list[n-1])
		}
		lists = append(lists, strings.Join(list, ", "))
	}
	return printable.Part(strings.Join(lists, "; "))
}

// numbered reports whether the choice says of which number to draw profiles.
func (ch Choice) numbered(all []profile, d profiling) bool {
	if d.Number == nil || len(ch.Taus) > 0 {
		return true
	}
	numbers := func(of []profile) int {
		return len(distinct(of, func(p profile) []int { return []int{d.Number(p.Profile)} }))
	}
	return slices.ContainsFunc(ch.Variants, func(word string) bool {
		return numbers(keep(all, func(p profile) bool { return p.is(word) })) < numbers(all)
	})
}

// largest are those of the largest number of which all machines have a line, or all.
func largest(of []profile, d profiling, machines int) []profile {
	having := make(map[int]map[string]bool)
	for _, p := range of {
		n := d.Number(p.Profile)
		if having[n] == nil {
			having[n] = make(map[string]bool)
		}
		if len(p.Points) > 1 {
			having[n][p.machine] = true
		}
	}
	most := 0
	for n, names := range having {
		if len(names) == machines {
			most = max(most, n)
		}
	}
	if most == 0 {
		return of
	}
	return keep(of, func(p profile) bool { return d.Number(p.Profile) == most })
}

// fewVariants of a panel are drawn under their own names. More would hide each other.
const fewVariants = 3

// tellApart reports whether every variant gets a line: those that are chosen, as far
// as a chart goes, and few of one machine.
func (ch Choice) tellApart(of []profile, machines int) bool {
	if len(ch.Variants) > 0 {
		var lines []string
		for _, p := range of {
			lines = append(lines, p.Line)
		}
		return len(once(lines))*machines <= MaxLines
	}
	return machines == 1 && !slices.ContainsFunc(variants(of), func(v []profile) bool { return len(v) > fewVariants })
}

// variants are the profiles that differ in nothing else.
func variants(of []profile) (groups [][]profile) {
	for _, p := range of {
		i := slices.IndexFunc(groups, func(g []profile) bool {
			q := g[0]
			return q.machine == p.machine && q.Panel == p.Panel && q.channel() == p.channel()
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

const medianVariant = "median variant"

// represented are the quickest, the median and the slowest variant of each panel;
// of several machines the median alone.
func represented(of []profile, machines int) (few []profile) {
	for _, group := range variants(of) {
		common := distinct(group, profile.sizes)
		for _, p := range group {
			common = slices.DeleteFunc(common, func(m int) bool { return !slices.Contains(p.sizes(), m) })
		}
		pace := func(p profile) (sum float64) { // a long message does not count for more than a short one
			for _, q := range p.Points {
				if slices.Contains(common, q.X) {
					sum += math.Log(q.Y.Center)
				}
			}
			return sum
		}
		slices.SortStableFunc(group, func(a, b profile) int { return cmp.Compare(pace(a), pace(b)) })
		n := len(group)
		for i := range group {
			group[i].of = n
		}
		median := group[(n-1)/2]
		median.role = medianVariant
		if machines > 1 || n == 1 {
			few = append(few, median)
			continue
		}
		group[0].role, group[n-1].role = "quickest variant", "slowest variant"
		if few = append(few, group[0]); n > 2 {
			few = append(few, median)
		}
		few = append(few, group[n-1])
	}
	return few
}

// draw puts profiles into panels.
func (d profiling) draw(of []profile) (*Chart, error) {
	var names []string // of panels
	var lines []line
	at := make([]int, len(of)) // which line each is
	for i, p := range of {
		names = append(names, p.Panel)
		traits := append([]string{cmp.Or(p.role, p.Line)}, d.traits(p.channel())...)
		at[i] = slices.IndexFunc(lines, func(l line) bool { return l.machine == p.machine && slices.Equal(l.traits, traits) })
		if at[i] < 0 {
			at[i], lines = len(lines), append(lines, line{machine: p.machine, traits: traits})
		}
	}
	names = once(names)
	if err := tooMany(len(lines), "fewer with -variant, -m or -cache"); err != nil {
		return nil, err
	}
	if len(names) > MaxPanels {
		return nil, fmt.Errorf("%d panels in a chart are too many, %d can be read: take fewer with -variant, like -variant %q", len(names), MaxPanels, strings.Split(names[0], ", ")[0])
	}
	over := Strides
	switch {
	case of[0].Over == view.MessageSize:
		over = Sizes
	case of[0].Over.FromZero():
		over = Rates
	}
	looks, caption := named(lines)
	own, common := apart(names)
	c := &Chart{Title: d.Title, Caption: append(caption, common...)}
	var every []Series
	fits := false
	for i, name := range names {
		panel := Panel{X: Axis{string(of[0].Over), over}, Y: Axis{string(of[0].Time), Times}, Height: panelHeight(len(names))}
		for j, p := range of {
			if p.Panel != name {
				continue
			}
			s := looks[at[j]]
			for _, q := range p.Points {
				s.Points = append(s.Points, Point{float64(q.X), q.Y})
			}
			panel.Series = append(panel.Series, s)
		}
		every = append(every, panel.Series...)
		if d.Fitted != nil && len(panel.Series) <= fewVariants {
			for _, s := range panel.Series {
				if f, ok := d.startupAndBytes(s); ok {
					fits, panel.Series = true, append(panel.Series, f)
				}
			}
		}
		panel.Name = joined(": ", own[i], roles(keep(of, func(p profile) bool { return p.Panel == name })))
		c.Panels = append(c.Panels, panel)
	}
	if fits {
		c.Caption = append(c.Caption, "pale: T_s + m·τ_d, fitted to every other m")
	}
	c.Caption = append(c.Caption, certainty(every))
	return c, nil
}

// apart are names without the parts that all have.
func apart(names []string) (own, common []string) {
	parts := make([][]string, len(names))
	for i, name := range names {
		parts[i] = strings.Split(name, ", ")
	}
	for _, part := range parts[0] {
		if !slices.ContainsFunc(parts, func(p []string) bool { return !slices.Contains(p, part) }) {
			common = append(common, part)
		}
	}
	for _, p := range parts {
		own = append(own, strings.Join(keep(p, func(part string) bool { return !slices.Contains(common, part) }), ", "))
	}
	return own, common
}

// roles says which variants stand for how many; nothing where machines or
// channels have others each.
func roles(of []profile) string {
	var parts []string
	for i, p := range of {
		if p.role == "" || p.of == 1 || slices.ContainsFunc(of[:i], func(q profile) bool { return q.role == p.role }) {
			return ""
		}
		group, _, _ := strings.Cut(p.Panel, ",")
		role, variant := strings.TrimSuffix(p.role, " variant"), strings.TrimPrefix(p.Line, group+"-")
		parts = append(parts, role+" "+variant)
	}
	return fmt.Sprintf("%s of %d", strings.Join(parts, ", "), of[0].of)
}

// joined are the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(keep(parts, func(part string) bool { return part != "" }), separator)
}

// panelHeight is so that a chart of many panels is still a figure in a column.
func panelHeight(panels int) float64 {
	return []float64{1, 1, 0.8, 0.7, 0.65}[min(panels, 4)]
}

// startupAndBytes is the line T_s + m·τ_d of a series, through the sizes that the drawing says;
// false where it has too few sizes.
func (d profiling) startupAndBytes(s Series) (Series, bool) {
	var ms, fitted []int
	var times []float64
	for _, p := range s.Points {
		ms = append(ms, int(p.X))
	}
	for i, m := range ms {
		if slices.Contains(d.Fitted(ms), m) {
			fitted, times = append(fitted, m), append(times, s.Points[i].Y.Center)
		}
	}
	f, err := fit.LineOf(fitted, times)
	if err != nil {
		return Series{}, false
	}
	s.Faint, s.Bare, s.Points = true, true, nil
	const steps = 4 // an octave: on logarithmic axes the line is a curve
	for m := float64(ms[0]); m < float64(ms[len(ms)-1]); m *= math.Pow(2, 1./steps) {
		s.Points = append(s.Points, Point{m, exactly(f.At(int(m)))})
	}
	last := ms[len(ms)-1]
	s.Points = append(s.Points, Point{float64(last), exactly(f.At(last))})
	return s, true
}
