package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

var update = flag.Bool("update", false, "write what is there into testdata")

// fraction is a number whose last digits depend on whether a machine multiplies
// and adds in one step.
var fraction = regexp.MustCompile(`[0-9]+\.[0-9]+(e[-+][0-9]+)?`)

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		save(t, "", path, got)
	}
	if want := load(t, path); got != want {
		t.Errorf("%s: go test -update writes what is there\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// Two machines of known laws: the second is as fast alone and carries more.
func TestCompareGolden(t *testing.T) {
	dir := t.TempDir()
	old, modern := node(t, dir, "old", 1000, 0.3, 0.02, 1, 2, 3, 4, 6, 8), node(t, dir, "modern", 1001, 0.05, 0.001, 1, 2, 3, 4, 6, 8)
	bare := save(t, dir, "bare.txt", "#m\t2\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n"+
		"1\t0.000000500000\t0.000000100000\t0.000000110000\n8192\t0.000000500000\t0.000001000000\t0.000001250000\n")
	for _, tt := range []struct {
		name, flags string
		files       []string
		warnings    string
	}{
		{"compare.txt", "", []string{old, modern}, ""},
		{"compare.csv", "-csv", []string{old, modern}, ""},
		{"compare.json", "-json", []string{old, modern}, ""},
		{"compare-published.txt", "-as ring -m 8K", []string{old, bare}, "bare: no samples"},
	} {
		out, errOut, err := run(t, slices.Concat([]string{"compare"}, strings.Fields(tt.flags), tt.files)...)
		if err != nil || !strings.Contains(errOut, tt.warnings) || tt.warnings == "" && errOut != "" {
			t.Errorf("%s: %v, %q", tt.name, err, errOut)
		}
		if out = strings.ReplaceAll(out, dir+string(filepath.Separator), ""); strings.HasSuffix(tt.name, ".json") {
			out = fraction.ReplaceAllStringFunc(out, func(text string) string {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Error(err)
				}
				return strconv.FormatFloat(v, 'g', 6, 64)
			})
		}
		golden(t, tt.name, out)
	}

	// What was read has the law that the files were made by.
	out, _, _ := run(t, "compare", "-json", old, modern)
	var doc struct {
		Tables []struct {
			Rows []struct {
				Machine     string
				Scalability struct{ Sigma, Kappa struct{ Value float64 } }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]float64{{0.3, 0.02}, {0.05, 0.001}} {
		s := doc.Tables[0].Rows[i].Scalability
		if math.Abs(s.Sigma.Value-want[0]) > 0.02 || math.Abs(s.Kappa.Value-want[1]) > 0.003 {
			t.Errorf("%s: %+v, want %v", doc.Tables[0].Rows[i].Machine, s, want)
		}
	}
}

func TestCompareFleet(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare"}
	for i := range 12 {
		L1 := 1000 + float64(i)
		if i == 7 {
			L1 = 1500
		}
		args = append(args, node(t, dir, fmt.Sprintf("node%02d", i), L1, 0.1, 0.01, 1, 2, 4))
	}
	out, errOut, err := run(t, args...)
	if err != nil || errOut != "" {
		t.Errorf("%v, %q", err, errOut)
	}
	golden(t, "compare-fleet.txt", out)
	out, _, err = run(t, append([]string{"compare", "-csv"}, args[1:]...)...)
	if lines := strings.Count(out, "\n"); err != nil || lines != 1+12*3 || !strings.HasPrefix(out, "kind,") {
		t.Errorf("%d lines of CSV, %v", lines, err)
	}
	// A bad file is named, the others are compared, and the exit status says so.
	save(t, "", args[3], "{")
	out, errOut, err = run(t, args...)
	if exitStatus(err) != 1 || err.Error() != "1 of 12 files skipped" || !strings.HasPrefix(out, "1 of 11 machines are outliers") || !strings.HasPrefix(errOut, "taulop: skipped: "+args[3]+":1:") {
		t.Errorf("exit %d, %v, %q\n%s", exitStatus(err), err, errOut, out)
	}
}

// withSurveys adds pairs of CPUs and levels of the memory to a file, of samples of 100 ns and more,
// multiplied.
func withSurveys(t *testing.T, path string, times float64) {
	t.Helper()
	in, err := compare.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range []params.Key{
		{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: "0-1"},
		{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: "0-2"},
		{Kind: params.LevelCell, Placement: numa.Local, Tau: 2, Bytes: 8192, Variant: "L1-memory"},
	} {
		var samples []float64
		for j := range 9 {
			samples = append(samples, times*float64(100*(i+1))*(1+0.01*float64(j*5%9-4)/4))
		}
		in.File.Cells = append(in.File.Cells, params.Cell{Key: k, Time: fit.Median(samples), Samples: params.Samples(samples...)})
	}
	saveParams(t, in.File, path)
}

// Where nothing can be tested there is a status for it, of few machines and of many.
func TestCompareWithoutAnswer(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range compare.Fleet {
		path := node(t, dir, fmt.Sprint("n", i), 1000, 0, 0, 1, 2)
		f := loadParams(t, path)
		for j := range f.Cells {
			c := &f.Cells[j]
			c.Samples = c.Samples[:3]
			c.Time = fit.Median(c.Values())
		}
		saveParams(t, f, path)
		paths = append(paths, path)
	}
	for _, args := range [][]string{paths, paths[:2]} {
		out, _, err := run(t, append([]string{"compare"}, args...)...)
		if exitStatus(err) != 3 || !strings.Contains(err.Error(), "taulop sweep -resume") || !strings.Contains(out, "Nothing could be tested") {
			t.Errorf("%d files: exit %d, %v\n%s", len(args), exitStatus(err), err, out)
		}
	}
}

func TestCompareSurveys(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare", "-csv"}
	for i, times := range []float64{1, 1.001, 1.5, 1, 1, 1, 1, 1, 1, 1} {
		path := node(t, dir, fmt.Sprintf("node%02d", i), 1000, 0.1, 0.01, 1, 2)
		withSurveys(t, path, times)
		args = append(args, path)
	}
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"compare-surveys.csv", args[:5]}, // of which the second is as fast as the first, and the third slower
		{"compare-surveys-fleet.csv", args},
		{"compare-surveys-fleet.txt", slices.Delete(slices.Clone(args), 1, 2)},
	} {
		out, errOut, err := run(t, tt.args...)
		if err != nil || errOut != "" {
			t.Errorf("%s: %v, %q", tt.name, err, errOut)
		}
		golden(t, tt.name, out)
	}
}
