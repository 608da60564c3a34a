package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// A sweepRequest holds the flags of sweep.
type sweepRequest struct {
	sweep.Request
	output, resume, add string
	bytes, numbers      []int // of segments
	budget              time.Duration
	gamma, list, csv    bool
}

// sweepFlags is the subcommand.
func sweepFlags(flags *argument.Set) action {
	req := &sweepRequest{}
	req.flags(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, _ []string) error {
		if req.list {
			return put(out, nil, asPage(columns(out), writeMeasured))
		}
		machine, err := here()
		if err != nil {
			return err
		}
		req.Warn = func(w error) { warn(errOut, []error{w}) }
		s, err := sweep.Open(req.Request, machine)
		if err != nil {
			return err
		}
		defer s.Close()
		return req.carryOut(ctx, out, errOut, s)
	}
}

// carryOut measures, and prints the result.
func (req *sweepRequest) carryOut(ctx context.Context, out io.Writer, errOut *messages, s *sweep.Session) error {
	now := append(advised(s.Here.Warnings()), starved()...)
	s.File.Warn(now...)
	if left := s.Left(); s.Resume && left > 0 {
		tell(errOut, "what %s lacks takes about %s; it stops after %v at the latest (-time)", s.Path, printable.Duration(left), s.Time)
	}
	var unsaved error // the file could not be written
	return measurement{
		limit: max(s.Time, s.Experiment.Over), budget: s.Time, report: &s.Report, warnings: &s.File.Warnings, earlier: s.Earlier, now: now,
		run: func(ctx context.Context) (ended error) {
			ended, unsaved = s.Run(ctx)
			return ended
		},
		came: func() string {
			switch {
			case unsaved != nil:
				return "stopped"
			case s.Restored:
				return fmt.Sprintf("stopped before there was a result: %s is as it was", s.Path)
			}
			return fmt.Sprintf("stopped: taulop sweep -resume %s measures what is missing", s.Path)
		},
		conclude: func(_ *provenance.StealMeter, ended error) error {
			switch {
			case unsaved != nil:
				if unsaved = instead(out, unsaved, s.File.Write); ended != nil {
					unsaved = fmt.Errorf("%w, and %w", ended, unsaved)
				}
				if !isTerminal(out) {
					return unsaved
				}
			case len(s.File.Cells) == 0 && (ended == nil || s.Restored):
				return cmp.Or(ended, s.Discard(), nothingIn(s.Time))
			}
			return nil
		},
		put: func(ended error) error {
			r, failed := reached(s), error(nil)
			if doc := report.Sweep(s.File, r); req.csv {
				failed = put(out, nil, asText(doc.WriteCSV))
			} else {
				doc.WriteText(out)
			}
			doubts := doubt.Of(s.File)
			if req.csv && r.Missing != nil { // text begins with it
				doubts = append(doubts, fmt.Errorf("%w: %s", r.Missing, r.Rest))
			}
			warn(errOut, doubts)
			return cmp.Or(failed, unsaved, ended, s.Moved)
		},
	}.carryOut(ctx, errOut)
}

// reached is the progress of a sweep, and the command to go on with.
func reached(s *sweep.Session) report.Reach {
	r := report.Reach{
		Cells: max(len(s.Cells), len(s.File.Cells)), Missing: s.Experiment.Missing(), // files of other versions may have more cells
		Rest:  fmt.Sprintf("taulop sweep -resume %s measures the rest", s.Path),
		More:  fmt.Sprintf("taulop sweep -add %s -time %s adds a longer session; let nothing else run", s.Path, minutes(max(5*time.Minute, 2*s.Time))),
		Again: fmt.Sprintf("Nothing is left to do: it has %d sessions.", s.File.Sessions()),
	}
	if left := s.Left(); left > 0 {
		if r.Rest += ", in about " + printable.Duration(left); left > time.Minute {
			r.Rest = fmt.Sprintf("taulop sweep -resume %s -time %s measures the rest", s.Path, minutes(left+time.Minute))
		}
	}
	switch s.File.Sessions() {
	case 1:
		r.Again = fmt.Sprintf("taulop sweep -add %s, at another time, adds a session: hours differ", s.Path)
	case 2:
		r.More = fmt.Sprintf("taulop sweep -add %s, at another time, adds a third session: intervals of two are ± six times their difference", s.Path)
	}
	if n := compare.Hours(s.File); n < s.File.Sessions() {
		r.Again = fmt.Sprintf("Its %d sessions are of %s: taulop sweep -add %s, an hour later or more, shows what hours differ by",
			s.File.Sessions(), printable.Count(n, "hour"), s.Path)
	}
	r.Crowded(onCPU())
	return r
}

// minutes writes a duration, rounded up, as a flag takes it: 3m.
func minutes(d time.Duration) string { return fmt.Sprintf("%dm", (d+time.Minute-1)/time.Minute) }

func (req *sweepRequest) flags(flags *argument.Set) {
	p := &req.Plan
	flags.StringVar(&req.output, "o", "", "write a new `file`")
	flags.StringVar(&req.resume, "resume", "", "go on with `file`, under its own plan")
	flags.StringVar(&req.add, "add", "", "add a session to `file`, under its own plan: the same machine, at another time")
	flags.DurationVar(&req.budget, "time", time.Minute, "time for the whole sweep")
	flags.DurationVar(&req.Over, "over", 0, "spread the launches over this `time`, with pauses between them")
	addLaunches(flags, &req.Launches, 30)
	argument.Var(flags, &p.Setups, "setup", "ring,ping,sendrecv", "`list` of setups: ring, bcast, ping, sendrecv, and share, copies out of one buffer; predictions use the default ones", setupList, setupNames()...)
	argument.Var(flags, &p.Policies, "placement", "", "`list` of placements: "+policyNames()+" (default one for each level that differs here, see taulop topo)", argument.Names[numa.Policy], policies()...)
	argument.Var(flags, &p.CPUs, "cpus", "", "the one placement that puts workers on these CPUs, in order: a `list` like 0,2 or 0-3", numa.ParseOrder)
	argument.Var(flags, &p.Taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default 1 to 8, then a geometric series, the number of cores, and one less)", argument.Rising(argument.Taus))
	argument.Var(flags, &p.Sizes, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default 34, from 1 B to 16 MB)", argument.Rising(argument.Sizes))
	argument.Var(flags, &req.numbers, "segments", "2", "segments of the intermediate buffers, a `list` like 2,4,8; models use the first by default", argument.Counts("number of segments", false))
	argument.Var(flags, &req.bytes, "segment", "8K", "sizes of a segment, a `list` like 8K,32K: transfers are measured with every number and size, in the same -time", argument.Sizes)
	argument.Var(flags, &p.Caches, "cache", "in,off", "user buffers in cache or off cache, a `list`: in,off", argument.Caches, "in", "off")
	argument.Var(flags, &p.With, "with", "", "`list` of surveys to add: "+strings.Join(survey.Planned(), ", ")+"; without -time the sweep takes 15 s longer for each, for pairs of many cores up to 11 ms a pair, and for cma 25 s and half a second a core", survey.ParseWith, survey.Planned()...)
	flags.BoolVar(&req.gamma, "gamma", true, "measure reduction operators too")
	argument.Var(flags, &p.Operators, "operators", "", "`list` of reduction operators: SUM_I, MAX_R, …, _I on int32, _L on int64, _F on float32, _R on float64, each also one element at a time, as SUM_I_SCALAR (default SUM_I, SUM_I_SCALAR, SUM_R and MAX_R, and on 32 cores or fewer all others on int32 and float64, at fewer sizes)", operatorList)
	addNode(flags, &req.Name)
	addPeak(flags, &req.PeakGBs)
	flags.BoolVar(&req.csv, "csv", false, "print comma-separated values, a row for each cell, instead of tables")
	flags.BoolVar(&req.Huge, "huge", false, hugeUsage)
	flags.BoolVar(&req.Fill, "fill", false, fillUsage)
	flags.BoolVar(&req.Force, "force", false, "with -o, replace an existing file")
	flags.BoolVar(&req.list, "list", false, "list setups, placements, surveys and operators, and measure nothing")
	flags.Rules(
		argument.Rule{Flags: "force", Not: "resume add", Why: "replaces the file of -o, and -resume and -add keep theirs", Do: "leave it out"},
		argument.Rule{Flags: "operators", Not: "gamma=false", Why: "says which reductions to measure, and -gamma=false that there are none", Do: "leave one of them out"},
	)
	flags.OneOf("cpus", "placement")
	flags.OneOf("o", "resume", "add")
	flags.Required("o", "name the file: -o host.json for a new one, -resume host.json to go on with one, or -add host.json for another session of the same machine", "resume", "add", "list")
	flags.Check(func() error { return req.complete(flags) })
}

// complete completes the request from flags.
func (req *sweepRequest) complete(flags *argument.Set) error {
	switch {
	case req.list:
		return nil
	case req.output == "-":
		return usagef("-o - is no file: a sweep writes its file again and again while it measures, so name one")
	case req.output == "":
		for _, name := range strings.Fields("cache cpus fill gamma huge m name operators placement segment segments setup tau with") {
			if flags.Given(name) {
				return usagef("-%s is of a plan, and a file keeps its plan: leave it out, or begin a new file with -o", name)
			}
		}
	}
	if flags.Given("time") {
		req.Budget = req.budget
	}
	req.Request.Name = printable.Name(req.Request.Name)
	req.Path, req.Resume, req.Add = cmp.Or(req.output, req.resume, req.add), req.resume != "", req.add != ""
	p := &req.Plan
	p.NoGamma = !req.gamma
	if req.output == "" { // the file has the plan
		*p = params.Plan{}
		return nil
	}
	if i := slices.Index(p.Setups, setups.Share.Name); i >= 0 { // the first setup stands for isolated transfers
		p.Setups = append(slices.Delete(p.Setups, i, i+1), setups.Share.Name)
	}
	if p.CPUs != nil {
		p.Policies = []numa.Policy{numa.List}
	}
	p.SegmentBytes, p.MoreSegmentBytes = req.bytes[0], req.bytes[1:]
	p.Segments, p.MoreSegments = req.numbers[0], req.numbers[1:]
	if n := max(len(req.bytes), len(req.numbers)); n > params.MostBuffers {
		return usagef("-segments and -segment: %d values are too many, a file has at most %d: give fewer", n, params.MostBuffers)
	}
	return nil
}

// setupNames are the names of all setups.
func setupNames() []string { return append(names(setups.All), setups.Sendrecv.Name, setups.Share.Name) }

// setupList reads -setup.
func setupList(list string) (names []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		s, err := setups.Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		names = append(names, s.Name)
	}
	return lists.Unique(names), nil
}

// operatorList reads -operators.
func operatorList(list string) (names []string, err error) {
	names, _ = argument.Names[string](strings.ToUpper(list))
	for _, name := range names {
		if _, err := reduce.Lookup(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
