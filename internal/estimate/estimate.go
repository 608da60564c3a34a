package estimate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// An Estimate is the estimated time of a program on a machine, in ns.
type Estimate struct {
	Program      string       `json:"program"`
	Ranks        int          `json:"ranks"`
	Machine      string       `json:"machine"`
	States       string       `json:"states,omitempty"` // states of the machine that times cover, in words
	Model        string       `json:"model"`
	Total        fit.Estimate `json:"total_ns"`
	Extrapolated bool         `json:"extrapolated"`
	Phases       []PhaseCost  `json:"phases"`
	Advice       string       `json:"advice"`
}

// A PhaseCost is the time of a phase.
type PhaseCost struct {
	Phase        string       `json:"phase"`
	Does         string       `json:"does"`
	Times        int          `json:"times"`
	Once         fit.Estimate `json:"once_ns"`
	Total        fit.Estimate `json:"total_ns"`
	Share        float64      `json:"share"` // of the program's time
	Extrapolated bool         `json:"extrapolated"`
	From         string       `json:"from"` // which parameters
}

// Estimate adds up the times of a program's phases. Bounds of intervals are added, because errors may be
// correlated: the same launches measured all parameters. It fails with a LackingError if the machine lacks a
// parameter.
func (m *Machine) Estimate(p *Program) (*Estimate, error) {
	e := &Estimate{Program: cmp.Or(printable.Name(p.Name), "program"), Ranks: int(p.Ranks), Machine: m.name, States: m.States, Model: cmp.Or(m.choice.Model, "taulop")}
	for i := range p.Phases {
		h := &p.Phases[i]
		c, err := m.once(h, int(p.Ranks))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.at(i, nil), err)
		}
		total := c.Scale(float64(h.Times))
		e.Phases = append(e.Phases, PhaseCost{cmp.Or(printable.Name(h.Name), h.does()), h.does(), int(h.Times), c.Estimate, total, 0, c.Extrapolated, c.From})
		e.Extrapolated = e.Extrapolated || c.Extrapolated
		if e.Total = between(e.Total, total, func(a, b float64) float64 { return a + b }); i == 0 {
			e.Total = total
		}
	}
	for i := range e.Phases {
		e.Phases[i].Share = e.Phases[i].Total.Center / e.Total.Center
	}
	e.Advice = m.advice(p, e)
	return e, nil
}

func (h *Phase) does() string {
	switch {
	case h.Pass != "":
		return fmt.Sprintf("%s %s %s", h.Pass, view.Bytes(int(h.N)), h.Type) +
			printable.If(h.Stride > 1, fmt.Sprintf(", stride %d", h.Stride)) +
			printable.If(h.Cache == "off", ", off cache")
	case h.Message != "":
		return fmt.Sprintf("%s of %s", h.Message, size(h.Bytes)) + printable.If(h.Cache == "off", ", off cache")
	}
	return fmt.Sprintf("%s %s of a disk, page cache %s", h.Disk, size(h.Bytes), h.Cache)
}

func size(bytes Number) string { return view.Size(int(bytes)) }

// An alternative is another phase, times times, in place of a phase.
type alternative struct {
	how   string
	phase Phase
	times float64
}

// alternatives to a phase are stride 1, data in cache, fewer and longer messages or transfers, and other
// algorithms.
func (h *Phase) alternatives(ranks int) (all []alternative) {
	other, times := *h, float64(h.Times)
	together := h.Bytes > 0 && h.Times > 1 && h.Bytes <= math.MaxInt64/h.Times>>10
	switch {
	case h.Pass != "" && h.Stride > 1:
		other.N, other.Stride = h.N*h.Stride, 1
		all = append(all, alternative{"at stride 1", other, times / float64(h.Stride)})
	case h.Pass != "" && h.Cache == "off":
		other.Cache = "in"
		all = append(all, alternative{"in cache", other, times})
	case h.Disk != "" && together:
		other.Bytes *= h.Times
		all = append(all, alternative{"as one transfer of " + size(other.Bytes), other, 1})
	case h.Message == PingPong && ranks > 3:
		other.Message = Permutation
		all = append(all, alternative{"with all pairs at once", other, math.Ceil(times / float64(ranks/2))})
	case h.Message != "" && h.Message != PingPong:
		if of, _, named := strings.Cut(h.Message, ":"); named {
			other.Message = of
			all = append(all, alternative{"by the cheapest algorithm", other, times})
		}
		if together {
			other = *h
			other.Bytes *= h.Times
			all = append(all, alternative{"as one message of " + size(other.Bytes), other, 1})
		}
	}
	return all
}

// worthwhile is the least share of the program's time that an advised alternative saves.
const worthwhile = 0.1

// advice says which phase to improve: the one whose alternative saves most, else the longest.
func (m *Machine) advice(p *Program, e *Estimate) string {
	longest, saved := 0, 0.
	text := ""
	for i := range e.Phases {
		if e.Phases[i].Total.Center > e.Phases[longest].Total.Center {
			longest = i
		}
		for _, a := range p.Phases[i].alternatives(int(p.Ranks)) {
			c, err := m.once(&a.phase, int(p.Ranks))
			if err != nil {
				continue // a parameter is missing
			}
			was, would := e.Phases[i].Total.Center, c.Center*a.times
			if was-would > saved && was-would > worthwhile*e.Total.Center {
				saved = was - would
				text = fmt.Sprintf("Worth improving first: %s, %s of the time; %s it would take %s instead of %s, and all of it %s.",
					e.Phases[i].Phase, percent(e.Phases[i].Share), a.how, view.Duration(would), view.Duration(was), view.Duration(e.Total.Center-saved))
			}
		}
	}
	if text == "" {
		text = fmt.Sprintf("Worth improving first: %s, %s of the time; these parameters know no cheaper way to do it.", e.Phases[longest].Phase, percent(e.Phases[longest].Share))
	}
	return text
}

func percent(share float64) string {
	return printable.Either(share > 0 && share < 0.01, fmt.Sprintf("%.1g %%", 100*share), fmt.Sprintf("%.0f %%", 100*share))
}

// Document is the estimate in all output formats.
func (e *Estimate) Document() *document.Document {
	return document.New("taulop estimate", e, document.Rows(e.values), e.Say)
}

// Say writes the total, the advice, a table of the phases, and the sources of their times.
func (e *Estimate) Say(w *document.Document) {
	total := printable.Either(e.Total.Known(), view.Timed(e.Total), view.Duration(e.Total.Center))
	fmt.Fprintf(w, "%s, %s on %s: %s%s\n", e.Program, printable.Count(e.Ranks, "rank"), e.Machine, map[bool]string{true: "~"}[e.Extrapolated], total)
	fmt.Fprintf(w, "%s\n\n", strings.Replace(e.Advice, "; ", ";\n", 1)) // in two lines
	unit, scale := view.TimeUnit(e.Total.Center)
	t := view.Table{Columns: []view.Column{{Name: "phase", Left: true}, {Name: "times"}, {Name: "once"}, {Name: "in all", Unit: unit}, {Name: "share"}}}
	if slices.ContainsFunc(e.Phases, func(p PhaseCost) bool { return p.Total.Known() }) {
		t.Columns = append(t.Columns, view.Column{Name: "95 % interval", Unit: unit, Left: true})
	}
	add := func(name string, times, once string, total fit.Estimate, share float64, extrapolated bool) {
		total = total.Scale(1 / scale)
		cells := []string{name, times, once, view.Digits(total.Center, 0), percent(share)}
		if total.Known() { // and allows as many digits
			cells[3] = view.Rough(total)
			cells = append(cells, view.Interval(total))
		}
		if extrapolated {
			cells[3] = "~" + cells[3]
		}
		t.Add(cells)
	}
	for _, p := range e.Phases {
		add(p.Phase, fmt.Sprint(p.Times), view.Duration(p.Once.Center), p.Total, p.Share, p.Extrapolated)
	}
	add("all", "", "", e.Total, 1, e.Extrapolated)
	w.Table(t)
	fmt.Fprintln(w)
	w.Lines(printable.If(e.Extrapolated, "~ beyond what was measured: the nearest pass stands, and messages and disks go on in a line"))
	from := lists.Unique(lists.Map(e.Phases, func(p PhaseCost) string { return p.From }))
	if len(from) > 3 {
		from = append(from[:3], "…")
	}
	w.Lines("Costs are from "+strings.Join(from, "; ")+".", e.States)
}

// values has a row for each phase.
func (e *Estimate) values() view.Table {
	t := view.Table{Columns: view.Words("program", "ranks", "machine", "phase", "does", "times", "once_ns", "total_ns", "lo_ns", "hi_ns", "share", "extrapolated", "from")}
	for _, p := range e.Phases {
		t.Add(e.Program, e.Ranks, e.Machine, p.Phase, p.Does, p.Times, p.Once.Center, p.Total.Center, p.Total.Lo, p.Total.Hi, p.Share, p.Extrapolated, p.From)
	}
	return t
}
