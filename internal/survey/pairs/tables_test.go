package pairs

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// fileOf is a file of n CPUs of one level, or also in groups of `closer` CPUs of another level. ns gives the
// times of pairs.
func fileOf(n, closer int, near, far string, sizes []int, ns func(a, b, m int) float64) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version}
	all := make(numa.CPUSet, n)
	for i := range all {
		all[i] = i
	}
	if closer > 1 {
		f.Provenance.Levels = numa.Levels{{Name: near, Groups: slices.Collect(slices.Chunk(all, closer))}}
	}
	f.Provenance.Levels = append(f.Provenance.Levels, numa.Level{Name: far, Groups: []numa.CPUSet{all}})
	for a := range n {
		for b := a + 1; b < n; b++ {
			for _, m := range sizes {
				time, pair := ns(a, b, m), params.PairOf(a, b, params.UnknownHome)
				f.Cells = append(f.Cells, params.Cell{
					Key:  params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: pair},
					Time: fit.Estimate{Center: time, Lo: time * 0.98, Hi: time * 1.02, N: 6}})
			}
		}
	}
	return f
}

// pairsOf is a file of n CPUs, four of which share a cache; CPUs 0 and 2 are slow.
func pairsOf(n int) *params.File {
	f := fileOf(n, 4, "shared L3", "nodes 21 apart", []int{0, 8192}, func(a, b, m int) float64 {
		switch {
		case a == 0 && b == 2 && m == 0:
			return 120
		case a/4 == b/4:
			return map[int]float64{0: 50, 8192: 500}[m]
		}
		return map[int]float64{0: 200, 8192: 1600}[m]
	})
	f.Plan.Copy = "memcpy"
	return f
}

// Columns are aligned, bandwidths are 8192/500 = 16.4 and 8192/1600 = 5.12 GB/s, and the slow pair's
// score is (120 − 50)/(1 % of 50) = 140.
func TestPairsText(t *testing.T) {
	var b strings.Builder
	saidOf(&b, pairsOf(8))
	check.Golden(t, b.String(), "pairs.txt")
	contains.All(t, string(must.Get(json.Marshal(NewDocument(pairsOf(8))))), `"z":140`)
}

// Each home has a matrix and a line in the table, and a slow pair is listed with its home.
func TestPairsOfHomes(t *testing.T) {
	f := pairsOf(8)
	for i := range f.Cells {
		c := &f.Cells[i]
		p := c.Variant.(params.PairKey)
		from, to := p.From, p.To
		c.Variant = params.PairOf(from, to, params.WriterHome)
		if from/4 != to/4 {
			far := *c
			far.Variant = params.PairOf(from, to, params.ReaderHome)
			far.Time = fit.Estimate{Center: 111, Lo: 110, Hi: 112, N: 6}
			if from == 1 && to == 6 {
				far.Time = fit.Estimate{Center: 250, Lo: 249, Hi: 251, N: 6}
			}
			f.Cells = append(f.Cells, far)
		}
	}
	var b strings.Builder
	saidOf(&b, f)
	check.Golden(t, b.String(), "homes.txt")
	contains.All(t, string(must.Get(json.Marshal(NewDocument(f)))), `"other_homes":[{"home":"reader"`)
	all, err := Matrices(f)
	if ends := view.Ends(all); err != nil || len(ends) != 4 || ends[1].Name != "null transfer via the reader's node, one way" || ends[1].Groups[1].Median != 111 {
		t.Errorf("%v: %d matrices", err, len(ends))
	}
}

// Beyond 16 CPUs there is no matrix, only the summary.
func TestPairsOfMany(t *testing.T) {
	for _, n := range []int{view.MatrixNames, view.MatrixNames + 1, 64} {
		var b strings.Builder
		saidOf(&b, pairsOf(n))
		small := n <= view.MatrixNames
		if lines := strings.Count(b.String(), "\n"); strings.Contains(b.String(), "bandwidth of") != small || !small && lines > 20 {
			t.Errorf("%d CPUs:\n%s", n, b.String())
		}
	}
}

// saidOf is the survey's text of a file.
func saidOf(w io.Writer, f *params.File) {
	var d document.Document
	Survey.Say(&d, f)
	d.WriteText(w)
}
