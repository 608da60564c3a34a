package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// tooNoisy is the median half-width from which on a file is too noisy to compare with.
const tooNoisy = 0.5

// noise is the median fit.Estimate.Noise of cells with samples: +Inf if most are unknown, 0 without samples.
func noise(m Machine) float64 { return median(m, fit.Estimate.Noise) }

func median(m Machine, of func(fit.Estimate) float64) float64 {
	return middle(lists.Map(lists.Filter(m.File.Cells, sampled), func(c params.Cell) float64 { return of(c.Time) }))
}

func halfWidth(m Machine) string { return view.HalfWidth(median(m, fit.Estimate.Width)) }

// middle is the median, of an even number of values the larger one in the middle; 0 without values.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// referred puts the reference machine in front: the first, unless its file is too noisy and another's is
// not.
func referred(machines []Machine) (ordered []Machine, warning *Warning) {
	if noise(machines[0]) < tooNoisy {
		return machines, nil
	}
	for i, m := range machines {
		if n := noise(m); n > 0 && n < tooNoisy {
			ordered = append([]Machine{m}, slices.Delete(slices.Clone(machines), i, i+1)...)
			why := printable.Either(math.IsInf(noise(machines[0]), 1), "most of its cells have too few samples for an interval",
				"too noisy to compare with, its intervals are "+halfWidth(machines[0])+" in the median")
			return ordered, &Warning{[]string{machines[0].Name}, fmt.Errorf("%s: ratios are to %s", why, m.Name)}
		}
	}
	return machines, nil
}

// headline is the largest significant difference, or says that the files are too noisy; else "". Of files
// with too few samples the verdict's text says so.
func (c *Comparison) headline(machines []Machine) string {
	text, most := "", 0.
	take := func(r *Ratio, say func() string) {
		if r == nil || !r.Differs {
			return
		}
		if size := math.Log(max(r.Lo, 1/r.Hi, 1)); text == "" || size > most {
			text, most = say(), size
		}
	}
	for _, t := range c.Tables {
		for _, row := range t.Rows[1:] {
			for _, b := range row.Points {
				take(b.Ratio, func() string {
					one, _ := t.Rows[0].At(b.Tau)
					return more(t.Rows[0].Machine, row.Machine, one.Bandwidth, b.Bandwidth, moreBytes) +
						fmt.Sprintf(" (%s, m = %s, τ = %d%s).", t.Channel, view.Bytes(t.Bytes), b.Tau, t.State.Title())
				})
			}
		}
	}
	if text != "" { // transfers come before surveys
		return text
	}
	for _, k := range c.Surveys {
		for _, row := range k.Rows {
			for _, cell := range row.Compared {
				take(cell.Ratio, func() string {
					first := lists.Find(k.First, func(o SurveyCell) bool { return o.Key == cell.Key })
					return more(k.Machine, row.Machine, first.Time, cell.Time, longer) +
						fmt.Sprintf(" (%s%s).", cell.Key, k.State.Title())
				})
			}
		}
	}
	if text != "" {
		return text
	}
	noisy := lists.Filter(machines, func(m Machine) bool { return noise(m) >= tooNoisy && !math.IsInf(noise(m), 1) })
	if len(noisy) < len(machines) {
		return ""
	}
	return fmt.Sprintf("The files are too noisy to compare: their intervals are %s in the median. Measure again where nothing else runs.",
		printable.List(lists.Map(noisy, func(m Machine) string { return halfWidth(m) + " (" + m.Name + ")" })))
}

// A wording says that a machine's value is larger than another's, 3.6 times or by 10 %.
type wording struct{ sentence, times, percent string }

var (
	moreBytes = wording{"%s moves %s: %s against %s GB/s", "the bytes of", "more bytes than"}
	longer    = wording{"%s takes %s: %s against %s ns", "as long as", "longer than"}
)

// more says of which of two machines a value is larger.
func more(first, second string, one, other fit.Estimate, in wording) string {
	if one.Center < other.Center {
		first, second, one, other = second, first, other, one
	}
	ratio := one.Center / other.Center
	factor := printable.Either(ratio < 1.2,
		fmt.Sprintf("%.0f %% %s", 100*(ratio-1), in.percent), view.Digits(ratio, ratio/20)+" times "+in.times)
	return fmt.Sprintf(in.sentence, first, factor+" "+second, view.Rough(one), view.Rough(other))
}
