package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// measured is the surveys of a machine.
type measured struct {
	profiles []view.Profile
	maps     []view.Matrix
	notes    []string // findings of surveys of pairs: slow pairs, groups unknown to the topology
}

// newMeasured leaves out cells of newer versions.
func newMeasured(f *params.File) measured {
	m := measured{profiles: survey.Profiles(f)}
	for _, s := range survey.All() {
		if s.Matrices == nil {
			continue
		}
		all, _ := s.Matrices(f)
		m.maps = append(m.maps, view.Ends(all)...)
		for _, t := range s.Tables(f) {
			if len(t.Columns) == 0 {
				m.notes = append(m.notes, t.Notes...)
			}
		}
	}
	return m
}

// surveyed are the machines whose surveys are drawn: all, or of a fleet the median and the outliers that
// charts show at first.
func (x *index) surveyed() (machines []compare.Machine) {
	if !x.fleet {
		return x.of
	}
	if x.answer.compared {
		machines = append(machines, compare.Machine{Name: chart.Median, File: medianMachine(x.of, x.answer.kinds)})
	}
	return append(machines, lists.Map(x.outliers, func(n int) compare.Machine { return x.of[n] })...)
}

// surveys has a chart of each kind of survey, and heat maps of each machine.
func (x *index) surveys() *document.Document {
	var d document.Document
	machines := x.surveyed()
	found := lists.Map(machines, func(m compare.Machine) measured { return newMeasured(m.File) })
	profiles := lists.Concat(found, func(m measured) []view.Profile { return m.profiles })
	for _, s := range survey.Drawn() {
		of := lists.Filter(profiles, func(p view.Profile) bool { return p.Kind == s.Drawing.Kind })
		parts := lists.Map(of, func(p view.Profile) chart.Part { return chart.Part{Panel: p.Panel, Where: p.Where} })
		if len(parts) > 0 {
			x.kinds = append(x.kinds, s.Drawing.Label)
			d.Chart(ofKind(s.Drawing, machines, found, lists.Unique(parts)))
		}
	}
	maps := x.maps(machines, found) // sets things
	d.Section(document.Section{Title: "Pairs of " + x.things}, maps)
	return &d
}

// ofKind is the chart of a kind. Each panel can show the drawing's default lines, then all lines, or if
// there are too many, each line alone.
func ofKind(d *view.Drawing, machines []compare.Machine, found []measured, parts []chart.Part) *document.Chart {
	const panel, placement, line, cache = "panel", "placement", "line", "cache"
	profiles := func(m compare.Machine) []view.Profile {
		return found[slices.IndexFunc(machines, func(other compare.Machine) bool { return other.Name == m.Name })].profiles
	}
	var sketches []document.Sketch
	longest, most := 0, 0 // the sketch with the most points of a line, and their number
	for _, part := range parts {
		var having []compare.Machine
		var lines []string
		points, own := 0, false
		for i, m := range machines {
			profiles := lists.Filter(found[i].profiles, func(p view.Profile) bool { return part.Has(d, p) })
			for _, p := range profiles {
				points, own = max(points, len(p.Points)), own || d.Own != nil && !d.Own(p)
				lines = lists.Insert(lines, p.Line)
			}
			if len(profiles) > 0 {
				having = append(having, m)
			}
		}
		if points > most {
			longest, most = len(sketches), points
		}
		add := func(name string, part chart.Part) {
			sketches = append(sketches, sketch(map[string]string{panel: part.Panel, placement: string(part.Placement), line: name, cache: part.Cache},
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
	if longest > 0 {
		first := sketches[longest]
		sketches = slices.Insert(slices.Delete(sketches, longest, longest+1), 0, first)
	}
	return &document.Chart{Name: string(d.Kind), Title: d.Label, Keys: []string{panel, placement, cache, line}, Sketches: sketches}
}

// maps has heat maps of pairs, on one scale for all machines, and the median of each level.
func (x *index) maps(machines []compare.Machine, found []measured) *document.Document {
	least, most := make(map[string]float64), make(map[string]float64)
	having := len(lists.Filter(found, func(m measured) bool { return len(m.maps) > 0 }))
	for _, surveys := range found {
		for i := range surveys.maps {
			m := &surveys.maps[i]
			lo, hi := m.Span()
			if before, known := least[m.Name]; known {
				lo, hi = min(lo, before), max(hi, most[m.Name])
			}
			least[m.Name], most[m.Name] = lo, hi
		}
	}
	var all document.Document
	for i, surveys := range found {
		if len(surveys.maps) == 0 {
			continue
		}
		x.things = surveys.maps[0].Axis + "s"
		name := machines[i].Name
		var one document.Document
		if !x.fleet {
			for _, note := range surveys.notes {
				one.Note(note)
			}
		}
		levels := view.Table{Columns: append(view.Words("level"), view.Numbers("pairs")...)}
		for _, m := range surveys.maps {
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
		for n, g := range surveys.maps[0].Groups {
			medians := lists.Map(surveys.maps, func(m view.Matrix) string {
				if median := m.Groups[n].Median; median > 0 {
					return view.Duration(median)
				}
				return ""
			})
			levels.Add(g.Name, g.Pairs, medians)
		}
		one.Table(levels)
		all.Section(document.Section{Title: printable.If(having > 1, name), Class: "map"}, &one)
	}
	return &all
}

// cells describes each pair, row by row of the upper half; "" for a pair without a group.
func cells(m *view.Matrix) (texts []string) {
	for i := range m.Names {
		for j := i + 1; j < len(m.Names); j++ {
			c := m.At(i, j)
			if c.Group < 0 {
				texts = append(texts, "")
				continue
			}
			text := fmt.Sprintf("%ss %s and %s: ", m.Axis, m.Names[i], m.Names[j])
			if !(c.Time.Center > 0) {
				text += "not measured"
			} else {
				text += view.Duration(c.Time.Center)
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

// medianMachine is a file with the medians of a fleet's surveys.
func medianMachine(machines []compare.Machine, kinds []compare.FleetKind) *params.File {
	f := &params.File{}
	for _, k := range kinds {
		for _, c := range k.Cells {
			median := fit.Median(nil)
			if s := c.Time; s != (fit.Spread{}) {
				median = fit.Estimate{Center: s.Median, Lo: s.Median, Hi: s.Median}
			}
			f.Cells = append(f.Cells, params.Cell{Key: c.Key, Time: median})
		}
	}
	for _, m := range machines { // a fleet's topologies should be equal
		if f.Provenance.Levels == nil {
			f.Provenance.Levels = m.File.Provenance.Levels
		}
	}
	return f
}
