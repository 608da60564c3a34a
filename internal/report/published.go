package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mpi"
)

// A Published has published times of collectives beside predictions.
type Published struct {
	predict.Source
	Output  string `json:"measured_in"` // the file that has them
	Version string `json:"library_version,omitempty"`
	*published.Comparison
	Means struct {
		All       []published.Errors `json:"all"`
		Algorithm []published.Group  `json:"by_algorithm"`
		Mapping   []published.Group  `json:"by_mapping"`
		P         []published.Group  `json:"by_P"`
		M         []published.Group  `json:"by_m"`
	} `json:"errors"`
	LeftOut []published.Omission `json:"left_out"`
}

// NewPublished adds the errors of the predictions.
func NewPublished(source predict.Source, output, version string, c *published.Comparison) *Published {
	doc := &Published{Source: source, Output: output, Version: version, Comparison: c, LeftOut: c.LeftOut()}
	doc.Means.All = c.All()
	doc.Means.Algorithm, doc.Means.Mapping, doc.Means.P, doc.Means.M = c.ByAlgorithm(), c.ByMapping(), c.ByP(), c.ByM()
	return doc
}

// Document is the result in all output formats.
func (d *Published) Document() *document.Document {
	return made("taulop verify -against table", d, (*Published).values, (*Published).say)
}

func (d *Published) say(w *document.Document) {
	for _, e := range d.Means.All {
		if e.Cells > 0 {
			fmt.Fprintf(w, "%s: %s, mean |error| %.1f %%, %.0f %% within a factor of %g, bias %+.1f %%\n", e.Of, printable.Count(e.Cells, "cell"), 100*e.Mean, 100*e.Within, published.Factor, 100*e.Signed)
		}
	}
	tables := []view.Table{errorTable("Errors of algorithms, all P and m", "algorithm", d.Means.Algorithm)}
	if len(d.Means.Mapping) > 1 {
		tables = append(tables, errorTable("Errors by mapping of ranks", "mapping", d.Means.Mapping))
	}
	tables = append(tables, errorTable("Errors by P", "P", d.Means.P), errorTable("Errors by m", "m", d.Means.M))
	tables[len(tables)-1].Note("bias: the mean error with its sign, + predicted too high")
	w.Tables(tables...)
	writeOmissions(w, d.LeftOut)
	fmt.Fprint(w, "\npredicted: ")
	saySource(w, d.Source)
	d.writeMeasured(w)
}

// writeMeasured states the source of the measured times, and which of a row's times is compared.
func (d *Published) writeMeasured(w *document.Document) {
	version := cmp.Or(d.Version, "supposed to be "+d.Comparison.Library)
	noise := printable.If(d.Noise > 0, fmt.Sprintf(", %d flagged as noise and left out", d.Noise))
	slowest := len(lists.Filter(d.Cells, func(c published.Cell) bool { _, is := c.Time.Compared(); return is }))
	mean := printable.If(slowest < len(d.Cells), fmt.Sprintf("; else the mean over ranks (%d)", len(d.Cells)-slowest))
	w.Lines(fmt.Sprintf("measured: %s, %s; %d rows%s", d.Output, version, d.Rows, noise),
		fmt.Sprintf("compared: the slowest rank, where the table has it (%s)%s", printable.Count(slowest, "cell"), mean),
		printable.If(d.MeanAsSlowest > 0, "where the table has only the mean over ranks and the model only the time of the\nslowest one ("+
			printable.Count(d.MeanAsSlowest, "cell")+"), the model's is too high by what ranks differ"))
}

func errorTable(title, by string, groups []published.Group) view.Table {
	t := view.Table{Title: title, Columns: append(view.Words("collective", by), view.Numbers("cells")...)}
	if by == "P" || by == "m" {
		t.Columns[1].Left, t.Keys = false, 2
	}
	t.Columns = append(t.Columns, view.Column{Name: "mean |error|", Unit: "%"}, view.Column{Name: fmt.Sprintf("within ×%g", published.Factor), Unit: "% of cells"}, view.Column{Name: "bias", Unit: "%"})
	for _, g := range groups {
		name := g.Of
		if n, err := strconv.Atoi(name); err == nil && by == "m" {
			name = view.Bytes(n)
		}
		t.Add(g.Collective, name, g.Errors.Cells, share(g.Mean), fmt.Sprintf("%.0f", 100*g.Within), fmt.Sprintf("%+.1f", 100*g.Signed))
	}
	return t
}

// mostOmissions is the number of reasons that text lists.
const mostOmissions = 12

func writeOmissions(w *document.Document, all []published.Omission) {
	if len(all) > 0 {
		fmt.Fprintln(w)
	}
	for i, o := range all {
		if i == mostOmissions {
			fmt.Fprintf(w, "Left out for %d more reasons.\n", len(all)-i)
			break
		}
		fmt.Fprintf(w, "Left out: %s, such as line %d (%s): %s.\n", printable.Count(o.Cells, "cell"), o.Line, o.Of, o.Why)
	}
}

// values have a row for each cell.
func (d *Published) values() view.Table {
	t := view.Table{Columns: view.Numbers("collective", "alg_id", "algorithm", "fan", "mapping", "P", "nodes", "m_bytes", "rows",
		"measured_us", "of", "predicted_us", "relative_error", "extrapolated", "left_out")}
	for i := range d.Cells {
		c := &d.Cells[i]
		ns, slowest := c.Time.Compared()
		rank, predicted := printable.Either(slowest, "slowest", "mean"), any(nil)
		if c.Error != nil {
			predicted = ns * (1 + *c.Error) / 1e3
		}
		t.Add(c.Collective, c.Setting.ID, short(c.Setting), c.Setting.Fan, c.Mapping, c.P, c.Nodes, c.Bytes, c.Rows, ns/1e3, rank, predicted, c.Error, c.Extrapolated, c.LeftOut)
	}
	return t
}

// An Evaluation has the measured penalties of choosing algorithms by predictions.
type Evaluation struct {
	predict.Source
	Output  string `json:"measured_in"`
	Version string `json:"library_version,omitempty"`
	Library string `json:"algorithms_of"`
	Filters string `json:"filters"` // in words
	*published.Evaluation
	Timed   []published.Planned  `json:"timed"`
	LeftOut []published.Omission `json:"left_out"`
}

// Document is the result in all output formats.
func (d *Evaluation) Document() *document.Document {
	return made("taulop tune -eval", d, (*Evaluation).values, (*Evaluation).say)
}

func (d *Evaluation) say(w *document.Document) {
	fmt.Fprintln(w, d.answer())
	choices := view.Table{Title: "Penalties against the best measured algorithm of each case, %", Columns: append(view.Words("collective", "mapping"),
		view.Column{Name: "cases"}, view.Column{Name: "predicted"}, view.Column{Name: "library's own", Unit: "mean"}, view.Column{Name: "", Unit: "worst"},
		view.Column{Name: "ours", Unit: "mean"}, view.Column{Name: "", Unit: "worst"},
		view.Column{Name: "always", Unit: "mean"}, view.Column{Name: "", Unit: "worst"}, view.Column{Name: "which", Left: true})}
	mixed := false
	for i := range d.Groups {
		g := &d.Groups[i]
		choices.Add(choicesRow(g, g.Mapping)...)
		if g.Alike == nil {
			continue
		}
		choices.Add(choicesRow(g.Alike, g.Mapping+"*")...)
		if rows := choices.Rows; slices.Equal(rows[len(rows)-1][2:], rows[len(rows)-2][2:]) {
			choices.Rows = rows[:len(rows)-1] // too few to see
		} else {
			mixed = true
		}
	}
	choices.Note("ours: the cheapest predicted algorithm of those measured; the library's own where less than %.0f %%, or than what predictions can be told apart by, is gained, and where nothing is predicted", 100*d.Margin)
	choices.Note("mean: the geometric mean of the times over the best's, to which a few outliers matter little; the arithmetic one is in the JSON output")
	choices.Note("compared: the slowest rank, where the table has it, else the mean over ranks")
	choices.NoteIf(mixed, "*: without algorithms that have the mean alone in cases where others have the slowest rank")
	w.Tables(choices)
	if len(d.Timed) > 0 {
		w.Tables(timedTable(d.Timed))
	}
	writeOmissions(w, d.LeftOut)
	fmt.Fprint(w, "\npredicted: ")
	saySource(w, d.Source)
	fmt.Fprintf(w, "measured: %s, %s; %s\n", d.Output, d.Version, d.Filters)
}

// answer states the mean penalties over all cases, which are the last group.
func (d *Evaluation) answer() string {
	all := d.Groups[len(d.Groups)-1]
	said := []string{}
	for i, p := range []*published.Penalty{all.Ours, all.Own} {
		if p != nil {
			said = append(said, fmt.Sprintf("%s is %s %% dearer", [...]string{"the cheapest predicted", "the library's own choice"}[i], share(p.Geometric)))
		}
	}
	if len(said) == 0 {
		return "No choice of these algorithms is known."
	}
	return fmt.Sprintf("Than the best measured algorithm, by the geometric mean of %s: %s.", printable.Count(all.Cases, "case"), strings.Join(said, ", "))
}

// short is a setting in a cell.
func short(s mpi.Setting) string { return printable.Either(s.Own(), "own", s.Name) }

func choicesRow(c *published.Choices, mapping string) []any {
	cells := func(p *published.Penalty) []string {
		if p == nil {
			return []string{"–", "–"}
		}
		return percents(p.Geometric, p.Worst)
	}
	row := []any{c.Collective, mapping, c.Cases, c.Predicted, cells(c.Own), cells(c.Ours)}
	if c.Always == nil {
		return append(row, cells(nil), "")
	}
	return append(row, cells(&c.Always.Penalty), c.Always.Setting.String())
}

// values have a row for each case.
func (d *Evaluation) values() view.Table {
	t := view.Table{Columns: view.Words("collective", "mapping", "P", "m_bytes", "algorithms", "best", "best_ns", "own_ns", "ours", "ours_ns", "penalty")}
	for i := range d.Cases {
		j := &d.Cases[i]
		var own, ours, ns, penalty any
		if j.OwnNs > 0 {
			own = j.OwnNs
		}
		if j.Ours != nil {
			ours, ns, penalty = short(*j.Ours), j.OursNs, j.OursNs/j.BestNs-1
		}
		t.Add(j.Collective, j.Mapping, j.P, j.Bytes, j.Measured, short(j.Best), j.BestNs, own, ours, ns, penalty)
	}
	return t
}
