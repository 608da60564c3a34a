package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

const sweepHelp = `Sweep measures every τ-Lop parameter of this machine into one file: L(S,τ) and
l(k,τ) for all message sizes and τ, y(τ), c(m,τ), o(m) and γ(m,τ); and what predictions
take besides, ranks' own copies and round trips of messages for LogGP.

  taulop sweep [flags] -o host.json
  taulop sweep [flags] -resume host.json
  taulop sweep [flags] -add host.json

The file is a valid file at any moment. If the sweep ends early, by a signal or a
power cut, -resume measures what is missing.

It measures in launches: fresh processes, which visit every cell once each, in
random order. Intervals are over launches, and over sessions where -add has added
some: only those tell the machine from the hour.

Examples:
  taulop sweep -o host.json                        all, in a minute
  taulop sweep -over 1h -o host.json               the same minute of measuring, spread over an hour
  taulop sweep -add host.json                      another session, any day
  taulop sweep -time 10m -launches 30 -o host.json   a large machine, over lunch
  taulop sweep -with copy,pack -o host.json        levels of the memory and strides too
  taulop sweep -segments 2,4,8 -segment 8K,32K -time 5m -o host.json   six kinds of buffers
  taulop sweep -tau 1,2 -m 8K,64K,1M -gamma=false -o quick.json

Flags:
`

func sweepCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	machine, discovery := numa.Discover("/")
	req, say, err := parseSweep(out, args)
	if err != nil || req == nil {
		return err
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	if discovery != nil {
		return discovery
	}
	said := say.aside(errOut)
	req.Warn = func(w error) { warn(said, []error{w}) }
	s, err := sweep.Open(*req, machine)
	if err != nil {
		return err
	}
	defer s.Close()
	s.File.Warn(append(advised(s.File.Provenance.Warnings()), starved()...)...)
	warn(said, s.File.Warnings)
	told := len(s.File.Warnings)
	if left := s.Left(); s.Resume && left > 0 {
		tell(said, "what %s lacks takes about %s; it stops after %v at the latest (-time)", s.Path, roughly(left), s.Time)
	}
	limited, cancel := within(ctx, max(s.Time, s.Experiment.Over))
	defer cancel()
	var failed error
	_, err = carryOut(limited, say.progress(errOut), s.Time, &s.Report, func(ctx context.Context) error {
		var ended error
		ended, failed = s.Run(ctx)
		return ended
	})
	switch {
	case errors.Is(err, context.Canceled) && failed != nil:
		err = interrupted("stopped")
	case errors.Is(err, context.Canceled):
		err = interrupted("stopped: taulop sweep -resume " + s.Path + " measures what is missing")
	}
	if failed != nil {
		failed = instead(out, failed, s.File.Write)
		if err = cmp.Or(err, failed); err != failed {
			err = fmt.Errorf("%w, and %w", err, failed)
		}
		if !isTerminal(out) {
			return err
		}
	}
	if len(s.File.Cells) == 0 && err == nil {
		if left := s.Discard(); left != nil {
			return left
		}
		return usagef("nothing was measured, for the time was too short: allow more with -time")
	}
	if say.csv {
		err = cmp.Or(put(out, nil, asText(report.Sweep(s.File).WriteCSV)), err)
	} else {
		doc := report.Sweep(s.File)
		doc.Watched = isTerminal(out)
		doc.WriteText(out)
	}
	warn(said, s.File.Warnings[told:])
	warn(said, sweep.Doubts(s.File))
	missing := s.Missing()
	if missing != nil {
		in := ""
		if left := s.Left(); left > 0 {
			in = ", in about " + roughly(left)
		}
		tell(said, "warning: %v: taulop sweep -resume %s measures them%s", missing, s.Path, in)
	}
	cells := max(len(s.Cells), len(s.File.Cells)) // a file of an earlier version has some that are not measured any more
	fmt.Fprintf(said, "taulop: %s has %d of %s\n", s.Path, len(s.File.Cells), printable.Count(cells, "cell"))
	if s.File.Sessions() == 1 && missing == nil {
		tell(said, "taulop sweep -add %s, at another time, adds a session", s.Path)
	}
	return cmp.Or(err, s.Moved)
}

// A sweepSaying is how a sweep says what it found.
type sweepSaying struct {
	saying
	csv bool
}

// parseSweep returns nil where nothing is to be measured.
func parseSweep(out io.Writer, args []string) (req *sweep.Request, say sweepSaying, err error) {
	req = &sweep.Request{}
	p := &req.Plan
	var (
		flags               = flag.NewFlagSet("taulop sweep", flag.ContinueOnError)
		output, resume, add string
		bytes, numbers      []int // of segments
		budget              time.Duration
		gamma               bool
	)
	flags.StringVar(&output, "o", "", "write a new `file`")
	flags.StringVar(&resume, "resume", "", "go on with `file`, under its own plan")
	flags.StringVar(&add, "add", "", "add a session to `file`, under its own plan: the same machine at another time")
	flags.DurationVar(&budget, "time", time.Minute, "time for the whole sweep")
	flags.DurationVar(&req.Over, "over", 0, "spread the launches over this `time`, and measure nothing in between")
	flags.IntVar(&req.Launches, "launches", 0, "measure in `n` launches, fresh processes each (default as many as there is time for, 6 to 30)")
	argument.Var(flags, &p.Setups, "setup", "ring,ping,sendrecv", "`list` of setups: ring, bcast, ping, sendrecv, and share, copies out of one buffer; predictions are from those of the default", setupList)
	argument.Var(flags, &p.Policies, "placement", "", "`list` of placements: "+policyNames()+" (default one for each level that differs here, see taulop topo)", argument.Names)
	argument.Var(flags, &p.CPUs, "cpus", "", "the one placement that puts workers on these CPUs, in order: a `list` like 0,2 or 0-3", numa.ParseOrder)
	argument.Var(flags, &p.Taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default every one to 8, then a geometric series, and one less than the cores beside all of them)", argument.Rising(argument.Taus))
	argument.Var(flags, &p.Sizes, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default the 30 customary ones, 1 B to 4 MB, with 8 and 16 MB)", argument.Rising(argument.Sizes))
	argument.Var(flags, &numbers, "segments", "2", "segments of the intermediate buffers, a `list` like 2,4,8, of which models take the first unless told otherwise", segmentNumbers)
	argument.Var(flags, &bytes, "segment", "8K", "sizes of a segment, a `list` like 8K,32K: transfers are measured with every number and size, in the same -time", argument.Sizes)
	argument.Var(flags, &p.Caches, "cache", "in,off", "`list` of where user buffers are: in, off", argument.Caches)
	argument.Var(flags, &p.With, "with", "", "`list` of surveys to make too: "+strings.Join(survey.Planned(), ", ")+"; without -time the sweep takes 15 s longer for each, for pairs of many cores up to 11 ms a pair, and for cma 25 s and half a second a core", survey.ParseWith)
	flags.BoolVar(&gamma, "gamma", true, "measure reduction operators too")
	argument.Var(flags, &p.Operators, "operators", "", "`list` of reduction operators: SUM_I, MAX_R, …, _I on int32, _L on int64, _F on float32, _R on float64, each also one element at a time, as SUM_I_SCALAR (default SUM_I, SUM_I_SCALAR, SUM_R and MAX_R, and on 32 cores or fewer all others on int32 and float64, at fewer sizes)", operatorList)
	addName(flags, &req.Name)
	addNode(flags)
	flags.BoolVar(&say.csv, "csv", false, "print comma-separated values, a row for each cell, instead of tables")
	flags.BoolVar(&req.Huge, "huge", false, hugeUsage)
	flags.BoolVar(&req.Fill, "fill", false, fillUsage)
	flags.BoolVar(&req.Force, "force", false, "with -o, replace a file that is there already")
	say.add(flags, "no progress and no warnings")
	list := flags.Bool("list", false, "list the setups, placements, surveys and operators that there are, and measure nothing")
	if err := parse(flags, out, args, sweepHelp); err != nil {
		return nil, say, err
	}
	if *list {
		return nil, say, put(out, nil, asPage(widthFor(out, ""), writeMeasured))
	}
	var others []string // flags of a plan
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "time":
			req.Budget = budget
		case "o", "resume", "add", "force", "csv", "quiet", "no-progress", "over", "launches":
		case "node": // on which alone a file that was begun so can be gone on with
		default:
			others = append(others, "-"+f.Name)
		}
	})
	switch {
	case flags.NArg() > 0:
		return nil, say, usagef("sweep takes no arguments, got %q: name the file with -o or -resume", flags.Arg(0))
	case given(output, resume, add) != 1:
		return nil, say, usagef("name the file: -o host.json for a new one, -resume host.json to go on with one, or -add host.json for another session of the same machine")
	case output == "-":
		return nil, say, usagef("-o - is no file: a sweep writes its file again and again while it measures, so name one")
	case req.Force && output == "":
		return nil, say, usagef("-force replaces the file of -o: leave it out with -resume and -add, which keep theirs")
	case output == "" && len(others) > 0:
		return nil, say, usagef("a file keeps its plan: leave out %s, or begin a new file with -o", strings.Join(others, ", "))
	case req.Over < 0:
		return nil, say, usagef("-over is %v: give a time like 1h", req.Over)
	case budget <= 0:
		return nil, say, usagef("-time is %v: give a time above zero, like 60s", budget)
	}
	if err := checkLaunches(req.Launches); err != nil {
		return nil, say, err
	}
	p.NoGamma = !gamma
	req.Name = printable.Name(req.Name)
	req.Path, req.Resume, req.Add = output+resume+add, resume != "", add != ""
	if output == "" { // the plan is the file's
		*p = params.Plan{}
		return req, say, nil
	}
	if i := slices.Index(p.Setups, setups.Share.Name); i >= 0 { // the first is what transfers are of by themselves
		p.Setups = append(slices.Delete(p.Setups, i, i+1), setups.Share.Name)
	}
	if p.CPUs != nil {
		if len(p.Policies) > 0 {
			return nil, say, usagef("-cpus and -placement cannot be used together: choose one")
		}
		p.Policies = []numa.Policy{numa.List}
	}
	p.SegmentBytes, p.MoreSegmentBytes = bytes[0], bytes[1:]
	p.Segments, p.MoreSegments = numbers[0], numbers[1:]
	if n := max(len(bytes), len(numbers)); n > params.MostBuffers {
		return nil, say, usagef("-segments and -segment: %d values are too many, a file has at most %d: give fewer", n, params.MostBuffers)
	}
	if p.NoGamma && p.Operators != nil {
		return nil, say, usagef("-operators and -gamma=false cannot be used together: choose one")
	}
	return req, say, nil
}

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

// segmentNumbers reads -segments.
func segmentNumbers(list string) ([]int, error) {
	return argument.List(list, false, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q is no number of segments: give whole numbers from 1, like 2,4,8", text)
		}
		return n, nil
	})
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

// given counts the texts that are not empty.
func given(texts ...string) (n int) {
	for _, text := range texts {
		if text != "" {
			n++
		}
	}
	return n
}

// roughly is a time to wait in one unit.
func roughly(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// isTerminal reports whether somebody is looking.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
