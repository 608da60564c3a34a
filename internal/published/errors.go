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

// Errors are those of some cells, as shares of what was measured.
type Errors struct {
	Of     string  `json:"of"`                   // which cells
	Cells  int     `json:"cells"`                // that are predicted
	Mean   float64 `json:"mean_relative_error"`  // of errors without their signs
	Within float64 `json:"share_within_factor"`  // of cells whose prediction is Factor times off at most, either way
	Signed float64 `json:"mean_signed_error"`    // above 0 where predictions are too high
	Ratio  float64 `json:"geometric_mean_ratio"` // predicted over measured
}

// Factor is by how much a prediction may be off and still serve.
const Factor = 1.5

// errorsOf are those of the cells that are predicted.
func errorsOf(of string, cells []Cell) Errors {
	e := Errors{Of: of}
	var logs float64
	for i := range cells {
		if cells[i].Error == nil {
			continue
		}
		off := *cells[i].Error
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

// A Group is cells that have something in common.
type Group struct {
	Collective string `json:"collective"`
	Errors
	Cells []Cell `json:"-"`
	order int
}

// grouped are the groups of cells with predictions, by collective and in the order of by;
// name says what a group's cells have in common.
func grouped(cells []Cell, by func(*Cell) (order int, name string)) (groups []Group) {
	at := make(map[string]int)
	for i := range cells {
		c := &cells[i]
		if c.Error == nil {
			continue
		}
		order, name := by(c)
		key := c.Collective + "\n" + name
		n, there := at[key]
		if !there {
			n = len(groups)
			at[key] = n
			groups = append(groups, Group{Collective: c.Collective, order: order, Errors: Errors{Of: name}})
		}
		groups[n].Cells = append(groups[n].Cells, *c)
	}
	for i := range groups {
		groups[i].Errors = errorsOf(groups[i].Of, groups[i].Cells)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(strings.Compare(a.Collective, b.Collective), a.order-b.order)
	})
	return groups
}

// ByAlgorithm are the errors of each collective's algorithms, the library's own choice last.
func (c *Comparison) ByAlgorithm() []Group {
	return grouped(c.Cells, func(cell *Cell) (int, string) {
		if cell.Setting.Own() {
			return math.MaxInt32, "library's own choice"
		}
		return cell.Setting.ID, cell.Setting.String()
	})
}

// ByMapping are the errors of each collective's mappings, its own choices left out.
func (c *Comparison) ByMapping() []Group {
	return grouped(c.forced(), func(cell *Cell) (int, string) {
		return slices.Index([]string{"core", "socket", "node"}, cell.Mapping), cell.Mapping
	})
}

// ByP are the errors of doubling ranges of P.
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

// ByM are the errors of each m.
func (c *Comparison) ByM() []Group {
	return grouped(c.forced(), func(cell *Cell) (int, string) { return cell.Bytes, fmt.Sprint(cell.Bytes) })
}

// forced are the predicted cells of algorithms that the library was told to take; where there
// are none, all cells.
func (c *Comparison) forced() (cells []Cell) {
	cells = lists.Filter(c.Cells, func(cell Cell) bool { return !cell.Setting.Own() && cell.Error != nil })
	if len(cells) == 0 {
		return c.Cells
	}
	return cells
}

// All are the errors of all algorithms that the library was told to take, and of those from
// 1 KiB on.
func (c *Comparison) All() []Errors {
	cells := c.forced()
	long := lists.Filter(cells, func(cell Cell) bool { return cell.Bytes >= 1<<10 })
	return []Errors{errorsOf("all", cells), errorsOf("m from 1K", long)}
}

// An Omission is cells that are left out for one reason.
type Omission struct {
	Why   string `json:"why"`
	Cells int    `json:"cells"`
	Line  int    `json:"line"` // of the table, the first
	Of    string `json:"of"`   // the first: its algorithm and P
}

var numbers = regexp.MustCompile(`\d+`)

// LeftOut says which cells have no prediction, and why; reasons that differ in numbers alone
// are one.
func (c *Comparison) LeftOut() (all []Omission) {
	at := make(map[string]int)
	for _, cell := range c.Cells {
		if cell.LeftOut == "" {
			continue
		}
		_, why, found := strings.Cut(cell.LeftOut, cell.Collective+":")
		if _, rest, named := strings.Cut(why, ": "); found && named { // whose algorithm is said beside it
			why = rest
		} else {
			why = cell.LeftOut
		}
		key := numbers.ReplaceAllString(why, "n")
		i, there := at[key]
		if !there {
			i = len(all)
			at[key] = i
			all = append(all, Omission{Why: why, Line: cell.Line, Of: fmt.Sprintf("%s %s, mapping %s, P = %d", cell.Collective, cell.Setting.String(), cell.Mapping, cell.P)})
		}
		all[i].Cells++
	}
	slices.SortStableFunc(all, func(a, b Omission) int { return b.Cells - a.Cells })
	return all
}
