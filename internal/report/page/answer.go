package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// An answer is the first sentence of the page, with its tables: the verdict of taulop compare, or what each
// machine carries if machines cannot be compared.
type answer struct {
	text     string
	tests    string // how it was tested, or why it was not
	below    *document.Document
	compared bool
	warnings []compare.Warning
	kinds    []compare.FleetKind // of a fleet
}

// few is the answer for fewer machines than a fleet.
func (x *index) few() *answer {
	a := &answer{below: &document.Document{}, warnings: compare.Told(x.of)}
	if len(x.groups) == 0 {
		return a
	}
	main := x.groups[x.main].channel
	if len(lists.Unique(lists.Map(x.of, func(m compare.Machine) string { return m.Path }))) < 2 { // states of one file share launches: a test of them means nothing
		a.below.Table(carried(x.curves, x.bytes))
		a.below.TablesAbove(view.Filled(beside(x.of, x.bytes))...)
	} else if c, err := compare.New(x.of, compare.Choice{}); err != nil {
		a.tests = "Nothing is compared: " + err.Error() + "."
	} else {
		a.compared, a.warnings, a.below = true, c.Warnings, report.Below(c)
		if c.Verdict.Differ > 0 { // else the headline is that files are too noisy, which unfit says
			a.text = c.Verdict.Headline
		}
		a.tests = strings.TrimSpace(strings.Join(append([]string{c.Compared(), c.Verdict.Text}, c.Verdict.Notes...), " "))
		if i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return grouped(t.Channel) == main }); a.text == "" && i >= 0 {
			t := c.Tables[i]
			a.tests = fmt.Sprintf("That is of %s, m = %s%s. %s", groupLabel(t.Channel), view.Bytes(t.Bytes), t.State.Title(), a.tests)
			if t.Untested {
				a.tests = t.Conclusion + " " + a.tests
			} else {
				a.text = t.Conclusion
			}
		}
	}
	if a.text != "" {
		return a
	}
	var texts []string
	for _, states := range x.hosts() { // the most frequent state, if possible one with a known A(τ)
		var best *compare.Curve
		weight := -1.
		for i, m := range x.of {
			c := most(x.curves[i], main, x.bytes)
			if c == nil || m.Host() != states[0].Host() {
				continue
			}
			share := float64(lists.FalseFirst(told(c)))
			if state := m.File.State(); state != nil {
				share += state.Share
			}
			if share > weight {
				best, weight = c, share
			}
		}
		if best != nil {
			texts = append(texts, carries(best))
		}
	}
	a.text = strings.Join(texts, " ")
	return a
}

// unfit names the files that are not fit for use, "" if all are fit.
func (x *index) unfit() string {
	why := func(states []compare.Machine) (why string) {
		for _, m := range states { // one fit state makes the file useful
			if why = report.Unfit(m.File); why == "" {
				break
			}
		}
		return why
	}
	hosts := lists.Filter(x.hosts(), func(states []compare.Machine) bool { return why(states) != "" })
	texts := lists.Map(lists.Groups(hosts, why), func(alike [][]compare.Machine) string {
		names := lists.Map(alike, func(states []compare.Machine) string { return states[0].Host() })
		return fmt.Sprintf("Not fit for use: %s (%s).", compare.Warning{Machines: names}.Who(), why(alike[0]))
	})
	return strings.Join(texts, " ")
}

// drawn is the number of machines that charts of a fleet show at first beside the median: the outliers, if
// the fleet was compared.
const drawn = 3

// many is the answer for a fleet. It replaces curves by the curves in the compared state.
func (x *index) many() *answer {
	a := &answer{below: &document.Document{}, warnings: compare.Told(x.of)}
	o, err := compare.NewOverview(lists.Map(x.of, compare.Reduce), compare.Choice{})
	if err != nil {
		a.text = "Nothing is compared: " + err.Error() + "."
		x.outliers = lists.Indices(drawn)
		return a
	}
	a.compared, a.warnings, a.kinds = true, o.Warnings, o.Surveys
	a.below.TablesAbove(report.FleetTables(o)...)
	a.text = strings.TrimSpace(o.Means + " " + o.Conclusion())
	off := o.Off()
	for _, name := range off[:min(drawn, len(off))] { // the farthest in transfers, then in surveys
		x.outliers = append(x.outliers, slices.IndexFunc(x.of, func(m compare.Machine) bool { return m.Name == name }))
	}
	if o.State == nil {
		return a
	}
	a.text = "In the state that most machines have been in" + o.State.Title() + ": " + a.text
	for i, m := range x.of {
		x.curves[i] = nil
		if state, met := o.State.Of(m.Name); met {
			x.curves[i], _ = compare.Curves(m.Name, compare.FileIn(m.File, state)) // as in describe
		}
	}
	return a
}

// verdict is the first sentence of the page; without transfers it is about surveys.
func (x *index) verdict() string { return cmp.Or(x.answer.text, x.ofSurveys()) }

// weight orders the groups for the verdict: by their machines, then the ring, which predicts collectives best,
// local memory, and in cache.
func (g *group) weight() int {
	c := g.channel
	return 8*g.machines + 4*lists.FalseFirst(c.Setup == setups.Ring.Name) + 2*lists.FalseFirst(c.Placement == numa.Local) + lists.FalseFirst(!c.OffCache)
}

// ofSurveys is the verdict of machines without transfers.
func (x *index) ofSurveys() string {
	names := lists.Map(x.kinds, func(label string) string { return strings.ToLower(label[:1]) + label[1:] })
	if x.things != "" {
		names = append(names, "pairs of "+x.things)
	}
	whose := "these machines"
	if len(x.of) == 1 {
		whose = x.of[0].Name
	}
	if len(names) == 0 { // messages by levels, γ
		return fmt.Sprintf("Of %s there is nothing to draw: neither transfers nor a survey that has a chart.", whose)
	}
	text := fmt.Sprintf("Of %s surveys alone were measured: %s.", whose, strings.Join(names, ", "))
	if len(x.of) == 1 {
		for _, s := range slices.Backward(survey.All()) {
			if found := s.Found(x.of[0].File); found != "" {
				text = strings.ReplaceAll(found, "\n", " ") + " " + text
			}
		}
	}
	return text
}

// surveyTables are the tables of a machine's surveys in text, without matrices, which the page has as maps.
func surveyTables(f *params.File) []view.Table {
	tabled := lists.Filter(survey.All(), func(s *survey.Survey) bool { return s.Tables != nil })
	return lists.Concat(tabled, func(s *survey.Survey) []view.Table { return s.Tables(f) })
}

// carried has a row for each curve of messages of m bytes, at its largest τ.
func carried(curves [][]compare.Curve, m int) view.Table {
	t := view.Table{Columns: append(view.Words("machine", "transfers"), view.Numbers(
		fmt.Sprintf("L(%s,1), ns", view.Bytes(m)), "τ", fmt.Sprintf("L(%s,τ), ns", view.Bytes(m)), "A(τ)", "GB/s")...), Keys: 2}
	var bounds report.Bounds
	for _, c := range slices.Concat(curves...) {
		if len(c.Points) == 0 || c.Bytes != m {
			continue
		}
		alone := printable.If(c.Points[0].Tau == 1, view.Within(c.Points[0].L))
		last := c.Points[len(c.Points)-1]
		t.Add(c.Machine, groupLabel(grouped(c.Channel)), alone, last.Tau, view.Within(last.L), strings.TrimSpace(view.Within(last.A)+" "+bounds.Mark(last.A, last.Tau)), view.Within(last.Bandwidth))
	}
	bounds.Note(&t)
	return t
}

// beside has y(τ), copies of m bytes and γ of files that are not compared, for the least and the largest τ.
func beside(of []compare.Machine, m int) view.Table {
	t := view.Table{Title: "synchronisation y (null), copies (copy, own) and reductions γ (gamma)", Columns: append(view.Words("machine", "cell"), view.Numbers("ns")...), Keys: 2}
	for _, one := range of {
		cells := lists.Filter(one.File.Cells, func(c params.Cell) bool {
			return compare.Swept(c.Kind) && c.Transport == params.InSegments && (c.Kind == params.NullCell || c.Bytes == m)
		})
		largest := lists.Most(cells, func(c params.Cell) int { return c.Tau })
		for _, c := range cells {
			if c.Tau <= 1 || c.Tau == largest {
				t.Add(one.Name, c.Key, view.Within(c.Segment()))
			}
		}
	}
	return t
}

// most is the curve of the group and of messages of m bytes, or else the most similar; nil without transfers.
func most(curves []compare.Curve, group compare.Channel, m int) (best *compare.Curve) {
	weight := func(c *compare.Curve) int {
		return 2*lists.FalseFirst(grouped(c.Channel) == group) + lists.FalseFirst(c.Bytes == m)
	}
	for i := range curves {
		if c := &curves[i]; len(c.Points) > 0 && (best == nil || weight(c) > weight(best)) {
			best = c
		}
	}
	return best
}

// carries says how many transfers a machine carries at its largest τ.
func carries(c *compare.Curve) string {
	last := c.Points[len(c.Points)-1]
	where := groupLabel(c.Channel) + ", m = " + view.Bytes(c.Bytes)
	name, rate := c.Machine, printable.Either(last.Bandwidth.Width() > 1, view.Within(last.Bandwidth), view.Center(last.Bandwidth))
	switch A := view.Within(last.A); {
	case !(last.L.Center > 0):
		return fmt.Sprintf("What %s carries is unknown: its transfers have times of 0 (%s).", name, where)
	case A == "" || last.Tau < 2:
		return fmt.Sprintf("%s moves %s GB/s with τ = %d (%s).", name, rate, last.Tau, where)
	case !told(c):
		return fmt.Sprintf("How many of %d transfers at once %s carries cannot be told, for its times differ too much or have too few samples; together they move about %s GB/s (%s).", last.Tau, name, rate, where)
	default:
		return fmt.Sprintf("Of %d transfers at once %s carries %s; together they move %s GB/s (%s).", last.Tau, name, A, rate, where)
	}
}

// told reports whether the last A(τ) of a curve is known well enough, or comes from a table without samples.
func told(c *compare.Curve) bool {
	last := c.Points[len(c.Points)-1]
	if last.Tau < 2 { // A(1) is 1 by definition
		return false
	}
	if !last.A.Known() {
		return c.Setup == params.Published || last.L.N == 0
	}
	return last.A.Width() <= 1
}
