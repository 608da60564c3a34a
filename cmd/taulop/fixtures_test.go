package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
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

// fleets are nodes with one slow one, nodes with surveys and one slow one, and nodes with too few samples for a test.
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

// simulated is the environment variable for launches that simulate this machine without any work.
const simulated = "TAULOP_TEST_SIMULATED"

// programName is the name under which the test program is taulop, so that main and its streams are tested, too.
const programName = "taulop"

// TestMain runs this program as a launch if a measurement started it, and as taulop under that name.
// Launches are simulated unless a test calls measures.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		if os.Getenv(simulated) != "" {
			os.Exit(surveytest.Serve(surveytest.Simulated{Latency: 100, PerByte: 0.05, Far: 1, Noise: 0.01, Cost: func(setups.Work) float64 { return 2000 }}))
		}
		os.Exit(survey.Serve())
	}
	if len(os.Args) == 2 && os.Args[1] == setups.WorkerCommand {
		os.Exit(setups.ServeWorker())
	}
	if filepath.Base(os.Args[0]) == programName {
		main()
	}
	for _, s := range stops { // under nohup, say: children of the tests are not to inherit it
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Setenv("COLUMNS", "100000") // what is printed is looked for line by line
	os.Setenv(simulated, "1")
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // go test's default
		flag.Set("test.parallel", strconv.Itoa(8*runtime.GOMAXPROCS(0))) // most tests that run at once wait
	}
	status := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(status)
}

// measures lets a test measure this machine, without other tests in parallel.
func measures(t *testing.T) {
	t.Helper()
	needLinux(t)
	t.Setenv(simulated, "")
}

// builtIn is the directory of the program that tests of processes share.
var builtIn string

var built = sync.OnceValues(func() (program string, err error) {
	if builtIn, err = os.MkdirTemp("", "taulop-test-"); err != nil {
		return "", err
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	program = filepath.Join(builtIn, programName)
	if os.Link(own, program) == nil {
		return program, nil
	}
	out, err := exec.Command("cp", own, program).CombinedOutput() // a file that this process wrote might be busy
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return program, err
})

// build is the path of taulop: this program under another name.
func build(t *testing.T) string {
	t.Helper()
	return must.Get(built())
}

// program is a taulop process with a command line.
func program(t *testing.T, line ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(build(t), line...)
}

// hanging is the environment variable that makes launches hang at every n-th sample. next waits for
// the next one that hangs, and returns its process ID; 0 if the command ends first.
func hanging(t *testing.T, n int) (variable string, next func(ended <-chan struct{}) (pid int)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hangs")
	seen := 0
	return fmt.Sprintf("%s=%d %s", surveytest.HangsVariable, n, file), func(ended <-chan struct{}) (pid int) {
		for {
			text, _ := os.ReadFile(file)
			if lines := strings.Split(string(text), "\n"); len(lines) > seen+1 {
				fmt.Sscan(lines[seen], &pid)
				seen++
				return pid
			}
			select {
			case <-ended:
				return 0
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// scratch is inMemory for hundreds of files. Such long tests are skipped with -short.
func scratch(t *testing.T) string {
	t.Helper()
	skip.Short(t, "writes and reads hundreds of files")
	return inMemory(t)
}

// inMemory is a test's directory, in memory if possible: disks take milliseconds per file.
func inMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "taulop-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
