// Package report turns results into documents of sentences and tables.
//
// Its opinion: text and JSON come from the same value; a number has its unit, its interval, and the digits
// that the interval leaves; a warning stands beside its number.
package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// made makes the document of a result from its rows for programs and its text.
func made[R any](kind string, r R, values func(R) view.Table, say func(R, *document.Document)) *document.Document {
	return document.New(kind, r, document.Rows(func() view.Table { return values(r) }), func(w *document.Document) { say(r, w) })
}

// machine describes the machine in a line.
func machine(p provenance.Provenance) string {
	parts := slices.Concat([]string{"taulop " + p.Taulop, p.Hostname, p.CPUModel, p.Kernel}, prepared(p), []string{p.Time})
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// prepared names the pages of buffers, if they are known, and what cores without a worker did, unless they slept.
func prepared(p provenance.Provenance) (how []string) {
	if p.BufferPages != "" {
		how = append(how, "buffers in "+p.BufferPages+" pages")
	}
	if p.IdleCores != "" {
		how = append(how, "idle cores "+p.IdleCores)
	}
	return how
}

// clock states the clock of workers at the smallest and the largest τ; "" if the system does not state it.
func clock(f *params.File) string {
	clocks := f.MHz()
	delete(clocks, 0)
	taus := slices.Sorted(maps.Keys(clocks))
	if len(taus) == 0 {
		return ""
	}
	first, last := taus[0], taus[len(taus)-1]
	line := fmt.Sprintf("the clock of a worker's CPU was %.0f MHz at τ = %d", clocks[first], first)
	if first == last {
		return line
	}
	line += fmt.Sprintf(", %.0f MHz at τ = %d", clocks[last], last)
	if ratio := clocks[first] / clocks[last]; f.Provenance.IdleCores == "" && math.Abs(ratio-1) > 0.03 {
		line += ": A(τ) has that in it, unless idle cores are kept busy"
	}
	return line
}

// placementTable has a row for each worker.
func placementTable(p numa.Placement) view.Table {
	t := view.Table{Columns: view.Numbers("worker", "CPU", "core", "package", "node", "user buffer", "intermediate", "distance")}
	t.Columns[5].Unit, t.Columns[6].Unit = "on node", "on node"
	for i, w := range p.Workers {
		t.Add(i, w.ID, w.Core, w.Package, w.Node, w.UserNode, w.IntermediateNode, distance(w.Distance))
	}
	return t
}

// distance is the distance between nodes; firmware may not state it.
func distance(d int) string { return printable.Either(d <= 0, "?", strconv.Itoa(d)) }

func share(v float64) string { return fmt.Sprintf("%.1f", 100*v) }

func percents(shares ...float64) []string { return lists.Map(shares, share) }

// A timedRow is a measured time between its key cells and further cells.
type timedRow struct {
	keys   []any
	ns     fit.Estimate
	beside []any
}

// measuredTable has measured times in µs with the known intervals.
func measuredTable(title string, keys, beside []view.Column, rows []timedRow) view.Table {
	t := view.Table{Title: title, Keys: len(keys), Columns: slices.Concat(keys, []view.Column{{Name: "measured", Unit: "µs"}, {Name: "95 % interval", Unit: "µs"}}, beside)}
	for _, r := range rows {
		us := r.ns.Scale(1e-3)
		text, interval := microseconds(us.Center, false), ""
		if us.Known() {
			text, interval = view.Rough(us), view.Interval(us)
		}
		t.Add(r.keys, text, interval, r.beside)
	}
	t.DropEmpty()
	return t
}

// predictedColumns are the prediction and the error of each model.
func predictedColumns(models ...string) []view.Column {
	return lists.Concat(models, func(model string) []view.Column {
		return []view.Column{{Name: model, Unit: "µs"}, {Name: "error", Unit: "%"}}
	})
}

// predicted are the cells of predictedColumns, dashes for a model without a prediction.
func predicted(predictions []verify.Prediction, models ...string) []string {
	return lists.Concat(models, func(model string) []string {
		if p := predictionOf(predictions, model); p != nil {
			return []string{microseconds(p.Ns/1e3, p.Extrapolated), signed(p.Error)}
		}
		return []string{"–", "–"}
	})
}

// predictionOf is the prediction of a model, nil if it has none.
func predictionOf(predictions []verify.Prediction, model string) *verify.Prediction {
	return lists.Find(predictions, func(p verify.Prediction) bool { return p.Model == model })
}

// extrapolated tells whether any of the predictions is extrapolated.
func extrapolated(predictions []verify.Prediction) bool {
	return slices.ContainsFunc(predictions, func(p verify.Prediction) bool { return p.Extrapolated })
}

// beyond explains the mark of extrapolated times.
const beyond = "~ extrapolated: m or τ is beyond what was measured"

// forced ends the title of times that were measured under oversubscription.
func forced(oversubscribed bool, ranks int, what string) string {
	if !oversubscribed {
		return ""
	}
	return fmt.Sprintf("\nFORCED: %d ranks take turns on fewer CPUs; these times are no measurement of %s", ranks, what)
}

// microseconds writes a cost with four digits, six decimals at most, after a mark if it is extrapolated.
func microseconds(us float64, extrapolated bool) string {
	return marked(withDigits(us, 4, 6), extrapolated)
}

func marked(text string, extrapolated bool) string {
	return printable.Either(extrapolated, "~"+text, text)
}

// rough writes a prediction without an interval, with two digits.
func rough(us float64) string { return withDigits(us, 2, 6) }

func withDigits(us float64, n, most int) string {
	decimals := 0
	if us != 0 {
		magnitude := int(math.Floor(math.Log10(math.Abs(us))))
		decimals = min(max(n-1-magnitude, 0), most)
		if magnitude > n-1 {
			unit := math.Pow10(magnitude - n + 1)
			us = math.Round(us/unit) * unit
		}
	}
	return strconv.FormatFloat(us, 'f', decimals, 64)
}

// significant writes three digits.
func significant(v float64) string { return view.Digits(v, 0) }

// differ states relative standard deviations of samples.
func differ(within, between float64) string {
	return "samples differ by " +
		printable.If(within > 0, view.Digits(100*within, 0.1)+" % within a launch, ") + // else launches have one sample each
		view.Digits(100*between, 0.1) + " % between launches"
}

// launches counts the completed launches, and the sessions.
func launches(f *params.File) string {
	alive := len(lists.Filter(f.Launches, func(l params.Launch) bool { return !l.Died }))
	switch n := f.Sessions(); {
	case alive == 0:
		return "no launches"
	case alive == 1:
		return "one launch"
	case n == 1:
		return fmt.Sprintf("%d launches of one session", alive)
	default:
		return fmt.Sprintf("%d launches of %d sessions", alive, n)
	}
}

// offCache says whether user data off cache came from memory; "" for a file without such reads.
func offCache(f *params.File) string {
	typical := f.Loads()
	if len(typical) == 0 {
		return ""
	}
	verdict, l := printable.Either(doubt.InCache(f) != nil, "NOT OFF CACHE", "off cache"), typical[0]
	return fmt.Sprintf("%s: with placement %s, τ = %d a read of what messages come to next takes %.0f ns, of memory %.0f ns, of a cache %.1f ns",
		verdict, l.Placement, l.Tau, l.Next, l.Flushed, l.Cached)
}

// within states the median and the 90 % quantile of half-widths.
func within(widths []float64) string {
	half, most := fit.Quantile(widths, 0.5), fit.Quantile(widths, 0.9)
	rest := view.HalfWidth(most) + " for 9 of 10"
	switch {
	case !(half <= math.MaxFloat64):
		return "samples are too few for intervals of half of them"
	case half > 1:
		return "95 % intervals beyond ±100 % for half of them"
	case !(most <= math.MaxFloat64):
		none := len(lists.Filter(widths, func(w float64) bool { return math.IsInf(w, 1) }))
		rest = fmt.Sprintf("none for %d of %d", none, len(widths))
	case most > 1:
		rest = "beyond ±100 % for 1 of 10"
	}
	return fmt.Sprintf("95 %% intervals within %s for half of them, %s", view.HalfWidth(half), rest)
}

// sayReach states how a file was measured and how well its cells are known.
func sayReach(w *document.Document, f *params.File) {
	seconds := ""
	switch {
	case f.Seconds >= 10:
		seconds = fmt.Sprintf(" in %.0f s", f.Seconds)
	case f.Seconds > 0 || len(f.Launches) > 0: // else a published table
		seconds = fmt.Sprintf(" in %.1f s", f.Seconds)
	}
	fmt.Fprintf(w, "%s%s, %s\n", printable.Count(len(f.Cells), "cell"), seconds, launches(f))
	if len(f.States()) > 0 {
		writeReachByState(w, f)
	}
	w.Lines(f.Begun().String(), clock(f))
	within, between, sessions := f.Components()
	switch {
	case math.IsNaN(within) || math.IsNaN(between):
	case math.IsNaN(sessions):
		fmt.Fprintf(w, "%s; intervals are over the launches of one session: another hour is not in them, until a session is added\n", differ(within, between))
	default:
		fmt.Fprintf(w, "%s, %s %% between sessions; intervals are over sessions (median standard deviations of all cells)\n",
			differ(within, between), view.Digits(100*sessions, 0.1))
	}
	modules := f.Provenance.Memory.String()
	w.Lines(offCache(f), printable.If(modules != "", "memory has "+modules))
	for _, c := range doubt.Memory(f, f) {
		w.Lines(printable.If(c.Peak > 0, fmt.Sprintf("memory carried %v", c)))
	}
}
