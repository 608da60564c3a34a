package report

import (
	"testing"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/numatest"
)

// A node without memory offers none.
func TestMemoryOfNodes(t *testing.T) {
	m := numatest.EPYC(1, 2, 1, 2, 1)
	m.Nodes[0].MemoryBytes = 0
	contains.All(t, textOf(NewTopology(m, provenance.Provenance{}, 1<<30, nil).Document()), "and the memory of NUMA node 1, 1 GiB of it")
}
