package compare

import (
	"slices"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

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
