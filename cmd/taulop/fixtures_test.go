package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// save writes a file, and returns its path.
func save(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return path
}

func load(t testing.TB, path ...string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(path...))))
}

func saveParams(t testing.TB, f *params.File, path ...string) string {
	t.Helper()
	must.Do(f.WriteFile(filepath.Join(path...)))
	return filepath.Join(path...)
}

func loadParams(t testing.TB, path ...string) *params.File {
	t.Helper()
	return must.Get(params.ReadFile(filepath.Join(path...)))
}

// fixtures is a directory with the files of testdata/files and docs/programs, and files that vary by rules.
func fixtures(t testing.TB) (dir string) {
	t.Helper()
	dir = inMemory(t)
	for _, from := range []string{"testdata/files", docs + "/programs"} {
		must.Do(os.CopyFS(dir, os.DirFS(from)))
	}
	nodes.Write(t, dir, 10)
	node(t, dir, "a", 1000, 0.1, 0.01, 1, 2)
	node(t, dir, "b", 1100, 0.1, 0.01, 1, 2)
	node(t, dir, "host", 1000, 0.3, 0.02, 1, 2, 4)
	for _, name := range []string{"host", "other"} {
		save(t, dir, "docs-"+name+".json", load(t, docs, "tasks/data", name+".json"))
	}
	save(t, dir, "moved.json", load(t, sweeptest.Moved(t)))
	save(t, dir, "copy.json", load(t, dir, "host.json"))
	save(t, dir, "cut.json", load(t, dir, "verify.json")[:100])
	save(t, dir, "newer.json", strings.Replace(load(t, dir, "a.json"), `"version": 1`, `"version": 6`, 1))
	fleets(t, dir)
	return dir
}

// add adds a cell; the default is placement local and τ = 1.
func add(f *params.File, k params.Key, samples ...float64) {
	if k.Placement == "" {
		k.Placement = numa.Local
	}
	k.Tau = max(1, k.Tau)
	c := params.Cell{Key: k, Time: fit.Median(samples), Samples: params.Samples(samples...)}
	if k.Kind == params.TransferCell {
		c.K, c.Transfers = 1, 2
	}
	f.Cells = append(f.Cells, c)
}

// node writes the file of a machine with rings of segments of 8K. L(8K,τ) is within 0.8 % of the law,
// and 15 samples lie within ±1 %; m = 64 takes a hundredth.
func node(t testing.TB, dir, host string, L1, sigma, kappa float64, taus ...int) (path string) {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: taus, Caches: []bool{false}, Segments: 2, SegmentBytes: 8192}}
	f.Complete, f.Plan.Copy, f.Provenance.Hostname, f.Provenance.Taulop = true, "AVX", host, "v1.0.0"
	for _, m := range f.Plan.Sizes {
		for _, tau := range taus {
			x := float64(tau)
			l := 2 * L1 * (1 + sigma*(x-1) + kappa*x*(x-1)) * (1 + 0.004*float64(tau*7%5-2))
			if m == 64 {
				l /= 100
			}
			samples := lists.Map(lists.Indices(15), func(i int) float64 { return l * (1 + 0.01*float64(i*4%15-7)/7) })
			setup := "ring"
			if tau == 1 {
				setup = params.Isolated
			}
			add(f, params.Key{Kind: params.TransferCell, Setup: setup, Tau: tau, Bytes: m}, samples...)
		}
	}
	return saveParams(t, f, dir, host+".json")
}

// fleets are nodes with one slow one, nodes with surveys and one slow one, and nodes with too few
// samples for a test.
func fleets(t testing.TB, dir string) {
	t.Helper()
	node(t, dir, "old", 1000, 0.3, 0.02, 1, 2, 3, 4, 6, 8)
	node(t, dir, "modern", 1001, 0.05, 0.001, 1, 2, 3, 4, 6, 8)
	for _, name := range []string{"fleet", "surveys", "few"} {
		must.Do(os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	for i := range 12 {
		L1 := 1000 + float64(i)
		if i == 7 {
			L1 = 1500
		}
		node(t, filepath.Join(dir, "fleet"), fmt.Sprintf("node%02d", i), L1, 0.1, 0.01, 1, 2, 4)
	}
	for i, times := range []float64{1, 1.001, 1.5, 1, 1, 1, 1, 1, 1, 1} {
		f := loadParams(t, node(t, filepath.Join(dir, "surveys"), fmt.Sprintf("node%02d", i), 1000, 0.1, 0.01, 1, 2))
		for i, k := range []params.Key{
			params.Key{Kind: params.PairCell, Placement: numa.List}.Named("0-1"), params.Key{Kind: params.PairCell, Placement: numa.List}.Named("0-2"),
			params.Key{Kind: params.LevelCell, Tau: 2, Bytes: 8192}.Named("L1-memory"),
		} {
			ns := times * float64(100*(i+1))
			add(f, k, lists.Map(lists.Indices(9), func(j int) float64 { return ns * (1 + 0.01*float64(j*5%9-4)/4) })...)
		}
		saveParams(t, f, dir, fmt.Sprintf("surveys/node%02d.json", i))
		f = loadParams(t, node(t, filepath.Join(dir, "few"), fmt.Sprint("n", i), 1000, 0, 0, 1, 2))
		for j := range f.Cells {
			c := &f.Cells[j]
			c.Samples = c.Samples[:3]
			c.Time = fit.Median(c.Values())
		}
		saveParams(t, f, dir, fmt.Sprintf("few/n%d.json", i))
	}
}

// snapshots adds a machine and published parameters, as far as available.
func snapshots(t testing.TB, dir string) {
	t.Helper()
	const machine = "8em64t-2s2ca2c"
	must.Do(os.CopyFS(filepath.Join(dir, machine), os.DirFS(snapshot.Unpack(t, machine))))
	save(t, dir, machine+".tar.bz2", load(t, snapshot.Dir(t), machine+".tar.bz2"))
	must.Do(os.CopyFS(filepath.Join(dir, "metropolis"), os.DirFS(filepath.Join(os.Getenv("TAULOP_SHARED"), "params", "metropolis"))))
}
