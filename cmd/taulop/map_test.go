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
