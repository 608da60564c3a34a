package params

import (
	"fmt"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Memory is the peak bandwidth of a machine's main memory, and its modules as the firmware lists them.
// 0: unknown.
type Memory struct {
	PeakGBs  float64 `json:"peak_gb_s,omitempty"` // 10⁹ bytes per second, over all channels with a module
	Given    bool    `json:"given,omitempty"`     // PeakGBs is from the user, else it follows from the modules
	Nodes    int     `json:"nodes,omitempty"`     // NUMA nodes with CPUs and memory
	Modules  int     `json:"modules,omitempty"`
	Slots    int     `json:"slots,omitempty"`
	Filled   int     `json:"channels_filled,omitempty"` // channels with a module
	Channels int     `json:"channels,omitempty"`        // channels with a slot
	MTs      int     `json:"mt_s,omitempty"`            // configured speed of the slowest module, 10⁶ transfers per second
	RatedMTs int     `json:"rated_mt_s,omitempty"`      // rated speed of that module
}

// MostPeakGBs is the limit of PeakGBs.
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

// String describes the modules: 8 modules in 24 slots at 1333 of 1600 MT/s, on 8 of 8 channels. It is
// empty if the firmware lists none.
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
	return text + printable.If(m.Channels > 0, fmt.Sprintf(", on %d of %s", m.Filled, printable.Count(m.Channels, "channel")))
}

// SetPeak sets the peak bandwidth to a user's, unless that is 0.
func (p *Provenance) SetPeak(GBs float64, machine *numa.Machine) {
	if GBs == 0 {
		return
	}
	m := Memory{Nodes: MemoryNodes(machine)}
	if p.Memory != nil {
		m = *p.Memory
	}
	m.PeakGBs, m.Given = GBs, true
	p.Memory = &m
}

// MemoryNodes counts the NUMA nodes with CPUs and memory.
func MemoryNodes(m *numa.Machine) int {
	return len(lists.Filter(m.Nodes, func(n numa.Node) bool { return n.MemoryBytes > 0 && len(n.CPUs) > 0 }))
}
