package doubt

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// An Unsteady is sessions in which the same work took different times from launch to launch, so that a
// single run of another program cannot be compared with medians.
type Unsteady struct {
	Sessions []int
	// Low and High are the quartiles of an instruction's time over launches in ns, of the session with
	// the largest ratio; 0 without such a session.
	Low, High float64
	// Apart of Looks readings of y(τ) took twice their session's median or more, or half of it or less.
	// Usual is the median of the last such session, ns.
	Apart, Looks int
	Usual        float64
}

// Limits of a warning.
const (
	leastUnsteady = 1.3  // ratio of the quartiles
	leastApart    = 0.05 // share of readings; two at least
	fewest        = 6    // launches or readings
)

func (u Unsteady) moved() bool {
	return u.Apart >= 2 && float64(u.Apart) >= leastApart*float64(u.Looks)
}

func (u Unsteady) Error() string {
	sessions := lists.Map(u.Sessions, func(session int) string { return strconv.Itoa(session + 1) })
	text := "the speed of the machine changed in session " + strings.Join(sessions, ", ") + ", which medians hide: "
	if u.High > 0 {
		text += fmt.Sprintf("an instruction took %.2g ns in the quickest quarter of launches and %.2g in the slowest, as beside programs that share its cores", u.Low, u.High)
	}
	if u.moved() {
		if u.High > 0 {
			text += "; "
		}
		text += fmt.Sprintf("a flag between two CPUs took %.3g ns in most readings of the probe, and twice as long or half in %d of %d, as when a host moves the CPUs of a virtual machine", u.Usual, u.Apart, u.Looks)
	}
	return text + ": stop what else runs, or measure at another time"
}

// Steady is an Unsteady with all unsteady sessions; nil if there are none.
func Steady(f *params.File) error {
	var all Unsteady
	sorted := sortedByState(f)
	for session, launches := range bySession(f) {
		u := unsteady(session, launches, sorted)
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

func unsteady(session int, launches []*params.Launch, sorted map[workersIn]bool) Unsteady {
	var u Unsteady
	var instructions, flags []float64
	for _, l := range launches {
		if l.Instruction > 0 && !sorted[workersIn{session, 1}] {
			instructions = append(instructions, l.Instruction)
		}
		for _, p := range l.Probe {
			if p.Kind == params.NullCell && p.NS > 0 && !sorted[workersIn{session, workers(&p)}] {
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
		u.Apart = len(lists.Filter(flags, func(ns float64) bool { return math.Abs(math.Log2(ns/u.Usual)) >= 1 }))
	}
	return u
}

// workersIn is a session and a number of workers.
type workersIn struct{ session, workers int }

// sortedByState are the numbers of workers whose samples were sorted by state, since there were several.
func sortedByState(f *params.File) map[workersIn]bool {
	sorted := make(map[workersIn]bool)
	for _, w := range f.Watches {
		if len(w.States) > 1 {
			sorted[workersIn{w.Session, len(w.CPUs)}] = true
		}
	}
	return sorted
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

// workers is the number of workers of a reading.
func workers(p *params.ProbeReading) int {
	if p.Setup == params.Isolated {
		return 2
	}
	return p.Tau
}
