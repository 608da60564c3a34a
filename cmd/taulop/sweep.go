package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

const sweepHelp = `Sweep measures every τ-Lop parameter of this machine into one file: L(S,τ) and
l(k,τ) for all message sizes and τ, y(τ), c(m,τ), o(m) and γ(m,τ).

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
  taulop sweep -budget 10m -launches 30 -o host.json   a large machine, over lunch
  taulop sweep -with copy,pack -o host.json        levels of the memory and strides too
  taulop sweep -tau 1,2 -sizes 8K,64K,1M -gamma=false -o quick.json

Flags:
`

// sweepRequest is what the user asked to sweep.
type sweepRequest struct {
	file     string
	resume   bool
	add      bool
	quiet    bool
	gamma    bool
	budget   time.Duration
	over     time.Duration
	launches int
	changed  bool // -budget was given, which a resumed sweep may change
	plan     params.Plan
}

func sweepCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	machine, discovery := numa.Discover("/")
	req, err := parseSweep(out, args, machine)
	if err != nil {
		return err
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	if discovery != nil {
		return discovery
	}
	if err := req.checkFile(); err != nil {
		return err
	}
	lock, unlocked, err := lockFile(req.file)
	if err != nil {
		return err
	}
	defer lock.release()
	if unlocked != nil && !req.quiet {
		warn(errOut, []error{unlocked})
	}
	file, err := req.open(machine)
	if err != nil {
		return err
	}
	file.Warn(starved()...)
	if !req.quiet {
		warn(errOut, file.Warnings)
	}
	told := len(file.Warnings)
	x, err := req.experiment(file, machine)
	if err != nil {
		return usagef("%v", err)
	}
	done := func() {}
	if !req.quiet {
		x.Report, done = launchProgress(errOut, x.Time)
	}
	x.Save = req.save(errOut)
	if file.Journal == "" {
		file.Journal = engine.JournalName(req.target())
	}
	if err := x.Save(file); err != nil { // it names the journal
		return err
	}
	if x.Journal, err = engine.OpenJournal(req.target(), file.Journal); err != nil {
		warn(errOut, []error{fmt.Errorf("beside %s no journal can be kept (%w): if this process is killed, what was measured since the file was saved is lost", req.file, outfile.Reason(err))})
	} else {
		defer x.Journal.Close()
	}
	limited, cancel := within(ctx, max(x.Time, x.Over))
	defer cancel()
	spent, began := file.Seconds, time.Now()
	if err = x.Run(limited); overdue(err) {
		err = nil
	}
	file.Seconds = spent + time.Since(began).Seconds()
	done()
	failed := file.WriteFile(req.file)
	if failed == nil { // until then the journal has what the file lacks
		engine.RemoveJournal(req.target(), file)
		failed = file.WriteFile(req.file)
	}
	switch {
	case errors.Is(err, context.Canceled) && failed != nil:
		err = interrupted("stopped")
	case errors.Is(err, context.Canceled):
		err = interrupted("stopped: taulop sweep -resume " + req.file + " measures what is missing")
	}
	if failed != nil {
		failed = instead(out, failed, file.Write)
		if !outfile.Replaces(req.file) { // else it names the journal, for -resume
			engine.RemoveJournal(req.target(), file)
		}
		if err = cmp.Or(err, failed); err != failed {
			err = fmt.Errorf("%w, and %w", err, failed)
		}
		if !isTerminal(out) {
			return err
		}
	}
	report.WriteSweep(out, file)
	if isTerminal(out) {
		report.WriteSweepCharts(out, file)
	}
	if !req.quiet {
		warn(errOut, file.Warnings[told:])
		warn(errOut, doubts(file, x.Lacking()))
		fmt.Fprintf(errOut, "taulop: %s has %d cells\n", req.file, len(file.Cells))
		if file.Sessions() == 1 {
			tell(errOut, "taulop sweep -add %s, at another time, adds a session", req.file)
		}
	}
	return err
}

// doubts are what follows from a file's cells and speaks against some of them.
func doubts(f *params.File, lacking int) (all []error) {
	if lacking > 0 {
		all = append(all, fmt.Errorf("%s too few samples for an interval, %s: %w", plural(lacking, "cell has", "cells have"), "the least worth first", f.Completion()))
	}
	if broken := f.Bounds(); len(broken) > 0 {
		all = append(all, broken[0])
		if more := len(broken) - 1; more > 0 {
			all = append(all, fmt.Errorf("and so in %d more places. The model has L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ); predictions take both as measured", more))
		}
	}
	return all
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func parseSweep(out io.Writer, args []string, m *numa.Machine) (*sweepRequest, error) {
	var (
		req                                          = &sweepRequest{}
		flags                                        = flag.NewFlagSet("taulop sweep", flag.ContinueOnError)
		output, resume, add                          string
		names, placements, taus, sizes, cpus, caches string
		segment, with                                string
	)
	flags.StringVar(&output, "o", "", "write a new `file`")
	flags.StringVar(&resume, "resume", "", "go on with `file`, under its own plan")
	flags.StringVar(&add, "add", "", "add a session to `file`, under its own plan: the same machine at another time")
	flags.DurationVar(&req.budget, "budget", time.Minute, "time for the whole sweep")
	flags.DurationVar(&req.over, "over", 0, "spread the launches over this `time`, and measure nothing in between")
	flags.IntVar(&req.launches, "launches", 0, "measure in `n` launches, fresh processes each (default as many as the budget has time for, 6 to 30)")
	flags.StringVar(&names, "setups", "ring", "`list` of setups: ring, bcast, ping, sendrecv")
	flags.StringVar(&placements, "placements", "", "`list` of placements: local, spread, remote (default those that differ here)")
	flags.StringVar(&cpus, "cpus", "", "the one placement that puts workers on these CPUs, in order: a `list` like 0,2 or 0-3")
	flags.StringVar(&taus, "tau", "", "`list` of τ (default every one to 8, then a geometric series, to the number of cores)")
	flags.StringVar(&sizes, "sizes", "", "`list` of message sizes in bytes, or with a unit (default the 30 customary ones, 1 B to 4 MB)")
	flags.IntVar(&req.plan.Segments, "segments", 2, "`segments` of the intermediate buffers")
	flags.StringVar(&segment, "segment", "8K", "`size` of a segment")
	flags.StringVar(&caches, "cache", "in,off", "`list` of where user buffers are: in, off")
	flags.StringVar(&with, "with", "", "`list` of surveys to make too: "+strings.Join(survey.Planned(), ", ")+"; without -budget the sweep takes 15 s longer for each, and for pairs of many cores 13 ms a pair")
	flags.BoolVar(&req.gamma, "gamma", true, "measure reduction operators too")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	if err := parse(flags, out, args, sweepHelp); err != nil {
		return nil, err
	}
	var others []string // flags of a plan
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "budget":
			req.changed = true
		case "o", "resume", "add", "quiet", "over", "launches":
		default:
			others = append(others, "-"+f.Name)
		}
	})
	switch {
	case flags.NArg() > 0:
		return nil, usagef("sweep takes no arguments, got %q: name the file with -o or -resume", flags.Arg(0))
	case given(output, resume, add) != 1:
		return nil, usagef("name the file: -o host.json for a new one, -resume host.json to go on with one, or -add host.json for another session of the same machine")
	case output == "" && len(others) > 0:
		return nil, usagef("a file keeps its plan: leave out %s, or begin a new file with -o", strings.Join(others, ", "))
	case req.over < 0:
		return nil, usagef("-over is %v: give a time like 1h", req.over)
	case req.launches != 0 && (req.launches < engine.LeastLaunches || req.launches > 1000):
		return nil, usagef("-launches is %d: an interval takes %d or more, and 1000 are the most", req.launches, engine.LeastLaunches)
	case req.budget <= 0:
		return nil, usagef("-budget is %v: give a time above zero, like 60s", req.budget)
	case req.plan.Segments < 1:
		return nil, usagef("-segments is %d: give intermediate buffers at least one", req.plan.Segments)
	}
	var err error
	if req.plan.With, err = survey.ParseWith(with); err != nil {
		return nil, usagef("-with: %v", err)
	}
	if !req.changed && m != nil {
		req.budget = sweep.DefaultTime(req.plan.With, m)
	}
	req.file, req.resume, req.add = output+resume+add, resume != "", add != ""
	if output == "" {
		return req, nil
	}
	if m == nil {
		return req, nil
	}
	return req, req.fill(m, names, placements, cpus, taus, sizes, segment, caches)
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

// experiment is the file's plan in the session that was asked for, with what a sweep
// that was killed has left of it.
func (req *sweepRequest) experiment(f *params.File, m *numa.Machine) (*engine.Experiment, error) {
	session := max(0, f.Sessions()-1)
	if req.add {
		session = f.Sessions()
	}
	x, err := sweep.Experiment(f, m, session)
	if err != nil {
		return nil, err
	}
	x.Time, x.Over, x.Launches = req.budget, req.over, req.launches
	if _, err := x.Recover(req.target()); err != nil {
		return nil, err
	}
	return x, nil
}

// target is the file itself, behind symbolic links.
func (req *sweepRequest) target() string {
	target, err := outfile.Target(req.file)
	if err != nil {
		return req.file
	}
	return target
}

// fill fills the plan of a new sweep.
func (req *sweepRequest) fill(m *numa.Machine, names, placements, cpus, taus, sizes, segment, caches string) (err error) {
	p := &req.plan
	p.Budget, p.Copy = req.budget.Seconds(), shm.CopyName()
	for _, name := range strings.Split(names, ",") {
		s, err := setups.Lookup(strings.TrimSpace(name))
		if err != nil {
			return usagef("-setups: %v", err)
		}
		if !slices.Contains(p.Setups, s.Name) {
			p.Setups = append(p.Setups, s.Name)
		}
	}
	switch {
	case cpus != "" && placements != "":
		return usagef("-cpus and -placements cannot be used together: choose one")
	case cpus != "":
		if p.CPUs, err = numa.ParseOrder(cpus); err != nil {
			return usagef("-cpus: %v", err)
		}
		p.Policies = []numa.Policy{numa.List}
	case placements == "":
		p.Policies = transfers.Policies(m)
	default:
		for _, name := range strings.Split(placements, ",") {
			if policy := numa.Policy(strings.TrimSpace(name)); !slices.Contains(p.Policies, policy) {
				p.Policies = append(p.Policies, policy)
			}
		}
	}
	cores := m.Count().Cores
	if len(p.CPUs) > 0 {
		cores = len(p.CPUs)
	}
	if p.Taus = transfers.Taus(cores); taus != "" {
		if p.Taus, err = argument.Numbers("-tau", taus, strconv.Atoi); err != nil {
			return usageError(err.Error())
		}
	}
	if p.Sizes = transfers.Sizes; sizes != "" {
		if p.Sizes, err = argument.Numbers("-sizes", sizes, argument.Bytes); err != nil {
			return usageError(err.Error())
		}
	}
	if p.SegmentBytes, err = argument.Bytes(segment); err != nil || p.SegmentBytes < 1 {
		return usagef("-segment is %q: give the size of a segment, like 8K", segment)
	}
	p.NoGamma = !req.gamma
	if p.Caches, err = argument.Caches("-cache", caches); err != nil {
		return usageError(err.Error())
	}
	return nil
}

// checkFile refuses what a sweep cannot write again and again.
func (req *sweepRequest) checkFile() error {
	_, missing := os.Stat(req.file)
	regular, err := outfile.Replaces(req.file), outfile.Check(req.file)
	switch {
	case regular && !req.resume:
		return usagef("%s is there already: go on with it by -resume, or choose another file", req.file)
	case err != nil:
		return usagef("%s cannot be written: %v", req.file, err)
	case missing == nil && !regular:
		return usagef("%s is no regular file, and a sweep writes its file again and again: choose another", req.file)
	}
	return nil
}

// save writes the file while the sweep goes on. That it cannot be written is no
// reason to stop measuring: a full disk may get room, and what is lost at the end is
// printed.
func (req *sweepRequest) save(errOut io.Writer) func(*params.File) error {
	failing := false
	return func(f *params.File) error {
		err := f.WriteFile(req.file)
		if !unwritten(err) {
			failing = false
			return err
		}
		if !failing && !req.quiet {
			fmt.Fprintf(errOut, "taulop: warning: %v; the sweep goes on, and tries again\n", err)
		}
		failing = true
		return nil
	}
}

// open makes a new file, or reads the one to go on with.
func (req *sweepRequest) open(m *numa.Machine) (*params.File, error) {
	here := provenance.Read("/", m)
	if !req.resume && !req.add {
		if _, err := os.Stat(req.file); err == nil { // since it was looked for
			return nil, usagef("%s is there already: go on with it by -resume, or choose another file", req.file)
		}
		f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: req.plan}
		f.Warn(advised(here.Warnings())...)
		if err := transfers.Fit(f, m); err != nil {
			return nil, usagef("%v", err)
		}
		return f, nil
	}
	f, err := params.ReadFile(req.file)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if err = transfers.SameMachine(f, m, here); err == nil {
		err = transfers.Holds(f.Plan, m)
	}
	if err != nil {
		return nil, usagef("%s cannot be resumed here: %v", req.file, err)
	}
	if req.changed {
		f.Plan.Budget = req.budget.Seconds()
	}
	req.budget = time.Duration(f.Plan.Budget * float64(time.Second))
	return f, nil
}

// isTerminal reports whether somebody is looking.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
