package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// An answer is what the page comes to, before everything else, with the tables that it rests on: as taulop
// compare has it, or of machines that there is nothing to compare with what they carry.
type answer struct {
	text     string
	tests    string // what it rests on, of machines that were compared
	below    *document.Document
	compared bool
	told     []compare.Warning
	kinds    []compare.FleetKind // of a fleet
}

// few is the answer of fewer machines than a fleet has.
func (x *index) few() *answer {
	a := &answer{below: &document.Document{}, told: compare.Told(x.of)}
	if len(x.Groups) == 0 {
		return a
	}
	main, states := x.Groups[x.Main].channel, ofStates(x.of)
	if len(x.of) < 2 || states {
		a.below.Table(carried(x.curves, x.Bytes))
	} else if c, err := compare.New(x.of, compare.Choice{}); err != nil {
		a.tests = "Nothing is compared: " + err.Error() + "."
	} else {
		a.compared, a.told, a.below = true, c.Warnings, report.Below(c)
		if c.Verdict.Differ > 0 { // else it says that files are too noisy, as unfit does
			a.text = c.Verdict.Headline
		}
		a.tests = strings.TrimSpace(strings.Join(append([]string{c.Compared(), c.Verdict.Text}, c.Verdict.Notes...), " "))
		if i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return grouped(t.Channel) == main }); a.text == "" && i >= 0 {
			t := c.Tables[i]
			of := fmt.Sprintf("of %s, m = %s%s", groupLabel(t.Channel), view.Bytes(t.Bytes), t.State.Title())
			if a.text = t.Conclusion; t.Tested() {
				a.tests = fmt.Sprintf("That is %s. %s", of, a.tests)
			} else {
				a.text, a.tests = "", fmt.Sprintf("%s That is %s. %s", t.Conclusion, of, a.tests)
			}
		}
	}
	if a.text != "" {
		return a
	}
	var texts []string
	for _, in := range x.hosts() { // the state that it was in most, of which A(τ) can be told if there is such a one
		var best *compare.Curve
		weight := -1.
		for _, m := range in {
			of := most(x.curves[slices.IndexFunc(x.of, func(o compare.Machine) bool { return o.Name == m.Name })], main, x.Bytes)
			if of == nil {
				continue
			}
			share := 0.
			if state := m.File.State(); state != nil {
				share = state.Share
			}
			if told(of) {
				share++
			}
			if share > weight {
				best, weight = of, share
			}
		}
		if best != nil {
			texts = append(texts, carries(best))
		}
	}
	a.text = strings.Join(texts, " ")
	return a
}

// unfit says which files are not fit for use, "" where all are.
func (x *index) unfit() string {
	why := func(in []compare.Machine) (why string) {
		for _, m := range in { // one state that is known is of use
			if why = report.Unfit(m.File); why == "" {
				break
			}
		}
		return why
	}
	of := lists.Filter(x.hosts(), func(in []compare.Machine) bool { return why(in) != "" })
	texts := lists.Map(view.Grouped(of, why), func(alike [][]compare.Machine) string {
		names := lists.Map(alike, func(in []compare.Machine) string { return hostName(in[0]) })
		return fmt.Sprintf("Not fit for use: %s (%s).", compare.Warning{Machines: names}.Who(), why(alike[0]))
	})
	return strings.Join(texts, " ")
}

// drawn is how many machines charts begin with, beside the median: outliers, if
// anything was compared.
const drawn = 3

// many is the answer of a fleet, and takes its curves in the state that it was compared in.
func (x *index) many() (*answer, error) {
	a := &answer{below: &document.Document{}, told: compare.Told(x.of)}
	o, err := compare.NewOverview(x.of, compare.Choice{})
	if err != nil {
		a.text = "Nothing is compared: " + err.Error() + "."
		for n := range drawn {
			x.outliers = append(x.outliers, n)
		}
		return a, nil
	}
	a.compared, a.told, a.kinds = true, o.Warnings, o.Surveys
	a.below.TablesAbove(report.FleetTables(o)...)
	a.text = strings.TrimSpace(o.Means + " " + o.Conclusion())
	x.begin(o)
	if o.State == nil {
		return a, nil
	}
	a.text = "In the state that most machines have been in" + o.State.Title() + ": " + a.text
	for i, m := range x.of {
		x.curves[i] = nil
		if of, met := o.State.Of(m.Name); met {
			if m, err = m.In(of); err != nil {
				return nil, err
			}
			x.curves[i], _ = compare.Curves(x.of[i].Name, m.File) // as in describe
		}
	}
	return a, nil
}

// begin chooses the machines that charts begin with: those that are farthest off, in transfers
// and where these show fewer in surveys.
func (x *index) begin(o *compare.Overview) {
	var off []string
	for _, out := range o.Outliers {
		off = append(off, out.Machine)
	}
	for _, k := range o.Surveys {
		for _, out := range k.Outliers {
			off = append(off, out.Machine)
		}
	}
	off = lists.Unique(off)
	for _, name := range off[:min(drawn, len(off))] {
		x.outliers = append(x.outliers, slices.IndexFunc(x.of, func(m compare.Machine) bool { return m.Name == name }))
	}
}

// verdict is what the page comes to; of machines without transfers it is of their surveys' charts.
func (x *index) verdict() string { return cmp.Or(x.answer.text, x.ofSurveys()) }

// main is the group that the verdict is about: most machines, then the ring, which is the best
// guide to collectives, with local memory and in cache.
func (x *index) main() int {
	best, most := -1, -1
	for i, g := range x.Groups {
		weight := 8 * g.machines
		for at, is := range []bool{!g.channel.OffCache, g.channel.Placement == numa.Local, g.channel.Setup == setups.Ring.Name} {
			if is {
				weight += 1 << at
			}
		}
		if weight > most {
			best, most = i, weight
		}
	}
	return best
}

// ofSurveys is of machines without transfers.
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

// surveyTables are what surveys found on a machine, as text has it, but for matrices, which are maps.
func surveyTables(f *params.File) (all []view.Table) {
	for _, s := range survey.All() {
		if s.Tables != nil {
			all = append(all, s.Tables(f)...)
		}
	}
	return all
}

// carried has a row for each curve of messages of m bytes, at its largest τ.
func carried(curves [][]compare.Curve, m int) view.Table {
	t := view.Table{Columns: append(view.Words("machine", "transfers"), view.Numbers(
		fmt.Sprintf("L(%s,1), ns", view.Bytes(m)), "τ", fmt.Sprintf("L(%s,τ), ns", view.Bytes(m)), "A(τ)", "GB/s")...), Keys: 2}
	for _, c := range slices.Concat(curves...) {
		if len(c.Points) == 0 || c.Bytes != m {
			continue
		}
		alone := ""
		if c.Points[0].Tau == 1 {
			alone = view.Within(c.Points[0].L)
		}
		last := c.Points[len(c.Points)-1]
		t.Add(c.Machine, groupLabel(grouped(c.Channel)), alone, last.Tau, view.Within(last.L), view.Within(last.A), view.Within(last.Bandwidth))
	}
	return t
}

// most is the curve of the group if there is one, of messages of m bytes if there are; nil without transfers.
func most(curves []compare.Curve, group compare.Channel, m int) (best *compare.Curve) {
	weight := func(c *compare.Curve) (n int) {
		if grouped(c.Channel) == group {
			n += 2
		}
		if c.Bytes == m {
			n++
		}
		return n
	}
	for i := range curves {
		if c := &curves[i]; len(c.Points) > 0 && (best == nil || weight(c) > weight(best)) {
			best = c
		}
	}
	return best
}

// carries is the sentence about what a machine carries at its largest τ.
func carries(of *compare.Curve) string {
	last := of.Points[len(of.Points)-1]
	where := groupLabel(of.Channel) + ", m = " + view.Bytes(of.Bytes)
	name, rate := of.Machine, view.Center(last.Bandwidth)
	switch A := view.Within(last.A); {
	case A == "" || last.Tau < 2:
		return fmt.Sprintf("%s moves %s GB/s with τ = %d (%s).", name, rate, last.Tau, where)
	case !told(of):
		return fmt.Sprintf("How many of %d transfers at once %s carries cannot be told, for its times differ too much or have too few samples; together they move about %s GB/s (%s).", last.Tau, name, rate, where)
	default:
		return fmt.Sprintf("Of %d transfers at once %s carries %s; together they move %s GB/s (%s).", last.Tau, name, A, rate, where)
	}
}

// told tells whether the last A(τ) of a curve can be told from its samples, or there are none to ask.
func told(c *compare.Curve) bool {
	last := c.Points[len(c.Points)-1]
	if !last.A.Known() {
		return c.Setup == params.Published || last.L.N == 0
	}
	return last.A.Width() <= 1
}
