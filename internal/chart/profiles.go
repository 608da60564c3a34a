package chart

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Profiles draws the profiles of one kind of survey.
func Profiles(d *view.Drawing, machines []compare.Machine, ch Choice) (*Chart, error) {
	if ch.P > 0 {
		ch.Taus = append(slices.Clone(ch.Taus), ch.P) // cells have P as τ
	}
	f := figure{d, ch, machines, func(m compare.Machine) []view.Profile {
		return lists.Filter(survey.Profiles(m.File), func(p view.Profile) bool { return p.Kind == d.Kind })
	}, false}
	return f.chart(ch.better())
}

// A Part selects profiles for one panel.
type Part struct {
	Panel string
	view.Where
	Line string // "": all
	Own  bool   // only the profiles that the drawing takes by default
}

// Has tells whether a profile is in the part.
func (p Part) Has(d *view.Drawing, of view.Profile) bool {
	return of.Kind == d.Kind && of.Panel == p.Panel && of.Where == p.Where &&
		(p.Line == "" || of.Line == p.Line) && (!p.Own || d.Own(of))
}

// OfPart draws a part of the profiles of machines that all have it. It fails with more than MaxLines
// lines.
func OfPart(d *view.Drawing, machines []compare.Machine, profiles func(compare.Machine) []view.Profile, part Part) (*Chart, error) {
	whole := *d // without default lines and fits
	whole.Own, whole.Fitted = nil, nil
	ch := Choice{Bandwidth: d.Rate != ""}
	f := figure{&whole, ch, machines, func(m compare.Machine) []view.Profile {
		of := lists.Filter(profiles(m), func(p view.Profile) bool { return part.Has(d, p) })
		for i := range of {
			of[i].Number, of[i].Alike = 0, false
		}
		return of
	}, true}
	return f.chart(ch.better())
}

// A figure draws the chosen profiles of machines.
type figure struct {
	*view.Drawing
	Choice
	machines []compare.Machine
	profiles func(compare.Machine) []view.Profile
	lone     bool // a single point is drawn, too, although it is no line
}

// A profile is one machine's profile.
type profile struct {
	machine string
	view.Profile
	line int // index among the chart's lines
}

// Advice for charts that cannot be drawn.
var (
	ErrOthers = errors.New("choose others, or measure more")
	ErrNamed  = errors.New("choose by their names")
	ErrFewer  = errors.New("draw fewer, or have taulop compare sum them up")
)

// MaxPanels is the largest number of panels in a chart, which is a column of print high.
const MaxPanels = 9

// chart draws the chosen profiles of all machines, with further facts in the caption.
func (f figure) chart(facts ...string) (*Chart, error) {
	taken, err := f.taken()
	if err != nil {
		return nil, err
	}
	if f.Few {
		most := math.MaxInt
		switch {
		case f.fleet():
			most = 1
		case f.OnePanel:
			most = len(dashes)
		}
		taken = f.few(taken, len(f.machines), most)
	}
	return f.draw(taken, facts...)
}

// fleet tells whether machines are thin lines about their median.
func (f figure) fleet() bool { return f.Out != nil || len(f.machines) > MaxLines }

// taken are the chosen profiles of all machines.
func (f figure) taken() ([]profile, error) {
	if len(f.machines) == 0 {
		return nil, fmt.Errorf("there is no file to draw")
	}
	var all []profile
	for _, m := range f.machines {
		of, err := f.ofMachine(m)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	taken, err := f.byName(all)
	if err == nil && !f.numbered(all) {
		taken = f.largest(taken)
	}
	return taken, err
}

// ofMachine are a machine's profiles of the chosen places, τ and sizes.
func (f figure) ofMachine(m compare.Machine) (all []profile, err error) {
	for _, p := range f.profiles(m) {
		p.Points = lists.Filter(p.Points, func(q view.ProfilePoint) bool {
			return q.Y.Center > 0 && (q.X >= 1 || p.Over == view.Bandwidth) && // else impossible on a logarithmic axis
				(p.Over != view.Tau || len(f.Taus) == 0 || slices.Contains(f.Taus, q.X))
		})
		if len(p.Points) > 0 {
			all = append(all, profile{machine: m.Name, Profile: p})
		}
	}
	if len(all) == 0 {
		name := m.Name
		if !slices.ContainsFunc(f.machines, func(o compare.Machine) bool { return o.Path == m.Path && len(f.profiles(o)) > 0 }) {
			name = m.Host()
		}
		if f.Measure == "taulop sweep" && m.File.OfLevels() {
			return nil, fmt.Errorf("%s has messages by levels and no %s: see what they come to with taulop predict", m.Name, f.What)
		}
		return nil, fmt.Errorf("%s has no %s: measure them with %s", name, f.What, f.Measure)
	}
	for _, trait := range []struct {
		chosen bool
		has    func(profile) bool
		what   string
	}{
		{len(f.Placements) > 0, func(p profile) bool { return p.Placement != "" }, "where workers are placed"},
		{len(f.Caches) > 0, func(p profile) bool { return p.Cache != "" }, "whether user data are in cache"},
		{len(f.Sizes) > 0, func(p profile) bool { return p.Over == view.MessageSize || p.Size > 0 }, "the size of messages"},
	} {
		if trait.chosen && !slices.ContainsFunc(all, trait.has) {
			return nil, fmt.Errorf("%s do not differ in %s: %w", f.What, trait.what, ErrNamed)
		}
	}
	taken := f.places(lists.Map(all, func(p profile) view.Where { return p.Where }))
	if len(taken) == 0 {
		return nil, fmt.Errorf("%s has no %s, %s: it has %s", m.Name, f.What, f.described(), placesText(all))
	}
	all = lists.Filter(all, func(p profile) bool { return slices.Contains(taken, p.Where) })
	wanted := lists.Filter(all, func(p profile) bool { return p.Over == view.Tau || len(f.Taus) == 0 || slices.Contains(f.Taus, p.Tau) })
	if len(wanted) == 0 {
		tau := printable.Either(f.Ranks, "P", "τ")
		return nil, fmt.Errorf("%s has no %s of %s = %s: it has %s", m.Name, f.What, tau, sizesText(f.Taus), sizesText(distinct(all, tauOf)))
	}
	if len(f.Sizes) == 0 {
		return f.sorted(wanted), nil
	}
	sized := lists.Filter(wanted, func(p profile) bool {
		return slices.ContainsFunc(p.sizes(), func(m int) bool { return slices.Contains(f.Sizes, m) })
	})
	if len(sized) == 0 {
		sizes := lists.Rising(lists.Concat(wanted, profile.sizes))
		return nil, fmt.Errorf("%s has no %s of m = %s: it has %s", m.Name, f.What, sizesText(f.Sizes), sizesText(sizes))
	}
	for i := range sized {
		if p := &sized[i]; p.Over == view.MessageSize {
			p.Points = slices.DeleteFunc(p.Points, func(q view.ProfilePoint) bool { return !slices.Contains(f.Sizes, q.X) })
		}
	}
	return f.sorted(sized), nil
}

// places are the chosen places, by default those with the drawing's setup, local memory and in cache, as
// far as they were measured.
func (f figure) places(of []view.Where) []view.Where {
	prefer := func(chosen bool, is, own func(view.Where) bool) {
		if chosen {
			of = lists.Filter(of, is)
		} else if slices.ContainsFunc(of, own) {
			of = lists.Filter(of, own)
		}
	}
	beside := len(f.machines) > 1 // published parameters stand beside any setup and placement
	prefer(len(f.Setups) > 0, func(c view.Where) bool {
		return c.Setup == "" || c.Setup == params.Published && beside || slices.Contains(f.Setups, c.Setup)
	},
		func(c view.Where) bool { return c.Setup == f.Setup })
	first := numa.Local
	if !slices.ContainsFunc(of, func(c view.Where) bool { return c.Placement == first }) && len(of) > 0 {
		first = of[0].Placement
	}
	prefer(len(f.Placements) > 0, func(c view.Where) bool {
		return c.Placement == params.Published && beside || slices.Contains(f.Placements, c.Placement)
	},
		func(c view.Where) bool { return c.Placement == first })
	prefer(len(f.Caches) > 0, func(c view.Where) bool {
		return slices.ContainsFunc(f.Caches, func(off bool) bool { return view.Cache(off) == c.Cache })
	},
		func(c view.Where) bool { return c.Cache != view.Cache(true) })
	return of
}

// traits are setup, placement and cache, "" for none.
func (p profile) traits() (setup, placement, cache string) {
	switch {
	case p.Setup == params.Published:
		return "published parameters", "", ""
	case p.Placement == "":
		return p.Setup, "", p.Cache
	}
	return p.Setup, "placement " + string(p.Placement), p.Cache
}

func placesText(of []profile) string {
	names := lists.Map(of, func(p profile) string {
		setup, placement, cache := p.traits()
		return joined(", ", setup, placement, cache)
	})
	return printable.Part(strings.Join(lists.Unique(names), "; "))
}

// sizes are the sizes of the profile's messages.
func (p profile) sizes() []int {
	if p.Over != view.MessageSize {
		return []int{p.Size}
	}
	return lists.Map(p.Points, func(q view.ProfilePoint) int { return q.X })
}

// sorted sorts panels and lines by the drawing's order.
func (f figure) sorted(all []profile) []profile {
	rank := func(name string) int {
		return slices.IndexFunc(f.Order, func(begin string) bool { return strings.HasPrefix(name, begin) })
	}
	slices.SortStableFunc(all, func(a, b profile) int {
		return cmp.Or(cmp.Compare(rank(a.Panel), rank(b.Panel)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Tau, b.Tau), cmp.Compare(rank(a.Line), rank(b.Line)), cmp.Compare(a.Size, b.Size))
	})
	return all
}

func machineOf(p profile) string { return p.machine }

func tauOf(p profile) int { return p.Tau }

// distinct are the values of all profiles, rising.
func distinct(of []profile, value func(profile) int) []int { return lists.Rising(lists.Map(of, value)) }

// is reports whether the name of the panel or line contains the word, ignoring case and spaces: L1-L2 is
// L1 → L2.
func (p profile) is(word string) bool {
	letters := func(text string) string { return strings.ToLower(unspaced.Replace(text)) }
	return strings.Contains(letters(p.Panel), letters(word)) || strings.Contains(letters(p.Line), letters(word))
}

var unspaced = strings.NewReplacer(" ", "", "→", "-")

// byName are the profiles that the choice's words name. Words that occur together in some profile are all
// required, of others one suffices: float64,read,write are reads and writes of float64. Without words
// they are the drawing's default, if all machines have it.
func (f figure) byName(all []profile) ([]profile, error) {
	if len(f.Variants) == 0 && f.Own != nil {
		own := lists.Filter(all, func(p profile) bool { return f.Own(p.Profile) })
		if len(lists.Unique(lists.Map(own, machineOf))) == len(f.machines) {
			return own, nil
		}
	}
	for _, word := range f.Variants {
		if !slices.ContainsFunc(all, func(p profile) bool { return p.is(word) }) {
			return nil, fmt.Errorf("no %s are called %q; known are %s", f.What, word, variantsText(all))
		}
	}
	together := func(a, b string) bool {
		return slices.ContainsFunc(all, func(p profile) bool { return p.is(a) && p.is(b) })
	}
	taken := lists.Filter(all, func(p profile) bool {
		lacks := func(word string) bool { // and every word that it can stand for
			return !slices.ContainsFunc(f.Variants, func(other string) bool {
				return p.is(other) && (other == word || !together(word, other))
			})
		}
		return !slices.ContainsFunc(f.Variants, lacks)
	})
	for _, own := range lists.Groups(all, machineOf) {
		if machine := own[0].machine; !slices.ContainsFunc(taken, func(t profile) bool { return t.machine == machine }) {
			return nil, fmt.Errorf("%s has no %s called %s: it has %s", machine, f.What, strings.Join(f.Variants, ", "), variantsText(own))
		}
	}
	return taken, nil
}

// variantsText lists the distinct parts of the names of panels, and the lines.
func variantsText(of []profile) string {
	const most = 6
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
	var texts []string
	for _, i := range slices.Sorted(maps.Keys(names)) {
		list := lists.Unique(names[i])
		if n := len(list); n > most {
			list = append(list[:most-1], "… "+list[n-1])
		}
		texts = append(texts, strings.Join(list, ", "))
	}
	return printable.Part(strings.Join(texts, "; "))
}

// axes are the quantities of profiles' X.
var axes = map[view.Quantity]Quantity{view.MessageSize: Sizes, view.ElementStride: Sizes, view.ByteStride: Sizes, view.Bandwidth: Rates, view.Tau: Counts}
