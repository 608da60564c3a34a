package page

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// rendered is a document as part of the page.
func rendered(d *document.Document) template.HTML {
	var text bytes.Buffer
	d.WriteHTML(&text) // a buffer takes all
	return template.HTML(text.String())
}

// surveysOf is what surveys found on a machine, as text has it, but for matrices, which are maps.
func surveysOf(f *params.File) template.HTML {
	var d document.Document
	for _, s := range survey.All() {
		if s.Tables != nil {
			d.TablesAbove(s.Tables(f)...)
		}
	}
	return rendered(&d)
}

// An overview is a few machines side by side, or what one machine carries.
type overview struct {
	Title       string
	headline    string // the largest difference that is certain
	tests       string // what the conclusions rest on
	conclusions []conclusion
	Why         string        // nothing was compared
	Tables      template.HTML // of those that were, or of machines that there is nothing to compare with
	warnings    []compare.Warning
}

type conclusion struct {
	channel, text string
	of            compare.Channel
}

func newOverview(machines []compare.Machine, x *index) *overview {
	v := &overview{Title: "Side by side"}
	if len(machines) < 2 || ofStates(machines) {
		var d document.Document
		d.TablesAbove(carried(x.curves, x.Bytes))
		v.Title, v.Tables = "What it carries", rendered(&d)
		return v
	}
	c, err := compare.New(machines, compare.Choice{})
	if err != nil {
		v.Why = err.Error()
		return v
	}
	v.warnings, v.headline = c.Warnings, c.Verdict.Headline
	v.tests = strings.TrimSpace(strings.Join(append([]string{c.Compared(), c.Verdict.Text}, c.Verdict.Notes...), " "))
	for _, t := range c.Tables {
		v.conclusions = append(v.conclusions, conclusion{groupLabel(t.Channel) + ", m = " + view.Bytes(t.Bytes) + t.State.Title(), t.Conclusion, t.Channel})
	}
	v.Tables = rendered(report.Below(c))
	return v
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
			alone = value(c.Points[0].L)
		}
		last := c.Points[len(c.Points)-1]
		t.Add(c.Machine, groupLabel(grouped(c.Channel)), alone, last.Tau, value(last.L), value(last.A), value(last.Bandwidth))
	}
	return t
}

// carries is the sentence about what a machine carries at its largest τ, from its curves: of
// the group if it has that, of messages of m bytes if it has those; none without transfers.
func carries(curves []compare.Curve, group compare.Channel, m int) []string {
	var best *compare.Curve
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
	if best == nil {
		return nil
	}
	last := best.Points[len(best.Points)-1]
	where, rate := groupLabel(best.Channel)+", m = "+view.Bytes(best.Bytes), view.Center(last.Bandwidth)
	switch A := value(last.A); {
	case A == "" || last.Tau < 2:
		return []string{fmt.Sprintf("%s moves %s GB/s with τ = %d (%s).", best.Machine, rate, last.Tau, where)}
	case last.A.Known() && !(last.A.Width() <= 1): // it is known to no better than its own size
		return []string{fmt.Sprintf("How many of %d transfers at once %s carries cannot be told, for its times differ too much or have too few samples; together they move about %s GB/s (%s).", last.Tau, best.Machine, rate, where)}
	default:
		return []string{fmt.Sprintf("Of %d transfers at once %s carries %s; together they move %s GB/s (%s).", last.Tau, best.Machine, A, rate, where)}
	}
}

// value is a centre and half its interval, in percent, where it is known.
func value(e fit.Estimate) string {
	switch {
	case math.IsNaN(e.Center):
		return ""
	case !e.Known() || e.Lo == e.Hi:
		return view.Digits(e.Center, 0)
	}
	return view.Center(e) + " " + view.HalfWidth(e.Width())
}
