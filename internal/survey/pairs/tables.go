package pairs

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A Document is transfers between every two CPUs. All times are in ns, of one transfer.
type Document struct {
	Provenance params.Provenance `json:"provenance"`
	Copy       string            `json:"copy"`
	Seconds    float64           `json:"seconds"`
	*params.Pairs
	Slow     []Slow   `json:"slow"`
	Warnings []string `json:"warnings"`
}

// NewDocument is of a file that has pairs, or is empty.
func NewDocument(f *params.File) any {
	p, err := f.Pairs()
	if err != nil {
		p = &params.Pairs{}
	}
	return &Document{f.Provenance, f.Plan.Copy, f.Seconds, p, FindSlow(p), append([]string{}, f.Warnings...)}
}

// Matrices are one of each size.
func Matrices(f *params.File) ([]view.Matrix, error) {
	p, err := f.Pairs()
	if err != nil {
		return nil, err
	}
	var names []string
	at := make(map[int]int)
	for i, cpu := range p.CPUs {
		names, at[cpu] = append(names, strconv.Itoa(cpu)), i
	}
	var all []view.Matrix
	for row, bytes := range p.Sizes {
		m := view.NewMatrix("CPU", names)
		m.Heading = "isolated transfers between two CPUs, one pair at a time; copy " + f.Plan.Copy
		m.Title, m.How = "Transfers between two CPUs", "one pair at a time"
		if m.Bytes, m.Name = bytes, "null transfer, one way"; bytes > 0 {
			m.Name = "transfer of " + view.Bytes(bytes)
		}
		for _, l := range p.Levels {
			m.Groups = append(m.Groups, view.Group{Name: l.Name, Pairs: l.Pairs, Median: l.Median[row]})
		}
		for _, pair := range p.Pairs {
			*m.At(at[pair.From], at[pair.To]) = view.Cell{Group: pair.Level, Time: pair.Times[row]}
		}
		all = append(all, m)
	}
	return all, nil
}

// Tables are what pairs of a level have in common, and the pairs that are slow.
func Tables(f *params.File) []view.Table {
	p, err := f.Pairs()
	if err != nil {
		return nil
	}
	tables := []view.Table{levelTable(p)}
	if notes := slowNotes(p); len(notes) > 0 {
		tables = append(tables, view.Table{Notes: notes})
	}
	return tables
}

// levelTable has medians over pairs, and the least and most of them.
func levelTable(p *params.Pairs) view.Table {
	t := view.Table{Title: "levels: median over pairs, least – most", Columns: view.Numbers("level", "pairs")}
	for _, m := range p.Sizes {
		if m == 0 {
			t.Columns = append(t.Columns, view.Numbers("null, ns", "")...)
		} else {
			t.Columns = append(t.Columns, view.Numbers(view.Bytes(m)+", ns", "", "GB/s")...)
		}
	}
	for l, level := range p.Levels {
		cells := []string{level.Name, strconv.Itoa(level.Pairs)}
		for row, m := range p.Sizes {
			least, most := math.Inf(1), 0.0
			for _, pair := range p.Pairs {
				if v := pair.Times[row].Center; pair.Level == l && !math.IsNaN(v) {
					least, most = min(least, v), max(most, v)
				}
			}
			median, span, bandwidth := "?", "", "?"
			if of := level.Median[row]; of > 0 {
				median, span = digits(of), digits(least)+" – "+digits(most)
				bandwidth = digits(float64(m) / of)
			}
			if cells = append(cells, median, span); m > 0 {
				cells = append(cells, bandwidth)
			}
		}
		t.Add(cells)
	}
	for i, near := range p.Levels {
		for _, far := range p.Levels[i+1:] {
			if near.Median[0] > far.Median[0] && far.Median[0] > 0 {
				t.Note("Pairs of %q should be closer than those of %q, but %s takes them %s ns against %s ns.",
					near.Name, far.Name, transfer(p.Sizes[0]), digits(near.Median[0]), digits(far.Median[0]))
			}
		}
	}
	return t
}

// mostSlow pairs are told one by one.
const mostSlow = 10

// slowNotes say which pairs are slow, nothing of levels with too few pairs to tell.
func slowNotes(p *params.Pairs) (notes []string) {
	slow := FindSlow(p)
	for _, s := range slow[:min(mostSlow, len(slow))] {
		notes = append(notes, s.String())
	}
	switch more := len(slow) - mostSlow; {
	case more > 0:
		notes = append(notes, fmt.Sprintf("So are %d more pairs, which -json lists.", more))
	case len(slow) == 0 && slices.ContainsFunc(p.Levels, func(l params.PairLevel) bool { return l.Pairs >= 3 }):
		notes = append(notes, fmt.Sprintf("No pair is slower than its level says: robust z-scores are up to %g.", fit.OutlierScore))
	}
	return notes
}

// String is a sentence.
func (s Slow) String() string {
	text := fmt.Sprintf("CPUs %d and %d are slower than their level (%s) says: %s takes %s ns", s.From, s.To, s.Level, transfer(s.Bytes), digits(s.Time))
	if s.Score > 0 {
		text += fmt.Sprintf(" where the median is %s ns (z = %.1f)", digits(s.Median), s.Score)
	}
	if s.Above != "" {
		text += fmt.Sprintf(", more than pairs of %q with %s ns", s.Above, digits(s.Beyond))
	}
	return text + "."
}

func transfer(m int) string {
	if m == 0 {
		return "a null transfer"
	}
	return "a transfer of " + view.Bytes(m)
}

func digits(v float64) string { return view.Digits(v, 0) }
