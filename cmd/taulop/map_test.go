package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/numa/snapshot"
)

func mapped(t *testing.T, args ...string) (out, errOut string, err error) {
	var o, e bytes.Buffer
	err = mapCommand(t.Context(), &o, &e, args)
	return o.String(), e.String(), err
}

// The paper's machine, two nodes of two quad-core chips.
func TestMapOnThePapersMachine(t *testing.T) {
	root := snapshot.Unpack(t, "8em64t-2s2ca2c")
	out, _, err := mapped(t, "-root", root, "-nodes", "2", "-P", "16", "lu")
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
	out, _, err = mapped(t, "-root", root, "-nodes", "2", "-P", "16", "-json", "lu")
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
	out, _, err = mapped(t, "-root", root, "-hosts", "a,b", "-P", "16", "-method", "block", "-format", "openmpi", "lu")
	if err != nil || !strings.HasPrefix(out, "rank 0=a slot=0:0\n") || !strings.Contains(out, "rank 15=b slot=1:3\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Published tables have times of concurrent messages, and a topology tells the levels.
func TestMapPredicted(t *testing.T) {
	root := snapshot.Unpack(t, "8em64t-2s2ca2c")
	params := filepath.Join(os.Getenv("TAULOP_SHARED"), "params", "metropolis")
	out, _, err := mapped(t, "-root", root, "-nodes", "2", "-P", "16", "-params", filepath.Join(params, "SHM.txt"), "-net", filepath.Join(params, "IB.txt"), "bt")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"predicted by τ-Lop", "predicted time in which the program waits for each level, µs"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	_, _, err = mapped(t, "-root", root, "-nodes", "2", "-P", "16", "-params", filepath.Join(params, "SHM.txt"), "bt")
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "need a network") {
		t.Error(err)
	}
	_, _, err = mapped(t, "-P", "2", "-params", filepath.Join(params, "SHM.txt"), "ring")
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "with -root") {
		t.Error(err)
	}
}

func TestMapMistakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	two, three := write("two.csv", "0,1\n1,0\n"), write("three.csv", "0,1,0\n1,0,0\n0,0,0\n")
	for _, tt := range []struct {
		args string
		says string
	}{
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
		{"-format lsf -P 2 ring", `-format is "lsf"`},
		{"-format hosts -P 1 ring", "have no names"},
		{"-format openmpi -json -P 2 ring", "choose one"},
		{"-cache no -P 2 ring", "-cache is"},
		{"-net x -P 2 ring", "name a file of taulop sweep"},
		{"-params " + filepath.Join(dir, "none.json") + " -P 2 ring", "is not there"},
		{"-root " + filepath.Join(dir, "none") + " -P 2 ring", "is not a directory"},
		{"-root " + dir + " -P 2 ring", "-root"},
	} {
		_, _, err := mapped(t, strings.Fields(tt.args)...)
		if exitStatus(err) != 2 || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("taulop map %s: status %d, %v; want %q", tt.args, exitStatus(err), err, tt.says)
		}
	}
}

// What Open MPI wrote of two processes, each in a file.
func TestMapMonitoring(t *testing.T) {
	const of = "../../mapping/comm/testdata/messages."
	out, _, err := mapped(t, "-nodes", "2", of+"0.prof", of+"1.prof")
	if err != nil || !strings.Contains(out, "messages.0.prof … messages.1.prof: 2 ranks, 2 pairs of them communicate") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestMapHelp(t *testing.T) {
	out, _, err := mapped(t, "-h")
	if exitStatus(err) != 0 {
		t.Fatal(err)
	}
	for _, want := range slices.Concat(comm.Names(), []string{"mwpm", "swaps", "openmpi", "slurm", "-root"}) {
		if !strings.Contains(out, want) {
			t.Errorf("help does not name %s", want)
		}
	}
}
