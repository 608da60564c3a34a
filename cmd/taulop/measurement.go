package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// A measurement is an experiment with what a command prints before and after it. All commands that
// measure are carried out this way, and write what they have after a signal, too.
type measurement struct {
	limit    time.Duration          // of the command
	budget   time.Duration          // of the experiment
	report   *func(engine.Progress) // the experiment's
	run      func(context.Context) error
	warnings *[]string // of the result: printed before the experiment, later ones after the result
	earlier  []string  // those of warnings that are of earlier sessions: not printed unless they hold now
	now      []error
	// came says after a signal how far the experiment came.
	came func() string
	// conclude adds warnings. An error is the command's: nothing was measured. ended is the error of
	// the experiment.
	conclude func(steal *provenance.StealMeter, ended error) error
	// put writes the result, and returns the command's error.
	put func(ended error) error
}

// carryOut runs the experiment and writes the result.
func (m measurement) carryOut(ctx context.Context, errOut *messages) error {
	warn(errOut, lists.Filter(*m.warnings, func(text string) bool {
		return !slices.Contains(m.earlier, text) || slices.ContainsFunc(m.now, func(w error) bool { return w.Error() == text })
	}))
	told := len(*m.warnings)
	steal, ended := m.measure(ctx, errOut)
	if errors.Is(ended, context.Canceled) {
		ended = interrupted(m.came())
	}
	if err := m.conclude(steal, ended); err != nil {
		return err
	}
	untold := (*m.warnings)[told:]
	err := m.put(ended)
	warn(errOut, untold)
	return err
}

// measure runs the experiment, shows its progress, and measures steal time meanwhile. Experiments
// check their budget between samples; the deadline, an eighth or a second after the limit, ends
// long samples, such as those of gigabytes or of workers without a CPU. It is no error.
func (m measurement) measure(ctx context.Context, errOut *messages) (*provenance.StealMeter, error) {
	ctx, cancel := context.WithTimeout(ctx, m.limit+max(m.limit/8, time.Second))
	defer cancel()
	show, done := launchProgress(errOut, m.budget)
	defer done()
	*m.report = show
	steal := provenance.StartSteal("/")
	err := m.run(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return steal, err
}

// here is the topology of this machine, or the error that it cannot be measured.
func here() (*numa.Machine, error) {
	if !shm.Supported {
		return nil, errors.New("measuring needs Linux: this system has no way to pin a thread to a CPU and to ask where memory lies")
	}
	return numa.Discover("/")
}

// starved is a warning if what measures has waited for a CPU longer than it ran.
func starved() []error {
	got, known := onCPU()
	if !known || got >= report.Starved {
		return nil
	}
	return []error{fmt.Errorf("what measures gets %.2g %% of the CPU time that it asks for, be it for its priority, a quota or what else runs here: the time allowed may not be kept, and few samples will be had", 100*got)}
}

// onCPU is the time that measuring threads ran as a share of the time that they were runnable.
func onCPU() (share float64, known bool) {
	ran, waited := process.OnCPU()
	return float64(ran) / float64(ran+waited), ran > 0
}

// nothingIn is the error if no sample was finished in time. The cause, too little time or busy
// CPUs, is unknown; the error states both figures.
func nothingIn(budget time.Duration) error {
	seen := ""
	if got, known := onCPU(); known {
		seen = fmt.Sprintf(", in which it got %.0f %% of the CPU time that it asked for", 100*got)
	}
	return noAnswer(fmt.Sprintf("nothing was measured within -time %v%s: allow more", budget, seen))
}

// The usages of flags of several commands that measure.
const (
	nodeUsage = "measure on the CPUs of this NUMA `node` alone, as if there were no others"
	hugeUsage = "ask for transparent huge pages for buffers, which otherwise get none"
	fillUsage = "keep cores without a worker busy, so that few workers run at the clock of many"
)

// addPeak adds -peak; 0: not given.
func addPeak(flags *argument.Set, to *float64) {
	argument.Var(flags, to, "peak", "", "peak bandwidth of this machine's memory, in `GB/s`: channels × MT/s × 8 / 1000 (default from the modules that the firmware lists, if root runs it and the firmware names channels)", argument.Bandwidth)
}

// addLaunches adds -launches; 0: as many as the time allows.
func addLaunches(flags *argument.Set, n *int, usual int) {
	const most = 1000
	flags.IntVar(n, "launches", 0, fmt.Sprintf("measure in `n` launches, each of fresh processes (default as many as -time allows, 6 to %d)", usual))
	flags.Within("launches", engine.LeastLaunches, most, fmt.Sprintf("an interval takes %d or more, and %d are the most", engine.LeastLaunches, most))
}

// addNode adds -node and -name to a command that measures.
func addNode(flags *argument.Set, name *string) {
	flags.StringVar(name, "name", "", "`name` of this machine in the file and in all reports from it (default the host's)")
	flags.Func("node", nodeUsage, keepTo)
}

// keepTo restricts this program to the CPUs of a NUMA node. It executes itself anew, as under
// taskset, so that all threads and launches are restricted. It returns if the CPUs already are the
// node's.
func keepTo(node string) error {
	m, err := numa.Discover("/")
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(node)
	if err != nil {
		return errors.New("give the number of a NUMA node, like 0; taulop topo lists them")
	}
	of := lists.Find(m.Nodes, func(n numa.Node) bool { return n.ID == id })
	if of == nil {
		return errors.New("this machine has no such NUMA node; taulop topo lists them")
	}
	switch on := of.CPUs.And(m.Allowed); {
	case len(on) == 0:
		return fmt.Errorf("this program may not use the node's CPUs (%v), but %v alone; choose another node", of.CPUs, m.Allowed)
	case len(on) < len(m.Allowed):
		return process.BeginOn(on)
	}
	return nil
}
