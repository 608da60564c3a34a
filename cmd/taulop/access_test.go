package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/params"
)

func TestBadAccesses(t *testing.T) {
	dir := t.TempDir()
	there := save(t, dir, "there.json", "{}")
	refuses(t, nil, "", []mistake{
		{"access 4K", "no arguments"},
		{"access -size 3 -types int32", "smaller than one int32"},
		{"access -size 4 -types float64", "smaller than one float64"},
		{"access -size 64 -types int32 -stride 1,17", "stride 17 is beyond"},
		{"access -size 64 -n 64", "choose one"},
		{"access -n 0", "-n"},
		{"access -n -1", "-n"},
		{"access -stride 0", "-stride"},
		{"access -stride 1,x", "-stride"},
		{"access -n 4G -stride 4G", "at most"},
		{"access -n 99999999999999999999", "-n"},
		{"access -ops read,add", "add"},
		{"access -types int16", "int16"},
		{"access -cache both", "-cache"},
		{"access -time 0s", "-time"},
		{"access -launches 5 ", "-launches"},
		{"access -cpu 99999", "99999"},
		{"access -cpu -3", "-cpu"},
		{"access -o " + dir + "/no/x", "cannot be written: there is no directory " + dir + "/no"},
		{"access -o " + there, "there already"},
	})
	if text, _ := os.ReadFile(there); string(text) != "{}" {
		t.Error("a refused measurement touched the file that was there")
	}
}

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
