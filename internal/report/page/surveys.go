package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// measured is what surveys found on a machine.
type measured struct {
	profiles []*view.Profile
	maps     []view.Matrix
}

// newMeasured leaves out what it cannot read, cells of newer versions.
func newMeasured(f *params.File) measured {
	m := measured{profiles: report.Profiles(f)}
	for _, s := range survey.All() {
		if s.Matrices != nil {
			all, _ := s.Matrices(f)
			m.maps = append(m.maps, view.Ends(all)...)
		}
	}
	return m
}

// notes are what surveys of pairs found and matrices do not show: pairs that are slow, groups
// that the topology does not tell.
func notes(f *params.File) (all []string) {
	for _, s := range survey.All() {
		if s.Matrices == nil || s.Tables == nil {
			continue
		}
		for _, t := range s.Tables(f) {
			if len(t.Columns) == 0 {
				all = append(all, t.Notes...)
			}
		}
	}
	return all
}

// surveyed are the machines of which surveys are drawn: of a fleet the median, and those that charts
// begin with.
func (x *index) surveyed() (machines []compare.Machine) {
	if !x.Fleet {
		return x.of
	}
	if x.answer.compared {
		machines = append(machines, compare.Machine{Name: chart.Median, File: medianMachine(x.of, x.answer.kinds)})
	}
	return append(machines, lists.Map(x.outliers, func(n int) compare.Machine { return x.of[n] })...)
}

// surveys has a chart of each kind of survey that any machine has, and maps of each machine.
func (x *index) surveys() *document.Document {
	var d document.Document
	machines := x.surveyed()
	found := lists.Map(machines, func(m compare.Machine) measured { return newMeasured(m.File) })
	for _, s := range survey.Drawn() {
		var parts []chart.Part
		for _, m := range found {
			for _, p := range ordered(s.Drawing, m.profiles) {
				if part := (chart.Part{Panel: p.Panel, Where: p.Where}); !slices.Contains(parts, part) {
					parts = append(parts, part)
				}
			}
		}
		if len(parts) > 0 {
			x.kinds = append(x.kinds, s.Drawing.Label)
			d.Chart(ofKind(s.Drawing, machines, found, parts))
		}
	}
	maps := x.maps(machines, found) // which finds what they are of
	d.Section(document.Section{Title: "Pairs of " + x.things}, maps)
	return &d
}

// ordered are the profiles of a drawing with its panels and lines in order, the longest line
// first where it has none.
func ordered(d *view.Drawing, all []*view.Profile) []*view.Profile {
	of := lists.Filter(all, func(p *view.Profile) bool { return p.Kind == d.Kind })
	rank := func(p *view.Profile) int {
		return slices.IndexFunc(d.Order, func(begin string) bool { return strings.HasPrefix(p.Line, begin) })
	}
	slices.SortStableFunc(of, func(a, b *view.Profile) int {
		if a.Panel == b.Panel {
			return cmp.Compare(rank(a), rank(b))
		}
		return 0
	})
	return of
}

// ofKind is the chart of a kind: of each panel all lines, if they can be told apart, and
// those that the drawing takes by itself before them; else each line.
func ofKind(d *view.Drawing, machines []compare.Machine, found []measured, parts []chart.Part) *document.Chart {
	const panel, placement, line, cache = "panel", "placement", "line", "cache"
	profiles := func(m compare.Machine) []*view.Profile {
		return found[slices.IndexFunc(machines, func(of compare.Machine) bool { return of.Name == m.Name })].profiles
	}
	var of []document.Sketch
	longest, most := 0, 0
	for _, part := range parts {
		var having []compare.Machine
		var lines []string
		points, own := 0, false
		for i, m := range machines {
			has := false
			for _, p := range found[i].profiles {
				if part.Has(d, p) {
					has, points, own = true, max(points, len(p.Points)), own || d.Own != nil && !d.Own(p)
					lines = lists.Insert(lines, p.Line)
				}
			}
			if has {
				having = append(having, m)
			}
		}
		if points > most {
			longest, most = len(of), points
		}
		add := func(called string, part chart.Part) {
			of = append(of, sketch(map[string]string{panel: part.Panel, placement: string(part.Placement), line: called, cache: part.Cache},
				func() (*chart.Chart, error) { return chart.OfPart(d, having, profiles, part) }))
		}
		if own {
			itself := part
			itself.Own = true
			add("each to itself", itself)
		}
		if len(lines)*len(having) <= chart.MaxLines {
			add("all", part)
			continue
		}
		for _, name := range lines {
			one := part
			one.Line = name
			add(name, one)
		}
	}
	if longest > 0 { // a chart begins with what it has most of
		of = append(of[longest:longest+1:longest+1], slices.Delete(of, longest, longest+1)...)
	}
	return &document.Chart{Name: string(d.Kind), Title: d.Label, Keys: []string{panel, placement, cache, line}, Sketches: of}
}

// maps has the machines' maps of pairs, with one scale, and medians of each level's pairs.
func (x *index) maps(machines []compare.Machine, found []measured) *document.Document {
	least, most := make(map[string]float64), make(map[string]float64)
	having := 0
	for _, of := range found {
		having += min(1, len(of.maps))
		for i := range of.maps {
			m := &of.maps[i]
			lo, hi := m.Span()
			if before, known := least[m.Name]; known {
				lo, hi = min(lo, before), max(hi, most[m.Name])
			}
			least[m.Name], most[m.Name] = lo, hi
		}
	}
	var all document.Document
	for i, of := range found {
		if len(of.maps) == 0 {
			continue
		}
		x.things = of.maps[0].Axis + "s"
		name, title := machines[i].Name, ""
		if having > 1 {
			title = name
		}
		var one document.Document
		if !x.Fleet {
			for _, found := range notes(machines[i].File) {
				one.Note(found)
			}
		}
		levels := view.Table{Columns: append(view.Words("level"), view.Numbers("pairs")...)}
		for _, m := range of.maps {
			levels.Columns = append(levels.Columns, view.Numbers(strings.Split(m.Name, ",")[0]+", median")...)
			drawn := sketch(nil, func() (*chart.Chart, error) {
				c, err := chart.HeatMaps(name, []view.Matrix{m}, chart.Choice{})
				if err == nil {
					c.Panels[0].Least, c.Panels[0].Most = least[m.Name], most[m.Name]
				}
				return c, err
			})
			drawn.Cells = cells(&m)
			one.Chart(&document.Chart{Name: "map", Sketches: []document.Sketch{drawn}})
		}
		for n, g := range of.maps[0].Groups {
			medians := lists.Map(of.maps, func(m view.Matrix) string {
				if of := m.Groups[n].Median; of > 0 {
					return view.Duration(of)
				}
				return ""
			})
			levels.Add(g.Name, g.Pairs, medians)
		}
		one.Table(levels)
		all.Section(document.Section{Title: title, Class: "map"}, &one)
	}
	return &all
}

// cells are what is said of each pair, row by row of the upper half; "" of one that was not
// measured.
func cells(m *view.Matrix) (texts []string) {
	for i := range m.Names {
		for j := i + 1; j < len(m.Names); j++ {
			c := m.At(i, j)
			if c.Group < 0 {
				texts = append(texts, "")
				continue
			}
			text := fmt.Sprintf("%ss %s and %s: not measured", m.Axis, m.Names[i], m.Names[j])
			if c.Time.Center > 0 {
				text = fmt.Sprintf("%ss %s and %s: %s", m.Axis, m.Names[i], m.Names[j], view.Duration(c.Time.Center))
				if c.Time.Known() && c.Time.Lo != c.Time.Hi {
					text += fmt.Sprintf("; 95 %% interval %s to %s", view.Duration(c.Time.Lo), view.Duration(c.Time.Hi))
				}
			}
			if g := m.Groups[c.Group]; g.Median > 0 {
				text += fmt.Sprintf("; %s: median %s", g.Name, view.Duration(g.Median))
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// medianMachine is what a fleet has in the middle of surveys.
func medianMachine(machines []compare.Machine, kinds []compare.FleetKind) *params.File {
	f := &params.File{}
	for _, k := range kinds {
		for _, c := range k.Cells {
			middle := fit.Median(nil) // of what no machine has
			if s := c.Time; s != (fit.Spread{}) {
				middle = fit.Estimate{Center: s.Median, Lo: s.Median, Hi: s.Median}
			}
			f.Cells = append(f.Cells, params.Cell{Key: c.Key, Time: middle})
		}
	}
	for _, m := range machines { // which are alike
		if f.Provenance.Levels == nil {
			f.Provenance.Levels = m.File.Provenance.Levels
		}
	}
	return f
}
