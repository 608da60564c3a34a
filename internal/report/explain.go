package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

// Explanations say what costs are made of, or where which algorithm is the cheapest.
func Explanations(d *predict.Explanations) *document.Document {
	return document.New("taulop explain", d, document.Rows((*explanations)(d).values), (*explanations)(d).say)
}

type explanations predict.Explanations

// say writes them one after another, what their marks mean and where costs come from.
func (d *explanations) say(w *document.Document) {
	extrapolated := false
	for i := range d.Calls {
		if i > 0 {
			fmt.Fprintln(w)
		}
		sayExplanation(w, &d.Calls[i])
		extrapolated = extrapolated || d.Calls[i].Extrapolated
	}
	for i := range d.Comparisons {
		fmt.Fprintln(w, cheapestOver(&d.Comparisons[i]))
	}
	for i := range d.Comparisons {
		w.Tables(wins(&d.Comparisons[i]))
		for _, in := range d.Comparisons[i].Intervals {
			extrapolated = extrapolated || in.Extrapolated
		}
	}
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

// sayExplanation writes the formula, its terms with the numbers in, and its stages.
func sayExplanation(w *document.Document, e *predict.Explanation) {
	name := e.Collective + ":" + e.Algorithm
	fmt.Fprintf(w, "%s, P = %d, m = %s: %s µs%s\n", name, e.P, view.Size(e.Bytes), costText(&e.Prediction), intervalText(&e.Prediction))
	for _, in := range e.States {
		us := "?"
		if !in.Unknown {
			us = microseconds(in.Microseconds, in.Extrapolated)
		}
		fmt.Fprintf(w, "  %s of the time: %s µs\n", compare.InWords(in.State), us)
	}
	switch {
	case e.Own:
		fmt.Fprintf(w, "The library chooses %s:%s here.\n", e.Collective, e.Chosen)
	case e.Chosen != "":
		fmt.Fprintf(w, "It chooses %s:%s here.\n", e.Collective, e.Chosen)
	}
	fmt.Fprintf(w, "Source: %s.\n\n", e.Described)
	if len(e.Terms) == 0 {
		fmt.Fprintln(w, "  Nobody has anything to send.")
		return
	}
	fmt.Fprintf(w, "  Θ = %s\n  %s\n", e.Formula, e.Symbols)
	if e.Context != "" {
		fmt.Fprintf(w, "  %s\n", e.Context)
	}
	for _, mark := range model.Marks {
		if marked := mark.Of(e.Formula); marked != nil {
			fmt.Fprintf(w, "  %s: %s\n", strings.Join(marked, ", "), mark.Meaning)
		}
	}
	if slices.ContainsFunc(e.Terms, func(t predict.ExplainTerm) bool { return t.Parameter == model.Instruction }) {
		fmt.Fprint(w, "  i: what an instruction of the library takes, which executes so many of them;\n    those of a call besides its messages are of no stage\n")
	}
	if slices.ContainsFunc(e.Terms, func(t predict.ExplainTerm) bool { return t.Parameter == model.Line }) {
		fmt.Fprint(w, "  f: what fetching a cache line takes that another rank has written, half of y(1)\n")
	}
	if strings.Contains(e.Formula, "T[") {
		fmt.Fprint(w, "  T[level](m,τ): a message at that level, of which at most τ shared a memory, with what it waited for its sender and receiver before it began\n")
	}
	if strings.Contains(e.Formula, "own(") {
		fmt.Fprint(w, "  own(m): a rank's copy of its own block, which no message carries\n")
	}
	w.Tables(terms(e))
	if len(e.Stages) > 0 { // not of a model that adds up chains of messages
		w.Tables(stages(e))
	}
}

func terms(e *predict.Explanation) view.Table {
	t := view.Table{Columns: view.Numbers("", "count", "", "parameter", "value", "", "cost", "share")}
	t.Columns[4].Unit, t.Columns[6].Unit = "µs", "µs"
	for _, term := range e.Terms {
		t.Add("", strconv.FormatFloat(term.Times, 'f', -1, 64), "×", term.Parameter, microseconds(term.Value, term.Extrapolated),
			"=", microseconds(term.Microseconds, false), fmt.Sprintf("%.1f %%", 100*term.Share))
	}
	if e.Unknown {
		t.Add("", "", "", "", "", "Θ =", "?")
		t.Note("  ? unknown: the parameters have a time of 0 for it, or less")
	} else {
		t.Add("", "", "", "", "", "Θ =", microseconds(e.Microseconds, false), "100.0 %")
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
			which := ""
			if s.Repeat > 1 { // the others may have other partners
				which = ", in the first"
			}
			t.Note("  stage %s%s: %s", stageNumbers(s), which, strings.Join(s.Messages, " "))
		}
	}
	return t
}

// withinNodes is the messages within nodes, and where these have levels, of each.
func withinNodes(s predict.ExplainStage) string {
	text := s.Within.String()
	if s.Within != nil && s.Within.Levels != nil {
		text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Within.Levels), " ", "+"), "[]") + ")"
	}
	return text
}

// stageNumbers says which stages these are: 4, 4–10, or 4,6…12.
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

// atOnce counts what is on its way at once: 4 messages of 8K.
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

// cheapestOver says who is the cheapest in the first few intervals.
func cheapestOver(c *predict.Comparison) string {
	var said []string
	for _, in := range c.Intervals {
		in.Cheapest = few(in.Cheapest)
		said = append(said, fmt.Sprintf("from m = %s %s", view.Bytes(in.From), cheapestIn(c, &in)))
	}
	if n := len(said) - mostCheapest; n > 1 {
		said = append(said[:mostCheapest], fmt.Sprintf("and so on, %d times more", n))
	}
	return fmt.Sprintf("Cheapest, P = %d: %s.", c.P, strings.Join(said, "; "))
}

// cheapestIn names the cheapest of an interval.
func cheapestIn(c *predict.Comparison, in *predict.Win) string {
	switch {
	case in.Unknown:
		return "unknown, since the parameters have a time of 0"
	case len(in.Cheapest) > 1 && c.Margin > 0:
		return "no clear winner: " + strings.Join(in.Cheapest, ", ")
	}
	return strings.Join(in.Cheapest, " = ")
}

// wins has a line for each interval.
func wins(c *predict.Comparison) view.Table {
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
		t.Add(view.Bytes(in.From), view.Bytes(in.To), advantage, cheapestIn(c, &in))
	}
	return t
}
