package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mpi"
)

// A tuning is an MPI library's rules from predictions, and the reasons for them.
type tuning struct {
	predict.Source
	Library string        `json:"library"`
	Margin  float64       `json:"margin"` // the least gain that is worth a rule, a share
	Tables  []tuningTable `json:"tables"`
}

// A tuningTable is the choices for one collective and number of ranks.
type tuningTable struct {
	Collective string       `json:"collective"`
	P          int          `json:"P"`
	Spans      []tuningSpan `json:"spans"`
}

// A tuningSpan is a range of message sizes with one choice. Times are at its least size, null if
// unknown.
type tuningSpan struct {
	From      int          `json:"from_bytes"` // m of the collective, both within
	To        int          `json:"to_bytes"`
	Rule      *mpi.Setting `json:"rule"` // null: the library's own choice stays
	Best      mpi.Setting  `json:"best"` // the cheapest
	BestUS    *float64     `json:"best_us"`
	Instead   *mpi.Setting `json:"instead"` // what Best is compared with; null if unknown
	InsteadUS *float64     `json:"instead_us"`
	Own       bool         `json:"own"`  // Instead is the library's own choice, else the second best
	Gain      float64      `json:"gain"` // of Best, a share; the least of the span
	Most      float64      `json:"most_gain"`
	Lo        *float64     `json:"gain_lo"` // of the least
	Hi        *float64     `json:"gain_hi"`
	Why       tune.Why     `json:"why"`
}

// Tuned has an MPI library's rules from predictions.
func Tuned(source predict.Source, all *tune.Choices, margin float64) *document.Document {
	doc := &tuning{Source: source, Library: all.Library.Version, Margin: margin}
	us := func(seconds float64) *float64 {
		if !(seconds > 0) || math.IsInf(seconds, 0) {
			return nil
		}
		seconds *= 1e6
		return &seconds
	}
	for _, row := range all.Rows {
		table := tuningTable{Collective: row.Collective.Name, P: row.P}
		for _, s := range row.Spans {
			span := tuningSpan{From: s.From, To: s.To, Best: s.Best, BestUS: us(s.BestSeconds), InsteadUS: us(s.BeatenSeconds),
				Own: s.OwnKnown, Gain: s.Gain.Center, Most: s.Most, Why: s.Why}
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
	return made("taulop tune", doc, (*tuning).values, (*tuning).say)
}

// values have a row for each range of sizes with a rule.
func (d *tuning) values() view.Table {
	t := view.Table{Columns: view.Words("collective", "P", "from_bytes", "to_bytes", "id", "algorithm", "fan", "segment_bytes")}
	for _, table := range d.Tables {
		for _, s := range table.Spans {
			if r := s.Rule; r != nil {
				t.Add(table.Collective, table.P, s.From, s.To, r.ID, r.Name, r.Fan, r.Segment)
			}
		}
	}
	return t
}

// summary counts the rules.
func (d *tuning) summary() string {
	n, certain, than := 0, "", "its own choice"
	for _, t := range d.Tables {
		for i, s := range t.Spans {
			if s.Lo != nil && s.Gain > 0 { // published tables have no intervals
				certain = " for certain"
			}
			if s.Instead != nil && !s.Own {
				than = "its own choice, or where that is not known the second best,"
			}
			if s.Rule != nil && (i == 0 || t.Spans[i-1].Rule == nil || *t.Spans[i-1].Rule != *s.Rule) { // equal neighbours are one rule
				n++
			}
		}
	}
	rules := printable.Either(n == 0,
		"no rule for "+d.Library+": nothing", printable.Count(n, "rule")+" for "+d.Library+" where something")
	return fmt.Sprintf("%s is cheaper than %s by more than %.3g %%%s\n", rules, than, 100*d.Margin, certain)
}

func (d *tuning) say(w *document.Document) {
	fmt.Fprint(w, d.summary())
	second := false
	for _, t := range d.Tables {
		table := view.Table{Title: fmt.Sprintf("%s, P = %d; times in µs", t.Collective, t.P),
			Columns: slices.Concat(view.Numbers("m from", "to"), view.Words("own choice"), view.Numbers("time"), view.Words("cheapest"), view.Numbers("time"), view.Words("gain in %"))}
		for _, s := range t.Spans {
			own, best := "–", "the same"
			if s.Instead != nil {
				if own = s.Instead.String(); !s.Own {
					own, second = own+"*", true
				}
			}
			if s.Instead == nil || s.Best != *s.Instead {
				best = s.Best.String()
			}
			from, to := view.Bytes(s.From), view.Bytes(s.To)
			if t.Spans[0].To == 0 {
				from, to = "", ""
			}
			table.Add(from, to, own, shown(s.InsteadUS), best, shown(s.BestUS), s.gain())
		}
		w.Tables(table)
	}
	w.Lines("\nTimes are predicted, of the first m of a line; no rule: the own choice stays",
		printable.If(d.Errors != "", "Such predictions were off by "+d.Errors+" on average."),
		printable.If(second, "* the second best: what the library takes by itself is not known"))
	fmt.Fprintln(w)
	saySource(w, d.Source)
}

// shown is a time of a span in text.
func shown(us *float64) string {
	if us == nil {
		return "?"
	}
	return rough(*us)
}

// gain is a span's gain in percent, followed by "rule", or by the reason for no rule unless the gain is too
// small.
func (s *tuningSpan) gain() string {
	text := fmt.Sprintf("%.0f", 100*s.Gain)
	if most := fmt.Sprintf("%.0f", 100*s.Most); most != text {
		text += "–" + most
	}
	switch {
	case s.Rule != nil:
		return text + " rule"
	case s.Why != tune.Little && s.Most > 0:
		return text + ", " + string(s.Why)
	case s.Why != tune.Little:
		return string(s.Why)
	case s.Most > 0:
		return text
	}
	return ""
}
