package transfers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func policiesOf(m *numa.Machine) string {
	return strings.Trim(fmt.Sprint(Policies(m)), "[]")
}

// One placement for each distinct level, for any number of equal nodes.
func TestPolicies(t *testing.T) {
	for _, tt := range []struct {
		shape [4]int // packages, nodes, complexes, cores
		want  string
	}{
		{[4]int{1, 1, 1, 2}, "local"},
		{[4]int{1, 1, 1, 1}, "local"},
		{[4]int{2, 1, 1, 4}, "local spread remote"},
		{[4]int{1, 4, 1, 4}, "local spread remote"},
		{[4]int{1, 1, 8, 8}, "local across-l3"},
		{[4]int{1, 1, 16, 4}, "local across-l3"},
		{[4]int{2, 1, 8, 8}, "local across-l3 spread"},
		{[4]int{2, 4, 2, 8}, "local across-l3 across-nodes across-packages"},
		{[4]int{2, 4, 1, 8}, "local across-nodes across-packages"},
	} {
		m := numatest.EPYC(tt.shape[0], tt.shape[1], tt.shape[2], tt.shape[3], 2)
		if got := policiesOf(m); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.shape, got, tt.want)
		}
	}
}

// Eight equal nodes have the cells of two, and launches begin at each in turn, except at nodes without
// room for the buffers. Chosen CPUs have one begin.
func TestFirstCPUs(t *testing.T) {
	m := numatest.EPYC(2, 4, 1, 2, 1)
	p := params.Plan{Setups: []string{"ring"}, Sizes: []int{64, 1 << 20}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192,
		Caches: []bool{false}, Policies: []numa.Policy{numa.Local, numa.AcrossNodes}, NoGamma: true}
	if got := FirstCPUs(p, m); !slices.Equal(got, []int{0, 2, 4, 6, 8, 10, 12, 14}) {
		t.Errorf("launches begin at %v", got)
	}
	m.Nodes[2].FreeBytes = 1 << 20 // node 1 has its neighbours' buffers there too
	if got := FirstCPUs(p, m); !slices.Equal(got, []int{0, 6, 8, 10, 12, 14}) {
		t.Errorf("with node 2 full launches begin at %v", got)
	}
	p.Policies, p.CPUs = []numa.Policy{numa.List}, []int{3, 5}
	if got := FirstCPUs(p, m); got != nil {
		t.Errorf("CPUs are chosen, and launches begin at %v", got)
	}
	one, eight := numatest.EPYC(1, 2, 1, 2, 1), numatest.EPYC(1, 8, 1, 2, 1)
	p.Policies = Policies(one)
	few := len(Keys(p, 4))
	if p.Policies = Policies(eight); len(Keys(p, 4)) != few {
		t.Errorf("8 nodes have %d cells, 2 nodes %d", len(Keys(p, 4)), few)
	}
}
