package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/params"
)

func TestAccess(t *testing.T) {
	needLinux(t)
	file := filepath.Join(t.TempDir(), "access.json")
	few := []string{"access", "-quiet", "-launches", "6", "-n", "64,1K", "-stride", "1,16", "-time", "20s", "-ops", "divide,read", "-types", "float64", "-cache", "in"}
	out, errOut, err := run(t, append(few, "-o", file)...)
	if err != nil || errOut != "" {
		t.Fatal(err, errOut)
	}
	for _, want := range []string{"64 elements, in cache", "read       float64", "divide     float64", "T_n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	f, err := params.ReadFile(file)
	if err != nil || len(f.Cells) != 8 || !f.Complete {
		t.Fatalf("%v: %d cells; want 8, complete", err, len(f.Cells))
	}
	out, _, err = run(t, append(few, "-json")...)
	var doc access.Document
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil || len(doc.Rows) != 8 || len(doc.Fits) != 2 {
		t.Fatalf("%v, %d rows, %d fits in %s", err, len(doc.Rows), len(doc.Fits), out)
	}
	// Reading comes before dividing, few elements before many.
	if r := doc.Rows[0]; r.Operation != "read" || r.N != 64 || r.Stride != 1 || r.Lines != 8 || len(r.Samples) < 6 {
		t.Errorf("first row: %+v", r)
	}
}
