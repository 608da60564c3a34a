package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestBadCopiesAndPacks(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	refuses(t, nil, "", []mistake{
		{"copy 8K", "no arguments"},
		{"copy -m 0", "at least one byte"},
		{"copy -m 8Q", "-m"},
		{"copy -m 900G", "may take"},
		{"copy -tau 0", "-tau"},
		{"copy -tau 9999", "CPUs that may be used"},
		{"copy -levels L7", "no level"},
		{"copy -time 0s", "-time"},
		{"copy -launches 5 ", "-launches"},
		{"copy -o " + dir, "cannot be written"},
		{"copy -o " + dir + "/no/x.json", "cannot be written"},
		{"pack 4K", "4K8S"},
		{"pack 4K2S", "overlap"},
		{"pack 2B8S", "smaller than an element"},
		{"pack 4K6S", "multiple"},
		{"pack 64K4096S", "beyond the array"},
		{"pack -array 1K 4K8S", "beyond the array"},
		{"pack -m 2", "smaller than an element"},
		{"pack -d 2", "overlap"},
		{"pack -element 0", "-element"},
		{"pack -array 8Q", "-array"},
		{"pack -array 900000G", "too much of the"},
		{"pack -cpus 0", "two different CPUs"},
		{"pack -cpus 0,8000", "CPU 8000"},
		{"pack -cache near", "-cache"},
		{"pack -array 900G 1M1048576S", "too much of the"},
		{"pack 4K8S -jsn", "did you mean -json"},
	})
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Both commands measure, write the table, and a parameter file that is valid.
func TestCopyAndPack(t *testing.T) {
	needLinux(t)
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	place, err := m.Place(numa.Remote, 1)
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := levels.Levels(m, place, 1)
	near := levels[0].Name
	dir := t.TempDir()
	for _, tt := range []struct {
		line     string
		kind     params.Kind
		variants []string
		text     []string
	}{
		{"copy -tau 1 -levels " + near + " -m 64,1K", params.LevelCell, []string{near + "-" + near}, []string{"c(m,1) in ns", near, "2 cells in"}},
		{"pack -cpus FIRST 1K8S", params.PackCell, []string{"1K8S", "1K4S"}, []string{"p(m,d) in ns", "1K8S", "o_mw"}},
	} {
		if strings.Contains(tt.line, "FIRST") {
			if m.Allowed.Len() < 2 {
				continue
			}
			tt.line = strings.Replace(tt.line, "FIRST", m.Allowed[:2].String(), 1)
		}
		file := filepath.Join(dir, tt.line[:4]+".json")
		out, _, err := run(t, append(strings.Fields(tt.line)[:1], append([]string{"-quiet", "-time", "60s", "-launches", "6", "-o", file}, strings.Fields(tt.line)[1:]...)...)...)
		if err != nil {
			t.Fatalf("%s: %v", tt.line, err)
		}
		for _, want := range tt.text {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", tt.line, want, out)
			}
		}
		f, err := params.ReadFile(file)
		if err != nil || !f.Complete || len(f.Plan.With) != 1 || f.Plan.With[0] != tt.line[:4] {
			t.Fatalf("%s: %v, %+v", tt.line, err, f)
		}
		found := make(map[string]bool)
		for _, c := range f.Cells {
			found[c.Variant] = true
			if c.Kind != tt.kind || !c.Time.Known() || !(c.Time.Center > 0) {
				t.Errorf("%s: %+v", tt.line, c)
			}
		}
		for _, want := range tt.variants {
			if !found[want] {
				t.Errorf("%s: no cell %s", tt.line, want)
			}
		}
	}
}

// stridedFile is a file that has transfers and packed messages.
func stridedFile(t *testing.T, dir string) string {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{1024, 8192}, Taus: []int{1, 2}, Caches: []bool{false}, Segments: 2, SegmentBytes: 8192}}
	add := func(k params.Key, ns float64) {
		k.Placement = numa.Local
		c := params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6}}
		if k.Kind == params.TransferCell {
			c.K, c.Transfers = 1, 2
		}
		f.Cells = append(f.Cells, c)
	}
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			add(params.Key{Kind: params.TransferCell, Setup: "ring", Tau: tau, Bytes: m}, 2*float64(m))
		}
	}
	add(params.Key{Kind: params.PackCell, Tau: 1, Bytes: 1024, Variant: "1K64S"}, 500)
	add(params.Key{Kind: params.PackCell, Tau: 1, Bytes: 8192, Variant: "8K64S"}, 3000)
	file := filepath.Join(dir, "strided.json")
	saveParams(t, f, file)
	return file
}

// A strided message costs p before its first and after its last transfer.
func TestPredictStride(t *testing.T) {
	file := stridedFile(t, t.TempDir())
	cost := func(flags string) string {
		t.Helper()
		out, errOut, err := run(t, strings.Fields("predict -params "+file+" -P 2 -m 8K -tsv "+flags+" bcast:binomial")...)
		if err != nil {
			t.Fatalf("%s: %v %s", flags, err, errOut)
		}
		rows := strings.Split(strings.TrimSpace(out), "\n")
		fields := strings.Split(rows[len(rows)-1], "\t")
		return fields[len(fields)-1]
	}
	// 2L(8K,1) = 16.384 µs, and two times 3 µs.
	if in, at := cost(""), cost("-stride 64"); in != "16.384000" || at != "22.384000" {
		t.Errorf("contiguous %s, strided %s", in, at)
	}
	if out, _, err := run(t, strings.Fields("explain -params "+file+" -P 2 -m 8K -stride 64 bcast:binomial")...); err != nil || !strings.Contains(out, "2p(m,64)") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := run(t, strings.Fields("predict -params "+file+" -P 2 -m 8K -stride 64 bcast")...); err != nil || !strings.Contains(out, "Left out: bcast:sm-tree") {
		t.Errorf("%v\n%s", err, out)
	}
	machine, _ := smallMachine(t)
	refuses(t, nil, "predict -P 2 -m 8K", []mistake{
		{"-params " + file + " -stride 24 bcast", "there are those of 64"},
		{"-params " + file + " -stride 0 bcast", "-stride"},
		{"-params " + file + " -stride x bcast", "-stride"},
		{"-params " + file + " -stride 64 -cache off bcast", "off cache"},
		{"-params " + file + " -stride 64 bcast:sm-tree", "contiguous"},
		{"-params " + file + " -stride 64 -model loggp bcast", "contiguous"},
		{strings.Join(machine, " ") + " -stride 64 bcast", "-with pack"},
	})
}

// Copies between levels have a chart of their own, those within a level by itself.
func TestPlotLevels(t *testing.T) {
	dir := t.TempDir()
	f := &params.File{Format: params.Format, Version: params.Version}
	for variant, rate := range map[string]float64{"L1-L1": 0.01, "L2-L2": 0.03, "L1-L2": 0.02, "memory-memory": 0.15} {
		for _, m := range []int{64, 4096} {
			ns := rate * float64(m)
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: 1, Bytes: m, Variant: variant},
				Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6}})
		}
	}
	file := filepath.Join(dir, "copy.json")
	saveParams(t, f, file)
	figure := filepath.Join(dir, "copy.svg")
	for flags, want := range map[string][]string{
		"":                      {"L1 → L1; L2 → L2; memory → memory"},
		"-levels L1-L2,L1-L1":   {"L1 → L1; L1 → L2"},
		"-levels memory-memory": {"memory → memory"},
	} {
		if _, errOut, err := run(t, strings.Fields("plot copy "+flags+" -force -o "+figure+" "+file)...); err != nil {
			t.Errorf("%s: %v %s", flags, err, errOut)
		}
		for _, text := range want {
			if !strings.Contains(load(t, figure), text) {
				t.Errorf("%s: no %q in the figure", flags, text)
			}
		}
	}
	for line, want := range map[string]string{
		"copy -levels L3-L3 FILE": "L1 → L1, L1 → L2",
		"copy -m 1M FILE":         "1M",
		"l-m FILE":                "no transfers",
		"l-m -levels L1-L1 FILE":  "-levels",
	} {
		_, _, err := run(t, append([]string{"plot", "-o", filepath.Join(dir, "x.svg")}, strings.Fields(strings.Replace(line, "FILE", file, 1))...)...)
		if exitStatus(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("plot %s: exit %d, %v; want exit 2 and %q", line, exitStatus(err), err, want)
		}
	}
}
