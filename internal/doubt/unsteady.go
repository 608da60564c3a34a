package doubt

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// Unsteady sessions met a machine that took different times for the same work, from one launch to
// the next and back, so a single run of another program cannot be compared with its medians.
type Unsteady struct {
	Sessions []int
	// Low and High are the quartiles over a session's launches of what an instruction took, ns, where they
	// are farthest from each other; 0: they are near each other everywhere.
	Low, High float64
	// Apart of Looks at y(τ) at the largest τ took twice as long as its session's median, or longer, or half of
	// it or less; Usual is the median of the last such session, ns.
	Apart, Looks int
	Usual        float64
}

// A session gets a warning when quartiles lie farther apart, with leastApart of the probe's looks,
// two at the least.
const (
	leastUnsteady = 1.3
	leastApart    = 0.05 // of all
	fewest        = 6    // launches, and looks, that say anything
)

func (u Unsteady) moved() bool {
	return u.Apart >= 2 && float64(u.Apart) >= leastApart*float64(u.Looks)
}

func (u Unsteady) Error() string {
	text := "the machine was not the same all the time"
	for i, session := range u.Sessions {
		text += fmt.Sprintf("%s %d", [...]string{" in session", ","}[min(i, 1)], session+1)
	}
	text += ", which medians do not tell apart: "
	if u.High > 0 {
		text += fmt.Sprintf("an instruction took %.2g ns in the quickest quarter of launches and %.2g in the slowest, as beside programs that share its cores", u.Low, u.High)
	}
	if u.moved() {
		if u.High > 0 {
			text += "; "
		}
		text += fmt.Sprintf("a flag from CPU to CPU took %.3g ns in most looks of the probe, and in %d of %d twice as long or half, as where a host moves the CPUs of a virtual machine", u.Usual, u.Apart, u.Looks)
	}
	return text + ": stop what else runs, or measure at another time"
}

// Steady says which sessions met the machine in different states; nil: none.
func Steady(f *params.File) error {
	var all Unsteady
	apart := toldApart(f)
	for session, launches := range bySession(f) {
		u := unsteady(session, launches, apart)
		if u.High > 0 || u.moved() {
			all.Sessions = append(all.Sessions, session)
		}
		if u.High > 0 && u.High*all.Low >= all.High*u.Low {
			all.Low, all.High = u.Low, u.High
		}
		if u.moved() {
			all.Apart, all.Looks, all.Usual = all.Apart+u.Apart, all.Looks+u.Looks, u.Usual
		}
	}
	if all.Sessions == nil {
		return nil
	}
	return all
}

func unsteady(session int, launches []*params.Launch, apart map[workersIn]bool) Unsteady {
	var u Unsteady
	var instructions, flags []float64
	for _, l := range launches {
		if l.Instruction > 0 && !apart[workersIn{session, 1}] {
			instructions = append(instructions, l.Instruction)
		}
		for _, p := range l.Probe {
			if p.Kind == params.NullCell && p.NS > 0 && !apart[workersIn{session, workers(&p)}] {
				flags = append(flags, p.NS)
			}
		}
	}
	slices.Sort(instructions)
	if len(instructions) >= fewest {
		if low, high := fit.Quantile(instructions, 0.25), fit.Quantile(instructions, 0.75); high > leastUnsteady*low {
			u.Low, u.High = low, high
		}
	}
	if u.Looks = len(flags); u.Looks >= fewest {
		u.Usual = fit.Median(flags).Center
		for _, ns := range flags {
			if math.Abs(math.Log2(ns/u.Usual)) >= 1 {
				u.Apart++
			}
		}
	}
	return u
}

// workersIn is as many workers in a session.
type workersIn struct{ session, workers int }

// toldApart has those whose samples are of states that are told apart.
func toldApart(f *params.File) map[workersIn]bool {
	apart := make(map[workersIn]bool)
	for _, w := range f.Watches {
		if len(w.States) > 1 {
			apart[workersIn{w.Session, len(w.CPUs)}] = true
		}
	}
	return apart
}

// bySession has the launches of each session in their order.
func bySession(f *params.File) [][]*params.Launch {
	all := make([][]*params.Launch, f.Sessions())
	for i := range f.Launches {
		l := &f.Launches[i]
		all[l.Session] = append(all[l.Session], l)
	}
	return all
}

// workers is how many worked on a reading.
func workers(p *params.ProbeReading) int {
	if p.Setup == params.Isolated {
		return 2
	}
	return p.Tau
}
