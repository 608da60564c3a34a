package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
)

// States is L(m,τ) against m in each state that machines were in, a panel each with the same
// axes, and a line for each τ.
func States(machines []compare.Machine, ch Choice) (*Chart, error) {
	in := lists.Filter(machines, func(m compare.Machine) bool { return m.File.State() != nil })
	if len(in) < 2 {
		return nil, fmt.Errorf("no machine of these was in two states: take the chart l-m, or add sessions at other times")
	}
	f := overSize(in, ch)
	of, err := f.taken()
	if err != nil {
		return nil, err
	}
	if len(ch.Taus) == 0 {
		taus := lists.Spread(fewTaus(of, 1), len(dashes))
		of = lists.Filter(of, func(p profile) bool { return slices.Contains(taus, p.Tau) })
	}
	for i := range of {
		of[i].Panel, of[i].machine = strings.ReplaceAll(of[i].machine, ", ", " · "), "" // lines look alike in all panels
	}
	c, err := f.draw(of, ch.better())
	if err != nil {
		return nil, err
	}
	c.Title = "L(m,τ) in each state of the machine"
	return c, nil
}
