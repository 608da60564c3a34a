package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/process"
)

// within is ctx until a command's time is over by so much that what is left to do,
// to sum up and to write, still keeps it within a quarter or two seconds. What
// measures looks at its budget between samples; this ends a sample that takes long:
// one that maps gigabytes, or whose workers rarely get a CPU.
func within(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, budget+max(budget/8, time.Second))
}

// carryOut runs an experiment and tells its progress. That its time was up is no error:
// what there is counts.
func carryOut(ctx context.Context, said io.Writer, budget time.Duration, report *func(engine.Progress), run func(context.Context) error) (late bool, err error) {
	show, done := launchProgress(said, budget)
	defer done()
	*report = show
	err = run(ctx)
	if late = errors.Is(err, context.DeadlineExceeded); late {
		err = nil
	}
	return late, err
}

// A saying is what is said beside a result: warnings, and how far a measurement is.
type saying struct{ quiet, noProgress bool }

// add adds -quiet, of which usage says what is left out, and -no-progress.
func (s *saying) add(flags *argument.Set, usage string) {
	s.addQuiet(flags, usage)
	flags.BoolVar(&s.noProgress, "no-progress", false, "no progress; warnings are printed")
}

// addQuiet adds -quiet alone, of what measures nothing.
func (s *saying) addQuiet(flags *argument.Set, usage string) {
	flags.BoolVar(&s.quiet, "quiet", false, usage)
}

// aside is where warnings go.
func (s saying) aside(errOut io.Writer) io.Writer {
	if s.quiet {
		return io.Discard
	}
	return errOut
}

// progress is where progress goes.
func (s saying) progress(errOut io.Writer) io.Writer {
	if s.noProgress {
		return io.Discard
	}
	return s.aside(errOut)
}

// starved has a warning if this process has waited for a CPU longer than it ran. Its
// budget may not be kept then, for it has to get a CPU to find out that time is up.
func starved() []error {
	got, known := onCPU()
	if !known || got >= 0.5 {
		return nil
	}
	return []error{fmt.Errorf("this process gets %.2g %% of the CPU time that it asks for, be it for its priority, a quota or what else runs here: the time allowed may not be kept, and few samples will be had", 100*got)}
}

// onCPU is the share of the time that this process ran, of that in which it could have.
func onCPU() (share float64, known bool) {
	ran, waited := process.OnCPU()
	return float64(ran) / float64(ran+waited), ran > 0
}

// nothingIn is the error where no sample was finished in time. Whether the time was too short
// or the CPUs were taken is not known: it says what was seen of both.
func nothingIn(budget time.Duration) error {
	seen := ""
	if got, known := onCPU(); known {
		seen = fmt.Sprintf(", in which this process got %.0f %% of the CPU time that it asked for", 100*got)
	}
	return usagef("nothing was measured within -time %v%s: allow more", budget, seen)
}
