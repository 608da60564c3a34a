package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// smallMachine is a directory with tables of a machine that carries two concurrent transfers,
// L(m,τ) = m/1000 µs for τ ≤ 2 and o(m) = 0.5 µs, and the flags for them.
func smallMachine(t testing.TB) (flags []string, directory string) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "small")
	must.Do(os.CopyFS(directory, os.DirFS("testdata/files/small")))
	return []string{"-params", filepath.Join(directory, "SHM.txt"), "-gamma", filepath.Join(directory, "gamma.txt")}, directory
}

// on is a command line with a machine's flags.
func on(machine []string, command, line string) []string {
	return behind(machine, command, strings.Fields(line))
}
