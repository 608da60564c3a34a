package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// An InState is a state of several machines: their flags between two workers take the same time, within
// fit.LeastApart, and cores are slowed on all of them or on none.
type InState struct {
	NS       float64        `json:"flag_ns"`                 // of the first machine
	Slow     float64        `json:"slow_above_ns,omitempty"` // of the first machine, see params.State
	Machines []MachineState `json:"machines"`
	at       map[string]int // index in Machines by name
}

// A MachineState is one machine's numbers of a state.
type MachineState struct {
	Machine string `json:"machine"`
	params.State
}

// Of is one machine's numbers of the state; false: it was never in it.
func (s *InState) Of(machine string) (of params.State, met bool) {
	if i, met := s.at[machine]; met {
		return s.Machines[i].State, true
	}
	return of, false
}

// Name is the flag's time: 64 ns.
func (s *InState) Name() string { return s.state().Name() }

func (s *InState) state() params.State { return params.State{NS: s.NS, Slow: s.Slow} }

// Title ends the title of a table in the state; "" for nil.
func (s *InState) Title() string {
	if s == nil {
		return ""
	}
	return ", with a flag of " + s.Name()
}

// statesOf are the states of two workers in a file, or their only state; nil without readings, or if
// pairs of workers differ.
func statesOf(f *params.File) []params.State {
	if several := f.States(); len(several) > 0 {
		return several
	}
	pairs := lists.Filter(f.Watches, func(w params.Watch) bool { return len(w.CPUs) == 2 })
	states := lists.Concat(pairs, func(w params.Watch) []params.State { return w.States })
	flags := lists.Map(states, func(s params.State) float64 { return s.NS })
	if len(flags) == 0 || slices.Max(flags) >= fit.LeastApart*slices.Min(flags) {
		return nil
	}
	return []params.State{{NS: fit.Median(flags).Center, Share: 1}}
}

// match groups equal states of machines, nearest first, in rising order.
func match(machines []string, of [][]params.State) (all []InState) {
	type pair struct {
		state, in int
		apart     float64
	}
	for i, states := range of {
		var near []pair
		for s := range states {
			for in := range all {
				if states[s].Same(all[in].state()) {
					near = append(near, pair{s, in, states[s].Apart(all[in].state())})
				}
			}
		}
		slices.SortStableFunc(near, func(a, b pair) int { return cmp.Compare(a.apart, b.apart) })
		matched, taken := make(map[int]bool), make(map[int]bool)
		for _, p := range near {
			if !matched[p.state] && !taken[p.in] {
				matched[p.state], taken[p.in] = true, true
				all[p.in].Machines = append(all[p.in].Machines, MachineState{machines[i], states[p.state]})
			}
		}
		for s, state := range states {
			if !matched[s] {
				all = append(all, InState{NS: state.NS, Slow: state.Slow, Machines: []MachineState{{machines[i], state}}})
			}
		}
	}
	for i := range all {
		s := &all[i]
		s.at = lists.Index(s.Machines, func(m MachineState) string { return m.Machine })
	}
	slices.SortFunc(all, func(a, b InState) int { return cmp.Or(cmp.Compare(a.NS, b.NS), cmp.Compare(a.Slow, b.Slow)) })
	return all
}

// meet matches the states of machines; nil if each had one. means says why states cannot be compared, but
// only means over them. warning is about machines that each had another state, if some are virtual
// (guests) or slowed.
func meet(names []string, states [][]params.State, guests bool) (all []InState, means string, warning error) {
	var several, unknown []string
	for i, own := range states {
		if len(own) > 1 {
			several = append(several, names[i])
		} else if len(own) == 0 {
			unknown = append(unknown, names[i])
		}
	}
	all = match(names, states)
	flags := strings.Join(lists.Map(all, func(s InState) string { return s.Name() + " (" + s.Machines[0].Machine + ")" }), ", ")
	if len(several) == 0 {
		slowed := lists.Find(all, func(s InState) bool { return s.Slow > 0 })
		switch {
		case len(all) > 1 && slowed != nil:
			warning = fmt.Errorf("something slowed a core of %s all the time, and what differs may be that: measure it again at another time", printable.List(lists.Map(slowed.Machines, func(m MachineState) string { return m.Machine })))
		case len(all) > 1 && guests:
			warning = fmt.Errorf("a flag between two CPUs takes %s, and hosts move the CPUs of virtual machines: what differs may be where they were; sessions at other times tell", flags)
		}
		return nil, "", warning
	}
	means = fmt.Sprintf("Several states were met on %s; compared are means over states by their shares of the time", abridged(several))
	switch {
	case len(unknown) > 0:
		return nil, fmt.Sprintf("%s: the state of %s is not known. Measure it anew to compare like states, or leave it out.", means, abridged(unknown)), nil
	case !slices.ContainsFunc(all, common):
		return nil, fmt.Sprintf("%s: no two machines have a state in common, their flags take %s.", means, flags), nil
	}
	return all, "", nil
}

// guest tells a virtual machine, whose host may move its CPUs.
func guest(m Machine) bool { return m.File.Provenance.Hypervisor != "" }

// common tells whether several machines have a state.
func common(s InState) bool { return len(s.Machines) > 1 }

// in are the machines that have a state, restricted to it.
func in(state *InState, machines []Machine) (there []Machine) {
	for _, m := range machines {
		if of, met := state.Of(m.Name); met {
			m.File = FileIn(m.File, of)
			there = append(there, m)
		}
	}
	return there
}

// FileIn restricts a file to one of its states; a file of one state is unchanged.
func FileIn(f *params.File, state params.State) *params.File {
	if alone, err := f.InState(2, state); err == nil {
		return alone
	}
	return f // it has one state
}

// moving are the cells of two or more workers that had several states on some machine.
func moving(machines []Machine) map[params.Key]bool {
	keys := make(map[params.Key]bool)
	for _, m := range machines {
		sorting := m.File.Sort()
		for i := range m.File.Cells {
			c := &m.File.Cells[i]
			if workers := sorting.Workers(c); workers > 1 && len(sorting.States(workers)) > 0 {
				keys[c.Key] = true
			}
		}
	}
	return keys
}

// keep restricts machines to some of their cells.
func keep(machines []Machine, some func(params.Cell) bool) []Machine {
	return lists.Map(machines, func(m Machine) Machine {
		f := *m.File
		f.Cells = lists.Filter(f.Cells, some)
		m.File = &f
		return m
	})
}

// Compared lists the compared states, and the states of one machine alone; "" without states.
func (c *Comparison) Compared() string {
	if len(c.States) == 0 {
		return c.Means
	}
	compared := lists.Map(lists.Filter(c.States, common), func(s InState) string {
		shares := lists.Map(s.Machines, func(m MachineState) string { return fmt.Sprintf("%s %.0f %%", m.Machine, m.Percent()) })
		return fmt.Sprintf("%s (%s of the time)", s.Name(), strings.Join(shares, ", "))
	})
	text := "States are matched by what a flag between two CPUs takes: " + strings.Join(compared, ", ") + "."
	for _, s := range c.States {
		if only := s.Machines[0]; !common(s) {
			text += fmt.Sprintf(" Only %s has a state with a flag of %s, %.0f %% of its time.", only.Machine, s.Name(), only.Percent())
		}
	}
	return text
}
