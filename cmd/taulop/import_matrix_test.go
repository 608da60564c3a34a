package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A matrix of core-to-core-latency becomes pairs, which are drawn, and compared with those measured
// here.
func TestImportMatrix(t *testing.T) {
	dir := t.TempDir()
	matrix, one, other := filepath.Join(dir, "m.csv"), filepath.Join(dir, "one.json"), filepath.Join(dir, "other.json")
	save(t, "", matrix, ",,,\n10.5,,,\n40,41.25,,\n43,42,10,\n")
	if _, errOut, err := run(t, "import", "-name", "one", "-o", one, matrix); err != nil || !strings.Contains(errOut, "6 cells") {
		t.Fatalf("%v: %s", err, errOut)
	}
	if _, errOut, err := run(t, "import", "-cpus", "0,2,1,3", "-name", "other", "-o", other, matrix); err != nil {
		t.Fatalf("%v: %s", err, errOut)
	}
	out, _, err := run(t, "compare", "-csv", one, other)
	if err != nil || !strings.Contains(out, "0-2") {
		t.Errorf("%v: %s", err, out)
	}
	if _, errOut, err := run(t, "plot", "pairs", "-o", filepath.Join(dir, "pairs.svg"), other); err != nil {
		t.Errorf("%v: %s", err, errOut)
	}
	for _, args := range []string{"-cpus 0,1 " + matrix, "-cores l=2 " + matrix, "-format text " + matrix, matrix + " " + matrix} {
		if _, _, err := run(t, append([]string{"import"}, strings.Fields(args)...)...); exitStatus(err) != 2 {
			t.Errorf("import %s: %v", args, err)
		}
	}
}
