package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

const checkHelp = `Check says whether this node is as it was: it measures a few cells of a baseline
again, what memory carries, transfers between cores, flags, and tests them against it.

  taulop check -baseline FILE [flags]

FILE is what taulop sweep wrote on this node, or on one that it should be like. The more
sessions it has (taulop sweep -add FILE, at other times), the smaller the change that is
seen: hours of one machine differ, and one session cannot say by how much. Sessions that
began less than an hour apart count as one. Where the host moves the CPUs of a virtual
machine, like states are compared: those in which a flag between two CPUs takes alike.

It prints one line and ends as monitoring plugins do: 0 OK, 1 WARNING, 2 CRITICAL, 3
UNKNOWN. A cell counts as slower if the test says so and it is above a level.

Examples:
  taulop sweep -o /var/lib/taulop/baseline.json           once, on a node that is well
  taulop check -baseline /var/lib/taulop/baseline.json
  taulop check -baseline baseline.json -warning 0.05 -critical 0.2
  taulop check -baseline baseline.json -prom /var/lib/node_exporter/taulop.prom

Flags:
`

// mostChecking is how long a check may take: schedulers wait for it.
const mostChecking = 10 * time.Second

// A checkRequest is what the user asked to check.
type checkRequest struct {
	baseline, prom string
	time           time.Duration
	levels         compare.Levels
	drift          float64 // 0: the baseline's own
	perf, json     bool
	saying
}

// checkCommand is the subcommand. Whatever goes wrong is a line, too, and the state unknown.
func checkCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	req := &checkRequest{}
	var b *compare.Baseline
	err := req.parse(out, args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err == nil {
		b, err = req.check(ctx, errOut)
	}
	if err != nil {
		b = &compare.Baseline{State: compare.Unknown, Text: fmt.Sprint(advised([]error{err})[0])}
	}
	if req.prom != "" {
		if failed := outfile.Write(req.prom, (*report.Check)(b).WriteMetrics); failed != nil {
			if b.State == compare.OK {
				b.State = compare.Unknown
			}
			b.Text = fmt.Sprintf("%v; %s", failed, b.Text)
		}
	}
	doc := (*report.Check)(b)
	switch {
	case req.json:
		err = doc.WriteJSON(verbatim(out))
	case isTerminal(out):
		req.line(out, doc)
	default: // monitors show the first line alone, which no page may break
		err = asText(func(w io.Writer) error { return req.line(w, doc) })(raw(out))
	}
	if err == nil && b.State == compare.OK {
		return nil
	}
	return verdict(b.State)
}

// line writes what a monitor reads.
func (req *checkRequest) line(w io.Writer, doc *report.Check) error {
	if req.perf && len(doc.Cells) > 0 {
		return doc.WritePerformance(w, req.levels)
	}
	return doc.WriteText(w)
}

// A verdict is how a check ends that has said all there is to say.
type verdict compare.State

func (v verdict) Error() string { return compare.State(v).String() }

func (req *checkRequest) parse(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop check", flag.ContinueOnError)
	flags.StringVar(&req.baseline, "baseline", "", "`file` of taulop sweep to be measured by")
	addNode(flags)
	flags.DurationVar(&req.time, "time", 8*time.Second, "time for all, 10s at the most")
	flags.Float64Var(&req.levels.Warning, "warning", 0.10, "a cell that is slower by this `share` is a warning")
	flags.Float64Var(&req.levels.Critical, "critical", 0.30, "a cell that is slower by this `share` is critical")
	flags.Float64Var(&req.drift, "drift", 0, "what sessions of one machine are taken to differ by: a `share`, one standard deviation (default what those of the baseline do, if they are three or more, else 0.2)")
	flags.StringVar(&req.prom, "prom", "", "write a `file` for the textfile collector of Prometheus's node exporter, too")
	flags.BoolVar(&req.perf, "perfdata", false, "each cell's ratio to the baseline, behind the line")
	flags.BoolVar(&req.json, "json", false, "one JSON document instead of the line")
	req.saying.add(flags, "no progress and no warnings")
	words, err := parseWords(flags, out, args, checkHelp)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return usagef("check takes no arguments, got %q: name the file with -baseline", words[0])
	case req.baseline == "":
		return usagef("-baseline is missing: name a file of taulop sweep, measured when this node was well")
	case req.time <= 0 || req.time > mostChecking:
		return usagef("-time is %v: give a time up to %v, like 8s", req.time, mostChecking)
	case !(req.levels.Warning > 0 && req.levels.Warning <= req.levels.Critical):
		return usagef("-warning is %v and -critical %v: give shares above 0, the critical one not below the other, like 0.1 and 0.3", req.levels.Warning, req.levels.Critical)
	case !(req.drift >= 0 && req.drift <= 1):
		return usagef("-drift is %v: give a share from 0 to 1, like 0.05", req.drift)
	}
	prom := req.prom
	req.prom = "" // until it is known that the state can be written there
	switch err := outfile.Check(prom); {
	case prom == "":
	case err != nil:
		return usagef("-prom %s cannot be written: %v", prom, err)
	case outfile.Replaces(prom) && holdsParameters(prom):
		return usagef("-prom %s holds the parameters of a machine, which would be lost: choose another name", prom)
	}
	req.prom = prom
	return nil
}

// check measures, and tests what it found.
func (req *checkRequest) check(ctx context.Context, errOut io.Writer) (*compare.Baseline, error) {
	if !shm.Supported {
		return nil, errNoMeasuring
	}
	began := time.Now()
	m, err := numa.Discover("/")
	if err != nil {
		return nil, err
	}
	was, err := params.ReadFile(req.baseline)
	if err != nil {
		return nil, usagef("-baseline: %v", err)
	}
	x, err := sweep.Check(was, m, req.time)
	if err != nil {
		return nil, usagef("-baseline %s is no measure of this node: %v", req.baseline, err)
	}
	x.Time -= time.Since(began)
	said, steal := req.aside(errOut), provenance.StartSteal("/")
	limited, cancel := context.WithTimeout(ctx, mostChecking-time.Since(began)-300*time.Millisecond)
	defer cancel()
	_, err = carryOut(limited, req.progress(errOut), x.Time, &x.Report, x.Run)
	if errors.Is(err, context.Canceled) {
		return nil, errors.New("it was stopped before it was done")
	} else if err != nil {
		return nil, err
	}
	b := compare.NewBaseline(was, x.File, fit.Test{Drift: cmp.Or(req.drift, compare.OwnDrift(was)), Least: compare.DefaultLeast}, req.levels)
	switch {
	case b.Unmet():
		b.Text += "; add sessions at other times (taulop sweep -add " + req.baseline + ")"
	case b.State == compare.Unknown && len(b.Cells) > 0:
		b.Text += "; add some at other times (taulop sweep -add " + req.baseline + "), or say what hours differ by (-drift)"
	}
	if b.State != compare.OK { // what else may be to blame
		b.Text += beside(x.File, steal)
		warn(said, advised(x.File.Provenance.Warnings()))
		warn(said, append(starved(), steal.Warnings()...))
	}
	return b, nil
}

// beside says what ran beside a check: the load before it, what this process got of the CPUs,
// what the hypervisor took, and neighbours on its cores.
func beside(f *params.File, steal *provenance.StealMeter) (text string) {
	say := func(format string, args ...any) { text += fmt.Sprintf("; "+format, args...) }
	if load := f.Provenance.Load; len(load) > 0 {
		say("the load was %.2f before", load[0])
	}
	if ran, waited := onCPU(); ran > 0 {
		say("it got %.0f %% of the CPU time that it asked for", 100*float64(ran)/float64(ran+waited))
	}
	if share, known := steal.Share(); known {
		say("the hypervisor took %s", printable.Percent(share))
	}
	if u, found := f.Unsteady().(params.Unsteady); found && u.High > 0 {
		say("an instruction took %.2g to %.2g ns, as beside programs that share its cores", u.Low, u.High)
	}
	return text
}
