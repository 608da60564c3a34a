package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// runTopo is the command with its output; it must be silent elsewhere.
func runTopo(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err := named("topo").run(t.Context(), &out, &errOut, args)
	if errOut.Len() > 0 {
		t.Errorf("topo %q wrote to stderr: %s", args, &errOut)
	}
	return out.String(), err
}

// TestTopoCounts compares the JSON with what an independent tool counted.
func TestTopoCounts(t *testing.T) {
	table := load(t, filepath.Join(snapshot.Dir(t), "expected.tsv"))
	rows, few := strings.Split(strings.TrimSpace(string(table)), "\n"), snapshot.Few(t)
	keys := strings.Split(rows[0], "\t")
	for _, row := range rows[1:] {
		want := strings.Split(row, "\t")
		if !long() && !slices.Contains(few, want[0]) { // numa counts all
			continue
		}
		t.Run(want[0], func(t *testing.T) {
			root := snapshot.Unpack(t, want[0])
			text, err := runTopo(t, "-json", "-tau", "5", "-root", root)
			if err != nil {
				t.Fatal(err)
			}
			var document map[string]any
			if err := json.Unmarshal([]byte(text), &document); err != nil {
				t.Fatal(err)
			}
			for i, key := range keys[1:] {
				if got := fmt.Sprint(document[key]); got != want[i+1] {
					t.Errorf("%s: got %s, want %s", key, got, want[i+1])
				}
			}
			if p, ok := document["placements"].([]any); !ok || len(p) < 3 {
				t.Errorf("placements: got %v", document["placements"])
			}
			text, err = runTopo(t, "-root", root)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(text, "\n")
			longest := slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) })
			if len(lines) > 60 || len(longest) > 260 {
				t.Errorf("%d lines, the longest of %d bytes:\n%s", len(lines), len(longest), text)
			}
		})
	}
}

// tinyMachine writes the files of two cores that share a node and a cache.
func tinyMachine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	cpu, node := "sys/devices/system/cpu/", "sys/devices/system/node/"
	for name, text := range map[string]string{
		cpu + "online":                            "0-1",
		cpu + "cpu0/topology/thread_siblings":     "1",
		cpu + "cpu1/topology/thread_siblings":     "2",
		cpu + "cpu0/topology/physical_package_id": "0",
		cpu + "cpu1/topology/physical_package_id": "0",
		cpu + "cpu0/cache/index2/level":           "3",
		cpu + "cpu0/cache/index2/type":            "Unified",
		cpu + "cpu0/cache/index2/size":            "4096K",
		cpu + "cpu0/cache/index2/shared_cpu_map":  "3",
		cpu + "cpu0/cpufreq/scaling_governor":     "powersave",
		node + "node0/cpulist":                    "0-1",
		node + "node0/distance":                   "10",
		node + "node0/meminfo":                    "Node 0 MemTotal: 2097152 kB\nNode 0 MemFree: 1048576 kB",
		"proc/meminfo":                            "MemTotal: 2097152 kB\nMemAvailable: 1572864 kB",
		"proc/cpuinfo":                            "model name : Tiny CPU",
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		save(t, "", name, text+"\n")
	}
	return root
}

func TestTopoText(t *testing.T) {
	root := tinyMachine(t)
	for _, test := range []struct {
		args []string
		want []string // lines, white space apart
	}{
		{nil, []string{
			"CPU Tiny CPU",
			"online 2 CPUs, 2 cores, 1 package, 1 NUMA node",
			"0 0 2 0-1 2 GiB 1 GiB",
			"2 cores without SMT siblings: CPUs 0-1",
			"L3 Unified 4 MiB - 1 CPUs {0-1}",
			"shared L3 1 2 local",
			"This process may use CPUs 0-1 (2 CPUs on 2 cores) and the memory of NUMA node 0, 1.5 GiB of it available.",
			"What would spoil a measurement here:",
			"- the frequency governor is powersave, so clocks change during a run: set performance (cpupower frequency-set -g performance)",
		}},
		{[]string{"-tau", "3"}, []string{
			"-local, 3 workers:", "-spread, 3 workers:", "-remote, 3 workers:",
			"worker CPU core package node user buffer intermediate distance", "on node on node",
			"1 1 1 0 0 0 0 10",
			"There are only 2 CPUs for 3 workers: they take turns, and what is measured is not concurrency.",
		}},
	} {
		text, err := runTopo(t, append([]string{"-root", root}, test.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		for _, want := range test.want {
			if !slices.Contains(lines, want) {
				t.Errorf("%q: no line %q in\n%s", test.args, want, text)
			}
		}
	}
}

func TestTopoHere(t *testing.T) {
	if _, err := numa.Discover("/"); err != nil {
		t.Skip(err)
	}
	text, err := runTopo(t, "-json")
	if err != nil {
		t.Fatal(err)
	}
	var got report.Topology
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.PUs < 1 || got.Cores < 1 || got.PUs < got.Cores || got.Packages < 1 || got.Nodes < 1 || got.Provenance.Go == "" {
		t.Errorf("got %s", text)
	}
}
