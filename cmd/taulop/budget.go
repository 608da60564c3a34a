package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
)

// carryOut runs an experiment, shows its progress, and measures steal time meanwhile. Experiments
// check their budget between samples; the deadline, an eighth or a second after the limit, ends
// long samples, such as those of gigabytes or of workers without a CPU. It is no error.
func carryOut(ctx context.Context, errOut io.Writer, limit, budget time.Duration, report *func(engine.Progress), run func(context.Context) error) (*provenance.StealMeter, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+max(limit/8, time.Second))
	defer cancel()
	show, done := launchProgress(errOut, budget)
	defer done()
	*report = show
	steal := provenance.StartSteal("/")
	err := run(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return steal, err
}

// ifStopped replaces the error of a signal by one that says how far the command came.
func ifStopped(err error, format string, args ...any) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	return interrupted(fmt.Sprintf(format, args...))
}

// starved is a warning if this process has waited for a CPU longer than it ran: it needs a CPU
// to notice that its time is up.
func starved() []error {
	got, known := onCPU()
	if !known || got >= 0.5 {
		return nil
	}
	return []error{fmt.Errorf("this process gets %.2g %% of the CPU time that it asks for, be it for its priority, a quota or what else runs here: the time allowed may not be kept, and few samples will be had", 100*got)}
}

// onCPU is the time this process ran as a share of the time it was runnable.
func onCPU() (share float64, known bool) {
	ran, waited := process.OnCPU()
	return float64(ran) / float64(ran+waited), ran > 0
}

// nothingIn is the error if no sample was finished in time. The cause, too little time or busy
// CPUs, is unknown; the error states both figures.
func nothingIn(budget time.Duration) error {
	seen := ""
	if got, known := onCPU(); known {
		seen = fmt.Sprintf(", in which this process got %.0f %% of the CPU time that it asked for", 100*got)
	}
	return noAnswer(fmt.Sprintf("nothing was measured within -time %v%s: allow more", budget, seen))
}

// launchProgress shows the progress of an experiment.
func launchProgress(w io.Writer, budget time.Duration) (show func(engine.Progress), done func()) {
	text := func(p engine.Progress) string {
		launch := fmt.Sprintf("launch %d", p.Launch)
		if p.Launches > 0 {
			launch += fmt.Sprintf(" of %d", p.Launches)
		}
		return fmt.Sprintf("%s: %d of %d cells, %v left", launch, p.Visited, p.Cells, max(0, p.Left.Round(time.Second)))
	}
	set, done := progress(w, int(budget.Milliseconds()))
	return func(p engine.Progress) {
		set(text(p), int(min(max(0, budget-p.Left), budget).Milliseconds()))
	}, done
}

// countProgress shows progress over steps of similar duration.
func countProgress(w io.Writer, what string) (show func(done, of int), done func()) {
	began := time.Now()
	set, done := progress(w, 1000)
	return func(done, of int) {
		left := time.Since(began) / time.Duration(max(1, done)) * time.Duration(of-done)
		set(fmt.Sprintf("%d of %s, %v left", done, printable.Count(of, what), left.Round(time.Second)), 1000*done/max(1, of))
	}, done
}

// progress draws a bar on a terminal, and prints a line per minute elsewhere.
func progress(w io.Writer, most int) (set func(text string, at int), done func()) {
	if m, is := w.(*messages); is {
		w = m.progress
	}
	if !isTerminal(w) {
		last := time.Now()
		return func(text string, _ int) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %s\n", text)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(most, progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(text string, at int) {
		const bars = 30 // columns of the bar, with the percentage before it
		if letters, room := []rune(text), columns(w)-bars; len(letters) > room {
			text = string(letters[:max(0, room-1)]) + "…"
		}
		bar.Describe(text)
		bar.Set(at)
	}, func() { bar.Finish() }
}

// nodeUsage is the usage of -node.
const nodeUsage = "measure on the CPUs of this NUMA `node` alone, as if there were no others"

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
	i := slices.IndexFunc(m.Nodes, func(n numa.Node) bool { return n.ID == id })
	if i < 0 {
		return errors.New("this machine has no such NUMA node; taulop topo lists them")
	}
	switch on := m.Nodes[i].CPUs.And(m.Allowed); {
	case len(on) == 0:
		return fmt.Errorf("this program may not use the node's CPUs (%v), but %v alone; choose another node", m.Nodes[i].CPUs, m.Allowed)
	case len(on) < len(m.Allowed):
		return process.BeginOn(on)
	}
	return nil
}
