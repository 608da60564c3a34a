package numa_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// machines are read once: unpacking takes longer than all that is tested.
var machines = make(map[string]*numa.Machine)

func machine(t *testing.T, name string) *numa.Machine {
	t.Helper()
	if machines[name] == nil {
		m, err := numa.Discover(snapshot.Unpack(t, name))
		if err != nil {
			t.Fatal(err)
		}
		machines[name] = m
	}
	return machines[name]
}

// TestSnapshots counts what is online and allowed and compares with what an
// independent tool counted.
func TestSnapshots(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(snapshot.Dir(t), "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < len(snapshot.Names(t)) {
		t.Errorf("%d rows for %d snapshots", len(rows), len(snapshot.Names(t)))
	}
	for _, row := range rows {
		name, want, _ := strings.Cut(row, "\t")
		t.Run(name, func(t *testing.T) {
			c := machine(t, name).Count()
			got := fmt.Sprintf("%d\t%d\t%d\t%d\t%d", c.PUs, c.Cores, c.Packages, c.Nodes, c.L3Caches)
			if got != want {
				t.Errorf("PUs, cores, packages, nodes and L3 caches: got %q, want %q", got, want)
			}
		})
	}
}

// TestSnapshotsAgree checks what holds for every machine.
func TestSnapshotsAgree(t *testing.T) {
	for _, name := range snapshot.Names(t) {
		t.Run(name, func(t *testing.T) {
			m := machine(t, name)
			ofNodes := 0
			for _, node := range m.Nodes {
				ofNodes += node.CPUs.Len()
				for _, id := range node.CPUs {
					if cpu, found := m.CPU(id); !found || cpu.Node != node.ID {
						t.Errorf("node %d claims CPU %d, which is %+v", node.ID, id, cpu)
					}
				}
				for to, distance := range node.Distances {
					if back := m.Distance(to, node.ID); back != distance {
						t.Errorf("distance %d to %d is %d, back it is %d", node.ID, to, distance, back)
					}
				}
			}
			if ofNodes != len(m.CPUs) {
				t.Errorf("the nodes have %d CPUs, the machine %d", ofNodes, len(m.CPUs))
			}
			seen := make(map[[2]int]bool)
			for _, cpu := range m.CPUs {
				if key := [2]int{cpu.Core, cpu.Thread}; seen[key] {
					t.Errorf("two CPUs are thread %d of core %d", cpu.Thread, cpu.Core)
				} else {
					seen[key] = true
				}
			}
			if m.LastLevelCacheBytes() <= 0 && len(m.Caches) > 0 {
				t.Error("no size of the last-level cache")
			}
		})
	}
}
