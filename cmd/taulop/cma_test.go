package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/test/surveytest"
)

// A sweep with single copies is what -transport cma predicts from, in both states of
// buffers; of a file without them it says how to get them. Collectives are carried out on this
// machine.
func TestTransportCMA(t *testing.T) {
	m := surveytest.Machine(t, 2)
	if err := cma.Allowed(m); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	if out, errOut, err := run(t, "sweep", "-with", "cma", "-tau", "1,2", "-m", "1K,8K", "-cache", "in", "-gamma=false", "-time", "2m", "-launches", "6", "-o", file); err != nil || !strings.Contains(out, "over cma in ns, sendrecv") {
		t.Fatalf("%v\n%s\n%s", err, out, errOut)
	}
	for _, buffers := range []string{"rewritten", "unchanged"} {
		out, _, err := run(t, "predict", "-params", file, "-P", "2", "-m", "8K", "-transport", "cma", "-buffers", buffers, "bcast:linear", "allgather:ring")
		if err != nil || !strings.Contains(out, "single copies by the kernel (cma), send buffers "+buffers) {
			t.Errorf("%s: %v\n%s", buffers, err, out)
		}
	}
	// Collectives are carried out over single copies, and predicted from those.
	verify := func(budget time.Duration) (out, errOut string, err error) {
		return run(t, "verify", "-transport", "cma", "-buffers", "unchanged", "-params", file, "-no-sweep", "-cache", "in", "-P", "2", "-m", "3000", "-time", budget.String(), "message", "allgather:ring")
	}
	var out, errOut string
	var err error
	longEnough(t, 2*time.Second, func(budget time.Duration) bool {
		out, errOut, err = verify(budget)
		return err == nil && strings.Contains(out, "allgather:ring, P = 2") && !strings.Contains(errOut, "time did not suffice for")
	})
	for _, want := range []string{"single copies by the kernel (cma) from process to process, send buffers unchanged", "message, P = 2", "allgather:ring, P = 2", "L(m,τ) of single copies, of "} {
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("%v: want %q in\n%s\n%s", err, want, out, errOut)
		}
	}
	measures(t)
	// In the state that the machine is in, the simulated file may have nothing to predict from.
	if out, errOut, err := verify(2 * time.Second); err != nil && !strings.Contains(err.Error(), "within -time") && !strings.Contains(out, "allgather:ring, P = 2") {
		t.Errorf("%v\n%s\n%s", err, out, errOut)
	}
	if _, _, err := run(t, strings.Fields("predict -P 2 -transport cma -model loggp -params "+file+" bcast")...); err == nil || !strings.Contains(err.Error(), "knows no single copies") {
		t.Error(err)
	}
}
