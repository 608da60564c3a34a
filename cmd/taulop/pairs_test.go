package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// What pairs writes is a parameter file that plot and predict take, and the JSON is
// the same.
func TestPairsAreUsed(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil || m.CoreCPUs().Len() < 2 {
		t.Skipf("needs two cores: %v", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "pairs.json")
	measures(t)
	ran(t, "pairs", "-launches", "6", "-quiet", "-m", "1K,8K", "-o", file)
	t.Setenv(simulated, "1")
	out, _ := ran(t, "pairs", "-launches", "6", "-json", "-quiet", "-m", "1K,8K")
	var doc pairs.Document
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Sizes) != 3 || len(doc.Levels) == 0 {
		t.Fatalf("%v: %.300s", err, out)
	}
	f, err := params.ReadFile(file)
	if err != nil || !strings.Contains(strings.Join(f.Plan.With, ","), "pairs") || f.Cells[0].Kind != params.PairCell {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, _, err := run(t, "plot", "pairs", "-o", filepath.Join(dir, "pairs.svg"), file); err != nil {
		t.Error(err)
	}
	out, _, err = run(t, "predict", "-model", "mlognp", "-params", file, "-P", "2", "-m", "8K", "bcast:linear", "bcast:binomial")
	if err != nil || !strings.Contains(out, "mlog_nP") {
		t.Errorf("%s, %v", out, err)
	}
}

// What the time did not suffice for is warned of in the document too, which is all that a
// program reads.
func TestPairsInShortTime(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil || m.CoreCPUs().Len() < 2 {
		t.Skipf("needs two cores: %v", err)
	}
	out, _, err := run(t, "pairs", "-launches", "6", "-json", "-quiet", "-cpus", "0,1", "-m", "64:64M", "-time", "1s")
	var doc pairs.Document
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil {
		t.Skipf("nothing was measured in the time: %v", err)
	}
	lacking := 0
	for _, time := range doc.Pairs.Pairs[0].Times {
		if !time.Known() || time.N < 6 {
			lacking++
		}
	}
	warned := strings.Contains(strings.Join(doc.Warnings, "\n"), "of 22 cells")
	if t.Logf("%d of %d sizes lack launches, %q", lacking, len(doc.Sizes), doc.Warnings); warned != (lacking > 0) {
		t.Error("they should be warned of, and nothing else")
	}
}
