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
	"github.com/taulop/taulop/internal/report/page/nodes"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

var update = flag.Bool("update", false, "write what is there into testdata")

// node writes the file of a machine with rings of segments of 8K. L(8K,τ) is the
// law's but for 0.8 %, and 15 samples lie within ±1 %; m = 64 takes a hundredth.
func node(t testing.TB, dir, host string, L1, sigma, kappa float64, taus ...int) (path string) {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: taus,
		Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, Copy: "AVX"}}
	f.Provenance.Hostname, f.Provenance.Taulop = host, "v1.0.0"
	for _, m := range f.Plan.Sizes {
		for _, tau := range taus {
			x := float64(tau)
			l := 2 * L1 * (1 + sigma*(x-1) + kappa*x*(x-1)) * (1 + 0.004*float64(tau*7%5-2))
			if m == 64 {
				l /= 100
			}
			var samples []float64
			for i := range 15 {
				samples = append(samples, l*(1+0.01*float64(i*4%15-7)/7))
			}
			setup := "ring"
			if tau == 1 {
				setup = params.Isolated
			}
			f.Cells = append(f.Cells, params.Cell{
				Key: params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m}, K: 1, Transfers: 2,
				Time: fit.Median(samples), Samples: params.Samples(samples...),
			})
		}
	}
	path = filepath.Join(dir, host+".json")
	saveParams(t, f, path)
	return path
}

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

// What surveys measured is in the same table, kind by kind.
// A machine that has nothing in common with the others is named.
func TestCompareNamesAbsent(t *testing.T) {
	dir := t.TempDir()
	a, b := node(t, dir, "a", 1000, 0, 0, 1, 2), node(t, dir, "b", 1100, 0, 0, 1, 2)
	_, small := smallMachine(t)
	table := save(t, small, "SHM.txt", strings.ReplaceAll(smallTable, "65536\t", "8192\t"))
	out, errOut, err := run(t, "compare", a, b, table)
	if err != nil || !strings.Contains(errOut, "small: not compared, ") || !strings.Contains(errOut, "-as ring") || strings.Contains(out, "small") {
		t.Errorf("%v, %s\n%s", err, errOut, out)
	}
	if _, errOut, err = run(t, "compare", "-as", "ring", a, b, table); err != nil || strings.Contains(errOut, "not compared") {
		t.Errorf("%v, %s", err, errOut)
	}
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

func TestCompareRefuses(t *testing.T) {
	dir := t.TempDir()
	a, b := node(t, dir, "a", 1000, 0.1, 0.01, 1, 2), swept(t, dir)
	newer := save(t, dir, "newer.json", strings.Replace(load(t, a), `"version": 5`, `"version": 6`, 1))
	gamma := save(t, dir, "gamma.txt", tinyGamma)
	empty := save(t, dir, "empty.json", "")
	refuses(t, nil, "", []mistake{
		{"compare", "a comparison takes two files or more"},
		{"compare " + a, "got 1 argument: a comparison takes two files or more"},
		{"compare " + a + " " + a, "is there twice"},
		{"compare " + a + " " + dir, "is a directory"},
		{"compare " + a + " " + empty, "is empty"},
		{"compare " + a + " " + gamma, "gamma.txt:2:"},
		{"compare " + a + " " + newer, "version 6 of the format is newer than 5"},
		{"compare " + a + " " + dir + "/none", "is not there"},
		{"compare " + a + " " + b, "no two machines have a setup, placement, cache and message size in common"}, // in cache, off cache
		{"compare -m 3 " + a + " " + b, "no machine has m = 3: a has m = 64, 8192; swept has"},
		{"compare -m 8X " + a + " " + b, "-m: size"},
		{"compare -cache on " + a + " " + b, `"on" is neither in nor off`},
		{"compare -as pigeon " + a + " " + b, "-as: "},
		{"compare -json -csv " + a + " " + b, "cannot be used together"},
		{"compare -o " + a + " " + a + " " + b, "is there already"},
		{"compare " + a + " " + b + " -jsn", "there is no flag -jsn; did you mean -json?"},
		{"compare -frob", "-frob"},
	})
}

// Names of files come from a list, too.
func TestCompareListed(t *testing.T) {
	dir := t.TempDir()
	paths := nodes.Write(t, dir, 12)
	list := save(t, dir, "list", strings.Join(paths[4:], "\n"))
	want, _ := ran(t, append([]string{"compare", "-csv"}, paths...)...)
	got, _, err := run(t, append([]string{"compare", "-csv", "-files", list}, paths[:4]...)...)
	if err != nil || got != want {
		t.Errorf("with a list: %v\n%s\nwant\n%s", err, got, want)
	}
	for _, args := range [][]string{{"compare"}, {"compare", paths[0]}, {"compare", "-files", paths[0]}, {"compare", "-files", filepath.Join(dir, "none")}} {
		if _, _, err := run(t, args...); exitStatus(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	}
}
