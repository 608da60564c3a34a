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
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Explanations say what costs are made of, or where which algorithm is the cheapest.
type Explanations struct {
	Source
	Calls       []Explanation `json:"calls,omitempty"`
	Comparisons []Comparison  `json:"comparisons,omitempty"`
	LeftOut     []Omission    `json:"left_out"`
}

// Document is what there is to read and to compute with.
func (d *Explanations) Document() *document.Document {
	return document.New("taulop explain", d, d.writeValues, d.say)
}

// say writes them one after another, and what their marks mean.
func (d *Explanations) say(w *document.Document) {
	d.Source.say(w)
	extrapolated := false
	for i := range d.Calls {
		d.Calls[i].say(w)
		extrapolated = extrapolated || d.Calls[i].Extrapolated
	}
	if len(d.Comparisons) > 0 && d.Comparisons[0].Margin > 0 {
		fmt.Fprintf(w, "Who is the cheapest stays it until another one is cheaper by more than %.3g %%.\n", 100*d.Comparisons[0].Margin)
	}
	for i := range d.Comparisons {
		d.Comparisons[i].say(w)
		for _, in := range d.Comparisons[i].Intervals {
			extrapolated = extrapolated || in.Extrapolated
		}
	}
	uncertain := slices.ContainsFunc(d.Calls, func(e Explanation) bool { return e.Lo != nil })
	if extrapolated || uncertain || d.Errors != "" || len(d.LeftOut) > 0 {
		fmt.Fprintln(w)
	}
	if uncertain {
		d.writeUncertainty(w, "[ ]")
	}
	d.writeErrors(w, lists.Map(d.Calls, func(e Explanation) Prediction { return e.Prediction }))
	d.WriteNotes(w, extrapolated, d.LeftOut)
}

// An Explanation says what the cost of one call is made of.
type Explanation struct {
	Prediction
	Described string         `json:"described"` // where the algorithm is
	Symbols   string         `json:"symbols"`   // of the formula
	Formula   string         `json:"formula"`
	Context   string         `json:"context,omitempty"` // what L(S,τ) is, where it depends on the call
	States    []StateCost    `json:"states,omitempty"`  // of a machine that was in several, whose mean by their shares the cost is
	Terms     []ExplainTerm  `json:"terms"`
	Stages    []ExplainStage `json:"stages"`
}

// A StateCost is what the call costs in one state of the machine.
type StateCost struct {
	params.State
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Unknown      bool    `json:"unknown,omitempty"`
}

// An ExplainTerm is a term of the formula with the numbers in.
type ExplainTerm struct {
	Parameter    string  `json:"parameter"` // such as L(S,2)
	Times        float64 `json:"times"`
	Value        float64 `json:"value_us"`
	Microseconds float64 `json:"cost_us"` // Times · Value
	Share        float64 `json:"share"`   // of the total
	Extrapolated bool    `json:"extrapolated"`
}

// An ExplainStage is what happens at once, and may happen again.
type ExplainStage struct {
	First        int                `json:"first"` // number of the stage, from 1
	Every        int                `json:"every"`
	Repeat       int                `json:"repeat"`
	Phase        string             `json:"phase"`
	Pattern      string             `json:"pattern"`
	Batches      []collective.Batch `json:"messages"`
	Messages     []string           `json:"who,omitempty"`     // from→to, in the first repetition
	Within       *Carried           `json:"within,omitempty"`  // messages within nodes, where several channels are told apart
	Between      *Carried           `json:"between,omitempty"` // and from node to node
	Formula      string             `json:"formula"`           // of one repetition, of its slowest channel
	Microseconds float64            `json:"cost_us"`           // of one repetition
}

// Carried is how many of a stage's messages a channel carries.
type Carried struct {
	Messages int   `json:"messages"`         // on all nodes
	Busiest  int   `json:"busiest"`          // of one node: within it, or the more of those that leave it and those that come
	Levels   []int `json:"levels,omitempty"` // of Messages, from the closest ranks on, where there are several levels
}

// carried are none of a stage whose channels are not told apart.
func carried(t mapping.Traffic) (within, between *Carried) {
	if t == (mapping.Traffic{}) {
		return nil, nil
	}
	within, between = &Carried{Messages: t.Within, Busiest: t.Inside}, &Carried{Messages: t.Between, Busiest: t.Through}
	if t.Levels[0].All < t.Within {
		for level, rest := 0, t.Within; rest > 0; level++ {
			within.Levels = append(within.Levels, t.Levels[level].All)
			rest -= t.Levels[level].All
		}
	}
	return within, between
}

// String is all messages, and the number on the node that has the most.
func (c *Carried) String() string {
	switch {
	case c == nil || c.Messages == 0:
		return "–"
	case c.Messages == c.Busiest:
		return strconv.Itoa(c.Messages)
	}
	return fmt.Sprintf("%d, %d at one node", c.Messages, c.Busiest)
}

// drawn is how many ranks a schedule has at most whose messages are listed.
const drawn = 16

// Explain takes a cost apart.
func Explain(s *collective.Schedule, c model.Cost, p Prediction) Explanation {
	e := Explanation{
		Prediction: p, Described: s.Algorithm.Source,
		Symbols: c.Symbols.String(), Formula: c.Formula(),
	}
	for _, t := range c.Terms {
		us := t.Times * t.Seconds * 1e6
		share := 0.0
		if c.Seconds > 0 {
			share = us / (c.Seconds * 1e6)
		}
		e.Terms = append(e.Terms, ExplainTerm{
			Parameter: t.Name(), Times: t.Times, Value: t.Seconds * 1e6,
			Microseconds: us, Share: share, Extrapolated: t.Extrapolated,
		})
	}
	for _, st := range c.Stages {
		stage := ExplainStage{
			First: st.First, Every: st.Every, Repeat: st.Repeat,
			Phase: st.Stage.Phase, Pattern: st.Stage.Pattern.String(),
			Batches: st.Stage.Shape, Formula: model.Formula(st.Terms), Microseconds: st.Seconds() * 1e6,
		}
		stage.Within, stage.Between = carried(st.Traffic)
		if s.Call.P <= drawn {
			for m := range (collective.Step{Stage: st.Stage, Repetition: st.Repetition}).Messages() {
				stage.Messages = append(stage.Messages, fmt.Sprintf("%d→%d", m.From, m.To))
			}
		}
		e.Stages = append(e.Stages, stage)
	}
	return e
}

// WriteText writes the formula, its terms with the numbers in, and its stages.
func (e *Explanation) say(w *document.Document) {
	name := e.Collective + ":" + e.Algorithm
	fmt.Fprintf(w, "\n%s, P = %d, m = %s: %s µs%s\n", name, e.P, view.Size(e.Bytes), e.cost(), e.interval())
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
	if slices.ContainsFunc(e.Terms, func(t ExplainTerm) bool { return t.Parameter == model.Instruction }) {
		fmt.Fprint(w, "  i: what an instruction of the library takes, which executes so many of them;\n    those of a call besides its messages are of no stage\n")
	}
	if slices.ContainsFunc(e.Terms, func(t ExplainTerm) bool { return t.Parameter == model.Line }) {
		fmt.Fprint(w, "  f: what fetching a cache line takes that another rank has written, half of y(1)\n")
	}
	if strings.Contains(e.Formula, "T[") {
		fmt.Fprint(w, "  T[level](m,τ): a message at that level, of which at most τ shared a memory, with what it waited for its sender and receiver before it began\n")
	}
	if strings.Contains(e.Formula, "own(") {
		fmt.Fprint(w, "  own(m): a rank's copy of its own block, which no message carries\n")
	}
	w.Tables(e.terms())
	if len(e.Stages) > 0 { // not of a model that adds up chains of messages
		w.Tables(e.stages())
	}
}

func (e *Explanation) terms() view.Table {
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

func (e *Explanation) stages() view.Table {
	several := slices.ContainsFunc(e.Stages, func(s ExplainStage) bool { return s.Within != nil })
	columns := []string{"  stage", "part", "at once"}
	if several {
		columns = append(columns, "within nodes", "between nodes")
	}
	t := view.Table{Columns: view.Words(append(columns, "µs each", "cost of each")...)}
	for _, s := range e.Stages {
		var channels []string
		if several {
			channels = []string{s.within(), s.Between.String()}
		}
		t.Add("  "+s.numbers(), s.Phase, s.atOnce(), channels, microseconds(s.Microseconds, false), s.Formula)
		if len(s.Messages) > 0 {
			which := ""
			if s.Repeat > 1 { // the others may have other partners
				which = ", in the first"
			}
			t.Note("  stage %s%s: %s", s.numbers(), which, strings.Join(s.Messages, " "))
		}
	}
	return t
}

// within is the messages within nodes, and where these have levels, of each.
func (s ExplainStage) within() string {
	text := s.Within.String()
	if s.Within != nil && s.Within.Levels != nil {
		text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Within.Levels), " ", "+"), "[]") + ")"
	}
	return text
}

// numbers says which stages these are: 4, 4–10, or 4,6…12.
func (s ExplainStage) numbers() string {
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
func (s ExplainStage) atOnce() string {
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

// A Comparison says where which algorithm of several is the cheapest.
type Comparison struct {
	P          int      `json:"P"`
	Margin     float64  `json:"margin"` // another one must be cheaper by this fraction to win
	Algorithms []string `json:"algorithms"`
	Intervals  []Win    `json:"intervals"`
}

// A Win is a run of message sizes with one answer.
type Win struct {
	From         int      `json:"from_bytes"`
	To           int      `json:"to_bytes"`
	Cheapest     []string `json:"cheapest"`  // several where their costs are equal, within the margin
	Advantage    float64  `json:"advantage"` // cost of the best other over this one, at most
	Extrapolated bool     `json:"extrapolated"`
	Unknown      bool     `json:"unknown,omitempty"` // the parameters have a time of 0 for one of the costs
}

// Compare names the algorithms of intervals.
func Compare(p int, margin float64, algorithms []string, intervals []model.Interval) Comparison {
	c := Comparison{P: p, Margin: margin, Algorithms: algorithms}
	for _, in := range intervals {
		names := lists.Map(in.Cheapest, func(i int) string { return algorithms[i] })
		c.Intervals = append(c.Intervals, Win{in.From, in.To, names, in.Advantage, in.Extrapolated, in.Unknown})
	}
	return c
}

// WriteText writes a line for each interval.
func (c *Comparison) say(w *document.Document) {
	t := view.Table{
		Title:   fmt.Sprintf("P = %d: %s", c.P, strings.Join(c.Algorithms, ", ")),
		Columns: append(view.Numbers("from m", "to m", "others cost"), view.Words("cheapest")...),
	}
	for _, in := range c.Intervals {
		advantage := fmt.Sprintf("up to %s times", view.Digits(in.Advantage, 0.05))
		if len(in.Cheapest) == len(c.Algorithms) {
			if advantage = "the same"; c.Margin > 0 {
				advantage = fmt.Sprintf("within %.3g %%", 100*c.Margin)
			}
		}
		if in.Extrapolated {
			advantage = "~ " + advantage
		}
		cheapest := strings.Join(in.Cheapest, " = ")
		if len(in.Cheapest) > 1 && c.Margin > 0 {
			cheapest = "no clear winner: " + strings.Join(in.Cheapest, ", ")
		}
		if in.Unknown {
			advantage, cheapest = "?", "unknown, since the parameters have a time of 0"
		}
		t.Add(view.Bytes(in.From), view.Bytes(in.To), advantage, cheapest)
	}
	w.Tables(t)
}
