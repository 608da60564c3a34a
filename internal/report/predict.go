package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Predictions are what collectives cost. Rows stand in the order of P, then m,
// then algorithms.
type Predictions struct {
	Source
	Rows    []Prediction `json:"rows"`
	LeftOut []Omission   `json:"left_out"`

	ensemble *model.Ensemble // what costs are uncertain by; nil: not asked
}

// A Source says where costs come from: a machine's parameters and a model.
type Source struct {
	Machine   string `json:"machine"`
	File      string `json:"params"`
	Channel   string `json:"channel,omitempty"` // which of the file's, in words
	States    string `json:"states,omitempty"`  // that costs are means over, in words; "" where the machine was in one
	Cluster   string `json:"cluster,omitempty"` // nodes, mapping and network, in words
	Nodes     string `json:"nodes,omitempty"`   // that ranks fill by default, in words
	Model     string `json:"model"`
	Transport string `json:"transport,omitempty"`
	Segment   int    `json:"segment_bytes,omitempty"`
	Library   string `json:"library,omitempty"`     // whose messages are in its own way, and not over Transport
	Schedules string `json:"schedules,omitempty"`   // whose they are, in words
	Chunk     int    `json:"chunk_bytes,omitempty"` // of algorithms that have chunks, and
	Degree    int    `json:"degree,omitempty"`      // of those that have trees, where they were asked for
	Measured  string `json:"measured"`              // as far as m and τ were measured, in words
	Rule      string `json:"extrapolation_rule"`    // beyond it
	// Errors are the mean errors that such predictions had where they were tested, in words;
	// "" where they were not.
	Errors string `json:"errors,omitempty"`
	// Uncertainty says what intervals hold; "" of parameters that allow none.
	Uncertainty string `json:"uncertainty,omitempty"`
}

// NewSource says what a predictor takes from the file of a machine.
func NewSource(p *model.Predictor, machine, file string) Source {
	s := Source{Machine: machine, File: file, Channel: p.Channel, Model: p.Title(), Measured: "m up to " + view.Bytes(p.Largest), Rule: p.Rule()}
	if p.Segments() {
		s.Segment = p.Segment
	}
	if l := p.Transfers; l != nil {
		if p.As != nil {
			s.Library = p.As.Title
		} else {
			s.Transport = p.Transport.String()
		}
		s.Measured = fmt.Sprintf("m from %s to %s and τ from %d to %d", view.Bytes(l.Sizes[0]), view.Bytes(p.Largest), l.Taus[0], l.Taus[len(l.Taus)-1])
	}
	switch {
	case p.Rule() == model.LevelsRule:
		s.Errors = "12 to 40 % (docs/levels.md)"
	case p.Model == model.Models[0]:
		s.Errors = "5 to 20 % (docs/accuracy.md)"
	}
	if c := p.Cluster; c != nil {
		s.Cluster = c.String()
		if c.Network != nil {
			l := c.Network.Table.Transfers
			s.Measured += fmt.Sprintf(", and of network %s m from %s to %s and τ from %d to %d", c.Network.Name,
				view.Bytes(l.Sizes[0]), view.Bytes(l.Sizes[len(l.Sizes)-1]), l.Taus[0], l.Taus[len(l.Taus)-1])
		}
	}
	if packed := p.Packing; packed != nil {
		s.Measured += fmt.Sprintf(", and p(m,%d) with m from %s to %s", p.Stride, view.Bytes(packed.Sizes[0]), view.Bytes(packed.Sizes[len(packed.Sizes)-1]))
	}
	return s
}

// OnNodes says on how many nodes ranks are that fill one after another: "P = 2 to 128 on 1 node of
// 128 cores, P = 256 on 2 nodes". "" where that was asked for, or cores are not known. ps rise.
func OnNodes(p *model.Predictor, ps []int) string {
	if p.Cluster != nil {
		return ""
	}
	var parts []string
	first, before := 0, 0
	for _, ranks := range ps {
		nodes, cores := p.Nodes(ranks)
		if cores == 0 {
			return ""
		}
		if nodes != before {
			first, before = ranks, nodes
			parts = append(parts, "")
		}
		among := fmt.Sprintf("P = %d", first)
		if ranks != first {
			among += fmt.Sprintf(" to %d", ranks)
		}
		on := printable.Count(nodes, "node")
		if len(parts) == 1 {
			on += " of " + printable.Count(cores, "core")
		}
		parts[len(parts)-1] = among + " on " + on
	}
	return strings.Join(parts, ", ")
}

// Uncertainty says what an interval of a prediction from a file holds, and what not.
func Uncertainty(f *params.File, on *model.Cluster) string {
	from, beyond := launches(f), "what the model neglects comes"
	if f.Drawn() > f.Sessions() {
		beyond = "what another hour changes and what the model neglects come"
	}
	if on != nil && on.Nodes > 1 && on.Network != nil {
		if net := on.Network.File; net != nil && len(net.Launches) > 0 {
			from += ", and of the network " + launches(net) + ","
		} else {
			beyond = "the network's own, " + beyond
		}
	}
	return fmt.Sprintf("the 95 %% interval that %s leave; %s on top", from, beyond)
}

// A Prediction is the cost of one call.
type Prediction struct {
	Collective   string  `json:"collective"`
	Algorithm    string  `json:"algorithm"`
	Own          bool    `json:"own,omitempty"`    // it is what a library takes by itself
	Chosen       string  `json:"chosen,omitempty"` // what an algorithm that only chooses has chosen, or how one is laid out
	P            int     `json:"P"`
	Bytes        int     `json:"m_bytes"`
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Cheapest     bool    `json:"cheapest"`          // of this collective, P and m; see MarkCheapest
	Unknown      bool    `json:"unknown,omitempty"` // the parameters have a time of 0 for it: text and tables show no cost
	// Lo and Hi are the cost's 95 % interval in µs as far as launches of the parameters
	// tell it; nil where they do not.
	Lo *float64 `json:"lo_us,omitempty"`
	Hi *float64 `json:"hi_us,omitempty"`
	// TauLop is what τ-Lop says in µs, where it stands beside another model; nil where it
	// does not, or has a time of 0 for it.
	TauLop *float64 `json:"taulop_us,omitempty"`

	rough  bool      // it is known how far such predictions were off
	beside bool      // τ-Lop stands beside another model
	drawn  []float64 // costs in seconds from parameters drawn again, see model.Ensemble
	spread float64   // costs closer than this share cannot be told apart, see model.Cost
}

// An Omission says for which P an algorithm is left out, and why.
type Omission struct {
	Algorithm string `json:"algorithm"`
	Why       string `json:"why"` // it needs a power of two of ranks
	P         []int  `json:"P"`
}

func (o Omission) String() string { return o.Algorithm + " " + o.reason() }

// reason is what several have in common.
func (o Omission) reason() string {
	return fmt.Sprintf("for P = %s: it %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.P), " ", ", "), "[]"), o.Why)
}

// Extrapolated counts costs that need what was not measured.
func (p *Predictions) Extrapolated() (n int) {
	for _, r := range p.Rows {
		if r.Extrapolated {
			n++
		}
	}
	return n
}

// alike is the share that costs must differ by to be told apart.
const alike = 0.01

// MarkCheapest marks the cheapest rows of each collective, P and m: with the cheapest those
// that cost up to 1 % more, or that may well be as cheap, by the launches of the
// parameters or by what the model says of itself. It marks none where they are all rows, nor
// where one of them is unknown.
func (p *Predictions) MarkCheapest() {
	for _, rows := range p.calls() {
		cheapest := slices.MinFunc(rows, func(a, b *Prediction) int { return cmp.Compare(a.Microseconds, b.Microseconds) })
		ties := 0
		for _, r := range rows {
			if r.Cheapest = r.tied(cheapest, p.ensemble); r.Cheapest {
				ties++
			}
		}
		if ties == len(rows) || slices.ContainsFunc(rows, func(r *Prediction) bool { return r.Unknown }) {
			for _, r := range rows {
				r.Cheapest = false
			}
		}
	}
}

// calls are the rows of each collective, P and m.
func (p *Predictions) calls() map[any][]*Prediction {
	type call struct {
		collective string
		p, bytes   int
	}
	calls := make(map[any][]*Prediction)
	for i := range p.Rows {
		r := &p.Rows[i]
		key := call{r.Collective, r.P, r.Bytes}
		calls[key] = append(calls[key], r)
	}
	return calls
}

// someAlike tells whether there is a row of several algorithms of which none is marked
// because they are alike.
func (p *Predictions) someAlike() bool {
	for _, rows := range p.calls() {
		ranked := func(r *Prediction) bool { return r.Cheapest || r.Unknown || r.Microseconds == 0 }
		if len(rows) > 1 && !slices.ContainsFunc(rows, ranked) {
			return true
		}
	}
	return false
}

// tied tells whether a row cannot be told from the cheapest one.
func (r *Prediction) tied(cheapest *Prediction, e *model.Ensemble) bool {
	ratio := r.Microseconds / cheapest.Microseconds
	if r == cheapest || !(ratio > 1+max(alike, r.spread, cheapest.spread)) {
		return true
	}
	if e == nil || len(r.drawn) == 0 || len(r.drawn) != len(cheapest.drawn) {
		return false
	}
	of := make([]float64, len(r.drawn))
	for i := range of {
		of[i] = r.drawn[i] / cheapest.drawn[i]
	}
	interval := e.Interval(ratio, of)
	return interval.Known() && interval.Lo <= 1
}

// Document is what there is to read and to compute with.
func (p *Predictions) Document() *document.Document {
	return document.New("taulop predict", p, p.writeValues, p.say)
}

// say writes a table for each collective and P, and what its marks mean.
func (p *Predictions) say(w *document.Document) {
	p.Source.say(w)
	type call struct {
		collective string
		p          int
	}
	for _, rows := range view.Grouped(p.Rows, func(r Prediction) call { return call{r.Collective, r.P} }) {
		w.Tables(predictionTable(rows))
	}
	has := func(mark func(r Prediction) bool) bool { return slices.ContainsFunc(p.Rows, mark) }
	cheapest := has(func(r Prediction) bool { return r.Cheapest })
	unranked := has(func(r Prediction) bool { return r.Unknown })
	unknown := unranked || has(func(r Prediction) bool { return r.beside && r.TauLop == nil })
	extrapolated := has(func(r Prediction) bool { return r.Extrapolated })
	uncertain := has(func(r Prediction) bool { return r.Lo != nil })
	if cheapest || unknown || extrapolated || uncertain || p.Errors != "" || len(p.LeftOut) > 0 {
		fmt.Fprintln(w)
	}
	if cheapest {
		least := alike
		for _, r := range p.Rows {
			least = max(least, r.spread)
		}
		fmt.Fprintf(w, "* the cheapest of its row, or not to be told from it: within %.0f %%, or within the interval\n", 100*least)
	}
	if p.someAlike() {
		fmt.Fprintln(w, "No * in a row: none of its algorithms can be told from the cheapest, in the same way")
	}
	if uncertain {
		p.writeUncertainty(w, "±")
	}
	p.writeErrors(w, p.Rows)
	if unknown {
		fmt.Fprint(w, "? unknown: the parameters have a time of 0 for it, or less")
		if unranked {
			fmt.Fprint(w, ", and its row is not ranked")
		}
		fmt.Fprintln(w)
	}
	p.WriteNotes(w, extrapolated, p.LeftOut)
}

// say writes it in a line.
func (s Source) say(w *document.Document) {
	fmt.Fprintf(w, "%s, from %s", s.Machine, s.File)
	if s.Channel != "" {
		fmt.Fprintf(w, " (%s)", s.Channel)
	}
	if s.Cluster != "" {
		fmt.Fprintf(w, "; %s", s.Cluster)
	}
	fmt.Fprintf(w, "; %s", s.Model)
	if s.Transport != "" || s.Segment > 0 {
		fmt.Fprintf(w, ", %s messages", s.Transport)
	}
	if s.Library != "" {
		fmt.Fprintf(w, "; messages of %s", s.Library)
	}
	if s.Segment > 0 {
		fmt.Fprintf(w, ", segments of %s", view.Bytes(s.Segment))
	}
	fmt.Fprint(w, layout(s.Chunk, s.Degree))
	if s.Schedules != "" {
		fmt.Fprintf(w, "; %s", s.Schedules)
	}
	fmt.Fprintln(w)
	if s.Nodes != "" {
		fmt.Fprintln(w, s.Nodes)
	}
	if s.States != "" {
		fmt.Fprintf(w, "%s.\n", capital(s.States))
	}
}

// layout says how algorithms are laid out, nothing of what was not asked for.
func layout(chunk, degree int) (text string) {
	if chunk > 0 {
		text = ", chunks of " + view.Bytes(chunk)
	}
	if degree > 0 {
		text += fmt.Sprintf(", degree %d", degree)
	}
	return text
}

// writeErrors says how far predictions without an interval were off, if some are.
func (s Source) writeErrors(w *document.Document, rows []Prediction) {
	if s.Errors != "" && slices.ContainsFunc(rows, func(r Prediction) bool { return r.Lo == nil && !r.Unknown && r.Microseconds > 0 }) {
		fmt.Fprintf(w, "No interval is known: such predictions were off by %s on average.\n", s.Errors)
	}
}

// writeUncertainty says what the mark of intervals means.
func (s Source) writeUncertainty(w *document.Document, mark string) {
	fmt.Fprintf(w, "%s %s\n", mark, s.Uncertainty)
}

// WriteNotes explains the mark of extrapolated values, and says what was left out.
func (s Source) WriteNotes(w *document.Document, extrapolated bool, leftOut []Omission) {
	if extrapolated {
		fmt.Fprintf(w, "~ extrapolated: measured are %s.\n  %s.\n", s.Measured, capital(s.Rule))
	}
	for _, alike := range view.Grouped(leftOut, func(o Omission) string { return o.reason() }) {
		names := lists.Map(alike, func(o Omission) string { return o.Algorithm })
		fmt.Fprintf(w, "Left out: %s %s.\n", strings.Join(names, ", "), alike[0].reason())
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
		t.Columns[len(t.Columns)-1].Beside = len(of[0].cells()) > 1
		if of[0].Own {
			t.Columns = append(t.Columns, view.Words("choice")...)
		}
	}
	for _, of := range view.Grouped(rows, func(r Prediction) int { return r.Bytes }) {
		var costs []string
		for _, a := range algorithms {
			cells, choice := make([]string, len(a[0].cells())), ""
			for _, r := range of {
				if r.Algorithm == a[0].Algorithm {
					cells, choice = r.cells(), r.Chosen
				}
			}
			if costs = append(costs, cells...); a[0].Own {
				costs = append(costs, choice)
			}
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
	if r.Lo != nil && !r.Unknown {
		mark = fmt.Sprintf(" %6s", view.HalfWidth((*r.Hi-*r.Lo)/2/r.Microseconds)) + mark
	}
	switch {
	case !r.beside:
		return []string{r.cost() + mark}
	case r.TauLop == nil:
		return []string{r.cost() + mark, "? "}
	}
	return []string{r.cost() + mark, microseconds(*r.TauLop, false) + " "}
}

// interval is in text, with a space before it; "" where it is not known.
func (r *Prediction) interval() string {
	if r.Lo == nil {
		return ""
	}
	return " " + view.Interval(fit.Estimate{Center: r.Microseconds, Lo: *r.Lo, Hi: *r.Hi})
}

// cost is in text, "?" of what is unknown.
func (r *Prediction) cost() string {
	if r.Unknown {
		return "?"
	}
	text := microseconds(r.Microseconds, false)
	switch {
	case r.Lo != nil:
		text = view.Rough(fit.Estimate{Center: r.Microseconds, Lo: *r.Lo, Hi: *r.Hi})
	case r.rough:
		text = rough(r.Microseconds)
	}
	if r.Extrapolated {
		text = "~" + text
	}
	return text
}

// WriteTSV writes a line for each row, with the columns of the tables that the authors' library is
// tested with: machine, collective, algorithm, P, m in bytes and the cost in µs, and τ-Lop's where
// it stands beside.
func (p *Predictions) WriteTSV(w io.Writer) { p.values().WriteValues(w, '\t') } // who gave w knows what went wrong

// writeValues writes the same lines with all that is known of a cost: the ends of its
// interval, whether it is extrapolated and whether it is among the cheapest.
func (p *Predictions) writeValues(w io.Writer, separator rune) error {
	t := p.values()
	t.Columns = append(t.Columns, view.Words("lo_us", "hi_us", "extrapolated", "cheapest")...)
	for i, r := range p.Rows {
		t.Rows[i] = append(t.Rows[i], value(r.Lo), value(r.Hi), strconv.FormatBool(r.Extrapolated), strconv.FormatBool(r.Cheapest))
	}
	return t.WriteValues(w, separator)
}

// values are the rows in columns, for programs.
func (p *Predictions) values() *view.Table {
	t := &view.Table{Columns: view.Words("machine", "collective", "algorithm", "P", "m_bytes", "cost_us")}
	beside := len(p.Rows) > 0 && p.Rows[0].beside
	if beside {
		t.Columns = append(t.Columns, view.Words("taulop_us")...)
	}
	for _, r := range p.Rows {
		cells := []string{value(&r.Microseconds)}
		if r.Unknown {
			cells[0] = ""
		}
		if beside {
			cells = append(cells, value(r.TauLop))
		}
		t.Add(p.Machine, r.Collective, r.Algorithm, r.P, r.Bytes, cells)
	}
	return t
}

// value is a time in µs for programs, "" where it is not known.
func value(us *float64) string {
	if us == nil {
		return ""
	}
	return fmt.Sprintf("%.6f", *us)
}
