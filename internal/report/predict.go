package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

// Predictions are what collectives cost. Rows stand in the order of P, then m,
// then algorithms.
type Predictions struct {
	Source
	Rows    []Prediction `json:"rows"`
	LeftOut []Omission   `json:"left_out"`
}

// A Source says where costs come from: a machine's parameters and a model.
type Source struct {
	Machine   string `json:"machine"`
	File      string `json:"params"`
	Channel   string `json:"channel,omitempty"` // which of the file's, in words
	Model     string `json:"model"`
	Transport string `json:"transport,omitempty"`
	Segment   int    `json:"segment_bytes,omitempty"`
	Measured  string `json:"measured"`           // as far as m and τ were measured, in words
	Rule      string `json:"extrapolation_rule"` // beyond it
}

// NewSource says what a predictor takes from the file of a machine.
func NewSource(p *model.Predictor, machine, file string) Source {
	s := Source{Machine: machine, File: file, Channel: p.Channel, Model: p.Title(), Measured: "m up to " + view.Bytes(p.Largest), Rule: p.Rule()}
	if p.Segments() {
		s.Segment = p.Segment
	}
	if l := p.Transfers; l != nil {
		s.Transport = p.Transport.String()
		s.Measured = fmt.Sprintf("m from %s to %s and τ from %d to %d", view.Bytes(l.Sizes[0]), view.Bytes(p.Largest), l.Taus[0], l.Taus[len(l.Taus)-1])
	}
	if packed := p.Packing; packed != nil {
		s.Measured += fmt.Sprintf(", and p(m,%d) with m from %s to %s", p.Stride, view.Bytes(packed.Sizes[0]), view.Bytes(packed.Sizes[len(packed.Sizes)-1]))
	}
	return s
}

// A Prediction is the cost of one call.
type Prediction struct {
	Collective   string  `json:"collective"`
	Algorithm    string  `json:"algorithm"`
	Chosen       string  `json:"chosen,omitempty"` // what an algorithm that only chooses has chosen
	P            int     `json:"P"`
	Bytes        int     `json:"m_bytes"`
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Cheapest     bool    `json:"cheapest"`          // of this collective, P and m; see MarkCheapest
	Unknown      bool    `json:"unknown,omitempty"` // the parameters have a time of 0 for it: text and tables show no cost
	// TauLop is what τ-Lop says in µs, where it stands beside another model.
	TauLop *float64 `json:"taulop_us,omitempty"`
}

// An Omission says for which P an algorithm is left out, and why.
type Omission struct {
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"` // it needs a power of two of ranks
	P         []int  `json:"P"`
}

func (o Omission) String() string {
	return fmt.Sprintf("%s for P = %s: it %s", o.Algorithm, strings.Trim(strings.ReplaceAll(fmt.Sprint(o.P), " ", ", "), "[]"), o.Why)
}

// MarkCheapest marks the cheapest rows of each collective, P and m: several
// where they are equal, none where all are, nor where one of them is unknown.
func (p *Predictions) MarkCheapest() {
	type call struct {
		collective string
		p, bytes   int
	}
	calls := make(map[call][]*Prediction)
	for i := range p.Rows {
		r := &p.Rows[i]
		key := call{r.Collective, r.P, r.Bytes}
		calls[key] = append(calls[key], r)
	}
	for _, rows := range calls {
		least, most, unknown := math.Inf(1), 0.0, false
		for _, r := range rows {
			least, most, unknown = min(least, r.Microseconds), max(most, r.Microseconds), unknown || r.Unknown
		}
		for _, r := range rows {
			r.Cheapest = !unknown && same(r.Microseconds, least) && !same(most, least)
		}
	}
}

// same tells whether two costs differ by no more than rounding.
func same(a, b float64) bool { return a <= b*(1+1e-9) && b <= a*(1+1e-9) }

// WriteText writes a table for each collective and P, and what its marks mean.
func (p *Predictions) WriteText(w io.Writer) {
	p.Source.WriteText(w)
	type call struct {
		collective string
		p          int
	}
	for _, rows := range view.Grouped(p.Rows, func(r Prediction) call { return call{r.Collective, r.P} }) {
		writeTables(w, predictionTable(rows))
	}
	has := func(mark func(r Prediction) bool) bool { return slices.ContainsFunc(p.Rows, mark) }
	cheapest := has(func(r Prediction) bool { return r.Cheapest })
	unknown := has(func(r Prediction) bool { return r.Unknown })
	extrapolated := has(func(r Prediction) bool { return r.Extrapolated })
	if cheapest || unknown || extrapolated || len(p.LeftOut) > 0 {
		fmt.Fprintln(w)
	}
	if cheapest {
		fmt.Fprintln(w, "* the cheapest of its row")
	}
	if unknown {
		fmt.Fprintln(w, "? unknown: the parameters have a time of 0 for it, and its row is not ranked")
	}
	p.WriteNotes(w, extrapolated, p.LeftOut)
}

// WriteText writes it in a line.
func (s Source) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s, from %s", s.Machine, s.File)
	if s.Channel != "" {
		fmt.Fprintf(w, " (%s)", s.Channel)
	}
	fmt.Fprintf(w, "; %s", s.Model)
	if s.Transport != "" || s.Segment > 0 {
		fmt.Fprintf(w, ", %s messages", s.Transport)
	}
	if s.Segment > 0 {
		fmt.Fprintf(w, ", segments of %s", view.Bytes(s.Segment))
	}
	fmt.Fprintln(w)
}

// WriteNotes explains the mark of extrapolated values, and says what was left out.
func (s Source) WriteNotes(w io.Writer, extrapolated bool, leftOut []Omission) {
	if extrapolated {
		fmt.Fprintf(w, "~ extrapolated: measured are %s.\n  %s.\n", s.Measured, capital(s.Rule))
	}
	for _, o := range leftOut {
		fmt.Fprintf(w, "Left out: %s.\n", o)
	}
}

func capital(sentence string) string { return strings.ToUpper(sentence[:1]) + sentence[1:] }

// predictionTable is of one collective: sizes down, algorithms across.
func predictionTable(rows []Prediction) view.Table {
	t := view.Table{Title: fmt.Sprintf("%s, P = %d; times in µs", rows[0].Collective, rows[0].P), Columns: view.Numbers("m")}
	algorithms := view.Grouped(rows, func(r Prediction) string { return r.Algorithm })
	for _, of := range algorithms {
		heads := []string{of[0].Algorithm + " ", "τ-Lop "}
		t.Columns = append(t.Columns, view.Numbers(heads[:len(of[0].cells())]...)...)
	}
	for _, of := range view.Grouped(rows, func(r Prediction) int { return r.Bytes }) {
		var costs []string
		for _, a := range algorithms {
			cells := make([]string, len(a[0].cells()))
			for _, r := range of {
				if r.Algorithm == a[0].Algorithm {
					cells = r.cells()
				}
			}
			costs = append(costs, cells...)
		}
		t.Add(view.Bytes(of[0].Bytes), costs)
	}
	return t
}

// cells are the cost with its mark, or room for one, and that by τ-Lop.
func (r *Prediction) cells() []string {
	mark := " "
	if r.Cheapest {
		mark = "*"
	}
	if r.TauLop == nil {
		return []string{r.cost() + mark}
	}
	return []string{r.cost() + mark, microseconds(*r.TauLop, false) + " "}
}

// cost is in text, "?" of what is unknown.
func (r *Prediction) cost() string {
	if r.Unknown {
		return "?"
	}
	return microseconds(r.Microseconds, r.Extrapolated)
}

// WriteTSV writes a line for each row: machine, collective, algorithm, P, m in
// bytes and the cost in µs, and that of τ-Lop where it stands beside.
func (p *Predictions) WriteTSV(w io.Writer) {
	t := view.Table{Columns: view.Words("machine", "collective", "algorithm", "P", "m_bytes", "cost_us")}
	if len(p.Rows) > 0 && p.Rows[0].TauLop != nil {
		t.Columns = append(t.Columns, view.Words("taulop_us")...)
	}
	for _, r := range p.Rows {
		cost := []string{""}
		if !r.Unknown {
			cost[0] = fmt.Sprintf("%.6f", r.Microseconds)
		}
		if r.TauLop != nil {
			cost = append(cost, fmt.Sprintf("%.6f", *r.TauLop))
		}
		t.Add(p.Machine, r.Collective, r.Algorithm, r.P, r.Bytes, cost)
	}
	t.WriteValues(w, '\t') // who gave w knows what went wrong
}

// WriteJSON writes the document.
func (p *Predictions) WriteJSON(w io.Writer) error { return view.WriteJSON(w, p) }
