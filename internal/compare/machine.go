package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Machine is the parameters of a machine under a name.
type Machine struct {
	Name string // as shown, of one machine only
	Path string // of the file
	File *params.File
	Text bool // it is in the published format
}

// In restricts the machine to its state of two workers that is nearest to like, or to the most frequent
// one for the zero State. It fails if no state is near. A machine with one state is unchanged for the
// zero State.
func (m Machine) In(like params.State) (Machine, error) {
	states := m.File.States()
	switch {
	case len(states) == 0 && like.NS == 0:
		return m, nil
	case len(states) == 0 && len(m.File.Watches) == 0:
		return m, fmt.Errorf("%s says of no sample which state the machine was in: leave the state out", m.Path)
	case like.NS == 0:
		like = slices.MaxFunc(states, func(a, b params.State) int { return cmp.Compare(a.Share, b.Share) })
	}
	f, err := m.File.InState(2, like)
	if err != nil {
		return m, fmt.Errorf("%s: %w", m.Path, err)
	}
	m.File = f
	m.Name = m.Called(m.Name)
	return m, nil
}

// Each is the machine in each state with a share of Settled or more, the most frequent first; the machine
// itself without states.
func (m Machine) Each() (all []Machine) {
	falling := func(a, b params.State) int { return cmp.Compare(b.Share, a.Share) }
	for _, state := range slices.SortedStableFunc(slices.Values(m.File.States()), falling) {
		if state.Share < params.Settled {
			continue
		}
		if in, err := m.In(state); err == nil {
			all = append(all, in)
		}
	}
	if len(all) == 0 {
		return []Machine{m}
	}
	return all
}

// inState ends a name with the state that the machine is restricted to; "" for none.
func (m Machine) inState() string {
	if m.File.State() == nil {
		return ""
	}
	return " (" + InWords(*m.File.State()) + ")"
}

// Called is a name with the state that the machine is restricted to.
func (m Machine) Called(name string) string { return name + m.inState() }

// Host is the machine's name without the state that it is restricted to.
func (m Machine) Host() string { return strings.TrimSuffix(m.Name, m.inState()) }

// InWords names a state of two workers: flag 64 ns, 56 %.
func InWords(s params.State) string { return fmt.Sprintf("flag %s, %.0f %%", s.Name(), s.Percent()) }

// States says which states numbers are means over, or which state they are of; "" without states.
func (m Machine) States() string {
	states := m.File.States()
	switch {
	case m.File.State() != nil:
		return "in one state: " + InWords(*m.File.State())
	case len(states) == 0:
		return ""
	}
	return fmt.Sprintf("means over %d states by their shares: a flag takes %s", len(states), params.StateList(states))
}

// Published reports whether the machine's file is a published table, whose setup and placement are unknown.
func (m *Machine) Published() bool { return slices.Contains(m.File.Plan.Setups, params.Published) }

// Take assigns a setup and placement to a published file's transfers. The machine's File becomes a copy.
func (m *Machine) Take(setup string, placement numa.Policy) {
	f := *m.File
	f.Plan.Setups, f.Plan.Policies = []string{setup}, []numa.Policy{placement}
	f.Cells = slices.Clone(f.Cells)
	for i := range f.Cells {
		c := &f.Cells[i]
		switch {
		case c.Setup != params.Published:
		case c.Kind == params.TransferCell && c.Tau == 1:
			c.Setup = params.Isolated // what L(m,1) is, taulop-2015, section 3.1
		default:
			c.Setup = setup
		}
		if c.Placement == params.Published {
			c.Placement = placement
		}
	}
	m.File = &f
}
