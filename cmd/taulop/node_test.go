package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/numa"
)

// A file begun with -node can only be resumed on that node: -node is no part of its plan.
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
