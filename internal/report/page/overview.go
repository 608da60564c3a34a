package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/view"
)

// An overview is what a few machines carry, side by side.
type overview struct {
	Conclusions []conclusion
	Why         string // nothing was compared
	Rows        []summary
	Compared    bool   // rows have what takes two machines
	First       string // machine that ratios are to; "": not all are to the same, and each says to which
	headline    string // the largest difference that is certain
	tests       string // what the conclusions rest on
	Notes       []string
	warnings    []compare.Warning // nil: likewise
}

type conclusion struct {
	Channel, Text string
	of            compare.Channel
}

// A summary is what a machine carries at its largest τ.
type summary struct {
	Machine, Channel string // m with the channel
	Tau              int
	Alone, Many      string // L(m,1), L(m,τ)
	Ratio            string // of L(m,τ) to that of the first machine
	to               string // that machine
	A, Bandwidth     string
	unsure           bool   // A is known to no better than its own size
	Full             string // the τ where the channel saturates
	Sigma, Kappa     string
	of               compare.Channel
}

// newOverview takes messages of m bytes where nothing could be compared, else
// those that were.
func newOverview(machines []compare.Machine, curves [][]compare.Curve, m int) *overview {
	v := &overview{}
	type which struct {
		machine string
		compare.Channel
	}
	compared := make(map[which]*compare.Row)
	tables := make(map[compare.Channel]*compare.Table)
	sizes := map[int]bool{m: true}
	var c *compare.Comparison
	var err error
	if !ofStates(machines) {
		c, err = compare.New(machines, compare.Choice{})
	}
	if c != nil && err == nil {
		v.warnings, v.headline = c.Warnings, c.Verdict.Headline
		v.tests = strings.TrimSpace(strings.Join(append([]string{c.Compared(), c.Verdict.Text}, c.Verdict.Notes...), " "))
		for i := range c.Tables {
			t := &c.Tables[i]
			name := groupLabel(t.Channel) + ", m = " + view.Bytes(t.Bytes) + t.State.Title()
			v.Conclusions = append(v.Conclusions, conclusion{name, t.Conclusion, t.Channel})
			sizes[t.Bytes], tables[t.Channel] = true, t
			for j, curve := range t.Curves() {
				compared[which{curve.Machine, t.Channel}] = &t.Rows[j]
				if t.State != nil {
					v.add(summarise(&curve), &t.Rows[j], t)
				}
			}
		}
	} else if len(machines) > 1 && err != nil {
		v.Why = err.Error()
	}
	for _, of := range curves {
		for i := range of {
			curve := &of[i]
			row := compared[which{curve.Machine, curve.Channel}]
			table := tables[curve.Channel]
			if len(curve.Points) == 0 || !sizes[curve.Bytes] || row == nil && curve.Bytes != m || row != nil && table.State != nil {
				continue // or it is there by state
			}
			v.add(summarise(curve), row, table)
		}
	}
	v.nameFirst()
	return v
}

// add adds a summary, with what follows from its row of a table, nil for none.
func (v *overview) add(s summary, row *compare.Row, of *compare.Table) {
	if row != nil {
		v.Compared = true
		v.Notes = append(v.Notes, s.compare(row)...)
		s.to, s.Channel = of.Rows[0].Machine, s.Channel+of.State.Title()
	}
	v.Rows = append(v.Rows, s)
}

// nameFirst says to which machines ratios are: in the column's head where that is the
// same of all, else in each row.
func (v *overview) nameFirst() {
	to := make(map[string]bool)
	for _, s := range v.Rows {
		if s.Ratio != "" {
			to[s.to], v.First = true, s.to
		}
	}
	if len(to) < 2 {
		return
	}
	v.First = ""
	for i := range v.Rows {
		if s := &v.Rows[i]; s.Ratio != "" {
			value, rest, _ := strings.Cut(s.Ratio, " ")
			s.Ratio = value + " × " + s.to + " " + rest
		}
	}
}

func summarise(c *compare.Curve) summary {
	last := c.Points[len(c.Points)-1]
	s := summary{
		Machine: c.Machine, Channel: groupLabel(c.Channel) + ", m = " + view.Bytes(c.Bytes), of: c.Channel, Tau: last.Tau,
		Many: value(last.L), Bandwidth: value(last.Bandwidth), A: value(last.A),
		unsure: last.A.Known() && !(last.A.Width() <= 1),
	}
	if first, ok := c.At(1); ok {
		s.Alone = value(first.L)
	}
	return s
}

// compare adds what follows from a comparison, and returns what must be said
// with it.
func (s *summary) compare(row *compare.Row) (notes []string) {
	last := row.Points[len(row.Points)-1]
	for _, b := range row.Points { // at the largest τ that both have
		switch r := b.Ratio; {
		case r == nil:
			continue
		case !r.Tested:
			s.Ratio = "not tested"
		case !r.Differs:
			s.Ratio = "within noise"
		default:
			s.Ratio = fmt.Sprintf("p = %.2g", r.Adjusted)
		}
		s.Ratio = fmt.Sprintf("%s at τ = %d, %s", view.Digits(b.Ratio.Value, 0), b.Tau, s.Ratio)
	}
	s.Full = fmt.Sprintf("> %d", last.Tau)
	if row.Saturation.Unknown {
		s.Full = "cannot tell"
	} else if row.Saturation.Reached {
		s.Full = fmt.Sprint(row.Saturation.Tau)
	}
	if law := row.Scalability; law != nil {
		s.Sigma, s.Kappa = coefficient(law.Sigma), coefficient(law.Kappa)
		if row.Poor {
			notes = append(notes, fmt.Sprintf("%s, %s: σ and κ are a poor fit, times are off by %.0f %%.", s.Machine, s.Channel, 100*law.Residual))
		}
	}
	return notes
}

func coefficient(c fit.Coefficient) string {
	if c.Held {
		return "0"
	}
	return view.Digits(c.Value, 0) + " ± " + view.Digits(c.Error, c.Error)
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
