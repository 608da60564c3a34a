package params

import (
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
)

// Unsteady sessions met a machine that took different times for the same work, from one
// launch to the next and back: whoever compares its medians with what another program took
// cannot know which of them that one met.
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

// Quartiles farther from each other, and so many looks of the probe, two at the least, are worth a word.
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

// Unsteady says which sessions met the machine in different states; nil: none.
func (f *File) Unsteady() error {
	var all Unsteady
	for session := range f.Sessions() {
		u := f.unsteady(session)
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

func (f *File) unsteady(session int) Unsteady {
	var u Unsteady
	var instructions, flags []float64
	for _, l := range f.Launches {
		if l.Session != session {
			continue
		}
		if l.Instruction > 0 && !f.tellsApart(session, 1) {
			instructions = append(instructions, l.Instruction)
		}
		for _, p := range l.Probe {
			if p.Kind == NullCell && p.NS > 0 && !f.tellsApart(session, p.workers()) {
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

// tellsApart tells whether a session's samples of so many workers are of states that are told
// apart.
func (f *File) tellsApart(session, workers int) bool {
	return slices.ContainsFunc(f.Watches, func(w Watch) bool {
		return w.Session == session && len(w.CPUs) == workers && len(w.States) > 1
	})
}

// workers is how many worked on a reading.
func (p *ProbeReading) workers() int {
	if p.Setup == Isolated {
		return 2
	}
	return p.Tau
}
