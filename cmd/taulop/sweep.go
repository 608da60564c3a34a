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

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/provenance"
	"github.com/taulop/taulop/report"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
	"github.com/taulop/taulop/sweep"
)

const sweepHelp = `Sweep measures every τ-Lop parameter of this machine into one file: L(S,τ) and
l(k,τ) for all message sizes and τ, y(τ), c(m,τ), o(m) and γ(m,τ).

  taulop sweep [flags] -o host.json
  taulop sweep [flags] -resume host.json

The file is a valid file at any moment. If the sweep ends early, by a signal or a
power cut, -resume measures what is missing, and narrows what is wide.

Examples:
  taulop sweep -o host.json                        all, in a minute
  taulop sweep -budget 1h -ci 0.005 -o host.json   a large machine, over lunch
  taulop sweep -with copy,pack -o host.json        levels of the memory and strides too
  taulop sweep -tau 1,2 -sizes 8K,64K,1M -gamma=false -o quick.json

Flags:
`

// sweepRequest is what the user asked to sweep.
type sweepRequest struct {
	file    string
	resume  bool
	quiet   bool
	gamma   bool
	budget  time.Duration
	changed bool // -budget was given, which a resumed sweep may change
	plan    params.Plan
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
	for _, w := range starved() {
		file.Warnings = append(file.Warnings, w.Error())
	}
	steal := provenance.StartSteal("/")
	if !req.quiet {
		warn(errOut, file.Warnings)
	}
	file.Warnings = slices.DeleteFunc(file.Warnings, func(w string) bool { // of an earlier run
		return strings.HasPrefix(w, "eq. (8)") || sweep.Lacking(w)
	})
	told := len(file.Warnings)
	s := sweep.Sweep{
		File: file, Machine: machine,
		Save: req.save(errOut),
	}
	done := func() {}
	if !req.quiet {
		s.Report, done = sweepProgress(errOut, req.budget)
	}
	limited, cancel := within(ctx, req.budget)
	defer cancel()
	if err = s.Run(limited); overdue(err) {
		err = nil
	}
	done()
	for _, w := range steal.Warnings() {
		file.Warnings = append(file.Warnings, w.Error())
	}
	rest := len(file.Warnings)
	violations := file.Bounds()
	for _, v := range violations[:min(len(violations), mostViolations)] {
		file.Warnings = append(file.Warnings, v.Error())
	}
	if more := len(violations) - mostViolations; more > 0 {
		file.Warnings = append(file.Warnings, fmt.Sprintf("eq. (8) is broken in %d more places", more))
	}
	failed := file.WriteFile(req.file)
	switch {
	case errors.Is(err, context.Canceled) && failed != nil:
		err = interrupted("stopped")
	case errors.Is(err, context.Canceled):
		err = interrupted("stopped: taulop sweep -resume " + req.file + " measures what is missing")
	}
	if failed != nil {
		failed = instead(out, failed, file.Write)
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
		writeWarnings(errOut, file.Warnings[told:rest], file.Warnings[rest:]...)
		fmt.Fprintf(errOut, "taulop: %s has %d cells\n", req.file, len(file.Cells))
	}
	return err
}

// mostViolations of eq. (8) are listed in a file: a large machine has thousands.
const mostViolations = 200

// writeWarnings writes warnings, and of the places where eq. (8) is broken the
// first: the file has all of them.
func writeWarnings(w io.Writer, warnings []string, bounds ...string) {
	warn(w, warnings)
	if len(bounds) > 0 {
		warn(w, bounds[:1])
	}
	if more := len(bounds) - 1; more > 0 {
		fmt.Fprintf(w, "taulop: warning: and so in %d more places, which the file lists. The model has L(m,τ) ≤ L(m,Aτ) ≤ A·L(m,τ); a lone transfer, which waits for each flag, can take longer than one of many, and predictions take both as measured\n", more)
	}
}

func parseSweep(out io.Writer, args []string, m *numa.Machine) (*sweepRequest, error) {
	var (
		req                                          = &sweepRequest{}
		flags                                        = flag.NewFlagSet("taulop sweep", flag.ContinueOnError)
		output, resume                               string
		names, placements, taus, sizes, cpus, caches string
		segment, with                                string
	)
	flags.StringVar(&output, "o", "", "write a new `file`")
	flags.StringVar(&resume, "resume", "", "go on with `file`, under its own plan")
	flags.DurationVar(&req.budget, "budget", time.Minute, "time for the whole sweep")
	flags.Float64Var(&req.plan.Width, "ci", 0.03, "a cell is done when the half-width of its interval, relative to its centre, is `w`")
	flags.StringVar(&names, "setups", "ring", "`list` of setups: ring, bcast, ping, sendrecv")
	flags.StringVar(&placements, "placements", "", "`list` of placements: local, spread, remote (default those that differ here)")
	flags.StringVar(&cpus, "cpus", "", "the one placement that puts workers on these CPUs, in order: a `list` like 0,2 or 0-3")
	flags.StringVar(&taus, "tau", "", "`list` of τ (default every one to 8, then a geometric series, to the number of cores)")
	flags.StringVar(&sizes, "sizes", "", "`list` of message sizes in bytes, or with a unit (default the 30 customary ones, 1 B to 4 MB)")
	flags.IntVar(&req.plan.Segments, "segments", 2, "`segments` of the intermediate buffers")
	flags.StringVar(&segment, "segment", "8K", "`size` of a segment")
	flags.StringVar(&caches, "cache", "in,off", "`list` of where user buffers are: in, off")
	flags.StringVar(&with, "with", "", "`list` of what to measure beside: "+strings.Join(sweep.Besides(), ", ")+"; without -budget the sweep takes 15 s longer for each, and for pairs of many cores 13 ms a pair")
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
		case "o", "resume", "quiet":
		default:
			others = append(others, "-"+f.Name)
		}
	})
	switch {
	case flags.NArg() > 0:
		return nil, usagef("sweep takes no arguments, got %q: name the file with -o or -resume", flags.Arg(0))
	case (output == "") == (resume == ""):
		return nil, usagef("name the file: -o host.json for a new one, or -resume host.json to go on with one")
	case resume != "" && len(others) > 0:
		return nil, usagef("a resumed sweep keeps its plan: leave out %s, or begin a new file with -o", strings.Join(others, ", "))
	case req.budget <= 0:
		return nil, usagef("-budget is %v: give a time above zero, like 60s", req.budget)
	case !(req.plan.Width > 0 && req.plan.Width < 1):
		return nil, usagef("-ci is %v: give a relative half-width between 0 and 1, like 0.01", req.plan.Width)
	case req.plan.Segments < 1:
		return nil, usagef("-segments is %d: give intermediate buffers at least one", req.plan.Segments)
	}
	var err error
	if req.plan.With, err = sweep.ParseWith(with); err != nil {
		return nil, usagef("-with: %v", err)
	}
	if !req.changed && m != nil {
		req.budget = sweep.DefaultTime(req.plan.With, m)
	}
	req.file, req.resume = output, resume != ""
	if req.resume {
		req.file = resume
		return req, nil
	}
	if m == nil {
		return req, nil
	}
	return req, req.fill(m, names, placements, cpus, taus, sizes, segment, caches)
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
		p.Policies = sweep.Policies(m)
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
	if p.Taus = sweep.Taus(cores); taus != "" {
		if p.Taus, err = numbers("-tau", taus, strconv.Atoi); err != nil {
			return err
		}
	}
	bytes := func(text string) (int, error) { n, _, err := parseSize(text, 1); return n, err }
	if p.Sizes = sweep.Sizes; sizes != "" {
		if p.Sizes, err = numbers("-sizes", sizes, bytes); err != nil {
			return err
		}
	}
	if p.SegmentBytes, err = bytes(segment); err != nil || p.SegmentBytes < 1 {
		return usagef("-segment is %q: give the size of a segment, like 8K", segment)
	}
	p.NoGamma = !req.gamma
	p.Caches, err = parseCaches(caches)
	return err
}

// parseCaches parses a list of where user buffers are: false in cache, true off
// cache, in this order.
func parseCaches(list string) (offCache []bool, err error) {
	found := make(map[string]bool)
	for _, c := range strings.Split(list, ",") {
		c = strings.TrimSpace(c)
		if c != "in" && c != "off" {
			return nil, usagef("-cache: %q is neither in nor off", c)
		}
		found[c] = true
	}
	if found["in"] {
		offCache = append(offCache, false)
	}
	if found["off"] {
		offCache = append(offCache, true)
	}
	return offCache, nil
}

// numbers parses a list of numbers from 1, and sorts it.
func numbers(name, list string, one func(string) (int, error)) ([]int, error) {
	var ns []int
	for _, field := range strings.Split(list, ",") {
		n, err := one(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return nil, usagef("%s: %q is not a number from 1", name, field)
		}
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return slices.Compact(ns), nil
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
	if !req.resume {
		if _, err := os.Stat(req.file); err == nil { // since it was looked for
			return nil, usagef("%s is there already: go on with it by -resume, or choose another file", req.file)
		}
		f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: req.plan}
		for _, w := range here.Warnings() {
			f.Warnings = append(f.Warnings, w.Error())
		}
		if err := sweep.Fit(f, m); err != nil {
			return nil, usageError(err.Error())
		}
		return f, nil
	}
	f, err := params.ReadFile(req.file)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if err = sweep.SameMachine(f, m, here); err == nil {
		err = sweep.Holds(f.Plan, m)
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

// sweepProgress shows a bar on a terminal, and a line a minute elsewhere.
func sweepProgress(w io.Writer, budget time.Duration) (show func(sweep.Progress), done func()) {
	text := func(p sweep.Progress) string {
		return fmt.Sprintf("%d of %d cells, %v left, %s", p.Done, p.Cells, p.Left.Round(time.Second), visited(p.Cell))
	}
	if !isTerminal(w) {
		last := time.Now()
		return func(p sweep.Progress) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %s\n", text(p))
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(int(budget.Milliseconds()), progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(p sweep.Progress) {
		bar.Describe(printable.Line(text(p)))
		bar.Set(int((budget - p.Left).Milliseconds()))
	}, func() { bar.Finish() }
}

// visited is what a sweep turns to: a cell, or all of a kind that is beside.
func visited(k params.Key) string {
	switch {
	case k.Operator != "":
		return fmt.Sprintf("%s %s", k.Operator, report.Bytes(k.Bytes))
	case k.Tau == 0:
		return string(k.Kind)
	}
	return fmt.Sprintf("%s %s τ=%d", k.Kind, report.Bytes(k.Bytes), k.Tau)
}

// isTerminal reports whether somebody is looking.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
