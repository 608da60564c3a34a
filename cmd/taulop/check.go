package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/params"
)

// mostChecking is the longest check: schedulers wait for it.
const mostChecking = 10 * time.Second

// leastCPU is the least share of the requested CPU time for a verdict: a check that gets less is
// slow because of other processes. Below report.Starved changes go unseen for lack of it.
const leastCPU = 0.8

// A checkRequest holds the flags of check.
type checkRequest struct {
	baseline, prom string
	time           time.Duration
	levels         compare.Levels
	drift          *compare.Drift // nil: the baseline's own
	peak           float64        // GB/s of memory; 0: from the baseline or the firmware
	perf, json     bool
}

// checkFlags is the subcommand. Errors are printed as a line of state unknown.
func checkFlags(flags *argument.Set) action {
	req := &checkRequest{}
	req.add(flags)
	flags.Failed = func(out io.Writer, err error) error {
		if req.checkProm() != nil {
			req.prom = ""
		}
		return req.say(out, unknownState(err))
	}
	return func(ctx context.Context, out io.Writer, errOut *messages, _ []string) error {
		err := req.check(ctx, out, errOut)
		if err != nil && !errors.As(err, new(verdict)) {
			err = req.say(out, unknownState(err))
		}
		return err
	}
}

// unknownState is the result of a failed check.
func unknownState(err error) *compare.Baseline {
	return &compare.Baseline{State: compare.Unknown, Text: fmt.Sprint(advised([]error{err})[0])}
}

// say prints the result, and returns the verdict.
func (req *checkRequest) say(out io.Writer, b *compare.Baseline) (err error) {
	doc := (*report.Check)(b)
	if req.prom != "" {
		if failed := outfile.Write(req.prom, exactly([]byte(doc.Metrics()))); failed != nil {
			if b.State == compare.OK {
				b.State = compare.Unknown
			}
			b.Text = fmt.Sprintf("%v; %s", failed, b.Text)
		}
	}
	line := doc.Line() + printable.If(req.perf && len(doc.Cells) > 0, doc.Performance(req.levels))
	switch {
	case req.json:
		err = doc.WriteJSON(verbatim(out))
	case isTerminal(out):
		fmt.Fprintln(out, line)
	default: // unbroken: monitors show the first line alone
		err = asText(exactly([]byte(line + "\n")))(raw(out))
	}
	if err == nil && b.State == compare.OK {
		return nil
	}
	return verdict(b.State)
}

// A verdict is the exit status of a check that has printed its result.
type verdict compare.State

func (v verdict) Error() string { return compare.State(v).String() }

func (req *checkRequest) add(flags *argument.Set) {
	flags.StringVar(&req.baseline, "baseline", "", "`file` of taulop sweep to compare with")
	flags.Func("node", nodeUsage, keepTo)
	flags.DurationVar(&req.time, "time", 8*time.Second, "time for all, 10s at the most")
	argument.Var(flags, &req.levels.Warning, "warning", "10%", "a cell that is slower by this `share` is a warning", argument.Share(100))
	argument.Var(flags, &req.levels.Critical, "critical", "30%", "a cell that is slower by this `share` is critical", argument.Share(100))
	addDrift(flags, &req.drift, "", "the baseline's, if it has three sessions or more, else ")
	addPeak(flags, &req.peak)
	flags.StringVar(&req.prom, "prom", "", "write a `file` for the textfile collector of Prometheus's node exporter, too")
	flags.BoolVar(&req.perf, "perfdata", false, "append each cell's ratio to the baseline to the line")
	flags.BoolVar(&req.json, "json", false, "one JSON document instead of the line")
	flags.Required("baseline", "name a file of taulop sweep, measured when this node was well")
	flags.Within("time", 0, float64(mostChecking), fmt.Sprintf("give a time up to %v, like 8s", mostChecking))
	flags.Check(func() error {
		if !(req.levels.Warning > 0 && req.levels.Warning <= req.levels.Critical) {
			return usagef("-warning is %s and -critical %s: give percentages above 0, the critical one not below the other, like 10%% and 30%%", printable.Percent(req.levels.Warning), printable.Percent(req.levels.Critical))
		}
		return req.checkProm()
	})
}

// checkProm rejects standard output, a file that cannot be written, and one that holds parameters.
func (req *checkRequest) checkProm() error {
	switch req.prom {
	case "":
		return nil
	case "-":
		return usagef("-prom writes a file beside the output: name one, like taulop.prom")
	}
	if err := outfile.Check(req.prom); err != nil {
		return usagef("-prom %s cannot be written: %v", req.prom, err)
	}
	if outfile.Replaces(req.prom) && holdsParameters(req.prom) {
		return usagef("-prom %s holds the parameters of a machine, which would be lost: choose another name", req.prom)
	}
	return nil
}

// check measures, compares with the baseline, and prints the result.
func (req *checkRequest) check(ctx context.Context, out io.Writer, errOut *messages) error {
	began := time.Now()
	m, err := here()
	if err != nil {
		return err
	}
	was, err := readParameters("baseline", req.baseline)
	if err != nil {
		return err
	}
	x, err := sweep.Check(was, m, req.peak, req.time)
	if err != nil {
		return usagef("-baseline %s is no measure of this node: %v", req.baseline, err)
	}
	x.Time -= time.Since(began)
	limited, cancel := context.WithTimeout(ctx, mostChecking-time.Since(began)-300*time.Millisecond)
	defer cancel()
	var warnings []string
	var b *compare.Baseline
	return measurement{
		limit: mostChecking, budget: x.Time, report: &x.Report, run: x.Run, warnings: &warnings,
		came: func() string { return "it was stopped before it was done" },
		conclude: func(steal *provenance.StealMeter, ended error) error {
			if ended != nil {
				return ended
			}
			b = req.judge(was, x.File)
			if b.State != compare.OK { // other possible causes
				b.Text += beside(x.File, steal)
				warnings = slices.Concat(x.File.Warnings, lists.Map(slices.Concat(advised(x.File.Provenance.Warnings()), starved(), steal.Warnings()), error.Error))
			}
			return nil
		},
		put: func(error) error { return req.say(out, b) },
	}.carryOut(limited, errOut)
}

// judge compares a file with the baseline.
func (req *checkRequest) judge(was, now *params.File) *compare.Baseline {
	b := compare.NewBaseline(was, now, compare.Test{Drift: req.drift, Least: compare.DefaultLeast}, req.levels)
	got, known := onCPU()
	starved := known && got < leastCPU
	switch {
	case starved && b.State == compare.Unknown: // sessions would not help
		const cause, again = "this check got too little CPU time", "check again when less runs here"
		if got < report.Starved && b.Blame(cause) {
			b.Text += "; " + again
		} else {
			b.Text += "; " + cause + ": " + again
		}
	case b.Unmet():
		b.Text += "; add sessions at other times (taulop sweep -add " + req.baseline + ")"
	case b.State == compare.Unknown && len(b.Cells) > 0:
		b.Text += "; add some at other times (taulop sweep -add " + req.baseline + ")"
		b.Text += printable.If(req.drift == nil, ", or say what hours differ by (-drift)")
	}
	if starved && (b.State == compare.Warned || b.State == compare.Critical) {
		b.State, b.Text = compare.Unknown, "it got too little CPU time to tell why: "+b.Text
	}
	return b
}

// beside describes what ran beside a check: the load before it, the share of CPU time that it got,
// steal time, and programs on the same cores.
func beside(f *params.File, steal *provenance.StealMeter) (text string) {
	say := func(format string, args ...any) { text += fmt.Sprintf("; "+format, args...) }
	if load := f.Provenance.Load; len(load) > 0 {
		say("the load was %.2f before", load[0])
	}
	if got, known := onCPU(); known {
		say("this check got %.0f %% of the CPU time that it asked for", 100*got)
	}
	if share, known := steal.Share(); known {
		say("the hypervisor took %s", printable.Percent(share))
	}
	if u, found := doubt.Steady(f).(doubt.Unsteady); found && u.High > 0 {
		say("an instruction took %.2g to %.2g ns, as beside programs that share its cores", u.Low, u.High)
	}
	return text
}
