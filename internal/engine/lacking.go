package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// Lacking are the cells of an experiment that have no interval, and how many of them
// were visited.
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

// Left is how long the missing visits take, each as long as the session's mean visit, and in
// each state that needs samples; 0 if the session has none.
func (x *Experiment) Left() time.Duration {
	var seconds, visits, left float64
	for _, l := range x.File.Launches {
		if l.Session == x.Session {
			seconds += l.Seconds
			visits += float64(len(l.Probe))
		}
	}
	states, at := x.File.Sort(), make(map[params.Key]int)
	for i := range x.File.Cells {
		c := &x.File.Cells[i]
		at[c.Key] = i
		for _, s := range c.Samples {
			if x.File.Launches[s.Launch].Session == x.Session {
				visits++
			}
		}
	}
	settled := max(1, len(lists.Filter(states.States(2), func(s params.State) bool { return s.Share >= params.Settled })))
	for _, c := range x.Cells {
		if i, known := at[c.Key]; known {
			left += float64(max(0, x.need(c)-x.sampled(states, i)))
		} else {
			left += float64(settled * x.need(c))
		}
	}
	if visits == 0 {
		return 0
	}
	return time.Duration(left * seconds / visits * float64(time.Second))
}

// Missing says how many cells lack samples, nil where none does.
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
	return fmt.Errorf("of %s %s", printable.Count(len(x.Cells), "cell"), strings.Join(parts, ", and "))
}
