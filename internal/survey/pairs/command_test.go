package pairs

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/numa"
)

// One allowed CPU, and two of one core, are told what to do.
func TestPairsOfOneCPU(t *testing.T) {
	one := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Core: 1}}, Allowed: numa.SetOf(1)}
	siblings := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Thread: 1}}, Allowed: numa.SetOf(0, 1)}
	for _, tt := range []struct {
		m    *numa.Machine
		smt  bool
		want string
	}{{one, false, "CPU 1 alone"}, {one, true, "CPU 1 alone"}, {siblings, false, "-smt"}} {
		_, err := chosen(tt.m, "", tt.smt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %q", err, tt.want)
		}
	}
	if cpus, err := chosen(siblings, "", true); err != nil || cpus.Len() != 2 {
		t.Errorf("%v, %v", cpus, err)
	}
}
