package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		console string
		done    bool
		want    string // in the error; "": none
	}{
		{"[ 0.1] boot\nvm: ok 1 s x\nvm: 1 passed, 0 failed\n", true, ""},
		{"vm: FAIL 1 s x\nvm: 3 passed, 2 failed\n[ 2.0] Power down", true, "2 of 5 checks failed"},
		{"vm: 0 passed, 0 failed", true, "no check ran"}, {"vm: ok 1 s x\nKernel panic", false, ""},
		{"1 passed, 0 failed", false, ""},
	} {
		var v verdict
		for line := range strings.Lines(tt.console) {
			v.read(strings.TrimSpace(line))
		}
		check.Equal(t, v.up, strings.Contains(tt.console, "vm: "), "%q: up", tt.console)
		check.Equal(t, v.done, tt.done, "%q: done", tt.console)
		if v.done {
			contains.Error(t, v.err(), tt.want)
		}
	}
}

func TestMachines(t *testing.T) {
	for _, m := range machine.All {
		check.Equal(t, len(m.Distances), len(m.Nodes), "%s: distances and nodes", m.Name)
		for from, row := range m.Distances {
			check.True(t, len(row) == len(m.Nodes) && row[from] == 10 && slices.Min(row) == 10, "%s: distances from node %d: %v", m.Name, from, row)
		}
		for _, id := range m.CPUNodes() {
			n := m.Nodes[id].CPUs
			check.True(t, n == m.CPUs()/len(m.CPUNodes()) && n%m.Threads == 0,
				"%s: node %d has %d CPUs, want the same number on all nodes, in whole cores", m.Name, id, n)
		}
	}
	contains.Error(t, must.Err(machine.Lookup("5nodes")), "4nodes")
}
