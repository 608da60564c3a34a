package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mpi"
)

// timedTable has the penalties that remain when some settings are timed.
func timedTable(plans []published.Planned) view.Table {
	t := view.Table{Title: "Penalties where some settings are timed and the quickest is taken, %", Columns: append(view.Words("collective", "mapping", "timed"),
		view.Numbers("cases", "mean", "worst", "of all runs", "of their time")...)}
	for _, p := range plans {
		for _, timing := range p.Timings {
			t.Add(p.Collective, p.Mapping, timing.Of, timing.Cases, percents(timing.Penalty.Geometric, timing.Penalty.Worst, timing.Runs, timing.Time))
		}
	}
	t.Note("own: the library's own choice; cheapest: predicted; a plan: what taulop tune -plan would have had timed")
	return t
}

// WritePlan states how many settings a plan times, its duration, and the duration of timing all settings.
func WritePlan(w io.Writer, m *plan.Manifest, library *mpi.Library, folder string) {
	settings, cells, all := m.Timings()
	fmt.Fprintf(w, "%s for %s: %s in %d of %d cells\n", printable.Name(folder), library.Version, printable.Count(settings, "timing"), cells, all)
	fmt.Fprintf(w, "passes: %d, about %s; as many over all settings of all cells: %s\n", m.Passes, span(m.Seconds), span(m.Brute))
	if m.Passes < plan.FewPasses && settings > 0 {
		fmt.Fprintf(w, "no rule follows from fewer than %d passes: a budget of %s has these\n", plan.FewPasses, span(math.Ceil(m.Seconds/float64(m.Passes)*plan.FewPasses)))
	}
	fmt.Fprintf(w, "expected penalty afterwards: %.1f %%\n\n", 100*m.Expected)
	fmt.Fprintf(w, "bash %s/run.sh          (or sbatch run.slurm there)\n", printable.Name(folder))
	fmt.Fprintf(w, "taulop tune -timed %s -params FILE -o RULES\n", printable.Name(folder))
}

func span(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// A timed is an MPI library's rules from timings, and the reasons for them.
type timed struct {
	Library    string            `json:"library"`
	Passes     int               `json:"passes"`
	Settings   int               `json:"timings"`
	Cells      []timedCell       `json:"cells"`
	Rules      int               `json:"rules"`
	Components []plan.Comparison `json:"components,omitempty"`
	LeftOut    []plan.Omission   `json:"left_out"`
}

// A timedCell is the choice for messages of m bytes among P ranks. Gains are shares of the time of the
// library's own choice.
type timedCell struct {
	Collective string       `json:"collective"`
	P          int          `json:"P"`
	Bytes      int          `json:"m"`
	Rule       *mpi.Setting `json:"rule"`   // null: the library's own choice stays
	By         string       `json:"by"`     // timed, or predicted
	OwnUS      float64      `json:"own_us"` // 0: not timed
	US         float64      `json:"us"`
	Gain       float64      `json:"gain"`
	Lo         float64      `json:"gain_lo"`
	Hi         float64      `json:"gain_hi"`
}

// Timed has an MPI library's rules from a plan's results.
func Timed(library *mpi.Library, m *plan.Manifest, r *plan.Results, all []plan.Conclusion, rules []mpi.Rule) *document.Document {
	doc := &timed{Library: library.Version, Passes: len(r.Passes), Rules: len(rules), LeftOut: r.LeftOut, Components: m.Compared(r)}
	doc.Settings, _, _ = m.Timings()
	for i := range all {
		c := &all[i]
		cell := timedCell{Collective: c.Collective, P: c.P, Bytes: c.Bytes, OwnUS: c.OwnUS, US: c.US, By: "predicted"}
		if c.Timed || c.OwnUS > 0 && c.Setting.Own() {
			cell.By = "timed"
		}
		if !c.Setting.Own() {
			cell.Rule, cell.Gain, cell.Lo, cell.Hi = &c.Setting, c.Gain.Center, c.Gain.Lo, c.Gain.Hi
		}
		doc.Cells = append(doc.Cells, cell)
	}
	return made("taulop tune -timed", doc, (*timed).values, (*timed).say)
}

func (d *timed) say(w *document.Document) {
	d.summarize(w)
	us := func(v float64) string { return printable.Either(v > 0, rough(v), "–") }
	for _, cells := range lists.Groups(d.Cells, func(c timedCell) string { return c.Collective }) {
		t := view.Table{Title: cells[0].Collective, Columns: slices.Concat(view.Numbers("P", "m"), view.Words("rule", "by"), view.Numbers("own µs", "rule µs"), view.Words("gain in %"))}
		for _, c := range cells {
			rule, gain := "own choice", ""
			if c.Rule != nil {
				rule, gain = c.Rule.String(), fmt.Sprintf("%.0f [%.0f, %.0f]", 100*c.Gain, 100*c.Lo, 100*c.Hi)
			}
			t.Add(c.P, view.Bytes(c.Bytes), rule, c.By, us(c.OwnUS), us(c.US), gain)
		}
		w.Tables(t)
	}
	fmt.Fprintln(w, "\nTimes are medians over passes; [ ]: the interval of the gain, 95 %")
}

// values have a row for each cell.
func (d *timed) values() view.Table {
	t := view.Table{Columns: view.Words("collective", "P", "m_bytes", "rule", "by", "own_us", "us", "gain", "gain_lo", "gain_hi")}
	for _, c := range d.Cells {
		rule := "own"
		if c.Rule != nil {
			rule = c.Rule.Key()
		}
		t.Add(c.Collective, c.P, c.Bytes, rule, c.By, c.OwnUS, c.US, c.Gain, c.Lo, c.Hi)
	}
	return t
}

// summarize counts rules, timed and predicted, and compares whole components.
func (d *timed) summarize(w *document.Document) {
	ruled := lists.Filter(d.Cells, func(c timedCell) bool { return c.Rule != nil })
	timed := len(lists.Filter(ruled, func(c timedCell) bool { return c.By == "timed" }))
	fmt.Fprintf(w, "%s for %s: %s timed, %d predicted; else its own choice stays\n", printable.Count(d.Rules, "rule"), d.Library, printable.Count(timed, "cell"), len(ruled)-timed)
	for _, c := range d.Components {
		what := strings.Join(c.Environment, " ")
		if what != c.Name {
			what = "coll/" + c.Name + " with " + what
		}
		fmt.Fprintf(w, "%s: gain %.0f %% in the mean of %s; quicker in %d, slower in %d\n", what, 100*c.Gain, printable.Count(c.Cells, "cell"), c.Quicker, c.Slower)
	}
}
