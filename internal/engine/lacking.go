package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// Lacking are the cells without an interval, and the number of visited ones among them.
func (x *Experiment) Lacking() (lacking []Cell, visited int) {
	known := make(map[params.Key]bool)
	for i := range x.File.Cells {
		known[x.File.Cells[i].Key] = x.known(&x.File.Cells[i])
	}
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
	states, index := x.File.Sort(), make(map[params.Key]int)
	for i := range x.File.Cells {
		c := &x.File.Cells[i]
		index[c.Key] = i
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

// Missing says how many cells lack samples; nil: none does.
func (x *Experiment) Missing() error {
	lacking, visited := x.Lacking()
	if len(lacking) == 0 {
		return nil
	}
	var parts []string
	switch unreached := len(lacking) - visited; unreached {
	case 0:
	case 1:
		parts = append(parts, "1 was not reached")
	default:
		parts = append(parts, fmt.Sprintf("%d were not reached", unreached))
	}
	switch visited {
	case 0:
	case 1:
		parts = append(parts, "1 has too few launches for an interval")
	default:
		parts = append(parts, fmt.Sprintf("%d have too few launches for an interval", visited))
	}
	why := ""
	if x.moves() {
		why = ", because each needs launches in every state of the machine"
	}
	return fmt.Errorf("of %s %s%s", printable.Count(len(x.Cells), "cell"), strings.Join(parts, ", and "), why)
}
