//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// In a machine with more CPUs than its host every worker that waits takes a time slice
// of the host's from one that works. So these checks ask for as few launches, sizes and
// samples as show what they are about: that all CPUs work together, each on memory of
// its node, and that the end comes when it is due.

// crowded is a check of which workers sleep while they wait, as package shm does in the
// builds for these machines where the environment says so, and nothing interrupts them.
func crowded(run func(guest, context.Context) error) func(guest, context.Context) error {
	return func(g guest, ctx context.Context) error {
		for name, value := range map[string]string{"TAULOP_OVERCOMMIT": "1", "GODEBUG": "asyncpreemptoff=1"} {
			os.Setenv(name, value)
			defer os.Unsetenv(name)
		}
		return run(g, ctx)
	}
}

// everyCPU has a worker on each CPU.
func (g guest) everyCPU(ctx context.Context) error {
	n := g.machine.CPUs()
	doc, err := g.measure(ctx, "-ring", "-local", "-k", "1", "-launches", "6", "-time", "60s", "2", "8", strconv.Itoa(n))
	if err != nil {
		return err
	}
	return g.filled(doc.Placement, doc.Concurrent)
}

// filled wants a worker on each CPU, with its buffers on the node next to it.
func (g guest) filled(p numa.Placement, concurrent bool) error {
	if len(p.Workers) != g.machine.CPUs() || !concurrent {
		return fmt.Errorf("%d workers, concurrent: %v; want one on each of %d CPUs", len(p.Workers), concurrent, g.machine.CPUs())
	}
	for i, w := range p.Workers {
		if node := g.node(i); w.ID != i || w.Node != node || w.UserNode != node || w.IntermediateNode != node {
			return fmt.Errorf("worker %d is on CPU %d of node %d with buffers on nodes %d and %d, want all on node %d", i, w.ID, w.Node, w.UserNode, w.IntermediateNode, node)
		}
	}
	return nil
}

// collectives has each algorithm carried out by a rank on every CPU, which fails where
// one rank ends with wrong data.
func (g guest) collectives(ctx context.Context) error {
	const test = "TestCollectivesOnEveryCPU"
	o, err := g.execute(ctx, nil, "/bin/setups.test", "-test.v", "-test.timeout=0", "-test.run=^"+test+"$")
	if err == nil && !strings.Contains(o.out, fmt.Sprintf("P = %d, ", g.machine.CPUs())) {
		err = fmt.Errorf("%d ranks were asked for: %v", g.machine.CPUs(), o)
	}
	return passed(o, err)
}

// verified has collectives verified as users do, the default algorithm of each by itself
// among as many ranks as there are CPUs: one launch may have no time for several.
func (g guest) verified(ctx context.Context) error {
	n := g.machine.CPUs()
	const path = "/invented.json"
	if err := invented(n).WriteFile(path); err != nil {
		return err
	}
	for _, c := range collective.Collectives() {
		name := c.DefaultAlgorithm().String()
		o, err := g.execute(ctx, nil, taulop, "verify", "-json", "-params", path, "-no-sweep",
			"-P", strconv.Itoa(n), "-m", "512", "-cache", "in", "-time", "20s", name)
		if err != nil {
			return err
		}
		var doc verify.Result
		if err := o.decode(&doc); err != nil {
			return err
		}
		if len(doc.Rows) != 1 || doc.Rows[0].Name != name || doc.Rows[0].P != n || !(doc.Rows[0].Measured.Center > 0) {
			return fmt.Errorf("%s was not carried out by %d ranks: %v", name, n, o)
		}
	}
	return nil
}

// invented has the transfers and reductions that a prediction takes.
func invented(tau int) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{params.Ring},
		Policies: []numa.Policy{numa.Local}, Sizes: []int{64, 8192}, Taus: []int{1, tau}, Caches: []bool{false}, Segments: 2, SegmentBytes: 8192}}
	for _, tau := range f.Plan.Taus {
		for _, m := range f.Plan.Sizes {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: tau, Bytes: m},
				K: 1, Transfers: 2, Time: fit.Median([]float64{float64(2*m + tau)})},
				params.Cell{Key: params.Key{Kind: params.GammaCell, Placement: numa.Local, Tau: tau, Bytes: m, Operator: "SUM_I"},
					Time: fit.Median([]float64{float64(m)})})
		}
	}
	return f
}

// interrupted ends a sweep of all CPUs with Ctrl-C: it is over in seconds and leaves
// a file that is read.
func (g guest) interrupted(ctx context.Context) error {
	const path = "/interrupted.json"
	o, err := g.underWay(ctx, path, func(parent, _ int) error { return syscall.Kill(parent, syscall.SIGINT) })
	if err != nil {
		return err
	}
	if want := 128 + int(syscall.SIGINT); o.status != want {
		return fmt.Errorf("exit status %d, want %d: %v", o.status, want, o)
	}
	_, err = params.ReadFile(path)
	return err
}

// killed kills the process that measures, with all its workers, in a sweep of all
// CPUs: another one takes over, and the file has what was asked for.
func (g guest) killed(ctx context.Context) error {
	const path = "/killed.json"
	o, err := g.underWay(ctx, path, func(_, launch int) error { return syscall.Kill(launch, syscall.SIGKILL) })
	if err == nil {
		err = passed(o, nil)
	}
	if err != nil {
		return err
	}
	f, err := params.ReadFile(path)
	if err != nil {
		return err
	}
	died := 0
	for _, l := range f.Launches {
		if l.Died {
			died++
		}
	}
	if told := strings.Join(f.Warnings, "\n"); died != 1 || !strings.Contains(told, "a launch died") {
		return fmt.Errorf("%d launches died, warnings %q; want one, and a word on it", died, f.Warnings)
	}
	if len(f.Placements) != 1 {
		return fmt.Errorf("placements %v", f.Placements)
	}
	for _, c := range f.Cells {
		if c.Tau == g.machine.CPUs() && c.Kind == params.TransferCell && c.Time.Center > 0 {
			return g.filled(f.Placements[0], !f.Placements[0].Oversubscribed)
		}
	}
	return fmt.Errorf("no transfers of all CPUs among %d cells", len(f.Cells))
}

// underWay sweeps on all CPUs, and does something to the sweep and the process that
// measures for it once that has begun to.
func (g guest) underWay(ctx context.Context, path string, do func(parent, launch int) error) (outcome, error) {
	cmd := []string{taulop, "sweep", "-quiet", "-o", path, "-setup", "ring", "-placement", "local", "-cache", "in",
		"-tau", strconv.Itoa(g.machine.CPUs()), "-m", "8K", "-gamma=false", "-launches", "6", "-time", "40s"}
	var failed error
	o, err := g.execute(ctx, func() {
		for failed = errNoLaunch; failed == errNoLaunch && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			for _, parent := range children(os.Getpid()) {
				if launch := children(parent); len(launch) == 1 {
					time.Sleep(500 * time.Millisecond) // it measures by then
					failed = do(parent, launch[0])
				}
			}
		}
	}, cmd...)
	return o, errors.Join(failed, err)
}

var errNoLaunch = errors.New("no process was begun that measures")

// children are the processes that a process has started.
func children(of int) (pids []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of))
	for _, task := range tasks {
		list, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
