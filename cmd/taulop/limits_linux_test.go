package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// With too few resources every command prints a sentence, with another status than for bad input.
func TestLimits(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("the program opens files of its own for the coverage")
	}
	unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // what go test inherited would count
	program := build(t)
	if err := os.Chmod(filepath.Dir(program), 0o755); err != nil { // others begin it too
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit string
		most  []int
		as    []string
	}{
		{"n", []int{4, 5, 6, 7, 8, 9, 10, 12}, nil},
		{"u", []int{8, 9, 10}, []string{"setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"}},
	} {
		for _, tool := range append(slices.Clone(tt.as[:min(1, len(tt.as))]), "bash") {
			if _, err := exec.LookPath(tool); err != nil || len(tt.as) > 0 && os.Getuid() != 0 {
				t.Skipf("ulimit -%s: this needs root, setpriv and bash", tt.limit)
			}
		}
		for _, n := range tt.most {
			for _, args := range []string{"topo", "-ring -local -time 2s 2 8 2", "sweep -time 2s -o /dev/null/x.json", "check -baseline x.json"} {
				line := append(slices.Clone(tt.as), "bash", "-c", fmt.Sprintf(`ulimit -%s %d && exec "$0" %s`, tt.limit, n, args), program)
				cmd := exec.Command(line[0], line[1:]...)
				var out, errOut bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errOut
				cmd.Run()
				want := 1
				if strings.HasPrefix(args, "check") {
					want = 3
				}
				if got := cmd.ProcessState.ExitCode(); got != want || strings.Count(errOut.String(), "\n") != 1 || !strings.Contains(errOut.String(), "(ulimit -"+tt.limit+")") || out.Len() > 0 {
					t.Errorf("%d: taulop %s: status %d\n%s%s", n, args, got, &out, &errOut)
				}
			}
		}
	}
}

// A release prints a sentence in any address space: by its entry where the Go runtime does not start, else
// by checkLimits.
func TestAddressSpace(t *testing.T) {
	program := filepath.Join(t.TempDir(), programName)
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-E=entry", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for kib := 100_000; kib < 1_900_000; kib += 100_000 {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" -ring -local -time 2s 2 8 2`, kib), program)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != 1 || bytes.Count(out, []byte("\n")) != 1 || !bytes.Contains(out, []byte("(ulimit -v)")) {
			t.Errorf("%d KiB: status %d\n%.2000s", kib, got, out)
		}
	}
	if out, err := exec.Command(program, "version").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
