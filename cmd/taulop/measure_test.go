package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// run runs a command line as main does.
func run(t testing.TB, line ...string) (out, errOut string, err error) {
	t.Helper()
	cmd, args := find(line)
	var o, e bytes.Buffer
	err = cmd.run(context.Background(), &o, &e, args)
	return o.String(), e.String(), err
}

// ran runs a command line that succeeds.
func ran(t testing.TB, line ...string) (out, errOut string) {
	t.Helper()
	out, errOut, err := run(t, line...)
	check.Need(t, err == nil, "%q: %v\n%s%s", line, err, out, errOut)
	return out, errOut
}

// fails checks the exit status of an error, which is one line with what it says.
func fails(t testing.TB, err error, status int, says string) {
	t.Helper()
	contains.Error(t, err, says)
	check.Equal(t, exitStatus(err), status, "exit status of %v", err)
}

// named is the command of a name.
func named(name string) command { return *lookup(name) }

// help shows what -h does, and lists every command. Help fits 80 columns, except for long words.
func TestHelpAndVersion(t *testing.T) {
	t.Setenv("COLUMNS", "")
	out, _, err := run(t, "-h")
	fits(t, "-h", out)
	check.Equal(t, exitStatus(err), 0, "exit status of -h: %v", err)
	contains.All(t, out, "taulop -ring -local 2 8 4", "-off_cache")
	for _, c := range commands[1:] {
		check.Equal(t, strings.Count(out, fmt.Sprintf("\n  taulop %-10s ", c.name)), 1, "%s in -h", c.name)
		of, _, err := run(t, c.name, "-h")
		fits(t, c.name, of)
		again, _, _ := run(t, "help", c.name)
		check.True(t, exitStatus(err) == 0 && again == of && !strings.Contains(of, "\n\n\n") && strings.HasPrefix(of, strings.ToUpper(c.name[:1])+c.name[1:]+" "),
			"help %s: %v\n%s", c.name, err, again)
	}
	list, _ := ran(t, "predict", "-list")
	fits(t, "predict -list", list)
	out, _ = ran(t, "-version")
	check.True(t, strings.TrimSpace(out) != "", "-version prints nothing")
}

func needLinux(t *testing.T) {
	t.Helper()
	skip.If(t, !shm.Supported, "measuring needs Linux")
}

// A ring measures this machine.
func TestMeasuresJSON(t *testing.T) {
	measures(t)
	file := filepath.Join(t.TempDir(), "host.json")
	out, errOut, err := run(t, "-json", "-quiet", "-o", file, "-k", "1,2,4", "-launches", "6", "-time", "10m", "2", "8", "2")
	check.Need(t, err == nil && out == "" && errOut == "", "%v, stdout %q, stderr %q", err, out, errOut)
	var doc report.Series
	must.Do(json.Unmarshal([]byte(load(t, file)), &doc))
	check.True(t, doc.Setup == "ring" && doc.Tau == 2 && doc.SegmentBytes == 8192 && len(doc.Placement.Workers) == 2 && len(doc.Rows) == 3, "document: %+v", doc)
	for _, r := range doc.Rows {
		// l = 2k·L, and the centre was made of samples, without those that something slowed.
		want := r.Message.Center / float64(2*r.K)
		check.Near(t, r.Transfer.Center, want, 0.001*want, "k=%d: L", r.K)
		check.AtLeast(t, r.Message.N, 1, "k=%d: n", r.K)
		check.AtMost(t, r.Message.N, min(len(r.Samples), doc.Launches), "k=%d: n of %d samples", r.K, len(r.Samples))
	}
	res := doc.Results
	check.True(t, res.L.Center > 0 && res.Y.Center > 0 && res.Copy.Center > 0 && res.C.Center == res.L.Center-res.Y.Center, "results: %+v", res)
}

// stoppedInTime runs a command and stops it when a launch hangs at a sample.
func stoppedInTime(t *testing.T, sample int, line ...string) (out string, err error) {
	t.Helper()
	variable, hung := hanging(t, sample)
	name, value, _ := strings.Cut(variable, "=")
	t.Setenv(name, value)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() { hung(ended); cancel() }()
	defer close(ended)
	cmd, args := find(line)
	var b bytes.Buffer
	err = cmd.run(ctx, &b, io.Discard, args)
	return b.String(), err
}

// Monitors show the first line, so that it is not broken at the width of a terminal.
func TestCheckIsOneLine(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	out, _, _ := show("check", "-baseline", node(t, t.TempDir(), "host", 1000, 0.3, 0.02, 1, 2))
	check.True(t, strings.Count(out, "\n") == 1 && len(out) >= 80, "%q is not one line", out)
}

// Sessions that are said not to differ have no other difference.
func TestCheckDrift(t *testing.T) {
	was := loadParams(t, node(t, t.TempDir(), "host", 1000, 0.3, 0.02, 1, 2))
	check.Equal(t, (&checkRequest{}).judge(was, was).Drift, compare.OwnDrift(was), "none given")
	for _, share := range []float64{0, 0.05} {
		check.Equal(t, (&checkRequest{drift: compare.Everywhere(share)}).judge(was, was).Drift, *compare.Everywhere(share), "%g", share)
	}
}

// A check against a baseline measured just before.
func TestCheck(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	host, prom := filepath.Join(dir, "host.json"), filepath.Join(dir, "taulop.prom")
	ran(t, strings.Fields("sweep -quiet -tau 1,2 -m 8K -cache in -gamma=false -launches 6 -time 5m -o "+host)...)
	out, _, err := run(t, strings.Fields("check -quiet -perfdata -drift 0.01 -baseline "+host+" -prom "+prom)...)
	status := named("check").status(err)
	skip.If(t, strings.Contains(out, "nothing could be tested"), "too little of the CPUs is had: %s", out)
	states := map[int]string{0: "OK", 1: "WARNING", 2: "CRITICAL", 3: "UNKNOWN"}
	check.True(t, strings.HasPrefix(out, "taulop "+states[status]+": ") && strings.Count(out, "\n") == 1 && regexp.MustCompile(` \| ('\w+'=[0-9.e+]+;1\.1;1\.3 ?)+\n$`).MatchString(out),
		"status %d, %q", status, out)
	sample := regexp.MustCompile(`^taulop_check_\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+$`)
	written := load(t, prom)
	for line := range strings.Lines(written) {
		check.True(t, strings.HasPrefix(line, "# ") || sample.MatchString(strings.TrimSuffix(line, "\n")), "no sample of Prometheus: %s", line)
	}
	check.AtLeast(t, strings.Count(written, "\ntaulop_check_ratio{"), 3, "ratios")
}

// Open MPI, if installed, places processes by the rankfile.
func TestOpenMPITakesTheRankfile(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	skip.If(t, err != nil, "there is no mpirun.openmpi")
	machine, err := numa.Discover("/")
	skip.If(t, err != nil || len(machine.CoreCPUs()) < 2, "it takes two cores")
	file := filepath.Join(t.TempDir(), "ranks.txt")
	ran(t, "map", "-P", "2", "-format", "openmpi", "-o", file, "ring")
	written := load(t, file)
	swapped := strings.NewReplacer("slot=0:0", "slot=0:1", "slot=0:1", "slot=0:0").Replace(string(written))
	for _, text := range []string{string(written), swapped} {
		save(t, "", file, text)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, mpirun, "--allow-run-as-root", "-n", "2", "--rankfile", file, "--report-bindings", "true").CombinedOutput()
		skip.If(t, strings.Contains(string(out), "unable to find network interfaces"), "mpirun needs a network: %s", out)
		check.Need(t, err == nil, "%v\n%s\n%s", err, text, out)
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var rank, pack, core int
			must.Get(fmt.Sscanf(line, "rank %d=localhost slot=%d:%d", &rank, &pack, &core))
			want := fmt.Sprintf("rank %d bound to socket %d[core %d", rank, pack, core)
			check.True(t, strings.Contains(string(out), want), "there is no %q in\n%s", want, out)
		}
	}
}
