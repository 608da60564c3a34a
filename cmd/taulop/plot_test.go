package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
	"github.com/taulop/taulop/params"
)

// againstDocument is the output of verify -against for a table of two rows.
const againstDocument = `{"machine":"a","cells":[{"collective":"bcast","mapping":"core","P":2,"m":8,
	"setting":{"id":6,"algorithm":"binomial"},"measured_ns":{"slowest":5,"mean":4},"error":0.5},
	{"collective":"bcast","mapping":"core","P":4,"m":8,"setting":{"id":0},"measured_ns":{"slowest":0,"mean":4},"error":-0.5}]}`

// Every kind of chart is written in every format, replaces an existing file, and leaves no other.
func TestPlotsAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	native, published := save(t, dir, "native.json", load(t, "testdata/files/native.json")), "testdata/files/wide.txt"
	for _, kind := range plotKinds {
		files := []string{native}
		switch {
		case kind.command == "verify":
			files = []string{"testdata/files/verify.json"}
		case kind.command == "verify -against OUTPUT":
			files = []string{save(t, dir, "against.json", againstDocument)}
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
			ends := map[string][2]string{"svg": {"<?xml", "</svg>\n"}, "PNG": {"\x89PNG\r\n", "IEND\xaeB`\x82"}, "pdf": {"%PDF-", "%%EOF\n"}}[format]
			if text := load(t, figure); !strings.HasPrefix(text, ends[0]) || !strings.HasSuffix(text, ends[1]) || strings.Contains(text, "<script") {
				t.Errorf("%s: %.80q", figure, text)
			}
		}
	}
	before, shot := load(t, native), filepath.Join(dir, "native.svg")
	if os.Link(native, shot) == nil {
		if _, _, err := run(t, "plot", "l-tau", "-force", "-o", shot, native); exitStatus(err) != 2 || load(t, native) != before {
			t.Errorf("drawing over the file that is drawn: %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	if help, _, _ := run(t, "plot", "-h"); strings.Count(help, "taulop plot ") != len(plotKinds)+1 {
		t.Errorf("the help has no example of each kind:\n%s", help)
	}
}

const (
	tinySHM   = "#m\t2\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n1\t0.000000559250\t0.000000289400\t0.000000147725\n64\t0.000000543200\t0.000000499550\t0.000000335500\n"
	tinyGamma = "#m\t2\n#max_ops\t2\n#m\tSUM_I\tMAX_I\n4\t0.000000240000000\t0.000000187300000\n64\t0.000000163500000\t0.000000267400000\n"
)

// largest is the most that came at once.
type largest struct{ most, all int }

func (w *largest) Write(p []byte) (int, error) {
	w.most, w.all = max(w.most, len(p)), w.all+len(p)
	return len(p), nil
}

// An export is not buffered in memory.
func TestExportStreams(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version}
	for m := range 20000 {
		ns := float64(m + 1)
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: numa.Local, Tau: 1, Bytes: m + 1},
			Time: fit.Median([]float64{ns}), Samples: params.Samples(ns)})
	}
	file := filepath.Join(t.TempDir(), "large.json")
	saveParams(t, f, file)
	for _, format := range []string{"csv", "benchfmt"} {
		var out largest
		must.Do(named("export").run(context.Background(), &out, io.Discard, []string{"-format", format, file}))
		if out.all < 1<<19 || out.most > 1<<16 {
			t.Errorf("%s: %d bytes, up to %d at once", format, out.all, out.most)
		}
	}
}
