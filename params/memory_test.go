package params

import (
	"testing"

	"github.com/taulop/taulop/numa"
)

// A node without memory or without CPUs carries nothing, and 0 is no peak.
func TestSetPeak(t *testing.T) {
	of := &numa.Machine{Nodes: []numa.Node{{CPUs: numa.SetOf(0), MemoryBytes: 1 << 30}, {MemoryBytes: 1 << 30}, {CPUs: numa.SetOf(1)}}}
	var p Provenance
	if p.SetPeak(0, of); p.Memory != nil {
		t.Errorf("%+v without a peak", p.Memory)
	}
	if p.SetPeak(204.8, of); p.Memory == nil || *p.Memory != (Memory{PeakGBs: 204.8, Given: true, Nodes: 1}) {
		t.Errorf("%+v, want 204.8 GB/s on 1 node", p.Memory)
	}
}
