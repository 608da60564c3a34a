package pairs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A Document is the JSON output. Times are in ns, of one transfer.
type Document struct {
	Provenance params.Provenance `json:"provenance"`
	Copy       string            `json:"copy"`
	Seconds    float64           `json:"seconds"`
	*params.Pairs
	Slow     []Slow   `json:"slow"`
	Groups   []Groups `json:"hidden_groups,omitempty"`
	Warnings []string `json:"warnings"`
}

// NewDocument is the document of a file, empty without pairs.
func NewDocument(f *params.File) any {
	p, err := f.Pairs()
	if err != nil {
		p = &params.Pairs{}
	}
	return &Document{f.Provenance, f.Plan.Copy, f.Seconds, p, FindSlow(p), FindGroups(p, f.Provenance.Levels), append([]string{}, f.Warnings...)}
}

// Matrices have one matrix for each size and home.
func Matrices(f *params.File) ([]view.Matrix, error) {
	p, err := f.Pairs()
	if err != nil {
		return nil, err
	}
	names := lists.Map(p.CPUs, strconv.Itoa)
	position := lists.Index(p.CPUs, func(cpu int) int { return cpu })
	var all []view.Matrix
	for row, bytes := range p.Sizes {
		for _, home := range p.Each() {
			m := view.NewMatrix("CPU", names)
			m.Heading = "isolated transfers between two CPUs, one pair at a time" + printable.If(f.Plan.Copy != "", "; copy "+f.Plan.Copy)
			if p.Home != params.UnknownHome {
				m.Heading += "\nthrough memory on the writer's node, who is the lower CPU, on the reader's, or on a third one"
			}
			m.Title, m.How = "Transfers between two CPUs", "one pair at a time"
			m.Bytes = bytes
			if m.Name = "transfer of " + view.Bytes(bytes) + via(home.Home); bytes == 0 {
				m.Name = "null transfer" + via(home.Home) + ", one way"
			}
			index := make([]int, len(home.Levels))
			for i, l := range p.Levels { // all matrices have the same groups
				g := view.Group{Name: l.Name, Pairs: l.Pairs}
				if j := slices.IndexFunc(home.Levels, func(o params.PairLevel) bool { return o.Name == l.Name }); j >= 0 {
					g.Median, index[j] = home.Levels[j].Median[row], i
				}
				m.Groups = append(m.Groups, g)
			}
			for _, pair := range home.Pairs {
				*m.At(position[pair.From], position[pair.To]) = view.Cell{Group: index[pair.Level], Time: pair.Times[row]}
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// via names the node of the memory, if there is a choice.
func via(h params.Home) string {
	switch h {
	case params.UnknownHome:
		return ""
	case params.ThirdHome:
		return " via a third node"
	}
	return " via the " + string(h) + "'s node"
}

// Tables have the times of each level, the states of pairs, slow pairs and hidden groups.
func Tables(f *params.File) []view.Table {
	p, err := f.Pairs()
	if err != nil {
		return nil
	}
	tables := append([]view.Table{levelTable(p)}, view.Filled(stateTable(p))...)
	groups := FindGroups(p, f.Provenance.Levels)
	if notes := append(slowNotes(p), first(groups, "So do %d more sets of CPUs, which -json lists.")...); len(notes) > 0 {
		tables = append(tables, view.Table{Notes: notes})
	}
	return tables
}

// Answer has the times of messages at each level, and the number of slow pairs.
func Answer(f *params.File) string {
	p, err := f.Pairs()
	if err != nil {
		return ""
	}
	var lines []string
	for i, l := range p.Levels {
		how, times := printable.If(l.Pairs > 1, fmt.Sprintf(" (medians of %d pairs)", l.Pairs)), []string{}
		for _, row := range lists.Rising([]int{0, len(p.Sizes) - 1}) {
			time := view.Duration(l.Median[row])
			if !(l.Median[row] > 0) {
				time = "?"
			} else if l.Pairs == 1 {
				time = view.Timed(p.Pairs[slices.IndexFunc(p.Pairs, func(pair params.Pair) bool { return pair.Level == i })].Times[row])
			}
			times = append(times, transfer(p.Sizes[row])+" "+time)
		}
		lines = append(lines, fmt.Sprintf("One way at %s%s%s: %s.", l.Name, via(p.Home), how, strings.Join(times, ", ")))
	}
	if slow := len(FindSlow(p)); slow > 0 {
		lines = append(lines, printable.Count(slow, "pair")+" slower than the level says, see below.")
	}
	return strings.Join(lines, "\n")
}

// levelTable has the median, shortest and longest time of each level's pairs.
func levelTable(p *params.Pairs) view.Table {
	t := view.Table{Title: "levels: median over pairs, least – most", Columns: view.Numbers("level", "pairs")}
	homed := p.Home != params.UnknownHome
	if homed {
		t.Columns = view.Numbers("level", "home", "pairs")
	}
	for _, m := range p.Sizes {
		if m == 0 {
			t.Columns = append(t.Columns, view.Numbers("null, ns", "")...)
		} else {
			t.Columns = append(t.Columns, view.Numbers(view.Bytes(m)+", ns", "", "GB/s")...)
		}
	}
	for _, level := range p.Levels {
		for _, home := range p.Each() {
			l := slices.IndexFunc(home.Levels, func(o params.PairLevel) bool { return o.Name == level.Name })
			if l < 0 || home.Home == params.ReaderHome && !home.Measured(l) {
				continue
			}
			cells := []string{level.Name}
			if homed {
				cells = append(cells, string(home.Home))
			}
			t.Add(append(cells, levelCells(home, l)...))
		}
	}
	for i, near := range p.Levels {
		for _, far := range p.Levels[i+1:] {
			if near.Median[0] > far.Median[0] && far.Median[0] > 0 {
				t.Note("Pairs of %q should be closer than those of %q, but %s takes them %s ns against %s ns.",
					near.Name, far.Name, transfer(p.Sizes[0])+via(p.Home), digits(near.Median[0]), digits(far.Median[0]))
			}
		}
	}
	return t
}

// stateTable has the states of pairs whose CPUs the host moves; no rows if it moves none.
func stateTable(p *params.Pairs) view.Table {
	t := view.Table{Title: "states of pairs, told apart by what a flag takes; times above are means by their shares", Keys: 2,
		Columns: []view.Column{{Name: "pair"}, {Name: "flag", Unit: "ns"}, {Name: "share", Unit: "% of time"}, {Name: "lasts", Unit: "s, median"}}}
	t.Title += printable.If(p.Home != params.UnknownHome, "\nthrough memory on the writer's node")
	for _, m := range p.Sizes {
		name := printable.Either(m > 0, view.Bytes(m), "null")
		t.Columns = append(t.Columns, view.Column{Name: name, Unit: "ns"}, view.Column{Name: "95 % interval", Unit: "ns", Beside: true})
	}
	moved := 0
	for _, pair := range p.Pairs {
		if len(pair.States) == 0 {
			continue
		}
		if moved++; moved > mostSlow {
			continue
		}
		name := fmt.Sprintf("%d-%d", pair.From, pair.To)
		for _, state := range pair.States {
			flag := digits(state.NS) + printable.If(state.Slow > 0, " slowed")
			lasts := printable.If(state.Lasts > 0, view.Digits(state.Lasts, state.Lasts/10))
			var times []string
			for _, time := range state.Times {
				times = append(times, view.Center(time), view.Interval(time))
			}
			t.Add(name, flag, fmt.Sprintf("%.0f", state.Percent()), lasts, times)
			name = ""
		}
	}
	switch steady := len(p.Pairs) - moved; {
	case moved > mostSlow:
		t.Note("%d more pairs have several states, which -json and -csv list.", moved-mostSlow)
	case moved > 0 && steady == 1:
		t.Note("The other pair has one state.")
	case moved > 0 && steady > 1:
		t.Note("The other %d pairs have one state each.", steady)
	}
	return t
}

// levelCells are the number of a level's pairs and their times.
func levelCells(p *params.Pairs, l int) []string {
	level := p.Levels[l]
	cells := []string{strconv.Itoa(level.Pairs)}
	for row, m := range p.Sizes {
		least, most := math.Inf(1), 0.0
		for _, pair := range p.Pairs {
			if v := pair.Times[row].Center; pair.Level == l && !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
		median, span, bandwidth := "?", "", "?"
		if ns := level.Median[row]; ns > 0 {
			median, span = digits(ns), digits(least)+" – "+digits(most)
			bandwidth = digits(float64(m) / ns)
		}
		if cells = append(cells, median, span); m > 0 {
			cells = append(cells, bandwidth)
		}
	}
	return cells
}

// mostSlow bounds the lists of slow pairs, of pairs with states and of hidden groups.
const mostSlow = 10

// slowNotes name the slow pairs, or say that there are none if a level has enough pairs with intervals.
func slowNotes(p *params.Pairs) (notes []string) {
	slow := FindSlow(p)
	if len(slow) == 0 && slices.ContainsFunc(p.Pairs, func(pair params.Pair) bool {
		return p.Levels[pair.Level].Pairs >= 3 && least(pair.Times[0]) > 0
	}) {
		return []string{fmt.Sprintf("No pair is slower than its level says: at the lower bounds of their intervals robust z-scores are up to %g.", fit.OutlierScore)}
	}
	return first(slow, "So are %d more pairs, which -json lists.")
}

// first are the sentences of the first mostSlow, and one with the number of the others.
func first[T fmt.Stringer](all []T, others string) (notes []string) {
	notes = lists.Map(all[:min(mostSlow, len(all))], T.String)
	if more := len(all) - mostSlow; more > 0 {
		notes = append(notes, fmt.Sprintf(others, more))
	}
	return notes
}

// String is a sentence.
func (s Slow) String() string {
	return fmt.Sprintf("CPUs %d and %d are slower than their level (%s) says: %s takes %s ns", s.From, s.To, s.Level, transfer(s.Bytes)+via(s.Home), digits(s.Time)) +
		printable.If(s.Score > 0, fmt.Sprintf(" where the median is %s ns (z = %.1f)", digits(s.Median), s.Score)) +
		printable.If(s.Above != "", fmt.Sprintf(", more than pairs of %q with %s ns", s.Above, digits(s.Beyond))) +
		"."
}

func transfer(m int) string {
	return printable.Either(m == 0, "a null transfer", "a transfer of "+view.Size(m))
}

func digits(v float64) string { return view.Digits(v, 0) }
