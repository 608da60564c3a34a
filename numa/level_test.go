package numa_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/numa"
)

// levelsOf counts the pairs of CPUs at each level.
func levelsOf(ls numa.Levels, cpus numa.CPUSet) string {
	counts := make(map[int]int) // by level; -1: pairs without one
	for i, a := range cpus {
		for _, b := range cpus[i+1:] {
			counts[ls.Of(a, b)]++
		}
	}
	var parts []string
	for i, l := range ls {
		parts = append(parts, fmt.Sprintf("%s %d", l.Name, counts[i]))
	}
	if lost := counts[-1]; lost > 0 {
		parts = append(parts, fmt.Sprintf("lost %d", lost))
	}
	return strings.Join(parts, ", ")
}

// The numbers follow from the snapshots' names and expected.tsv: 4 nodes of 32 CPUs with an L3 each
// have 4·(32·31/2) = 1984 pairs that share an L3, 64 cores of four threads 64·6 = 384 pairs of
// siblings. Distances are the snapshots'.
func TestLevelsOfSnapshots(t *testing.T) {
	for name, want := range map[string]string{
		"128arm-2pa2n8cluster4co":         "shared L3 1984, same package 2048, nodes 25 apart 1024, nodes 32 apart 2048, nodes 33 apart 1024",
		"16amd64-8n2c":                    "same package 8, nodes 20 apart 112",
		"16em64t-4s2c2t-offlines":         "SMT siblings 5, shared L3 9, same node 52",
		"20em64t-hybrid-1p6c2t+2ca4co1t":  "SMT siblings 6, shared L2 12, shared L3 172",
		"256ppc-8n8s4t":                   "SMT siblings 384, same node 3584, nodes 20 apart 4096, nodes 40 apart 24576",
		"32em64t-2n8c+dax+nvme+mic+dimms": "shared L3 56, nodes 21 apart 64",
		"48amd64-4pa2n6c-sparse":          "shared L3 120, same package 144, nodes 16 apart 504, nodes 22 apart 360",
		"64fake-4n2s2ca2c2t":              "SMT siblings 32, shared L2 64, shared L3 128, same node 256, other node 1536",
		"8em64t-2s2ca2c":                  "shared L2 4, same package 8, same node 16",
		"nvidia-dgx-gb10":                 "shared L3 90, same package 100",
	} {
		m := numa.Snapshot(t, name)
		check.Equal(t, levelsOf(m.Levels(m.Allowed), m.Allowed), want, "%s", name)
	}
}

// CPUs that share nothing known are on the same machine.
func TestLevelsOfNothing(t *testing.T) {
	m := &numa.Machine{CPUs: []numa.CPU{{ID: 3, Core: 0, Package: 0, Node: 0}, {ID: 5, Core: 1, Package: 1, Node: 1}}}
	check.Equal(t, levelsOf(m.Levels(numa.SetOf(3, 5)), numa.SetOf(3, 5)), "same machine 1", "levels")
	check.Equal(t, len(m.Levels(numa.SetOf(3))), 0, "one CPU has levels")
}
