package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// The paper's machine, two nodes of two quad-core chips.
func TestMapOnThePapersMachine(t *testing.T) {
	t.Parallel()
	root := snapshot.Unpack(t, "8em64t-2s2ca2c")
	out, _, err := run(t, "map", "-root", root, "-nodes", "2", "-P", "16", "lu")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"lu: 16 ranks, 48 pairs of them communicate, 9 MiB in 3120 messages", "2 nodes of 8 cores",
		"mwpm", "drb", "es", "swaps", "shared L2  same package  same node  other node", "1 hop        2 hops     3 hops      4 hops", "+n1",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 110 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	out, _, err = run(t, "map", "-root", root, "-nodes", "2", "-P", "16", "-json", "lu")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Best     string
		Mappings []struct {
			Method string
			Places []int
		}
		Sent [][]comm.Entry
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Mappings) != 6 || len(doc.Mappings[0].Places) != 16 || len(doc.Sent) != 16 {
		t.Errorf("%v, %+v", err, doc)
	}
	out, _, err = run(t, "map", "-root", root, "-nodes", "2", "-P", "16", "-csv", "lu")
	rows, failed := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || failed != nil || len(rows) != 1+6*4 || !slices.Contains(rows[0], "level_bytes") || !slices.Equal(rows[1][:6], []string{"lu", "16", "2", "block", "false", "22020096"}) {
		t.Errorf("%v, %v\n%s", err, failed, out)
	}
	out, _, err = run(t, "map", "-root", root, "-hosts", "a,b", "-P", "16", "-method", "block", "-format", "openmpi", "lu")
	if err != nil || !strings.HasPrefix(out, "rank 0=a slot=0:0\n") || !strings.Contains(out, "rank 15=b slot=1:3\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Published tables have times of concurrent messages, and a topology tells the levels.
func TestMapPredicted(t *testing.T) {
	root := snapshot.Unpack(t, "8em64t-2s2ca2c")
	params := filepath.Join(os.Getenv("TAULOP_SHARED"), "params", "metropolis")
	out, _, err := run(t, "map", "-root", root, "-nodes", "2", "-P", "16", "-params", filepath.Join(params, "SHM.txt"), "-net", filepath.Join(params, "IB.txt"), "bt")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"predicted by τ-Lop", "predicted time in which the program waits for each level, µs"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	_, _, err = run(t, "map", "-root", root, "-nodes", "2", "-P", "16", "-params", filepath.Join(params, "SHM.txt"), "bt")
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "need a network") {
		t.Error(err)
	}
	_, _, err = run(t, "map", "-P", "2", "-params", filepath.Join(params, "SHM.txt"), "ring")
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "with -root") {
		t.Error(err)
	}
}

func TestMapMistakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return save(t, dir, name, text) }
	two, three := write("two.csv", "0,1\n1,0\n"), write("three.csv", "0,1,0\n1,0,0\n0,0,0\n")
	refuses(t, nil, "map", []mistake{
		{"", "say what to map"},
		{"ring", "-P is missing"},
		{"-P 0 ring", "-P is 0"},
		{"-P 5 bt", "bt is for a square number of processes"},
		{"-P 2 rong", `did you mean "ring"`},
		{"-P 2 ring grid2d", "one word too many"},
		{"-P 2 -m 0 ring", "-m:"},
		{"-P 2 -messages " + two + " ring", "-messages is of a file"},
		{"-m 4K " + two, "-m is of a pattern"},
		{"-P 3 " + two, "is of 2 processes, and -P is 3"},
		{"-messages " + three + " " + two, "give matrices of as many"},
		{two + " " + three, "is no file of Open MPI's monitoring"},
		{write("nan.csv", "0,nan\n1,0\n"), "nan.csv:1: \"nan\" is no number"},
		{write("negative.csv", "0,-1\n1,0\n"), "below zero"},
		{write("long.csv", "0,1\n1,0\n1,1\n"), "a communication matrix is square"},
		{filepath.Join(dir, "none.csv"), "is not there"},
		{"-P 4000 ring", "4000 processes and"},
		{"-nodes 0 -P 2 ring", "-nodes is 0"},
		{"-nodes 3 -hosts a,b -P 2 ring", "-hosts names 2 nodes"},
		{"-hosts a=b -P 2 ring", "is no name of a node"},
		{"-time 0s -P 2 ring", "-time is 0s"},
		{"-method best -P 2 ring", `there is no "best"`},
		{"-method es -nodes 20 -P 17 ring", "too many mappings"},
		{"-format lsf -P 2 ring", `-format: there is no "lsf"`},
		{"-format hosts -P 1 ring", "have no names: give them (-hosts a,b)"},
		{"-format openmpi -json -P 2 ring", "choose one"},
		{"-format openmpi -csv -P 2 ring", "choose one"},
		{"-csv -json -P 2 ring", "choose one"},
		{"-cache no -P 2 ring", "-cache: \"no\" is neither in nor off"},
		{"-net x -P 2 ring", "name a file of taulop sweep"},
		{"-params " + filepath.Join(dir, "none.json") + " -P 2 ring", "is not there"},
		{"-root " + filepath.Join(dir, "none") + " -P 2 ring", "is not a directory"},
		{"-root " + dir + " -P 2 ring", "-root"},
	})
}

// Few bytes are told as such, and a matrix of nothing has no table of levels.
func TestMapLittle(t *testing.T) {
	for matrix, want := range map[string]string{
		"0,100\n50,0\n": "2 pairs of them communicate, 150 B in 2 messages",
		"0,100\n0,0\n":  "1 pair of them communicates, 100 B in 1 message",
		"7,0\n0,7\n":    "none of which sends another anything",
	} {
		path := save(t, t.TempDir(), "m.csv", matrix)
		out, _, err := run(t, "map", "-nodes", "2", path)
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, "MB") || strings.Contains(out, "0.000") ||
			strings.Contains(out, "bytes at each level") != strings.Contains(out, "communicate") {
			t.Errorf("%q: %v\n%s", matrix, err, out)
		}
	}
}

// What Open MPI wrote of two processes, each in a file.
func TestMapMonitoring(t *testing.T) {
	const of = "../../mapping/comm/testdata/messages."
	out, _, err := run(t, "map", "-nodes", "2", of+"0.prof", of+"1.prof")
	if err != nil || !strings.Contains(out, "messages.0.prof … messages.1.prof: 2 ranks, 2 pairs of them communicate") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestMapPlot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	doc := filepath.Join(dir, "map.json")
	ran(t, "map", "-nodes", "70", "-P", "64", "-json", "-o", doc, "cg")
	figure := filepath.Join(dir, "map.svg")
	ran(t, "plot", "map", "-o", figure, doc)
	drawn := load(t, figure)
	for _, want := range []string{"before: processes in their order", "after: in the order of their cores", "+n0", "6 more nodes are not drawn"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	other := save(t, dir, "other.json", `{"processes": 3}`)
	refuses(t, nil, "plot map -o "+filepath.Join(dir, "x.svg"), []mistake{
		{other, "is no document of taulop map"},
		{filepath.Join(dir, "none.json"), "is not there"},
		{doc + " " + doc, "draws one file"},
		{"-P 4 " + doc, "shows all of its file"},
	})
}

// Open MPI, where it is installed, puts processes where the rankfile says.
func TestOpenMPITakesTheRankfile(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		t.Skip("there is no mpirun.openmpi")
	}
	machine, err := numa.Discover("/")
	if err != nil || len(machine.CoreCPUs()) < 2 {
		t.Skip("it takes two cores")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "ranks.txt")
	if _, _, err := run(t, "map", "-P", "2", "-format", "openmpi", "-o", file, "ring"); err != nil {
		t.Fatal(err)
	}
	written := load(t, file)
	swapped := strings.NewReplacer("slot=0:0", "slot=0:1", "slot=0:1", "slot=0:0").Replace(string(written))
	for _, text := range []string{string(written), swapped} {
		save(t, "", file, text)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, mpirun, "--allow-run-as-root", "-n", "2", "--rankfile", file, "--report-bindings", "true").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, out)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var rank, pack, core int
			if _, err := fmt.Sscanf(line, "rank %d=localhost slot=%d:%d", &rank, &pack, &core); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("rank %d bound to socket %d[core %d", rank, pack, core); !strings.Contains(string(out), want) {
				t.Errorf("there is no %q in\n%s", want, out)
			}
		}
	}
}
