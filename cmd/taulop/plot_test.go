package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/loaded"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
	"github.com/taulop/taulop/params"
)

// plottable are files that each kind of chart can draw: a native one with copies and
// what else a sweep measures, a published one, and one of taulop verify.
func plottable(t *testing.T, dir string) (native, published, verification string) {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: []int{1, 2}, Caches: []bool{false}, SegmentBytes: 8192}}
	f.Networks = []params.Network{{Name: "tcp", Kind: "tcp"}}
	f.Provenance.Hostname = "<script>alert(1)</script>"
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: []numa.Worker{{CPU: numa.CPU{ID: 0}}, {CPU: numa.CPU{ID: 1}}}}}
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			key := params.Key{Placement: numa.Local, Tau: tau, Bytes: m, Kind: params.CopyCell}
			samples := []float64{float64(m), float64(m) + 1, float64(m) + 2}
			f.Cells = append(f.Cells, params.Cell{Key: key, Time: fit.Median(samples), Samples: params.Samples(samples...)})
			key.Kind, key.Setup = params.TransferCell, "ring"
			f.Cells = append(f.Cells, params.Cell{Key: key, K: 1, Transfers: 2, Time: fit.Median(samples), Samples: params.Samples(samples...)})
		}
	}
	for _, m := range []int{0, 8192} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: "0-1"},
			Time: fit.Median([]float64{float64(m + 50)})})
	}
	for i, k := range []params.Key{ // the fewest that each kind draws
		{Kind: params.ChannelCell, Variant: "same_l3:T", Bytes: 1}, {Kind: params.ChannelCell, Variant: "same_l3:T", Bytes: 1024},
		{Kind: params.NetCell, Variant: "tcp:L", Bytes: 1}, {Kind: params.NetCell, Variant: "tcp:L", Bytes: 1024},
		{Kind: params.AccessCell, Variant: "read-int32-1", Bytes: 4096}, {Kind: params.AccessCell, Variant: "read-int32-2", Bytes: 8192},
		{Kind: params.DiskCell, Variant: "read-direct", Bytes: 4096}, {Kind: params.DiskCell, Variant: "read-direct", Bytes: 8192},
		{Kind: params.PackCell, Variant: "4K4S", Bytes: 4096}, {Kind: params.PackCell, Variant: "4K8S", Bytes: 4096},
		{Kind: loaded.Kind, Variant: "read-0"}, {Kind: loaded.Kind, Variant: "read-50"}, {Kind: loaded.Kind, Variant: "rate-read-50"},
		{Kind: params.PatternCell, Variant: "permutation-1", Bytes: 4096}, {Kind: params.PatternCell, Variant: "permutation-1", Bytes: 8192},
	} {
		k.Placement, k.Tau = numa.Local, 1
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Median([]float64{float64(500 * (i + 1))})})
	}
	native = filepath.Join(dir, "native.json")
	saveParams(t, f, native)
	published = save(t, dir, "SHM.txt", strings.Replace(tinySHM, "\n64\t", "\n8192\t", 1))
	v := verify.Result{Setting: verify.Setting{SegmentBytes: 8192}}
	for _, m := range []int{1024, 8192} {
		r := verify.Row{Name: "bcast:binomial", P: 2, Bytes: m, Measured: fit.Estimate{Center: 600, Lo: 590, Hi: 610, N: 9}}
		for _, model := range verify.Models {
			r.Predicted = append(r.Predicted, verify.Prediction{Model: model, Ns: 500})
		}
		v.Rows = append(v.Rows, r)
	}
	var b bytes.Buffer
	if err := report.Verification(&v).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return native, published, save(t, dir, "verify.json", b.String())
}

// Every kind is written in every format, over what was there, and nothing else.
func TestPlotsAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	native, published, verification := plottable(t, dir)
	for _, kind := range plotKinds {
		files := []string{native}
		switch {
		case kind.command == "verify":
			files = []string{verification}
		case kind.command == "verify -against OUTPUT":
			files = []string{save(t, dir, "against.json", `{"machine":"a","cells":[{"collective":"bcast","mapping":"core","P":2,"m":8,
				"setting":{"id":6,"algorithm":"binomial"},"measured_ns":{"slowest":5,"mean":4},"error":0.5},
				{"collective":"bcast","mapping":"core","P":4,"m":8,"setting":{"id":0},"measured_ns":{"slowest":0,"mean":4},"error":-0.5}]}`)}
		case kind.command == "predict":
			doc, _ := ran(t, "predict", "-json", "-params", published, "-P", "2", "-m", "1K,2K", "bcast")
			files = []string{save(t, dir, "predict.json", doc)}
		case kind.command == "map":
			doc, _ := ran(t, "map", "-root", snapshot.Unpack(t, "8em64t-2s2ca2c"), "-P", "8", "-json", "lu")
			files = []string{save(t, dir, "map.json", doc)}
		case kind.name == "states":
			files = []string{sweeptest.Moved(t)}
		case kind.name == "ratio":
			second := save(t, dir, "second.txt", load(t, published))
			files = []string{published, second}
		}
		for _, format := range []string{"svg", "PNG", "pdf"} {
			figure := save(t, dir, kind.name+"."+format, "what was there")
			if _, _, err := run(t, append([]string{"plot", kind.name, "-o", figure}, files...)...); exitStatus(err) != 2 || !strings.Contains(err.Error(), "-force") {
				t.Errorf("%s: what was there is replaced: %v", kind.name, err)
			}
			out, errOut, err := run(t, append([]string{"plot", kind.name, "-force", "-o", figure}, files...)...)
			if err != nil || out != "" || errOut != "" {
				t.Errorf("%s: %q, %q, %v", kind.name, out, errOut, err)
				continue
			}
			text := load(t, figure)
			switch format {
			case "svg":
				if !strings.HasPrefix(text, "<?xml") || !strings.HasSuffix(text, "</svg>\n") || strings.Contains(text, "<script") {
					t.Errorf("%s: %.80q", figure, text)
				}
			case "PNG":
				if _, err := png.Decode(strings.NewReader(text)); err != nil {
					t.Errorf("%s: %v", figure, err)
				}
			case "pdf":
				if !strings.HasPrefix(text, "%PDF-") {
					t.Errorf("%s: %.20q", figure, text)
				}
			}
		}
	}
	// A published table beside one's own, as the user says.
	figure := filepath.Join(dir, "as.svg")
	if _, _, err := run(t, "plot", "ratio", "-as", "ring", "-m", "1:1M", "-o", figure, native, published); exitStatus(err) != 2 {
		t.Errorf("8192 alone is in both, and drawn: %v", err)
	}
	if _, _, err := run(t, "plot", "l-tau", "-as", "ring", "-o", figure, native, published); err != nil || !strings.Contains(load(t, figure), "is taken for ring") {
		t.Errorf("%v: the figure does not say what the table is taken for", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	if help, _, _ := run(t, "plot", "-h"); strings.Count(help, "taulop plot ") != len(plotKinds)+1 {
		t.Errorf("the help has no example of each kind:\n%s", help)
	}
}

// Of several files of one machine, an error names the one that it is about.
func TestBadPlotNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	native, _, _ := plottable(t, dir)
	f := loadParams(t, native)
	f.Provenance.Hostname = "vm"
	all, swept := filepath.Join(dir, "all.json"), filepath.Join(dir, "swept.json")
	saveParams(t, f, all)
	f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { return c.Variant != "" })
	saveParams(t, f, swept)
	for _, kind := range []string{"disk", "access", "pack", "patterns"} {
		_, _, err := run(t, "plot", kind, "-o", filepath.Join(dir, "x.svg"), all, swept)
		if exitStatus(err) != 2 || !strings.HasPrefix(err.Error(), "vm (swept.json) has no ") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestBadPlots(t *testing.T) {
	dir := t.TempDir()
	native, published, verification := plottable(t, dir)
	cut, empty := save(t, dir, "cut.json", load(t, verification)[:100]), save(t, dir, "empty.json", "")
	names := strings.NewReplacer("NATIVE", native, "PUBLISHED", published, "VERIFY", verification, "CUT", cut, "EMPTY", empty, "x.", dir+"/x.", "DIR", dir)
	bad := []mistake{
		{"", "which chart"},
		{"l-taw -o x.svg NATIVE", `did you mean "l-tau"`},
		{"concurency -o x.svg NATIVE", `did you mean "concurrency"`},
		{"l-tau -o x.svg", "name the file"},
		{"l-tau NATIVE", "-o is missing"},
		{"l-tau -o x NATIVE", "extension"},
		{"l-tau -o x.gif NATIVE", ".svg, .png, .pdf"},
		{"l-tau -o DIR/no/x.svg NATIVE", "cannot be written"},
		{"l-tau -o DIR NATIVE", "it is a directory"},
		{"l-tau -o x.svg none.json", "none.json"},
		{"l-tau -o x.svg DIR", "directory"},
		{"l-tau -o x.svg EMPTY", "is empty"},
		{"l-tau -o x.svg NATIVE NATIVE", "twice"},
		{"l-tau -o x.svg VERIFY", "no parameter file"},
		{"l-tau -width 1 -o x.svg NATIVE", "-width"},
		{"l-tau -width NaN -o x.svg NATIVE", "-width"},
		{"l-tau -tau 0 -o x.svg NATIVE", "-tau"},
		{"l-tau -tau 1 -o x.svg NATIVE", "a line over τ needs two"},
		{"l-tau -m 8Q -o x.svg NATIVE", "-m"},
		{"l-tau -m 0 -o x.svg NATIVE", "no transfers of m = 0"},
		{"l-tau -cache both -o x.svg NATIVE", "-cache"},
		{"l-tau -setup ping -o x.svg NATIVE", "it has ring"},
		{"l-tau -P 2 -o x.svg NATIVE", "-P choose"},
		{"l-tau -algorithm bcast -o x.svg NATIVE", "-algorithm"},
		{"copy -o x.svg PUBLISHED", "no copies"},
		{"copy -variant L2 -o x.svg NATIVE", "-variant"},
		{"l-tau -variant ring -o x.svg NATIVE", "is of the charts access"},
		{"access -variant float64 -o x.svg NATIVE", "there are int32"},
		{"access -setup ring -o x.svg NATIVE", "-setup chooses transfers"},
		{"access -levels L1-L1 -o x.svg NATIVE", "-levels"},
		{"access -P 2 -o x.svg NATIVE", "-P choose"},
		{"access -m 4K -o x.svg NATIVE", "accesses do not differ in the size of messages: choose by their names (-variant"},
		{"access -tau 2 -o x.svg NATIVE", "τ = 2"},
		{"pack -cache off -o x.svg NATIVE", "in cache"},
		{"pack -m 8K -o x.svg NATIVE", "it has 4K"},
		{"pack -as ring -o x.svg PUBLISHED", "-as"},
		{"pack -o x.svg PUBLISHED", "taulop pack"},
		{"patterns -P 2 -o x.svg NATIVE", "it has 1"},
		{"patterns -m 4K -o x.svg NATIVE", "two values"},
		{"patterns -o x.svg VERIFY", "no parameter file"},
		{"disk -cache off -o x.svg NATIVE", "-variant"},
		{"disk -variant write -o x.svg NATIVE", "page cache out; read"},
		{"disk -o x.svg NATIVE PUBLISHED", "taulop disk"},
		{"ratio -o x.svg NATIVE", "two machines"},
		{"ratio -o x.svg NATIVE PUBLISHED", "nothing in common"},
		{"ratio -as rnig -o x.svg NATIVE PUBLISHED", "-as"},
		{"accuracy -as ring -o x.svg VERIFY", "-as"},
		{"predicted -o x.svg none.json", "none.json is not there"},
		{"predicted -o x.svg NATIVE", "taulop verify -json"},
		{"predicted -o x.svg PUBLISHED", "SHM.txt:1: "},
		{"predicted -o x.svg CUT", "cut.json:"},
		{"predicted -o x.svg EMPTY", "is empty"},
		{"predicted -o x.svg VERIFY VERIFY", "one file"},
		{"predicted -P 3 -o x.svg VERIFY", "P = 2"},
		{"predicted -P -3 -o x.svg VERIFY", "-P is -3"},
		{"accuracy -algorithm bcst -o x.svg VERIFY", "bcast:binomial"},
		{"accuracy -setup ring -o x.svg VERIFY", "-setup"},
		{"accuracy -cache off -o x.svg VERIFY", "off cache"},
	}
	for i := range bad {
		bad[i].line = names.Replace(bad[i].line)
	}
	refuses(t, nil, "plot", bad)
	if figures, err := filepath.Glob(filepath.Join(dir, "x*")); err != nil || len(figures) > 0 {
		t.Errorf("bad input left %q, %v", figures, err)
	}
	before, shot := load(t, native), filepath.Join(dir, "native.svg")
	if err := os.Link(native, shot); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if _, _, err := run(t, "plot", "l-tau", "-o", shot, native); exitStatus(err) != 2 || load(t, native) != before {
		t.Errorf("drawing over the file that is drawn: %v", err)
	}
}

// A title is the user's, or none.
func TestPlotTitle(t *testing.T) {
	dir := t.TempDir()
	host := node(t, dir, "host", 1000, 0.3, 0.02, 1, 2, 4)
	for title, want := range map[string]string{"": "", "Fig. <1>": "Fig. &lt;1&gt;"} {
		figure := filepath.Join(dir, "a.svg")
		ran(t, "plot", "concurrency", "-force", "-title", title, "-o", figure, host)
		if text := load(t, figure); strings.Contains(text, "Memory concurrency") || !strings.Contains(text, want) {
			t.Errorf("-title %q: %.500s", title, text)
		}
	}
}

// What predict wrote is drawn, of one machine and of several.
func TestPlotPredict(t *testing.T) {
	machine, directory := smallMachine(t)
	other := save(t, directory, "other.txt", smallTable)
	one, two := filepath.Join(directory, "one.json"), filepath.Join(directory, "two.json")
	for path, files := range map[string][]string{one: machine, two: {"-params", machine[1] + "," + other}} {
		ran(t, on(files, "predict", "-json -P 2,4 -m 1K:16K bcast:binomial bcast:linear -o "+path)...)
	}
	for line, want := range map[string]string{
		"plot predict -o - " + one: "Lines: binomial; linear",
		"plot predict -bandwidth -algorithm bcast:linear -P 2 -o - " + one:  "Predicted bandwidth: bcast",
		"plot predict -title= -algorithm bcast:linear -m 1K,2K -o - " + two: "Lines: small; other",
	} {
		if out, errOut, err := run(t, strings.Fields(line)...); err != nil || errOut != "" || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s\n%.600s\nwant %s", line, err, errOut, out, want)
		}
	}
	refuses(t, nil, "", []mistake{
		{"plot predict -o - " + other, "this is not what taulop predict writes (taulop predict -json)"},
		{"plot predict -o - /nonexistent", "write it with taulop predict -json -o"},
		{"plot predict -cache in -o - " + one, "-cache is of other charts"},
		{"plot predict -algorithm reduce -o - " + one, "reduce was not predicted"},
		{"plot ratio -bandwidth -o - " + one, "-bandwidth is of the charts l-tau, l-m, copy, predict"},
	})
}
