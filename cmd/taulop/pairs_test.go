package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/numa"
)

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
