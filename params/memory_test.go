package params

import (
	"testing"

	"github.com/taulop/taulop/numa"
)

// Nodes without memory or without CPUs do not count, and a peak of 0 is none.
func TestSetPeak(t *testing.T) {
	machine := &numa.Machine{Nodes: []numa.Node{{CPUs: numa.SetOf(0), MemoryBytes: 1 << 30}, {MemoryBytes: 1 << 30}, {CPUs: numa.SetOf(1)}}}
	var p Provenance
	if p.SetPeak(0, machine); p.Memory != nil {
		t.Errorf("%+v without a peak", p.Memory)
	}
	if p.SetPeak(204.8, machine); p.Memory == nil || *p.Memory != (Memory{PeakGBs: 204.8, Given: true, Nodes: 1}) {
		t.Errorf("%+v, want 204.8 GB/s on 1 node", p.Memory)
	}
}
