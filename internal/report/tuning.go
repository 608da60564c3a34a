package report

import (
	"fmt"
	"io"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/internal/view"
)

// A Tuning says what an MPI library is told to take, and why.
type Tuning struct {
	Source
	Library string        `json:"library"`
	Margin  float64       `json:"margin"` // the least gain that is worth a rule, a share
	Tables  []TuningTable `json:"tables"`

	rules *tune.Rules
}

// A TuningTable is that of one collective and number of ranks.
type TuningTable struct {
	Collective string       `json:"collective"`
	P          int          `json:"P"`
	Spans      []TuningSpan `json:"spans"`
}

// A TuningSpan is a run of message sizes with one choice.
type TuningSpan struct {
	From    int           `json:"from_bytes"` // m of the collective, both within
	To      int           `json:"to_bytes"`
	Rule    *tune.Setting `json:"rule"`    // null: the library's own choice stays
	Best    tune.Setting  `json:"best"`    // the cheapest
	Instead *tune.Setting `json:"instead"` // of which; null where it is not known
	Own     bool          `json:"own"`     // Instead is what the library chooses by itself, else the second best
	Gain    float64       `json:"gain"`    // of the best, a share; the least of the span
	Most    float64       `json:"most_gain"`
	Lo      *float64      `json:"gain_lo"` // of the least
	Hi      *float64      `json:"gain_hi"`
	Why     tune.Why      `json:"why"`
}

// NewTuning says what is in rules.
func NewTuning(source Source, rules *tune.Rules, margin float64) *Tuning {
	doc := &Tuning{Source: source, Library: rules.Library.Title, Margin: margin, rules: rules}
	for _, t := range rules.Tables {
		table := TuningTable{Collective: t.Collective.Name, P: t.P}
		for _, s := range t.Spans {
			span := TuningSpan{From: s.From, To: s.To, Best: s.Best, Own: s.OwnKnown, Gain: s.Gain.Center, Most: s.Most, Why: s.Why}
			if !s.Setting.Own() {
				span.Rule = &s.Setting
			}
			if !s.Beaten.Own() {
				span.Instead = &s.Beaten
			}
			if s.Gain.Known() {
				span.Lo, span.Hi = &s.Gain.Lo, &s.Gain.Hi
			}
			table.Spans = append(table.Spans, span)
		}
		doc.Tables = append(doc.Tables, table)
	}
	return doc
}

// writeValues writes a line for each run of sizes, with nothing of what is left to the library.
func (d *Tuning) writeValues(w io.Writer, separator rune) error {
	t := view.Table{Columns: view.Words("collective", "P", "from_bytes", "to_bytes", "id", "algorithm", "fan", "segment_bytes")}
	for _, table := range d.Tables {
		for _, s := range table.Spans {
			if r := s.Rule; r != nil {
				t.Add(table.Collective, table.P, s.From, s.To, r.ID, r.Name, r.Fan, r.Segment)
			}
		}
	}
	return t.WriteValues(w, separator)
}

// WriteSummary says how many rules there are.
func (d *Tuning) WriteSummary(w io.Writer) {
	if d.rules.Told() == 0 {
		fmt.Fprintf(w, "no rule: nothing is cheaper than the own choice of %s by more than %.3g %% for certain\n", d.Library, 100*d.Margin)
		return
	}
	fmt.Fprintf(w, "%s for %s where something is cheaper than its own choice by more than %.3g %%\n",
		printable.Count(d.rules.Told(), "rule"), d.Library, 100*d.Margin)
}

// Document is what there is to read and to compute with.
func (d *Tuning) Document() *document.Document {
	return document.New("taulop tune", d, d.writeValues, d.say)
}

// say writes a table for each collective and number of ranks.
func (d *Tuning) say(w *document.Document) {
	d.Source.say(w)
	fmt.Fprintf(w, "rules for %s: a gain of more than %.3g %% that is certain, else its own choice stays\n", d.Library, 100*d.Margin)
	second := false
	for _, t := range d.Tables {
		table := view.Table{Title: fmt.Sprintf("%s, P = %d", t.Collective, t.P),
			Columns: append(view.Numbers("m from", "to"), view.Words("take", "instead of", "gain in %", "why")...)}
		for _, s := range t.Spans {
			take, instead := "–", "–"
			if s.Rule != nil {
				take = s.Rule.String()
				if s.Instead != nil {
					if instead = s.Instead.String(); !s.Own {
						instead, second = instead+"*", true
					}
				}
			}
			from, to := view.Bytes(s.From), view.Bytes(s.To)
			if t.Spans[0].To == 0 {
				from, to = "", ""
			}
			table.Add(from, to, take, instead, s.gain(), s.why())
		}
		w.Tables(table)
	}
	fmt.Fprintln(w)
	if second {
		fmt.Fprintln(w, "* the second best: what the library takes by itself has no schedule here")
	}
	d.WriteSummary(w)
}

// gain is that of a span in text, in percent.
func (s *TuningSpan) gain() string {
	switch {
	case s.Most == 0:
		return ""
	case s.Rule == nil && s.Why == tune.Little:
		return fmt.Sprintf("up to %.0f", 100*s.Most)
	}
	text := fmt.Sprintf("%.0f", 100*s.Gain)
	if most := fmt.Sprintf("%.0f", 100*s.Most); most != text {
		text += "–" + most
	}
	return text
}

// why is why the rule is there, or none.
func (s *TuningSpan) why() string {
	switch {
	case s.Rule == nil:
		return string(s.Why)
	case s.Lo != nil:
		return fmt.Sprintf("%s, at least %.0f %% for certain", s.Why, 100**s.Lo)
	}
	return string(s.Why)
}
