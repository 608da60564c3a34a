package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// Open MPI, if installed, places processes by the rankfile.
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
		if strings.Contains(string(out), "unable to find network interfaces") {
			t.Skipf("mpirun needs a network: %s", out)
		}
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, out)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var rank, pack, core int
			must.Get(fmt.Sscanf(line, "rank %d=localhost slot=%d:%d", &rank, &pack, &core))
			if want := fmt.Sprintf("rank %d bound to socket %d[core %d", rank, pack, core); !strings.Contains(string(out), want) {
				t.Errorf("there is no %q in\n%s", want, out)
			}
		}
	}
}
