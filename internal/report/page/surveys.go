package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A surveyRow is a cell of what surveys measured.
type surveyRow struct {
	Kind, Variant, Cache string
	Placement            string
	Tau, Bytes           int
	Time, Interval       string // ns
}

// surveyRows are those of a machine, in the order of its file.
func surveyRows(m compare.Machine) (rows []surveyRow) {
	for _, c := range m.File.Cells {
		if c.Variant == "" {
			continue
		}
		row := surveyRow{Kind: string(c.Kind), Variant: c.Variant, Cache: "in", Placement: string(c.Placement), Tau: c.Tau, Bytes: c.Bytes,
			Time: view.Center(c.Time)}
		if c.OffCache {
			row.Cache = "off"
		}
		if c.Time.Known() {
			half := (c.Time.Hi - c.Time.Lo) / 2
			row.Interval = view.Digits(c.Time.Lo, half) + " … " + view.Digits(c.Time.Hi, half)
		}
		rows = append(rows, row)
	}
	return rows
}

// A kind is what surveys measured on machines over sizes or strides, in a chart.
type kind struct {
	Kind     params.Kind   `json:"-"`
	Label    string        `json:"label"`
	Quantity string        `json:"quantity"` // its times
	About    string        `json:"about"`    // what they are of
	Panel    string        `json:"-"`        // what panels and lines are, where the reader chooses
	Line     string        `json:"-"`
	Over     view.Quantity `json:"over"`
	Rate     bool          `json:"rate,omitempty"` // GB/s instead of times
	Own      []int         `json:"own,omitempty"`  // lines that one machine's chart begins with
	Lines    []line        `json:"lines"`          // of any machine
	drawing  *view.Drawing
}

// A line is a profile that machines may have in common.
type line struct {
	Panel    string `json:"panel"`
	Name     string `json:"line"`
	OffCache bool   `json:"off,omitempty"`
}

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

// ordered are the profiles as their kinds have them in order.
func (m measured) ordered() (profiles []*view.Profile) {
	order := make(map[params.Kind][]string)
	for _, s := range survey.Drawn() {
		order[s.Drawing.Kind] = s.Drawing.Order
	}
	rank := func(p *view.Profile) int {
		return slices.IndexFunc(order[p.Kind], func(begin string) bool { return strings.HasPrefix(p.Line, begin) })
	}
	type panel struct {
		kind params.Kind
		name string
	}
	for _, of := range view.Grouped(m.profiles, func(p *view.Profile) panel { return panel{p.Kind, p.Panel} }) {
		slices.SortStableFunc(of, func(a, b *view.Profile) int { return cmp.Compare(rank(a), rank(b)) })
		profiles = append(profiles, of...)
	}
	return profiles
}

// surveys makes what the page has of surveys, of all machines.
func (p *Page) surveys(machines []machine, x *index) error {
	found := make([]measured, len(machines))
	p.each(func(i int) error {
		found[i] = newMeasured(p.Machines[i].File)
		if !x.Fleet {
			machines[i].Notes = notes(p.Machines[i].File)
		}
		return nil
	})
	x.lines = newLines(found)
	for i, m := range found {
		x.lines.add(m.ordered())
		if x.Machines[i].Maps = len(m.maps); len(m.maps) > 0 {
			x.things = m.maps[0].Axis + "s"
			x.maps = m.maps
		}
	}
	x.Kinds = x.lines.kinds
	return p.each(func(i int) (err error) {
		machines[i].Measured, err = x.lines.encode(found[i])
		return err
	})
}

// lines numbers the profiles of machines, kind by kind.
type lines struct {
	kinds   []kind
	numbers map[profileName][2]int // of kind and line
}

// newLines has the kinds that any machine has, in the order of files.
func newLines(found []measured) *lines {
	l := &lines{numbers: make(map[profileName][2]int)}
	has := make(map[params.Kind]bool)
	for _, m := range found {
		for _, p := range m.profiles {
			has[p.Kind] = true
		}
	}
	for _, s := range survey.Drawn() {
		if d := s.Drawing; has[d.Kind] {
			l.kinds = append(l.kinds, kind{Kind: d.Kind, Label: d.Label, Panel: d.Panel, Line: d.Line, Quantity: d.Quantity, About: d.Of, Over: d.Over, Rate: d.Rate, drawing: d})
		}
	}
	return l
}

// A profileName is what lines have in common that are compared.
type profileName struct {
	kind params.Kind
	line
	placement string
	tau       int
}

func profileNameOf(p *view.Profile) profileName {
	return profileName{p.Kind, line{p.Panel, p.Line, p.OffCache}, string(p.Placement), p.Tau}
}

// add gives numbers to profiles that are new. Those that differ from others in
// placement or τ alone have that in their panel's name.
func (l *lines) add(profiles []*view.Profile) {
	for _, p := range profiles {
		name := profileNameOf(p)
		if _, known := l.numbers[name]; known {
			continue
		}
		k := slices.IndexFunc(l.kinds, func(k kind) bool { return k.Kind == p.Kind })
		if k < 0 {
			continue
		}
		if slices.Contains(l.kinds[k].Lines, name.line) {
			name.line.Panel += fmt.Sprintf(", placement %s, τ = %d", p.Placement, p.Tau)
		}
		n := len(l.kinds[k].Lines)
		l.numbers[profileNameOf(p)] = [2]int{k, n}
		l.kinds[k].Lines = append(l.kinds[k].Lines, name.line)
		if own := l.kinds[k].drawing.Own; own != nil && own(p) {
			l.kinds[k].Own = append(l.kinds[k].Own, n)
		}
	}
}

// A surveyData is what surveys found on a machine, for charts and maps.
type surveyData struct {
	Lines []lineData `json:"lines"`
	Maps  []mapData  `json:"maps,omitempty"`
}

type lineData struct {
	Kind int    `json:"k"`
	Line int    `json:"n"` // of the kind's
	X    []int  `json:"x"`
	Time values `json:"y"`
}

// A mapData is times between every two of some things, the upper half of the matrix, row
// by row.
type mapData struct {
	Name   string       `json:"name"`
	How    string       `json:"how"`
	Axis   string       `json:"axis"`
	Names  []string     `json:"names"`
	Groups []view.Group `json:"groups"`
	Of     []int        `json:"of"` // each pair's group; −1: not measured
	Times  values       `json:"t"`
}

func newMapData(m *view.Matrix) mapData {
	d := mapData{Name: m.Name, How: m.How, Axis: m.Axis, Names: m.Names, Groups: m.Groups}
	for _, c := range m.Cells {
		d.Of = append(d.Of, c.Group)
		d.Times.add(c.Time)
	}
	d.Times.trim()
	return d
}

// encode makes the charts' data of a machine; nothing where it has none.
func (l *lines) encode(m measured) (template.JS, error) {
	data := surveyData{Lines: []lineData{}} // a list for scripts, of pairs alone too
	for _, p := range m.profiles {
		at, drawn := l.numbers[profileNameOf(p)]
		if !drawn {
			continue
		}
		d := lineData{Kind: at[0], Line: at[1]}
		for _, point := range p.Points {
			d.X = append(d.X, point.X)
			if y := point.Y; l.kinds[at[0]].Rate {
				d.Time.add(y.Rate(float64(p.Tau) * float64(point.X))) // bytes a ns are GB/s
			} else {
				d.Time.add(y)
			}
		}
		d.Time.trim()
		data.Lines = append(data.Lines, d)
	}
	for i := range m.maps {
		data.Maps = append(data.Maps, newMapData(&m.maps[i]))
	}
	if len(data.Lines) == 0 && data.Maps == nil {
		return "", nil
	}
	text, err := json.Marshal(data)
	return template.JS(text), err
}

// medianMachine is what a fleet has in the middle of surveys, its bounds a
// robust standard deviation away.
func medianMachine(machines []compare.Machine, kinds []compare.FleetKind) *params.File {
	f := &params.File{}
	for _, k := range kinds {
		for _, c := range k.Cells {
			f.Cells = append(f.Cells, params.Cell{Key: c.Key, Time: middle(c.Time)})
		}
	}
	for _, m := range machines {
		if f.Provenance.Levels == nil {
			f.Provenance.Levels = m.File.Provenance.Levels // machines of a fleet are alike
		}
	}
	return f
}

// middle is the median of machines; nothing is known where none has it.
func middle(s fit.Spread) fit.Estimate {
	if s == (fit.Spread{}) {
		return fit.Median(nil)
	}
	return fit.Estimate{Center: s.Median, Lo: max(0, s.Median-s.Deviation), Hi: s.Median + s.Deviation}
}
