package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/loaded"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
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
	data := must.Get(os.ReadFile(filepath.Join(path...)))
	return string(data)
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

// fixtures is a directory with the files of testdata/files, and parameter files.
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
	native, _, _ := plottable(t, dir)
	f := loadParams(t, native)
	f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { return c.Variant != nil })
	saveParams(t, f, dir, "transfers-only.json")
	stridedFile(t, dir)
	swept(t, dir)
	save(t, dir, "copy.json", load(t, dir, "host.json"))
	save(t, dir, "cut.json", load(t, dir, "verify.json")[:100])
	save(t, dir, "newer.json", strings.Replace(load(t, dir, "a.json"), `"version": 5`, `"version": 6`, 1))
	saveParams(t, &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Taus: []int{1}}}, dir, "bare.json")
	ofTables(t, dir)
	fleets(t, dir)
	besideTransfers(t, dir)
	return dir
}

// measuredAt is a parameter file of rings of segments of 8K, in cache.
func measuredAt(taus, sizes []int) *params.File {
	return &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: sizes, Taus: taus, Caches: []bool{false}, Segments: 2, SegmentBytes: 8192}}
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

// six are six equal samples.
func six(ns float64) []float64 { return slices.Repeat([]float64{ns}, 6) }

// node writes the file of a machine with rings of segments of 8K. L(8K,τ) is within 0.8 % of the law,
// and 15 samples lie within ±1 %; m = 64 takes a hundredth.
func node(t testing.TB, dir, host string, L1, sigma, kappa float64, taus ...int) (path string) {
	t.Helper()
	f := measuredAt(taus, []int{64, 8192})
	f.Complete, f.Plan.Copy, f.Provenance.Hostname, f.Provenance.Taulop = true, "AVX", host, "v1.0.0"
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
			var samples []float64
			for j := range 9 {
				samples = append(samples, times*float64(100*(i+1))*(1+0.01*float64(j*5%9-4)/4))
			}
			add(f, k, samples...)
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

// swept is a file with two placements, some τ, and messages from 64 bytes.
func swept(t testing.TB, dir string) string {
	t.Helper()
	f := measuredAt([]int{1, 4}, []int{64, 8192})
	f.Plan.Policies, f.Plan.Caches, f.Plan.Segments = []numa.Policy{numa.Local, numa.Remote}, []bool{true}, 0
	for i, policy := range f.Plan.Policies {
		for _, tau := range f.Plan.Taus {
			for _, m := range f.Plan.Sizes {
				ns := 2 * float64(m*tau*(i+1)) // l = 2L, L = m·τ, on remote memory twice as long
				add(f, params.Key{Kind: params.TransferCell, Setup: "ring", Placement: policy, OffCache: true, Tau: tau, Bytes: m}, ns, ns, ns)
			}
		}
	}
	return saveParams(t, f, dir, "swept.json")
}

// stridedFile is a file with transfers and packed messages.
func stridedFile(t testing.TB, dir string) string {
	t.Helper()
	f := measuredAt([]int{1, 2}, []int{1024, 8192})
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			add(f, params.Key{Kind: params.TransferCell, Setup: "ring", Tau: tau, Bytes: m}, six(2*float64(m))...)
		}
	}
	add(f, params.Key{Kind: params.PackCell, Bytes: 1024}.Named("1K64S"), six(500)...)
	add(f, params.Key{Kind: params.PackCell, Bytes: 8192}.Named("8K64S"), six(3000)...)
	return saveParams(t, f, dir, "strided.json")
}

// besideTransfers are files of other surveys: pairs, without and with times of 0; copies between levels;
// copies of a single rank.
func besideTransfers(t testing.TB, dir string) {
	t.Helper()
	for name, times := range map[string]float64{"beside.json": 2, "beside-zero.json": 0} {
		f := measuredAt([]int{1, 2}, []int{64, 8192})
		for _, tau := range f.Plan.Taus {
			for _, m := range f.Plan.Sizes {
				add(f, params.Key{Kind: params.TransferCell, Setup: "ring", Tau: tau, Bytes: m}, times*float64(m))
			}
		}
		for _, m := range []int{0, 8192} {
			add(f, params.Key{Kind: params.PairCell, Placement: numa.List, Bytes: m}.Named("0-1"), 100+float64(m)/2)
		}
		f.Placements = []numa.Placement{{Policy: numa.Local, Workers: []numa.Worker{{}, {CPU: numa.CPU{ID: 1}}}}}
		saveParams(t, f, dir, name)
	}
	f := &params.File{Format: params.Format, Version: params.Version}
	for variant, rate := range map[string]float64{"L1-L1": 0.01, "L2-L2": 0.03, "L1-L2": 0.02, "memory-memory": 0.15} {
		for _, m := range []int{64, 4096} {
			add(f, params.Key{Kind: params.LevelCell, Bytes: m}.Named(variant), six(rate*float64(m))...)
		}
	}
	saveParams(t, f, dir, "levels.json")
	f = measuredAt([]int{1, 2}, []int{1, 4096})
	f.Complete = true
	for m, ns := range map[int]float64{1: 200, 4096: 800} {
		add(f, params.Key{Kind: params.TransferCell, Setup: params.Isolated, Bytes: m}, six(ns)...)
		add(f, params.Key{Kind: params.TransferCell, Setup: "ring", Tau: 2, Bytes: m}, six(ns)...)
	}
	add(f, params.Key{Kind: params.OverheadCell}, six(1)...)
	saveParams(t, f, dir, "transfers.json")
}

// ofTables are files from published tables that no import writes: with segments, two setups, two
// networks, and an incomplete sweep.
func ofTables(t testing.TB, dir string) {
	t.Helper()
	read := func(text, name string) *params.Table {
		return must.Get(params.ReadText(strings.NewReader(text), name))
	}
	table, network := read(load(t, dir, "small/SHM.txt"), "SHM.txt"), read(load(t, dir, "small/IB.txt"), "IB.txt")
	f := params.FromText(table, nil)
	f.Plan.Segments, f.Plan.SegmentBytes = 2, 8<<10
	saveParams(t, f, dir, "context.json")

	f = params.FromText(table, nil)
	for _, c := range slices.Clone(f.Cells) {
		if c.Kind == params.TransferCell {
			c.Setup, c.Time = "ping", c.Time.Scale(2)
			f.Cells = append(f.Cells, c)
		}
	}
	for i := range f.Cells {
		if c := &f.Cells[i]; c.Kind == params.TransferCell && c.Setup != "ping" {
			c.Setup = "ring"
		}
	}
	f.Plan.Setups = []string{"ring", "ping"}
	saveParams(t, f, dir, "setups.json")

	f = params.FromNetworkText(network, params.Network{Name: "ib0", Kind: "ib"})
	other := params.FromNetworkText(network, params.Network{Name: "eth0", Kind: "tcp", Copies: 2})
	f.Networks, f.Cells = append(f.Networks, other.Networks...), append(f.Cells, other.Cells...)
	saveParams(t, f, dir, "networks.json")

	gamma := must.Get(params.ReadGammaText(strings.NewReader("#m\t2\n#max_ops\t2\n#m\tMAX_I\tSUM_I\n1\t1e-9\t1e-9\n65536\t3e-5\t3e-5\n"), "gamma.txt"))
	f = params.FromText(table, gamma)
	for _, c := range f.Cells {
		switch c.Tau = 2; c.Kind {
		case params.TransferCell:
			c.Bytes = 128 << 10 // a size without τ = 1 and 3
		case params.GammaCell:
			if c.Operator != "MAX_I" || c.Bytes > 1 {
				continue
			}
			c.Bytes = 2
		default:
			continue
		}
		if !slices.ContainsFunc(f.Cells, func(o params.Cell) bool { return o.Key == c.Key }) {
			f.Cells = append(f.Cells, c)
		}
	}
	saveParams(t, f, dir, "unfinished.json")
}

// plottable are files for every kind of chart: a parameter file with copies and the other surveys of a
// sweep, a published table, and a file of taulop verify.
func plottable(t testing.TB, dir string) (native, published, verification string) {
	t.Helper()
	f := measuredAt([]int{1, 2}, []int{64, 8192})
	f.Networks = []params.Network{{Name: "tcp", Kind: "tcp"}}
	f.Plan.Segments, f.Provenance.Hostname = 0, "<script>alert(1)</script>"
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: []numa.Worker{{CPU: numa.CPU{ID: 0}}, {CPU: numa.CPU{ID: 1}}}}}
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			samples := []float64{float64(m), float64(m) + 1, float64(m) + 2}
			add(f, params.Key{Kind: params.CopyCell, Tau: tau, Bytes: m}, samples...)
			add(f, params.Key{Kind: params.TransferCell, Setup: "ring", Tau: tau, Bytes: m}, samples...)
		}
	}
	for _, m := range []int{0, 8192} {
		add(f, params.Key{Kind: params.PairCell, Placement: numa.List, Bytes: m}.Named("0-1"), float64(m+50))
	}
	for i, k := range []params.Key{ // the fewest that each kind draws
		params.Key{Kind: params.ChannelCell, Bytes: 1}.Named("same_l3:T"), params.Key{Kind: params.ChannelCell, Bytes: 1024}.Named("same_l3:T"),
		params.Key{Kind: params.NetCell, Bytes: 1}.Named("tcp:L"), params.Key{Kind: params.NetCell, Bytes: 1024}.Named("tcp:L"),
		params.Key{Kind: params.AccessCell, Bytes: 4096}.Named("read-int32-1"), params.Key{Kind: params.AccessCell, Bytes: 8192}.Named("read-int32-2"),
		params.Key{Kind: params.DiskCell, Bytes: 4096}.Named("read-direct"), params.Key{Kind: params.DiskCell, Bytes: 8192}.Named("read-direct"),
		params.Key{Kind: params.PackCell, Bytes: 4096}.Named("4K4S"), params.Key{Kind: params.PackCell, Bytes: 4096}.Named("4K8S"),
		params.Key{Kind: loaded.Kind}.Named("read-0"), params.Key{Kind: loaded.Kind}.Named("read-50"), params.Key{Kind: loaded.Kind}.Named("rate-read-50"),
		params.Key{Kind: params.PatternCell, Bytes: 4096}.Named("permutation-1"), params.Key{Kind: params.PatternCell, Bytes: 8192}.Named("permutation-1"),
	} {
		add(f, k, float64(500*(i+1)))
	}
	native = saveParams(t, f, dir, "native.json")
	v := verify.Result{Setting: verify.Setting{SegmentBytes: 8192}}
	for _, m := range []int{1024, 8192} {
		r := verify.Row{Name: "bcast:binomial", P: 2, Bytes: m, Measured: fit.Estimate{Center: 600, Lo: 590, Hi: 610, N: 9}}
		for _, model := range verify.Models {
			r.Predicted = append(r.Predicted, verify.Prediction{Model: model, Ns: 500})
		}
		v.Rows = append(v.Rows, r)
	}
	var b bytes.Buffer
	must.Do(report.Verification(&v).WriteJSON(&b))
	return native, save(t, dir, "wide.txt", load(t, "testdata/files/wide.txt")), save(t, dir, "verify.json", b.String())
}
