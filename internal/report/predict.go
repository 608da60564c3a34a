package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

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

// WriteText writes it in a line.
func (s Source) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s, from %s", s.Machine, s.File)
	if s.Channel != "" {
		fmt.Fprintf(w, " (%s)", s.Channel)
	}
	fmt.Fprintf(w, "; %s", s.Model)
	switch {
	case s.Segment > 0:
		fmt.Fprintf(w, ", %s messages, segments of %s", s.Transport, view.Bytes(s.Segment))
	case s.Transport != "":
		fmt.Fprintf(w, ", %s messages", s.Transport)
	}
	fmt.Fprintln(w)
}

// Predictions are what collectives cost. Rows stand in the order of P, then m,
// then algorithms.
type Predictions struct {
	Source
	Rows    []Prediction `json:"rows"`
	LeftOut []Omission   `json:"left_out"`
}

// An Omission says for which P an algorithm is left out, and why.
type Omission struct {
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"` // it needs a power of two of ranks
	P         []int  `json:"P"`
}

func (o Omission) String() string {
	var ps []string
	for _, p := range o.P {
		ps = append(ps, strconv.Itoa(p))
	}
	return fmt.Sprintf("%s for P = %s: it %s", o.Algorithm, strings.Join(ps, ", "), o.Why)
}

// WriteNotes explains the mark of extrapolated values, and says what was left out.
func (s Source) WriteNotes(w io.Writer, extrapolated bool, leftOut []Omission) {
	if extrapolated {
		fmt.Fprintf(w, "~ extrapolated: measured are %s.\n  %s.\n", s.Measured, strings.ToUpper(s.Rule[:1])+s.Rule[1:])
	}
	for _, o := range leftOut {
		fmt.Fprintf(w, "Left out: %s.\n", o)
	}
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

type predictionKey struct {
	collective string
	p, bytes   int
}

// MarkCheapest marks the cheapest rows of each collective, P and m: several
// where they are equal, none where all are, nor where one of them is unknown.
func (p *Predictions) MarkCheapest() {
	calls := make(map[predictionKey][]*Prediction)
	for i := range p.Rows {
		r := &p.Rows[i]
		key := predictionKey{r.Collective, r.P, r.Bytes}
		calls[key] = append(calls[key], r)
	}
	for _, rows := range calls {
		least, most := math.Inf(1), 0.0
		for _, r := range rows {
			least, most = min(least, r.Microseconds), max(most, r.Microseconds)
		}
		for _, r := range rows {
			r.Cheapest = same(r.Microseconds, least) && !same(most, least) &&
				!slices.ContainsFunc(rows, func(r *Prediction) bool { return r.Unknown })
		}
	}
}

// same tells whether two costs differ by no more than rounding.
func same(a, b float64) bool { return a <= b*(1+1e-9) && b <= a*(1+1e-9) }

// WriteText writes a table for each collective and P, and what its marks mean.
func (p *Predictions) WriteText(w io.Writer) {
	p.Source.WriteText(w)
	var extrapolated, cheapest, unknown bool
	for rows := p.Rows; len(rows) > 0; {
		first, n := rows[0], 0
		for n < len(rows) && rows[n].P == first.P {
			n++
		}
		var collectives []string
		for _, r := range rows[:n] {
			if !slices.Contains(collectives, r.Collective) {
				collectives = append(collectives, r.Collective)
			}
			extrapolated = extrapolated || r.Extrapolated
			cheapest = cheapest || r.Cheapest
			unknown = unknown || r.Unknown
		}
		for _, c := range collectives {
			writePredictions(w, c, first.P, rows[:n])
		}
		rows = rows[n:]
	}
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

// cost is in text, "?" of what is unknown.
func (r *Prediction) cost() string {
	if r.Unknown {
		return "?"
	}
	return Microseconds(r.Microseconds, r.Extrapolated)
}

// writePredictions writes the table of one collective: sizes down, algorithms across.
func writePredictions(w io.Writer, collective string, p int, rows []Prediction) {
	var algorithms []string
	var sizes []int
	cells := make(map[string]string)
	beside := false
	key := func(algorithm string, bytes int) string { return algorithm + " " + strconv.Itoa(bytes) }
	for _, r := range rows {
		if r.Collective != collective {
			continue
		}
		if !slices.Contains(algorithms, r.Algorithm) {
			algorithms = append(algorithms, r.Algorithm)
		}
		if len(sizes) == 0 || sizes[len(sizes)-1] != r.Bytes {
			sizes = append(sizes, r.Bytes)
		}
		mark := " "
		if r.Cheapest {
			mark = "*"
		}
		cells[key(r.Algorithm, r.Bytes)] = r.cost() + mark
		if r.TauLop != nil {
			beside = true
			cells[key(r.Algorithm, r.Bytes)] += "\t" + Microseconds(*r.TauLop, false) + " "
		}
	}
	fmt.Fprintf(w, "\n%s, P = %d; times in µs\n", collective, p)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "m\t")
	for _, a := range algorithms {
		fmt.Fprintf(t, "%s \t", a)
		if beside {
			fmt.Fprint(t, "τ-Lop \t")
		}
	}
	fmt.Fprintln(t)
	for _, m := range sizes {
		fmt.Fprintf(t, "%s\t", view.Bytes(m))
		for _, a := range algorithms {
			fmt.Fprintf(t, "%s\t", cells[key(a, m)])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// Microseconds writes a cost with four digits, six decimals at most, and a mark
// in front if it is extrapolated.
func Microseconds(us float64, extrapolated bool) string {
	decimals := 0
	if us > 0 {
		magnitude := int(math.Floor(math.Log10(us)))
		decimals = min(max(3-magnitude, 0), 6)
		if magnitude > 3 { // four digits are what measured parameters are good for
			unit := math.Pow10(magnitude - 3)
			us = math.Round(us/unit) * unit
		}
	}
	text := strconv.FormatFloat(us, 'f', decimals, 64)
	if extrapolated {
		return "~" + text
	}
	return text
}

// WriteTSV writes a line for each row: machine, collective, algorithm, P, m in
// bytes and the cost in µs, and that of τ-Lop where it stands beside.
func (p *Predictions) WriteTSV(w io.Writer) {
	out := printable.NewTable(w, '\t')
	header := []string{"machine", "collective", "algorithm", "P", "m_bytes", "cost_us"}
	if len(p.Rows) > 0 && p.Rows[0].TauLop != nil {
		header = append(header, "taulop_us")
	}
	out.Write(header)
	for _, r := range p.Rows {
		cost := ""
		if !r.Unknown {
			cost = fmt.Sprintf("%.6f", r.Microseconds)
		}
		row := []string{p.Machine, r.Collective, r.Algorithm, strconv.Itoa(r.P), strconv.Itoa(r.Bytes), cost}
		if r.TauLop != nil {
			row = append(row, fmt.Sprintf("%.6f", *r.TauLop))
		}
		out.Write(row)
	}
	out.Flush() // who gave w knows what went wrong
}

// WriteJSON writes the document.
func (p *Predictions) WriteJSON(w io.Writer) error {
	if p.LeftOut == nil {
		p.LeftOut = []Omission{}
	}
	return writeJSON(w, p)
}

func writeJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
