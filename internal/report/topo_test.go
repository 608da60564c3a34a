package report

import (
	"testing"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
)

// A node without memory offers none.
func TestMemoryOfNodes(t *testing.T) {
	m := numatest.EPYC(1, 2, 1, 2, 1)
	m.Nodes[0].MemoryBytes = 0
	contains.All(t, textOf(must.Get(Topology(m, provenance.Provenance{}, 1<<30, nil, 0))), "and the memory of NUMA node 1, 1 GiB of it")
}
