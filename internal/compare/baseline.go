package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A State is what a check comes to, as monitoring plugins exit.
type State int

// The states.
const (
	OK State = iota
	Warned
	Critical
	Unknown
)

func (s State) String() string { return [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}[s] }

// Levels are how much slower than it was a cell of a machine must be to matter, as shares:
// 0.1 is 10 %.
type Levels struct{ Warning, Critical float64 }

// A Baseline is a machine beside what it was.
type Baseline struct {
	Machine  string         `json:"machine"`
	Of       string         `json:"baseline"` // the machine that the baseline is of
	State    State          `json:"state"`    // 0 to 3
	Sessions int            `json:"sessions"` // of the baseline
	Drift    float64        `json:"drift"`    // what sessions are taken to differ by, one standard deviation
	Visible  float64        `json:"visible"`  // the change that would have been found, the median over cells
	Cells    []BaselineCell `json:"cells"`    // that were measured again, in the order in which they matter
	Text     string         `json:"text"`
}

// A BaselineCell is a cell now and then, times in ns.
type BaselineCell struct {
	params.Key
	Was   fit.Estimate `json:"was_ns"`
	Now   fit.Estimate `json:"now_ns"`
	Ratio *Ratio       `json:"to_baseline"` // above 1 it is slower
}

// OwnDrift is what sessions of a file differ by, and DefaultDrift where it has too few to
// tell: of two nothing can be said of a third.
func OwnDrift(f *params.File) float64 {
	const least = 3
	if f.Sessions() < least {
		return DefaultDrift
	}
	_, _, sessions := f.Components()
	if math.IsNaN(sessions) {
		return DefaultDrift
	}
	return sessions
}

// NewBaseline puts a machine's cells beside those of the same keys in its baseline. A cell
// counts as slower where the test says so, corrected for the number of cells, and its ratio
// is above a level. The state is Unknown where a critical change would not have been seen.
func NewBaseline(was, now *params.File, test fit.Test, levels Levels) *Baseline {
	b := &Baseline{Machine: now.Provenance.Machine(), Of: was.Provenance.Machine(),
		Sessions: was.Sessions(), Drift: test.Drift}
	before := make(map[params.Key]*params.Cell)
	for i := range was.Cells {
		before[was.Cells[i].Key] = &was.Cells[i]
	}
	var ps, visible []float64
	var tested []*Ratio
	for i := range now.Cells {
		c := &now.Cells[i]
		old := before[c.Key]
		if old == nil {
			continue
		}
		r := ratio(old.Time, old.Replicates(was), c.Time, c.Replicates(now), test)
		if r == nil {
			continue
		}
		b.Cells = append(b.Cells, BaselineCell{c.Key, old.Time, c.Time, r})
		if r.Tested {
			tested, ps, visible = append(tested, r), append(ps, r.P), append(visible, r.Visible)
		}
	}
	for i, p := range fit.Adjust(ps) {
		tested[i].Adjusted, tested[i].Differs = p, p < level
	}
	if len(tested) == 0 {
		b.State = Unknown
		b.Text = "nothing could be tested: a test takes six launches now, and the baseline has too few or this node is too slow for them"
		return b
	}
	slices.Sort(visible)
	b.Visible = visible[len(visible)/2]
	slower, faster := b.off(levels)
	switch {
	case len(slower) > 0:
		worst := slices.MaxFunc(slower, func(x, y *BaselineCell) int { return cmp.Compare(x.Ratio.Value, y.Ratio.Value) })
		if b.State = Warned; worst.Ratio.Value >= 1+levels.Critical {
			b.State = Critical
		}
		b.Text = fmt.Sprintf("%d of %s %s slower%s by %s or more, most of all the %v, × %.2f [%.2f, %.2f]", len(slower), printable.Count(len(tested), "cell"),
			are(len(slower)), b.than(), percent(levels.Warning), worst.Key, worst.Ratio.Value, worst.Ratio.Lo, worst.Ratio.Hi)
	case b.Visible > levels.Critical:
		b.State = Unknown
		b.Text = fmt.Sprintf("a change of less than %s cannot be told from the hour: the baseline has %s", percent(b.Visible), printable.Count(b.Sessions, "session"))
		return b
	default:
		b.Text = fmt.Sprintf("none of %s is slower%s by %s or more", printable.Count(len(tested), "cell"), b.than(), percent(levels.Warning))
		if faster > 0 {
			b.Text += fmt.Sprintf(", %d %s faster", faster, are(faster))
		}
	}
	b.Text += fmt.Sprintf("; a change of %s would have been seen in 9 of 10 cases", percent(b.Visible))
	return b
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// than names the machine that this one was put beside, where that is another.
func (b *Baseline) than() string {
	if b.Of == b.Machine {
		return ""
	}
	return " than on " + printable.Name(b.Of)
}

// off are the cells that are slower by the least level, and how many are faster by it.
func (b *Baseline) off(levels Levels) (slower []*BaselineCell, faster int) {
	for i := range b.Cells {
		switch r := b.Cells[i].Ratio; {
		case !r.Differs:
		case r.Value >= 1+levels.Warning:
			slower = append(slower, &b.Cells[i])
		case 1/r.Value >= 1+levels.Warning:
			faster++
		}
	}
	return slower, faster
}
