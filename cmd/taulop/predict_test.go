package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// smallMachine is a directory with tables of a machine that carries two concurrent transfers,
// L(m,τ) = m/1000 µs for τ ≤ 2 and o(m) = 0.5 µs, and the flags for them.
func smallMachine(t testing.TB) (flags []string, directory string) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "small")
	must.Do(os.CopyFS(directory, os.DirFS("testdata/files/small")))
	return []string{"-params", filepath.Join(directory, "SHM.txt"), "-gamma", filepath.Join(directory, "gamma.txt")}, directory
}

// on is a command line with a machine's flags.
func on(machine []string, command, line string) []string {
	return behind(machine, command, strings.Fields(line))
}

// predict, of one machine and of several, explain, tune, verify and map cost a library's broadcast alike.
// Between two ranks it is one message, by Open MPI's own choice, although other algorithms are cheaper.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string { return save(t, dir, name, text) }
	host, other := filepath.Join(docs, "tasks", "data", "host.json"), filepath.Join(docs, "tasks", "data", "other.json")
	printed := file("osu.txt", "# OSU MPI Broadcast Latency Test v7.3\n# Size       Avg Latency(us)\n4096                   3.00\n")
	matrix := file("m.csv", "0,4096\n0,0\n")
	want := 0.
	try := func(line, cost string, us float64, chosen string) { // line, cost: the cost's name
		t.Helper()
		command, flags, _ := strings.Cut(line, " ")
		out, _ := ran(t, on([]string{"-params", host}, command, flags)...)
		found := regexp.MustCompile(`"`+cost+`": ([-0-9.e]+)`).FindAllStringSubmatch(out, -1)
		costs := lists.Map(found, func(of []string) float64 { return us * must.Get(strconv.ParseFloat(of[1], 64)) })
		if want == 0 {
			want = costs[0]
			check.True(t, slices.Min(costs) < want, "no algorithm is cheaper than the library's choice, %v µs", want)
		}
		check.True(t, want > 0 && math.Abs(costs[0]/want-1) <= 1e-9 && strings.Contains(plain(out), chosen),
			"%s says %v µs; predict says %v µs\n%s", line, costs[0], want, out)
	}
	try("predict -as openmpi4 -P 2 -m 4K -json bcast -params "+host, "cost_us", 1, `"chosen": "1 basic_linear"`)
	try("predict -as openmpi4 -P 2 -m 4K -json bcast -params "+host+","+other, "cost_us", 1, `"chosen": "1 basic_linear"`)
	try("predict -as openmpi4 -P 2 -m 4K -json bcast:1", "cost_us", 1, `"algorithm": "1 basic_linear"`)
	try("predict -as openmpi4 -P 2 -m 4K -json bcast:linear", "cost_us", 1, `"algorithm": "1 basic_linear"`)
	try("explain -as openmpi4 -P 2 -m 4K -json bcast:own", "cost_us", 1, `"chosen": "1 basic_linear"`)
	try("tune -for openmpi4 -P 2 -m 4K -json bcast", "instead_us", 1, `"instead": { "id": 1, "algorithm": "basic_linear" }`)
	try("verify -against "+printed+" -as openmpi4 -P 2 -buffers rewritten -json bcast", "ns", 1e-3, `"algorithm": "bcast:1 basic_linear"`)
	try("map -as openmpi4 -json "+matrix, "predicted_seconds", 1e6, "")
}

// Commands know every collective from its declaration alone: predictions, explanations, the algorithm to
// verify and the benchmarks' output.
func TestCommandsKnowEveryCollective(t *testing.T) {
	machine, directory := smallMachine(t)
	help, _, _ := run(t, "predict", "-h")
	for _, c := range collective.Collectives() {
		for _, line := range []string{"-P 2-8 -m 40,8K " + c.Name, "-json -P 3 -m 8K " + c.Name} {
			out, _ := ran(t, on(machine, "predict", line)...)
			contains.All(t, out, c.Name)
			out, _ = ran(t, on(machine, "explain", line)...)
			contains.All(t, out, c.Default)
		}
		contains.All(t, help, c.About)
		for i := range c.Benchmarks {
			out := benchmarked(t, machine, directory, c, &c.Benchmarks[i])
			check.True(t, len(out.Rows) == 1 && out.Rows[0].Predicted.Algorithm == c.DefaultAlgorithm().String(), "%s of %s: %+v", c.Benchmarks[i].Name, c, out)
		}
	}
}

// benchmarked is the result of verify -against for one row of a benchmark.
func benchmarked(t *testing.T, machine []string, directory string, c *collective.Collective, b *collective.Benchmark) (doc report.Against) {
	t.Helper()
	title, sizes, size := b.Name, "#bytes ", "8192 "
	if len(b.Titles) > 0 {
		title = b.Titles[0]
	}
	if c.Empty() {
		sizes, size = "", ""
	}
	text := fmt.Sprintf("#    Intel(R) MPI Benchmarks %d.1, MPI-1 part\n# Benchmarking %s\n# #processes = 3\n%s#repetitions t_max[usec]\n%s1000 20.00\n", b.Since, title, sizes, size)
	if b.Suite == "OSU" {
		if !c.Empty() {
			sizes = "Size       "
		}
		text = fmt.Sprintf("# OSU MPI %s Latency Test v7.5\n# %sAvg Latency(us)\n%s20.00\n", title, sizes, size)
	}
	out, _ := ran(t, on(machine, "verify", "-json -P 3 -against "+save(t, directory, "output.txt", text))...)
	must.Do(json.Unmarshal([]byte(out), &doc))
	return doc
}

// A job's times become rules, also for sizes that it did not time.
func TestPlan(t *testing.T) {
	machine, directory := smallMachine(t)
	job := filepath.Join(directory, "job")
	ran(t, on(machine, "tune", "-plan "+job+" -for openmpi4 -P 2-3 -m 1K:64K bcast reduce")...)
	m := must.Get(infile.Read(filepath.Join(job, plan.Name), plan.ReadManifest))
	must.Do(os.Mkdir(filepath.Join(job, "results"), 0o755))
	for pass := range 8 {
		text := ""
		for _, p := range []int{2, 3} {
			text += fmt.Sprintf("head\t%d\t1\thost\tunknown\tOpen MPI v4.1.4\n", p)
			for _, w := range m.Cells {
				for i, o := range w.Timed {
					if w.P == p { // the own choice is the slowest
						text += fmt.Sprintf("time\t%s\t%s\t%d\t%d\t%d\n", w.Collective, w.Options[o].Setting.Key(), p, w.Bytes, 200-50*i+pass%3)
					}
				}
			}
		}
		if pass == 0 {
			text += "warm-up\n"
		}
		save(t, "", filepath.Join(job, "results", fmt.Sprintf("P-%d.tsv", pass)), text)
	}
	out, errOut := ran(t, on(machine, "tune", "-timed "+job)...)
	contains.All(t, out, "# bcast")
	contains.All(t, errOut, `P-0.tsv, line `)
	out, _ = ran(t, on(machine, "tune", "-timed "+job+" -explain")...)
	contains.All(t, out, "timed", "gain in %")
	for pass := range 4 { // an interval takes six
		must.Do(os.Remove(filepath.Join(job, "results", fmt.Sprintf("P-%d.tsv", pass))))
	}
	out, _, err := run(t, on(machine, "tune", "-timed "+job)...)
	fails(t, err, 3, "run run.sh there again, it goes on")
	check.Equal(t, out, "", "printed")
}

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
			fails(t, must.Err2(run(t, append([]string{"plot", kind.name, "-o", figure}, files...)...)), 2, "-force")
			out, errOut := ran(t, append([]string{"plot", kind.name, "-force", "-o", figure}, files...)...)
			check.Equal(t, out+errOut, "", "%s prints", kind.name)
			ends := map[string][2]string{"svg": {"<?xml", "</svg>\n"}, "PNG": {"\x89PNG\r\n", "IEND\xaeB`\x82"}, "pdf": {"%PDF-", "%%EOF\n"}}[format]
			text := load(t, figure)
			check.True(t, strings.HasPrefix(text, ends[0]) && strings.HasSuffix(text, ends[1]) && !strings.Contains(text, "<script"), "%s: %.80q", figure, text)
		}
	}
	before, shot := load(t, native), filepath.Join(dir, "native.svg")
	if os.Link(native, shot) == nil {
		_, _, err := run(t, "plot", "l-tau", "-force", "-o", shot, native)
		check.True(t, exitStatus(err) == 2 && load(t, native) == before, "drawing over the file that is drawn: %v", err)
	}
	check.Empty(t, must.Get(filepath.Glob(filepath.Join(dir, ".*"))), "left behind")
	help, _, _ := run(t, "plot", "-h")
	check.Equal(t, strings.Count(help, "taulop plot "), len(plotKinds)+1, "examples in\n%s", help)
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
	file := saveParams(t, f, t.TempDir(), "large.json")
	for _, format := range []string{"csv", "benchfmt"} {
		var out largest
		must.Do(named("export").run(context.Background(), &out, io.Discard, []string{"-format", format, file}))
		check.True(t, out.all >= 1<<19 && out.most <= 1<<16, "%s: %d bytes, up to %d at once", format, out.all, out.most)
	}
}

// The machine's own name decides nothing, and the hypervisor's stays.
func TestDeviceDirectories(t *testing.T) {
	for name, device := range map[string]bool{
		"./network1/sys/devices/system/cpu/online": false, "pci1/proc/cpuinfo": false, "n/proc/device-tree/hypervisor/compatible": false,
		"n/sys/devices/pci0000:00/x": true, "sys/class/net/eth0": true, "n/proc/device-tree/cpus/x": true,
	} {
		check.Equal(t, deviceDirectories.MatchString(name), device, "%s", name)
	}
}
