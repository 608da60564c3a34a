package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/pairs"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/provenance"
	"github.com/taulop/taulop/report"
	"github.com/taulop/taulop/shm"
)

const pairsHelp = `Pairs measures transfers between every two cores of this machine, one pair at a
time: a null transfer one way, which is the latency, and one of 8 KB with its
bandwidth. It finds the levels that pairs differ by (SMT siblings, shared cache,
package, node), and pairs that are slower than their level says.

  taulop pairs [flags]

Examples:
  taulop pairs                          a matrix
  taulop pairs -smt -o pairs.json       all CPUs, into a parameter file
  taulop pairs -cpus 0-3 -m 64,8K,64K   four CPUs and more sizes
  taulop plot pairs -o pairs.svg pairs.json
  taulop predict -model mlognp -params pairs.json -P 8 bcast:linear bcast:binomial

Flags:
`

// pairsRequest is what the user asked to measure.
type pairsRequest struct {
	file       string
	smt, json  bool
	quiet      bool
	time       time.Duration
	width      float64
	cpus, list string
	sizes      []int
}

func pairsCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	req, err := parsePairs(out, args)
	if err != nil {
		return err
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	machine, err := numa.Discover("/")
	if err != nil {
		return err
	}
	cpus, err := req.choose(machine)
	if err != nil {
		return err
	}
	if req.time == 0 {
		req.time = pairs.DefaultTime(pairs.Count(len(cpus)))
	}
	file, err := req.open(machine)
	if err != nil {
		return err
	}
	for _, w := range starved() {
		file.Warnings = append(file.Warnings, w.Error())
	}
	if !req.quiet {
		writeWarnings(errOut, file.Warnings)
	}
	told := len(file.Warnings)
	steal := provenance.StartSteal("/")
	survey := pairs.Survey{Machine: machine, CPUs: cpus, Sizes: req.sizes, Time: req.time, Width: req.width}
	done := func() {}
	if !req.quiet {
		survey.Report, done = pairsProgress(errOut, req.time)
	}
	began := time.Now()
	limited, cancel := within(ctx, req.time)
	defer cancel()
	cells, warnings, err := survey.Run(limited)
	if overdue(err) {
		err = nil
	}
	done()
	file.Seconds = time.Since(began).Seconds()
	for _, w := range append(warnings, steal.Warnings()...) {
		file.Warnings = append(file.Warnings, w.Error())
	}
	if errors.Is(err, context.Canceled) {
		err = interrupted(fmt.Sprintf("stopped: %d of %d cells are here", len(cells), pairs.Count(len(cpus))*len(req.sizes)))
	}
	file.Cells = cells
	file.Complete = err == nil && len(cells) == pairs.Count(len(cpus))*len(req.sizes)
	if !req.quiet {
		writeWarnings(errOut, file.Warnings[told:])
	}
	if len(cells) == 0 {
		return cmp.Or(err, nothingIn(req.time))
	}
	doc, failed := report.NewPairs(file)
	if failed != nil {
		return failed
	}
	switch {
	case req.json:
		failed = doc.WriteJSON(verbatim(out))
		if req.file != "" {
			failed = cmp.Or(file.WriteFile(req.file), failed)
		}
	case req.file != "":
		failed = putParameters(out, req.file, file, doc.WriteText)
	default:
		doc.WriteText(out)
	}
	return cmp.Or(failed, err)
}

func parsePairs(out io.Writer, args []string) (*pairsRequest, error) {
	var (
		req   = &pairsRequest{}
		flags = flag.NewFlagSet("taulop pairs", flag.ContinueOnError)
	)
	flags.BoolVar(&req.smt, "smt", false, "all CPUs, not one of each core")
	flags.StringVar(&req.cpus, "cpus", "", "these CPUs alone: a `list` like 0,2 or 0-3")
	flags.StringVar(&req.list, "m", "8K", "message sizes beside 0, a `list` in bytes or with a unit, with doubling ranges: 64,8K or 1K:64K")
	flags.DurationVar(&req.time, "time", 0, "budget (default 10s, or 13 ms a pair where there are many)")
	flags.Float64Var(&req.width, "ci", 0.02, "a pair is done when the half-widths of its intervals, relative to their centres, are `w`")
	flags.BoolVar(&req.json, "json", false, "write one JSON document")
	flags.StringVar(&req.file, "o", "", "write the parameters into a new `file` too")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	if err := parse(flags, out, args, pairsHelp); err != nil {
		return nil, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case flags.NArg() > 0:
		return nil, usagef("pairs takes no arguments, got %q: choose CPUs with -cpus", flags.Arg(0))
	case given["time"] && req.time <= 0:
		return nil, usagef("-time is %v: give a budget above zero, like 10s", req.time)
	case !(req.width > 0 && req.width < 1):
		return nil, usagef("-ci is %v: give a relative half-width between 0 and 1, like 0.02", req.width)
	case req.smt && req.cpus != "":
		return nil, usagef("-smt and -cpus cannot be used together: choose one")
	}
	const most = 64 << 20
	sizes, err := parseList(req.list, false, func(text string) (int, error) {
		m, _, err := parseSize(text, 1)
		if err == nil && m > most {
			err = fmt.Errorf("a message of %s is too large: give up to %s", text, report.Bytes(most))
		}
		return m, err
	})
	if err != nil {
		return nil, usagef("-m: %v", err)
	}
	req.sizes = append(sizes, 0)
	slices.Sort(req.sizes)
	req.sizes = slices.Compact(req.sizes)
	return req, nil
}

// choose finds the CPUs to measure.
func (req *pairsRequest) choose(m *numa.Machine) (numa.CPUSet, error) {
	cpus := m.CoreCPUs()
	switch {
	case req.cpus != "":
		list, err := numa.ParseOrder(req.cpus)
		if err != nil {
			return nil, usagef("-cpus: %v", err)
		}
		if _, err := m.PlaceOn(list, len(list)); err != nil {
			return nil, usagef("-cpus: %v", err)
		}
		cpus = numa.SetOf(list...)
	case req.smt:
		cpus = m.Allowed
	}
	if len(cpus) >= 2 {
		return cpus, nil
	}
	if req.cpus == "" && len(m.Allowed) > 1 {
		return nil, usagef("a pair needs two cores, and this process may use CPUs %v of one core: take its SMT siblings with -smt", m.Allowed)
	}
	return nil, usagef("a pair needs two CPUs, and there is CPU %v alone: allow this process more, or name two with -cpus", cpus)
}

// open makes a new file, which is not written yet.
func (req *pairsRequest) open(m *numa.Machine) (*params.File, error) {
	if req.file != "" {
		if outfile.Replaces(req.file) {
			return nil, usagef("%s is there already: choose another file", req.file)
		}
		if err := writable(req.file); err != nil {
			return nil, usagef("-o %s cannot be written: %v", req.file, err)
		}
	}
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: provenance.Read("/", m), Plan: params.Plan{
		Policies: []numa.Policy{numa.Local}, Sizes: slices.DeleteFunc(slices.Clone(req.sizes), func(m int) bool { return m == 0 }),
		Taus: []int{1}, Segments: 1, SegmentBytes: pairs.SegmentBytes, Caches: []bool{false},
		Budget: req.time.Seconds(), Width: req.width, Copy: shm.CopyName(), NoGamma: true, With: []string{"pairs"},
	}}
	if m.Count().Nodes > 1 {
		f.Plan.Policies = append(f.Plan.Policies, numa.Spread)
	}
	for _, policy := range f.Plan.Policies { // for models that place ranks
		p, err := m.Place(policy, m.Allowed.Len())
		if err != nil {
			return nil, err
		}
		f.Placements = append(f.Placements, p)
	}
	for _, w := range f.Provenance.Warnings() {
		f.Warnings = append(f.Warnings, w.Error())
	}
	return f, nil
}

// pairsProgress shows a bar on a terminal, and a line a minute elsewhere.
func pairsProgress(w io.Writer, budget time.Duration) (show func(pairs.Progress), done func()) {
	if !isTerminal(w) {
		last := time.Now()
		return func(p pairs.Progress) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %d of %d pairs, %v left\n", p.Done, p.Pairs, p.Left.Round(time.Second))
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(int(budget.Milliseconds()), progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(p pairs.Progress) {
		bar.Describe(fmt.Sprintf("%d of %d pairs, %v left, CPUs %d and %d", p.Done, p.Pairs, p.Left.Round(time.Second), p.A, p.B))
		bar.Set(int((budget - p.Left).Milliseconds()))
	}, func() { bar.Finish() }
}
