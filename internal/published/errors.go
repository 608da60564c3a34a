package published

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// Errors are relative errors of predictions, predicted / measured − 1, over some cells.
type Errors struct {
	Of     string  `json:"of"`                   // description of the cells
	Cells  int     `json:"cells"`                // with predictions
	Mean   float64 `json:"mean_relative_error"`  // of absolute values
	Within float64 `json:"share_within_factor"`  // share of cells with predictions within Factor
	Signed float64 `json:"mean_signed_error"`    // above 0 if predictions are too high
	Ratio  float64 `json:"geometric_mean_ratio"` // predicted over measured
}

// Factor is the largest useful ratio of prediction and measurement, either way.
const Factor = 1.5

// errorsOf are the errors of the cells with predictions.
func errorsOf(of string, cells []Cell) Errors {
	e := Errors{Of: of}
	var logs float64
	for _, cell := range cells {
		if cell.Error == nil {
			continue
		}
		off := *cell.Error
		e.Cells++
		e.Mean += math.Abs(off)
		e.Signed += off
		logs += math.Log1p(off)
		if off <= Factor-1 && off >= 1/Factor-1 {
			e.Within++
		}
	}
	if n := float64(e.Cells); n > 0 {
		e.Mean, e.Within, e.Signed, e.Ratio = e.Mean/n, e.Within/n, e.Signed/n, math.Exp(logs/n)
	}
	return e
}

// A Group is cells with a common property.
type Group struct {
	Collective string `json:"collective"`
	Errors
	order int
}

// grouped groups cells with predictions by collective and by name, in the order of by.
func grouped(cells []Cell, by func(*Cell) (order int, name string)) (groups []Group) {
	predicted := lists.Filter(cells, func(c Cell) bool { return c.Error != nil })
	key := func(c Cell) [2]string {
		_, name := by(&c)
		return [2]string{c.Collective, name}
	}
	for _, cells := range lists.Groups(predicted, key) {
		order, name := by(&cells[0])
		groups = append(groups, Group{Collective: cells[0].Collective, order: order, Errors: errorsOf(name, cells)})
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(strings.Compare(a.Collective, b.Collective), a.order-b.order)
	})
	return groups
}

// ByAlgorithm are the errors by algorithm, the library's own choice last.
func (c *Comparison) ByAlgorithm() []Group {
	return grouped(c.Cells, func(cell *Cell) (int, string) {
		if cell.Setting.Own() {
			return math.MaxInt32, "library's own choice"
		}
		return cell.Setting.ID, cell.Setting.String()
	})
}

// ByMapping are the errors by mapping, without the library's own choices.
func (c *Comparison) ByMapping() []Group {
	return grouped(c.forced(), func(cell *Cell) (int, string) {
		return slices.Index([]string{"core", "socket", "node"}, cell.Mapping), cell.Mapping
	})
}

// ByP are the errors by ranges of P, which double.
func (c *Comparison) ByP() []Group {
	return grouped(c.forced(), func(cell *Cell) (int, string) {
		most := 2
		for most < cell.P {
			most *= 2
		}
		if most <= 2 {
			return most, "2"
		}
		return most, fmt.Sprintf("%d–%d", most/2+1, most)
	})
}

// ByM are the errors by m.
func (c *Comparison) ByM() []Group {
	return grouped(c.forced(), func(cell *Cell) (int, string) { return cell.Bytes, fmt.Sprint(cell.Bytes) })
}

// forced are the predicted cells of algorithms that the library was told to use; all cells if there are
// none.
func (c *Comparison) forced() (cells []Cell) {
	cells = lists.Filter(c.Cells, func(cell Cell) bool { return !cell.Setting.Own() && cell.Error != nil })
	if len(cells) == 0 {
		return c.Cells
	}
	return cells
}

// All are the errors of all forced algorithms, and of those from 1 KiB on.
func (c *Comparison) All() []Errors {
	cells := c.forced()
	long := lists.Filter(cells, func(cell Cell) bool { return cell.Bytes >= 1<<10 })
	return []Errors{errorsOf("all", cells), errorsOf("m from 1K", long)}
}

// An Omission is a reason for leaving cells out.
type Omission struct {
	Why   string `json:"why"`
	Cells int    `json:"cells"`
	Line  int    `json:"line"` // of the table, of the first cell
	Of    string `json:"of"`   // the first cell's algorithm and P
}

var numbers = regexp.MustCompile(`\d+`)

// LeftOut says which cells have no prediction, and why. Reasons that differ only in numbers count as one.
func (c *Comparison) LeftOut() (all []Omission) {
	why := func(cell Cell) string {
		_, after, found := strings.Cut(cell.LeftOut, cell.Collective+":")
		if _, rest, named := strings.Cut(after, ": "); found && named { // Of has the algorithm
			return rest
		}
		return cell.LeftOut
	}
	leftOut := lists.Filter(c.Cells, func(cell Cell) bool { return cell.LeftOut != "" })
	for _, cells := range lists.Groups(leftOut, func(cell Cell) string { return numbers.ReplaceAllString(why(cell), "n") }) {
		first := cells[0]
		all = append(all, Omission{Why: why(first), Cells: len(cells), Line: first.Line,
			Of: fmt.Sprintf("%s %s, mapping %s, P = %d", first.Collective, first.Setting.String(), first.Mapping, first.P)})
	}
	slices.SortStableFunc(all, func(a, b Omission) int { return b.Cells - a.Cells })
	return all
}
