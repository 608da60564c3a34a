package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/test/must"
)

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
	out, errOut, err := run(t, on(machine, "tune", "-timed "+job)...)
	if err != nil || !strings.Contains(out, "# bcast") || !strings.Contains(errOut, `P-0.tsv, line `) {
		t.Errorf("%v %s\n%s", err, errOut, out)
	}
	out, _, err = run(t, on(machine, "tune", "-timed "+job+" -explain")...)
	if err != nil || !strings.Contains(out, "timed") || !strings.Contains(out, "gain in %") {
		t.Errorf("%v\n%s", err, out)
	}
	for pass := range 4 { // an interval takes six
		must.Do(os.Remove(filepath.Join(job, "results", fmt.Sprintf("P-%d.tsv", pass))))
	}
	out, _, err = run(t, on(machine, "tune", "-timed "+job)...)
	if exitStatus(err) != 3 || out != "" || !strings.Contains(err.Error(), "run run.sh there again, it goes on") {
		t.Errorf("%v\n%s", err, out)
	}
}
