package page

import (
	"slices"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
)

// A warning is a sentence, and of which machines it is.
type warning struct{ Text, Who string }

// warnings are the warnings of that many machines as the page shows them.
func warnings(told []compare.Warning, machines int) (all []warning) {
	for _, w := range told {
		who := w.Who()
		if n := len(w.Machines); n > 1 && n == machines {
			who = "all machines"
		}
		all = append(all, warning{w.What.Error(), who})
	}
	return all
}

// A breach is a machine that breaks eq. (8).
type breach struct {
	Machine string
	Places  int
	First   string
}

// breaches are the machines' own, whether they are compared there or not.
func breaches(machines []compare.Machine) (all []breach) {
	for _, m := range machines {
		if broken := doubt.Bounds(m.File.Transfers()); len(broken) > 0 {
			all = append(all, breach{m.Name, len(broken), broken[0].Error()})
		}
	}
	slices.SortStableFunc(all, func(a, b breach) int { return b.Places - a.Places })
	return all
}
