package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

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
