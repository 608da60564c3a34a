package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/decimal"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

// Explanations splits costs into terms, or lists the ranges of sizes in which each algorithm is the cheapest.
func Explanations(d *predict.Explanations) *document.Document {
	return made("taulop explain", d, explanationValues, sayExplanations)
}

func sayExplanations(d *predict.Explanations, w *document.Document) {
	for i := range d.Calls {
		if i > 0 {
			fmt.Fprintln(w)
		}
		sayExplanation(w, &d.Calls[i])
	}
	w.Lines(lists.Map(d.Comparisons, cheapestOver)...)
	w.Tables(lists.Map(d.Comparisons, wins)...)
	intervals := lists.Concat(d.Comparisons, func(c predict.Comparison) []predict.Win { return c.Intervals })
	extrapolated := slices.ContainsFunc(d.Calls, func(e predict.Explanation) bool { return e.Extrapolated }) ||
		slices.ContainsFunc(intervals, func(in predict.Win) bool { return in.Extrapolated })
	var n notes
	if len(d.Comparisons) > 0 && d.Comparisons[0].Margin > 0 {
		n.add(true, "The cheapest algorithm is left for another one only where that is cheaper by more than %.3g %%.", 100*d.Comparisons[0].Margin)
	}
	n.add(slices.ContainsFunc(d.Calls, func(e predict.Explanation) bool { return e.Lo != nil }), "[ ] %s", d.Uncertainty)
	n.errors(d.Source, lists.Map(d.Calls, func(e predict.Explanation) predict.Prediction { return e.Prediction }))
	n.beyond(d.Source, extrapolated)
	n.leftOut(d.LeftOut)
	n.say(w)
	fmt.Fprintln(w)
	saySource(w, d.Source)
}

// sayExplanation writes the formula, the values of its terms, and its stages.
func sayExplanation(w *document.Document, e *predict.Explanation) {
	name := e.Collective + ":" + e.Algorithm
	fmt.Fprintf(w, "%s, P = %d, m = %s: %s µs%s\n", name, e.P, view.Size(e.Bytes), costText(&e.Prediction), intervalText(&e.Prediction))
	rest := 100.
	for _, cost := range e.States {
		us := predict.Prediction{Microseconds: cost.Microseconds, Extrapolated: cost.Extrapolated, Unknown: cost.Unknown, Rough: true}
		fmt.Fprintf(w, "  %s of the time: %s µs\n", compare.InWords(cost.State), costText(&us))
		rest -= cost.Percent()
	}
	w.Lines(printable.If(len(e.States) > 0 && rest > 0,
		fmt.Sprintf("  other states, %.0f %% of the time together: in the mean above, less than 10 %% each", rest)))
	switch {
	case e.Own:
		fmt.Fprintf(w, "The library chooses %s:%s here.\n", e.Collective, e.Chosen)
	case e.Chosen != "":
		fmt.Fprintf(w, "It chooses %s:%s here.\n", e.Collective, e.Chosen)
	}
	fmt.Fprintf(w, "Source: %s.\n\n", e.Described)
	if len(e.Terms) == 0 {
		fmt.Fprintln(w, "  No rank has anything to send.")
		return
	}
	var n notes
	n.add(true, "  Θ = %s\n  %s", e.Formula, e.Symbols)
	n.add(e.Context != "", "  %s", e.Context)
	for _, mark := range model.Marks {
		marked := mark.Of(e.Formula)
		n.add(marked != nil, "  %s: %s", strings.Join(marked, ", "), mark.Meaning)
	}
	has := func(parameter string) bool {
		return slices.ContainsFunc(e.Terms, func(t predict.ExplainTerm) bool { return t.Parameter == parameter })
	}
	n.add(has(model.Instruction), "  i: an instruction of the library; instructions of a call besides its messages belong to no stage")
	n.add(has(model.Line), "  f: fetching a cache line that another rank has written, half of y(1)")
	n.add(strings.Contains(e.Formula, "T["), "  T[level](m,τ): a message at that level, of which at most τ share a memory, with its wait for sender and receiver")
	n.add(strings.Contains(e.Formula, "own("), "  own(m): a rank's copy of its own block, which no message carries")
	w.Lines(n...)
	w.Tables(terms(e))
	if len(e.Stages) > 0 { // not of a model that adds up chains of messages
		w.Tables(stages(e))
	}
}

func terms(e *predict.Explanation) view.Table {
	t := view.Table{Columns: []view.Column{{Name: "parameter"}, {Name: "count"}, {}, {Name: "value", Unit: "µs"}, {}, {Name: "cost", Unit: "µs"}, {Name: "share", Unit: "%"}}}
	shares := decimal.Shares(lists.Map(e.Terms, func(t predict.ExplainTerm) float64 { return t.Share }), 1000)
	for i, term := range e.Terms { // nine decimals at most: LogGP's G is of one byte
		t.Add(term.Parameter, strconv.FormatFloat(term.Times, 'f', -1, 64), "×", marked(withDigits(term.Value, 4, 9), term.Extrapolated),
			"=", microseconds(term.Microseconds, false), percents(shares[i]))
	}
	if e.Unknown {
		t.Add("Θ", "", "", "", "=", "?")
		t.Note("  ? unknown: the parameters have a time of 0 for it, or less")
	} else {
		t.Add("Θ", "", "", "", "=", microseconds(e.Microseconds, false), "100.0")
	}
	return t
}

func stages(e *predict.Explanation) view.Table {
	several := slices.ContainsFunc(e.Stages, func(s predict.ExplainStage) bool { return s.Within != nil })
	columns := []string{"  stage", "part", "at once"}
	if several {
		columns = append(columns, "within nodes", "between nodes")
	}
	t := view.Table{Columns: view.Words(append(columns, "µs each", "cost of each")...)}
	for _, s := range e.Stages {
		var channels []string
		if several {
			channels = []string{withinNodes(s), s.Between.String()}
		}
		t.Add("  "+stageNumbers(s), s.Phase, atOnce(s), channels, microseconds(s.Microseconds, false), s.Formula)
		if len(s.Messages) > 0 {
			which := printable.If(s.Repeat > 1, ", in the first") // the others may have other partners
			t.Note("  stage %s%s: %s", stageNumbers(s), which, strings.Join(s.Messages, " "))
		}
	}
	return t
}

// withinNodes is the number of messages within nodes, and in brackets their numbers by level: 6 (4+2).
func withinNodes(s predict.ExplainStage) string {
	text := s.Within.String()
	if s.Within != nil && s.Within.Levels != nil {
		text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Within.Levels), " ", "+"), "[]") + ")"
	}
	return text
}

// stageNumbers are the numbers of repeated stages: 4; 4–10; 4, 6 … 12.
func stageNumbers(s predict.ExplainStage) string {
	last := s.First + (s.Repeat-1)*s.Every
	switch {
	case s.Repeat == 1:
		return strconv.Itoa(s.First)
	case s.Every == 1:
		return fmt.Sprintf("%d–%d", s.First, last)
	case s.Repeat == 2:
		return fmt.Sprintf("%d, %d", s.First, last)
	}
	return fmt.Sprintf("%d, %d … %d", s.First, s.First+s.Every, last)
}

// atOnce counts concurrent messages, exchanges or copies: 4 messages of 8K.
func atOnce(s predict.ExplainStage) string {
	var parts []string
	for _, b := range s.Batches {
		one, many := "message of", "messages of"
		switch s.Pattern {
		case collective.Exchange.String():
			one, many = "rank exchanges", "ranks exchange"
		case collective.Transfer.String(), collective.Local.String():
			one, many = "copy of", "copies of"
		}
		if b.Count != 1 {
			one = many
		}
		parts = append(parts, fmt.Sprintf("%d %s %s", b.Count, one, view.Size(b.Bytes)))
	}
	return strings.Join(parts, ", ")
}

// cheapestOver names the cheapest algorithms of the first intervals.
func cheapestOver(c predict.Comparison) string {
	said := lists.Map(c.Intervals, func(in predict.Win) string {
		in.Cheapest = few(in.Cheapest)
		return fmt.Sprintf("from m = %s %s", view.Bytes(in.From), cheapestIn(c, in))
	})
	if n := len(said) - mostCheapest; n > 1 {
		said = append(said[:mostCheapest], "and so on, in "+printable.Count(n, "further range"))
	}
	return fmt.Sprintf("Cheapest, P = %d: %s.", c.P, strings.Join(said, "; "))
}

func cheapestIn(c predict.Comparison, in predict.Win) string {
	switch {
	case in.Unknown:
		return "unknown, since the parameters have a time of 0"
	case len(in.Cheapest) > 1 && c.Margin > 0:
		return "no clear winner: " + strings.Join(in.Cheapest, ", ")
	}
	return strings.Join(in.Cheapest, " = ")
}

func wins(c predict.Comparison) view.Table {
	t := view.Table{
		Title:   fmt.Sprintf("P = %d: %s", c.P, strings.Join(c.Algorithms, ", ")),
		Columns: append(view.Numbers("from m", "to m", "others cost"), view.Words("cheapest")...),
	}
	for _, in := range c.Intervals {
		advantage := fmt.Sprintf("up to %s times", view.Digits(in.Advantage, in.Advantage/20))
		if len(in.Cheapest) == len(c.Algorithms) {
			if advantage = "the same"; c.Margin > 0 {
				advantage = fmt.Sprintf("within %.3g %%", 100*c.Margin)
			}
		}
		if in.Extrapolated {
			advantage = "~ " + advantage
		}
		if in.Unknown {
			advantage = "?"
		}
		t.Add(view.Bytes(in.From), view.Bytes(in.To), advantage, cheapestIn(c, in))
	}
	return t
}

// explanationValues have a row for each term of each formula, or for each range of sizes with one cheapest
// algorithm.
func explanationValues(d *predict.Explanations) view.Table {
	if len(d.Comparisons) > 0 {
		t := view.Table{Columns: view.Words("P", "from_bytes", "to_bytes", "cheapest", "advantage", "extrapolated")}
		for _, c := range d.Comparisons {
			for _, in := range c.Intervals {
				t.Add(c.P, in.From, in.To, strings.Join(in.Cheapest, " "), in.Advantage, in.Extrapolated)
			}
		}
		return t
	}
	t := view.Table{Columns: view.Words("collective", "algorithm", "P", "m_bytes", "parameter", "times", "value_us", "cost_us", "share", "extrapolated")}
	for _, c := range d.Calls {
		for _, term := range c.Terms {
			t.Add(c.Collective, c.Algorithm, c.P, c.Bytes, term.Parameter, term.Times, term.Value, term.Microseconds, term.Share, term.Extrapolated)
		}
	}
	return t
}
