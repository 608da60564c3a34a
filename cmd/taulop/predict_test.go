package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/predict"
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

// Machines are compared by a library's own choice, even if another of its algorithms is cheaper.
func TestPredictMachinesAs(t *testing.T) {
	t.Parallel()
	const pages = "../../docs/tasks/data/"
	out, _, err := run(t, "predict", "-json", "-as", "openmpi4", "-P", "2", "-m", "4K", "-params", pages+"host.json,"+pages+"other.json", "bcast")
	var both predict.Machines
	if err == nil {
		err = json.Unmarshal([]byte(out), &both)
	}
	if err != nil || len(both.Rows) != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	out, _, err = run(t, "predict", "-json", "-as", "openmpi4", "-P", "2", "-m", "4K", "-params", pages+"host.json", "bcast")
	var one predict.Predictions
	if err == nil {
		err = json.Unmarshal([]byte(out), &one)
	}
	if err != nil {
		t.Fatal(err)
	}
	cheaper := false
	for _, r := range one.Rows {
		if r.Own && (r.Microseconds != both.Rows[0].Microseconds || r.Chosen != both.Rows[0].Chosen) {
			t.Errorf("%+v beside another machine, %+v alone", both.Rows[0], r)
		}
		cheaper = cheaper || r.Microseconds < both.Rows[0].Microseconds
	}
	if !cheaper || !both.Rows[0].Own || !both.Rows[1].Own {
		t.Errorf("own choices are not told from the cheapest: %+v", both.Rows)
	}
}
