package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Verification compares measured collectives with predictions.
func Verification(r *verify.Result) *document.Document {
	return made("taulop verify", r, func(r *verify.Result) view.Table { return valueRows(r.Rows, verify.Models) }, sayVerification)
}

func sayVerification(v *verify.Result, w *document.Document) {
	if v.Session != "" {
		fmt.Fprintln(w, offBy("The full model with "+v.Session, v.Means, verify.Session))
	}
	if v.Session == "" || slices.ContainsFunc(v.Means, func(m verify.Mean) bool { return slices.ContainsFunc(m.Errors, isOf(verify.Full)) }) {
		fmt.Fprintln(w, offBy("The full model", v.Means, verify.Full))
	}
	type algorithm struct {
		p     int
		off   bool
		state params.State
		name  string
	}
	tables := lists.Groups(v.Rows, func(r verify.Row) algorithm { return algorithm{r.P, r.OffCache, r.State, r.Name} })
	if len(tables) == len(v.Rows) { // of one size: a row each instead
		tables = lists.Groups(v.Rows, func(r verify.Row) algorithm { return algorithm{r.P, r.OffCache, r.State, ""} })
	}
	for _, rows := range tables {
		w.Tables(verifiedTable(v, rows))
	}
	writeErrors(w, "", v.Means, verify.Models, way)
	sayMisses(w, v.Rows)
	fmt.Fprintf(w, "\n%s\n", machine(v.Provenance))
	carried := fmt.Sprintf("channels of %d segments of %s", v.Segments, view.Bytes(v.SegmentBytes))
	if v.Transport == params.CMA {
		carried = fmt.Sprintf("single copies by the kernel (cma) from process to process, send buffers %s", v.Buffers)
	}
	fmt.Fprintf(w, "%s%s; parameters: %s\n", carried, layout(v.Chunk, v.Degree), v.Parameters)
	n := v.Launches
	w.Lines(printable.If(n.Parameters > 0 && n.Both == 0,
		fmt.Sprintf("%d launches measured parameters, and %d others what is predicted from them", n.Parameters, n.Schedules)))
	w.Lines(printable.If(len(v.HeldOut) > 0,
		fmt.Sprintf("held out: τ = %s; parameters are of τ = %s, and beyond that they are extrapolated (~)", numbers(v.HeldOut), numbers(v.Tau))))
	writeStates(w, v.States)
	w.Tables(verificationNotes(v))
}

// sayMisses says where the predicted choice was not the fastest.
func sayMisses(w *document.Document, rows []verify.Row) {
	for _, m := range verify.Misses(rows, compare.DefaultLeast) {
		upTo := printable.If(len(m.Sizes) > 1, "up to ")
		fmt.Fprintf(w, "%s, predicted as the cheapest, takes %s%s %% longer than %s: P = %d, %s%s, m = %s\n", m.Chosen, upTo, percent(m.Longer), m.Fastest,
			m.P, view.Cache(m.OffCache), inState(m.P, m.State), strings.Join(lists.Map(m.Sizes, view.Bytes), ", "))
	}
}

// offBy states the mean error of a model over all calls that it predicts, in cache and off cache.
func offBy(who string, means []verify.Mean, model string) string {
	var off []string
	predicted, total := 0, 0
	for _, cache := range []bool{false, true} {
		calls, measured, sum := 0, 0, 0.
		all := lists.Filter(means, func(m verify.Mean) bool { return m.Of == "all" && m.OffCache == cache })
		for _, means := range lists.Groups(all, func(m verify.Mean) int { return m.P }) {
			last := means[len(means)-1] // over all states, if there are several
			measured += mostCalls(last)
			if e := lists.Find(last.Errors, isOf(model)); e != nil {
				calls, sum = calls+e.Rows, sum+float64(e.Rows)*e.Mean
			}
		}
		if predicted, total = predicted+calls, total+measured; calls > 0 {
			count := printable.Count(measured, "call")
			if calls < measured {
				count = fmt.Sprintf("%d of %s", calls, count)
			}
			off = append(off, fmt.Sprintf("%s %% %s (%s)", percent(sum/float64(calls)), view.Cache(cache), count))
		}
	}
	if len(off) == 0 {
		return who + " has no parameters for any of these calls: let it run longer, or name the machine's parameters."
	}
	text := who + " is off by " + strings.Join(off, " and by ") + " on average."
	if 2*predicted < total {
		text += fmt.Sprintf(" It has no parameters for %d of %s: let it run longer.", total-predicted, printable.Count(total, "call"))
	}
	return text
}

// mostCalls is the number of calls behind a mean that at least one model predicts.
func mostCalls(m verify.Mean) int {
	return lists.Most(m.Errors, func(e verify.Errors) int { return e.Rows })
}

// writeStates lists the states of the machine, if there were several.
func writeStates(w *document.Document, all []verify.RankStates) {
	rare := false
	for _, ranks := range all {
		if len(ranks.States) == 0 {
			fmt.Fprintf(w, "P = %d: no states can be told apart by what %s takes; rows are means over what the host did\n", ranks.P, flag(ranks.P).phrase)
			continue
		}
		fmt.Fprintf(w, "P = %d: the machine was in several states; %s takes %s\n", ranks.P, flag(ranks.P).phrase, params.StateList(ranks.States))
		rare = rare || slices.ContainsFunc(ranks.States, func(s params.State) bool { return s.Share < params.Settled })
	}
	w.Lines(printable.If(rare, fmt.Sprintf("states with less than %.0f %% of the time have no rows", 100*params.Settled)))
}

// inState ends the title of times in one state; "" for the zero state.
func inState(workers int, s params.State) string {
	return printable.If(s.NS != 0, fmt.Sprintf(", %s (%.0f %% of the time)", flagIn(workers, s), s.Percent()))
}

// verifiedTable is the table of one algorithm, or of several with a row each: the full model's prediction and
// all models' errors.
func verifiedTable(v *verify.Result, measured []verify.Row) view.Table {
	beside := []view.Column{{Name: "predicted", Unit: "full, µs"}}
	for _, m := range v.Models {
		beside = append(beside, view.Column{Name: way(m.Name), Unit: "error"})
	}
	r := measured[0]
	named, title := []view.Column(nil), r.Name+", "
	if measured[len(measured)-1].Name != r.Name {
		named, title = view.Words("algorithm"), ""
	}
	var rows []timedRow
	for _, r := range measured {
		m := printable.If(r.OnGrid, "*") + view.Bytes(r.Bytes)
		errors := lists.Map(v.Models, func(m verify.Model) string {
			p := predictionOf(r.Predicted, m.Name)
			if p == nil {
				return "–"
			}
			return marked(signed(p.Error), p.Extrapolated)
		})
		name := []any{r.Name}[:len(named)]
		rows = append(rows, timedRow{append(name, m), r.Measured, []any{predicted(r.Predicted, verify.Full)[0], errors}})
	}
	title += fmt.Sprintf("P = %d, user data %s%s; errors in %%, + predicted too high", r.P, view.Cache(r.OffCache), inState(r.P, r.State))
	return measuredTable(title+forced(r.Forced, r.P, "an algorithm"), append(named, view.Column{Name: "m", Unit: "bytes"}), beside, rows)
}

// way shortens names of τ-Lop's variants: full, strict, session.
func way(model string) string {
	return printable.Either(model == verify.Full, "full", strings.TrimPrefix(model, verify.Full+" "))
}

// verificationNotes explains the marks and lists the parameters of each model.
func verificationNotes(v *verify.Result) (t view.Table) {
	any := func(marked func(r verify.Row) bool) bool { return slices.ContainsFunc(v.Rows, marked) }
	on := any(func(r verify.Row) bool { return r.OnGrid })
	off := any(func(r verify.Row) bool { return r.Bytes > 0 && !r.OnGrid })
	switch {
	case on && off:
		t.Note("* on the grid: parameters were measured at this m; the others are off it, between their sizes")
	case on:
		t.Note("* on the grid: parameters were measured at this m")
	case off:
		t.Note("every m is off the grid: parameters were measured at other sizes")
	}
	t.NoteIf(any(func(r verify.Row) bool { return extrapolated(r.Predicted) }), beyond)
	for _, m := range v.Models {
		name := way(m.Name)
		t.Note("%s%s: %s", printable.If(name != m.Name, "τ-Lop, "), name, m.Given)
	}
	for _, g := range v.LogGP {
		latency := fmt.Sprintf("%.4g ns", 1e9*g.Latency)
		if g.Measured != nil && g.Measured.Known() {
			latency += " " + view.Interval(*g.Measured)
		}
		t.Note("  %s%s: L = %s, o = %.4g ns, g = %.4g ns, G = %.4g ns/KB", view.Cache(g.OffCache), inState(2, g.State),
			latency, 1e9*g.Overhead, 1e9*g.Gap, 1024e9*g.GapPerByte)
	}
	t.Note("all: γ of what ranks reduce, and what they copy within themselves")
	return t
}

// writeErrors writes a table for each P, state of the cache and state of the machine: mean, 90 % quantile
// and bias of each model's errors.
func writeErrors(w *document.Document, of string, means []verify.Mean, all []string, name func(string) string) {
	type experiment struct {
		p      int
		off    bool
		state  params.State
		states int
	}
	for _, group := range lists.Groups(means, func(m verify.Mean) experiment { return experiment{m.P, m.OffCache, m.State, m.States} }) {
		models := lists.Filter(all, func(model string) bool {
			return slices.ContainsFunc(group, func(m verify.Mean) bool { return slices.ContainsFunc(m.Errors, isOf(model)) })
		})
		over := inState(group[0].P, group[0].State)
		if n := group[0].States; n > 0 {
			over = fmt.Sprintf(", all %d states by their shares", n)
		}
		t := view.Table{Title: fmt.Sprintf("Errors%s, %%: P = %d, user data %s%s", of, group[0].P, view.Cache(group[0].OffCache), over), Columns: view.Numbers("of")}
		cells := func(m verify.Mean, model string) []string {
			if e := lists.Find(m.Errors, isOf(model)); e != nil {
				return []string{"±" + percent(e.Mean), "±" + percent(e.Ninety), signed(e.Signed)}
			}
			return []string{"–", "–", "–"}
		}
		var width [3]int
		for _, m := range group {
			for _, model := range models {
				for j, text := range cells(m, model) {
					width[j] = max(width[j], utf8.RuneCountInString(text))
				}
			}
		}
		aligned := func(of []string) string {
			return fmt.Sprintf("%*s %*s %*s", width[0], of[0], width[1], of[1], width[2], of[2])
		}
		for _, model := range models {
			t.Columns = append(t.Columns, view.Column{Name: name(model), Unit: aligned([]string{"mean", "90 %", "bias"})})
		}
		for _, m := range group {
			t.Add(m.Of, lists.Map(models, func(model string) string { return aligned(cells(m, model)) }))
		}
		t.Title += ", " + printable.Count(slices.Max(lists.Map(group, mostCalls)), "call")
		w.Tables(t)
	}
	w.Lines(printable.If(len(means) > 0, "mean: of errors without signs; 90 %: nine of ten are within; bias: mean of errors with signs"))
}

func isOf(model string) func(verify.Errors) bool {
	return func(e verify.Errors) bool { return e.Model == model }
}

// percent writes the absolute value of a share in percent, with a decimal below 10 %.
func percent(share float64) string {
	v := math.Abs(100 * share)
	return printable.Either(v < 9.95, fmt.Sprintf("%.1f", v), fmt.Sprintf("%.0f", v))
}

// signed is percent with the sign of the share; 0.0 has a plus.
func signed(share float64) string {
	text := percent(share)
	return printable.Either(share < 0 && text != "0.0", "-"+text, "+"+text)
}

func numbers(ns []int) string { return strings.Join(lists.Map(ns, strconv.Itoa), ", ") }

// valueRows have a row for each measured time.
func valueRows(rows []verify.Row, models []string) view.Table {
	t := view.Table{Columns: view.Words("algorithm", "P", "m_bytes", "off_cache", "measured_ns", "measured_lo_ns", "measured_hi_ns", "on_grid")}
	t.Columns = append(append(t.Columns, predictedHeads(models)...), view.Words("state_ns", "state_share", "state_slowed")...)
	for _, r := range rows {
		var state []any
		if r.State.NS > 0 {
			state = []any{r.State.NS, r.State.Share, r.State.Slow > 0}
		}
		t.Add(r.Name, r.P, r.Bytes, r.OffCache, bounds(r.Measured), r.OnGrid, predictedCells(r.Predicted, models), state)
	}
	return t
}

// predictedHeads are the heads of each model's time and error.
func predictedHeads(models []string) []view.Column {
	return lists.Concat(models, func(m string) []view.Column {
		m = strings.NewReplacer(" ", "_", "'", "").Replace(m)
		return view.Words(m+"_ns", m+"_error")
	})
}

func predictedCells(predictions []verify.Prediction, models []string) []any {
	return lists.Concat(models, func(m string) []any {
		if p := predictionOf(predictions, m); p != nil {
			return []any{p.Ns, p.Error}
		}
		return []any{nil, nil}
	})
}
