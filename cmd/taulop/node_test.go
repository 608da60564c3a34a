package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/numa"
)

// A file that was begun on one node is gone on with there alone: -node is no part of its plan.
func TestNodeOfAFile(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil || len(m.Nodes) != 1 {
		t.Skip("it would begin the test anew on one node of several")
	}
	for _, flag := range []string{"-resume", "-add"} {
		if _, _, err := run(t, "sweep", "-node", strconv.Itoa(m.Nodes[0].ID), flag, filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "is not there") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// The virtual machines show that workers are on the node; here are nodes that are not there.
func TestNoSuchNode(t *testing.T) {
	for _, tt := range []struct{ node, want string }{
		{"999999", "-node: this machine has no such NUMA node; taulop topo lists them"},
		{"-1", "no such NUMA node"},
		{"one", "give the number of a NUMA node"},
	} {
		for _, args := range [][]string{{"-node", tt.node, "2", "8", "2"}, {"sweep", "-node", tt.node, "-o", "-"}, {"copy", "-node", tt.node}, {"verify", "-node", tt.node}} {
			if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), tt.want) || exitStatus(err) != 2 || strings.Contains(err.Error(), "invalid value") || strings.Contains(err.Error(), " -h ") {
				t.Errorf("%v: %v, want %q and status 2", args, err, tt.want)
			}
		}
	}
}
