package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// Lacking are the cells without an interval, and the number of visited ones among them.
func (x *Experiment) Lacking() (lacking []Cell, visited int) {
	known := lists.ToMap(x.File.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, x.known(&c) })
	for _, c := range x.Cells {
		if interval, there := known[c.Key]; !interval {
			lacking = append(lacking, c)
			if there {
				visited++
			}
		}
	}
	return lacking, visited
}

// Left estimates the time of the missing visits by the session's mean visit. On a machine with several
// states it is the time of the missing cells, by the mean time of a cell with an interval. 0: the session
// has no visits, or no such cells.
func (x *Experiment) Left() time.Duration {
	var seconds, visits, left float64
	for _, l := range x.File.Launches {
		if l.Session == x.Session {
			seconds += l.Seconds
			visits += float64(len(l.Probe))
		}
	}
	states, index := x.File.Sort(), lists.Index(x.File.Cells, keyOf)
	for _, c := range x.File.Cells {
		for _, s := range c.Samples {
			if x.File.Launches[s.Launch].Session == x.Session {
				visits++
			}
		}
	}
	if lacking, _ := x.Lacking(); x.moves() && len(lacking) < len(x.Cells) {
		visits, left = float64(len(x.Cells)-len(lacking)), float64(len(lacking))
	} else {
		for _, c := range x.Cells {
			i, known := index[c.Key]
			if !known {
				i = -1
			}
			left += float64(max(0, x.need(c)-x.sampled(states, i)))
		}
	}
	if visits == 0 {
		return 0
	}
	return time.Duration(left * seconds / visits * float64(time.Second))
}

func keyOf(c params.Cell) params.Key { return c.Key }

// Missing says how many cells lack samples; nil: none does.
func (x *Experiment) Missing() error {
	lacking, visited := x.Lacking()
	if len(lacking) == 0 {
		return nil
	}
	why := printable.If(x.moves(), ", because each needs launches in every state of the machine")
	lacks := []string{Unreached(len(lacking) - visited), TooFew(visited)}
	lacks = slices.DeleteFunc(lacks, func(part string) bool { return part == "" })
	return fmt.Errorf("of %s %s%s", printable.Count(len(x.Cells), "cell"), strings.Join(lacks, ", and "), why)
}

// Unreached says that a number of cells was not reached; "" of none.
func Unreached(n int) string { return some(n, "was not reached", "were not reached") }

// TooFew says that a number of cells has too few launches; "" of none.
func TooFew(n int) string {
	return some(n, "has too few launches for an interval", "have too few launches for an interval")
}

func some(n int, one, several string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
