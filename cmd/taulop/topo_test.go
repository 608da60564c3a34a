package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

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
			text, _ := ran(t, "topo", "-json", "-tau", "5", "-root", root)
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
			text, _ = ran(t, "topo", "-root", root)
			lines := strings.Split(text, "\n")
			longest := slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) })
			if len(lines) > 60 || len(longest) > 260 {
				t.Errorf("%d lines, the longest of %d bytes:\n%s", len(lines), len(longest), text)
			}
		})
	}
}

func TestTopoHere(t *testing.T) {
	if _, err := numa.Discover("/"); err != nil {
		t.Skip(err)
	}
	text, _ := ran(t, "topo", "-json")
	var got report.Topology
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.PUs < 1 || got.Cores < 1 || got.PUs < got.Cores || got.Packages < 1 || got.Nodes < 1 || got.Provenance.Go == "" {
		t.Errorf("got %s", text)
	}
}
