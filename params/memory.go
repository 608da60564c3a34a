package params

import (
	"fmt"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Memory is what a machine's main memory should carry, and its modules as the firmware lists
// them. 0 is unknown.
type Memory struct {
	PeakGBs  float64 `json:"peak_gb_s,omitempty"` // 10⁹ bytes a second, of all channels that have a module
	Given    bool    `json:"given,omitempty"`     // by the user; else it follows from the modules
	Nodes    int     `json:"nodes,omitempty"`     // NUMA nodes that have CPUs and memory
	Modules  int     `json:"modules,omitempty"`
	Slots    int     `json:"slots,omitempty"`
	Filled   int     `json:"channels_filled,omitempty"` // channels that have a module
	Channels int     `json:"channels,omitempty"`        // that have a slot
	MTs      int     `json:"mt_s,omitempty"`            // transfers of the slowest module, as it is clocked, 10⁶ a second
	RatedMTs int     `json:"rated_mt_s,omitempty"`      // what that module can do
}

// MostPeakGBs is more than any machine's memory carries.
const MostPeakGBs = 1e6

func (m *Memory) check() error {
	if m == nil {
		return nil
	}
	if !(m.PeakGBs >= 0 && m.PeakGBs <= MostPeakGBs) {
		return fmt.Errorf("memory: %g GB/s is no bandwidth", m.PeakGBs)
	}
	if least := min(m.Nodes, m.Modules, m.Slots, m.Filled, m.Channels, m.MTs, m.RatedMTs); least < 0 {
		return fmt.Errorf("memory: %d is no number of nodes, modules, channels or transfers", least)
	}
	return nil
}

// String says what the firmware lists: 8 modules in 24 slots at 1333 of 1600 MT/s, on 8 of 8
// channels. It is empty where it lists nothing.
func (m *Memory) String() string {
	if m == nil || m.Modules == 0 {
		return ""
	}
	text := fmt.Sprintf("%s in %s", printable.Count(m.Modules, "module"), printable.Count(m.Slots, "slot"))
	switch {
	case m.MTs > 0 && m.RatedMTs > m.MTs:
		text += fmt.Sprintf(" at %d of %d MT/s", m.MTs, m.RatedMTs)
	case m.MTs > 0:
		text += fmt.Sprintf(" at %d MT/s", m.MTs)
	}
	if m.Channels > 0 {
		text += fmt.Sprintf(", on %d of %s", m.Filled, printable.Count(m.Channels, "channel"))
	}
	return text
}

// SetPeak takes over what a user says that the memory of a machine should carry, unless it is 0.
func (p *Provenance) SetPeak(GBs float64, of *numa.Machine) {
	if GBs == 0 {
		return
	}
	m := Memory{Nodes: MemoryNodes(of)}
	if p.Memory != nil {
		m = *p.Memory
	}
	m.PeakGBs, m.Given = GBs, true
	p.Memory = &m
}

// MemoryNodes counts the NUMA nodes of a machine that have CPUs and memory.
func MemoryNodes(of *numa.Machine) (n int) {
	for _, node := range of.Nodes {
		if node.MemoryBytes > 0 && len(node.CPUs) > 0 {
			n++
		}
	}
	return n
}
