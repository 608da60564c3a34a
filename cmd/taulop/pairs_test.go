package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestBadPairs(t *testing.T) {
	dir := t.TempDir()
	there := save(t, dir, "there.json", "{}")
	refuses(t, nil, "", []mistake{
		{"pairs 2", "takes no arguments"},
		{"pairs -time 0s", "-time"},
		{"pairs -time -1s", "-time"},
		{"pairs -launches 5", "-launches"},
		{"pairs -cpus 0", "two CPUs"},
		{"pairs -cpus 0,0", "twice"},
		{"pairs -cpus 0,65000", "65000"},
		{"pairs -cpus zero", "zero"},
		{"pairs -cpus 0,1 -smt", "choose one"},
		{"pairs -m 8Q", "-m"},
		{"pairs -m -8", "-m"},
		{"pairs -m 1G", "too large"},
		{"pairs -o " + there, "there already"},
		{"pairs -o " + dir + "/none/x.json", "cannot be written"},
		{"pairs -nothing", "nothing"},
		{"plot pairs -o " + dir + "/x.svg " + there, "there.json"},
		{"predict -model mlognp -P 2 bcast -params " + there, "there.json"},
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || load(t, there) != "{}" {
		t.Errorf("left behind: %v", left)
	}
}

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

// Where a file has transfers too, τ-Lop stands beside.
func TestPredictBesideTauLop(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: []int{1, 2}, Caches: []bool{false}, SegmentBytes: 8192}}
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: tau, Bytes: m},
				K: 1, Transfers: 2, Time: fit.Median([]float64{float64(2 * m)})})
		}
	}
	for _, m := range []int{0, 8192} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: "0-1"}, Time: fit.Median([]float64{100 + float64(m)/2})})
	}
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: []numa.Worker{{}, {CPU: numa.CPU{ID: 1}}}}}
	file := filepath.Join(t.TempDir(), "host.json")
	saveParams(t, f, file)
	// mlog_nP: 2f(8K) = 2·4.196 µs; τ-Lop: 2L(8K,1) = 2·8.192 µs.
	out, _, err := run(t, "predict", "-model", "mlognp", "-params", file, "-P", "2", "-m", "8K", "bcast:binomial")
	if err != nil || !strings.Contains(out, "8.392") || !strings.Contains(out, "16.38") || !strings.Contains(out, "τ-Lop") {
		t.Errorf("%s%v", out, err)
	}
	out, _, err = run(t, "predict", "-tsv", "-model", "mlognp", "-params", file, "-P", "2", "-m", "8K", "bcast:binomial")
	if err != nil || !strings.Contains(out, "taulop_us\n") || !strings.Contains(out, "\t8.392000\t16.384000\n") {
		t.Errorf("%s%v", out, err)
	}
	for i := range f.Cells { // what τ-Lop does not know is no number
		if f.Cells[i].Kind == params.TransferCell {
			f.Cells[i].Time = fit.Median([]float64{0})
		}
	}
	file = filepath.Join(t.TempDir(), "zero.json")
	saveParams(t, f, file)
	for flag, want := range map[string]string{
		"-cache=in": "8.392       ?\n\n? unknown: the parameters have a time of 0 for it, or less\n",
		"-tsv":      "\t8.392000\t\n", "-json": "",
	} {
		out, _, err = run(t, "predict", flag, "-model", "mlognp", "-params", file, "-P", "2", "-m", "8K", "bcast:binomial")
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, "taulop_us\":") {
			t.Errorf("%s: %s%v", flag, out, err)
		}
	}
}
