package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

const verifyHelp = `Verify holds the models to what they say: it carries collectives out on this
machine's memory, every rank's data checked, and prints what was measured beside
what τ-Lop, log_nP and LogGP predict from transfers alone.

  taulop verify [flags] [COLLECTIVE[:ALGORITHM] ...]
  taulop verify -patterns [flags] [PATTERN ...]
  taulop verify -against OUTPUT -params FILE [flags] [COLLECTIVE[:ALGORITHM] ...]

With -patterns all ranks follow a message pattern instead: permutation, at every
distance; ping-pong, of every pair; scatter and broadcast, from every rank. Times of
each are fitted by T_s + m·τ_d at every other size, and at the sizes between they
stand beside what that, the same line of permutations and τ-Lop predict.

With -against nothing is measured: what IMB-MPI1 or OSU micro-benchmarks printed
stands beside predictions; taulop verify -against OUTPUT -h says more.

Without a collective it takes one-way messages ("message") and one algorithm of
each collective. Without -params it sweeps what it needs too, in launches of its own
between those of the collectives. Stopped by a signal, or out of time, it prints what
was measured, without predictions where parameters lack.

Examples:
  taulop verify                                   messages and every collective, in a minute
  taulop verify -cache in -m 64K bcast            all broadcasts of 64 KB
  taulop verify -params host.json -P 4,8 message allgather:ring
  taulop verify -patterns                         four patterns, 1 KB to 4 MB
  taulop verify -patterns -P 8 -save host.json ping-pong

Flags:
`

// verifiedByDefault is a message and one algorithm of each collective.
func verifiedByDefault() []string {
	names := []string{verify.Message}
	for _, c := range collective.Collectives() {
		names = append(names, c.DefaultAlgorithm().String())
	}
	return names
}

// verifyOperator is what reductions compute.
const verifyOperator = "SUM_I"

// A verifyRequest is what the user asked to verify.
type verifyRequest struct {
	ps, ms   []int
	caches   []bool
	names    []string // of algorithms, or verify.Message; with patterns, of those
	patterns bool
	variants int    // of a pattern, the most; 0 for all
	save     string // parameter file to write
	params   string
	time     time.Duration
	force    bool
	json     bool
	file     string
	quiet    bool
	machine  *numa.Machine
	warnings []string
}

func verifyCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	if asksAgainst(args) {
		return against(out, errOut, args)
	}
	machine, discovery := numa.Discover("/")
	req := &verifyRequest{machine: machine}
	if err := req.parse(out, args); err != nil {
		return err
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	if discovery != nil {
		return discovery
	}
	limited, cancel := within(ctx, req.time)
	defer cancel()
	steal, here := provenance.StartSteal("/"), provenance.Read("/", machine)
	slow := starved()
	if !req.quiet {
		warn(errOut, slow)
	}
	runs, request, err := req.runs()
	if err != nil {
		return err
	}
	for _, w := range advised(here.Warnings()) {
		req.warnings = append(req.warnings, w.Error())
	}
	file, ended := req.measure(limited, runs, &request, here, errOut)
	measured, all := runs.Measured(), len(runs.Cases)
	switch {
	case overdue(ended):
		ended = nil
	case errors.Is(ended, context.Canceled):
		ended = interrupted(fmt.Sprintf("stopped after %d of %s were measured", measured, count(all, "case")))
	}
	if measured == 0 {
		return cmp.Or(ended, nothingIn(req.time))
	}
	for _, w := range append(slow, steal.Warnings()...) {
		req.warnings = append(req.warnings, w.Error())
	}
	if measured < all {
		req.warnings = append(req.warnings, fmt.Sprintf("%d of %s were not measured: allow more with -time, or ask for fewer -m, -P or -cache", all-measured, count(all, "case")))
	}
	saved, unsaved := req.savePatterns(out, runs)
	doc, lacking, err := req.document(runs, request, file, here)
	if err != nil {
		return cmp.Or(ended, unsaved, err)
	}
	if !req.quiet {
		warn(errOut, req.warnings)
	}
	failed := cmp.Or(unsaved, putDocument(out, req.file, doc, req.json))
	var stopped interrupted
	switch {
	case !errors.As(ended, &stopped):
		return cmp.Or(failed, ended, lacking)
	case failed != nil:
		return interrupted(fmt.Sprintf("%v, and %v", ended, failed))
	case saved:
		return interrupted(fmt.Sprintf("%v; the patterns that were are in %s", ended, req.save))
	}
	return ended
}

func (req *verifyRequest) parse(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop verify", flag.ContinueOnError)
	var ps, ms, caches string
	flags.StringVar(&ps, "P", "", "ranks, a `list` like 2,4 with ranges: 2-8, or doubling 2:8 (default the number of cores, 2 at least)")
	flags.StringVar(&ms, "m", "1K,8K,64K,512K,4M", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M")
	flags.BoolVar(&req.patterns, "patterns", false, "carry out message patterns; -m is then 1K:4M by default")
	flags.IntVar(&req.variants, "variants", 32, "of a pattern, the most distances, pairs or roots, evenly spread; 0 for all")
	flags.StringVar(&req.save, "save", "", "with -patterns, write parameters and patterns to a new parameter `file`")
	flags.StringVar(&req.params, "params", "", "predict from a `file` of taulop sweep (default a sweep of what is needed)")
	flags.StringVar(&caches, "cache", "in,off", "`list` of where user buffers are: in, off")
	flags.DurationVar(&req.time, "time", time.Minute, "time for everything")
	flags.BoolVar(&req.force, "force", false, "let ranks share CPUs: what is measured is then the scheduler")
	flags.BoolVar(&req.json, "json", false, "one JSON document")
	flags.StringVar(&req.file, "o", "", "write to a `file`")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	var err error
	if req.names, err = parseWords(flags, out, args, verifyHelp); err != nil {
		return err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range []string{"variants", "save"} {
		if given[name] && !req.patterns {
			return usagef("-%s is of message patterns: add -patterns", name)
		}
	}
	if req.patterns && !given["m"] {
		ms = "1K:4M"
	}
	if ps == "" {
		ps = "2"
		if req.machine != nil {
			ps = strconv.Itoa(max(2, min(req.machine.Count().Cores, req.machine.Allowed.Len())))
		}
	}
	if err := req.choose(); err != nil {
		return err
	}
	if err := req.lists(ps, ms, caches); err != nil {
		return err
	}
	if req.time <= 0 {
		return usagef("-time is %v: give a time above zero, like 60s", req.time)
	}
	if err := writable(req.file); err != nil {
		return usagef("-o %s cannot be written: %v", req.file, err)
	}
	return req.checkPatterns()
}

// choose finds the algorithms; a collective is all of its own.
func (req *verifyRequest) choose() error {
	if req.patterns {
		return req.choosePatterns()
	}
	if len(req.names) == 0 {
		req.names = verifiedByDefault()
		return nil
	}
	var names []string
	for _, name := range req.names {
		found := []string{name}
		switch {
		case name == verify.Message:
		case strings.Contains(name, ":"):
			if _, err := collective.Lookup(name); err != nil {
				return usageError(err.Error())
			}
		default:
			of, err := collective.Of(name)
			if err != nil {
				return usageError(err.Error())
			}
			found = nil
			for _, a := range of {
				found = append(found, a.String())
			}
		}
		for _, f := range found {
			if !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
	}
	req.names = names
	return nil
}

func (req *verifyRequest) lists(ps, ms, caches string) (err error) {
	req.ps, err = argument.List(ps, true, func(text string) (int, error) {
		p, err := strconv.Atoi(text)
		if err != nil || p < 2 {
			return 0, fmt.Errorf("%q is not a number of ranks from 2 up", text)
		}
		return p, nil
	})
	if err != nil {
		return usagef("-P: %v", err)
	}
	req.ms, err = argument.List(ms, false, func(text string) (int, error) {
		m, err := argument.Bytes(text)
		if err == nil && m < 1 {
			err = fmt.Errorf("a message has 1 byte or more, got m = %s", text)
		}
		return m, err
	})
	if err != nil {
		return usagef("-m: %v", err)
	}
	if req.caches, err = argument.Caches("-cache", caches); err != nil {
		return usageError(err.Error())
	}
	for _, p := range req.ps {
		switch {
		case req.force && p > numa.MostWorkers:
			return usagef("-P: P = %d is more than the %d ranks that are measured at the most: take fewer", p, numa.MostWorkers)
		case req.machine == nil || req.force || p <= req.machine.Allowed.Len():
			continue
		}
		return usagef("P = %d ranks need as many CPUs and %d may be used here: take fewer, or -force, and then it is the scheduler that is measured", p, req.machine.Allowed.Len())
	}
	return nil
}

// cases are the calls to carry out, in the order of the report: messages have two
// ranks, whatever P is.
func (req *verifyRequest) cases() (cases []verify.Case, err error) {
	ps, messages := req.ps, slices.Contains(req.names, verify.Message)
	if messages && !slices.Contains(ps, 2) {
		ps = append([]int{2}, ps...)
	}
	for _, p := range ps {
		for _, off := range req.caches {
			if messages && p == 2 {
				for _, m := range req.ms {
					c, err := verify.MessageCase(m, off)
					if err != nil {
						return nil, usageError(err.Error())
					}
					cases = append(cases, c)
				}
			}
			for _, name := range req.names {
				if name == verify.Message || !slices.Contains(req.ps, p) {
					continue
				}
				of, err := req.casesOf(name, p, off)
				if err != nil {
					return nil, usageError(err.Error())
				}
				cases = append(cases, of...)
			}
		}
	}
	return cases, nil
}

func (req *verifyRequest) casesOf(name string, p int, off bool) (cases []verify.Case, err error) {
	a, err := collective.Lookup(name)
	if err != nil {
		return nil, err
	}
	ms := req.ms
	if a.Collective.Empty() {
		if ms = []int{0}; off && len(req.caches) > 1 {
			return nil, nil
		}
	}
	for _, m := range ms {
		s, err := a.Schedule(collective.Call{P: p, M: m, Element: element(a)})
		if err != nil {
			return nil, err
		}
		cases = append(cases, verify.Case{Name: name, OffCache: off, Schedule: s})
	}
	return cases, nil
}

func element(a *collective.Algorithm) int {
	if o, err := setups.LookupOperator(verifyOperator); err == nil && a.Reduces() {
		return o.Element
	}
	return 1
}

const (
	verifySegments     = 2
	verifySegmentBytes = 8 << 10
)

// runs settles what is carried out, and how much memory it takes.
func (req *verifyRequest) runs() (verify.Runs, verify.Request, error) {
	var none verify.Request
	cases, err := req.cases()
	if req.patterns {
		cases, err = req.patternCases()
	}
	if err != nil {
		return verify.Runs{}, none, err
	}
	cases = append(cases, verify.LocalCopies(cases)...)
	runs := verify.Runs{Cases: cases, File: &params.File{}, Forced: make(map[int]bool)}
	request := verify.Request{Segments: verifySegments, SegmentBytes: verifySegmentBytes, ArenaBytes: make(map[int]int), Operator: verifyOperator}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return runs, none, err
	}
	ps := make(map[int]bool)
	for _, c := range cases {
		if need := c.Bytes(); need > free/4 {
			return runs, none, usagef("%s among P = %d with m = %d needs %d MB and a quarter of the %d MB that are free does not hold that: take a smaller m or P",
				c.Name, c.Schedule.Call.P, c.Schedule.Call.M, need>>20, free>>20)
		}
		ps[c.Schedule.Call.P] = true
	}
	for p := range ps {
		place, err := req.machine.Place(numa.Local, p)
		if err != nil {
			return runs, none, err
		}
		runs.Forced[p] = place.Oversubscribed
		fit := setups.Fit{CacheBytes: req.machine.LastLevelCacheBytes(), Sharers: req.machine.Sharers(place)}
		// An arena to send from and one to receive into, for each rank.
		wanted, most := fit.WantedArena(), int(free/4/int64(2*p*len(ps)))
		if request.ArenaBytes[p] = min(wanted, most); wanted > most && slices.Contains(req.caches, true) {
			req.warnings = append(req.warnings, fmt.Sprintf("P = %d: off cache only in part: buffers walk through %d MB where it takes %d MB to have twice the last-level cache, and a quarter of free memory does not hold more", p, most>>20, wanted>>20))
		}
	}
	return runs, request, nil
}

// verified is a document, as text or as JSON.
type verified interface {
	WriteText(io.Writer)
	WriteJSON(io.Writer) error
}

// measure measures both sides, each by launches of its own that take turns. It returns
// the parameters to predict from; stopped, as far as they are there.
func (req *verifyRequest) measure(ctx context.Context, runs verify.Runs, request *verify.Request, here provenance.Provenance, errOut io.Writer) (file *params.File, err error) {
	x := &engine.Experiment{File: runs.File}
	if req.params != "" {
		if file, err = req.read(here); err != nil {
			return nil, err
		}
		request.Segments, request.SegmentBytes = file.Plan.Segments, file.Plan.SegmentBytes
		*runs.File = params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: params.Plan{Segments: request.Segments, SegmentBytes: request.SegmentBytes}}
	} else {
		if file, err = req.plan(runs, *request, here); err != nil {
			return nil, err
		}
		*runs.File = *file
		file = runs.File
		if x, err = sweep.Experiment(file, req.machine, 0); err != nil {
			return nil, err
		}
	}
	cases := engine.Experiment{}
	if _, err := survey.Add(&cases, verify.Survey, request.For(runs.Cases), req.machine); err != nil {
		return nil, err
	}
	set := min(1, len(x.Cells))
	for _, c := range cases.Cells {
		c.Set = set
		x.Cells = append(x.Cells, c)
	}
	if x.Requests == nil {
		x.Requests = make(map[string]any)
	}
	x.Requests[verify.Survey.Name] = request
	x.Time = req.time
	done := func() {}
	if !req.quiet {
		x.Report, done = launchProgress(errOut, x.Time)
	}
	err = x.Run(ctx)
	done()
	req.warnings = append(req.warnings, runs.File.Warnings...)
	return file, err
}

// document puts beside what was measured what the models say of it. Where they
// cannot, lacking says what to do.
func (req *verifyRequest) document(r verify.Runs, request verify.Request, file *params.File, here provenance.Provenance) (all verified, lacking, err error) {
	predictor := verify.FromFile(file, verifyOperator)
	if req.patterns {
		return req.patternDocument(r, request, predictor, here)
	}
	doc := &report.Verification{Provenance: here, Parameters: req.source()}
	predictor.LogGP = make(map[bool]model.LogGP)
	for _, off := range req.caches {
		m, warnings, err := model.AssessLogGP(model.RoundTrips(file, "", off))
		if err != nil {
			lacking = cmp.Or(lacking, err)
			continue
		}
		m.Segment = request.SegmentBytes
		for _, w := range warnings {
			req.warnings = append(req.warnings, w.Error())
		}
		predictor.LogGP[off] = m
		doc.LogGP = append(doc.LogGP, report.NewLogGP(off, m))
	}
	doc.Rows, err = r.Rows(predictor)
	lacking = req.lacking(cmp.Or(lacking, err))
	doc.Segments, doc.SegmentBytes, doc.Rounds = request.Segments, request.SegmentBytes, r.Launches()
	doc.ArenaBytes = req.arena(request)
	doc.Means, doc.Warnings = verify.Means(doc.Rows), req.warnings
	return doc, lacking, nil
}

// source says where the parameters come from.
func (req *verifyRequest) source() string {
	if req.params != "" {
		return req.params
	}
	if req.patterns {
		return "swept by launches between those of the patterns"
	}
	return "swept by launches between those of the collectives"
}

// lacking is what to do where parameters are missing, if they are.
func (req *verifyRequest) lacking(err error) error {
	if err == nil {
		return nil
	}
	req.warnings = append(req.warnings, usagef("parameters are missing for the rows without predictions: %v", err).Error())
	if req.params == "" && req.save != "" {
		return usagef("-time %v is too short for a sweep of what is needed: allow more, ask for fewer -m or -cache, or name a file of taulop sweep with -params; the patterns are in %s", req.time, req.save)
	}
	if req.params == "" {
		return usagef("-time %v is too short for a sweep of what is needed: allow more, ask for fewer -m or -cache, or name a file of taulop sweep with -params", req.time)
	}
	return usagef("%s: %v", req.params, err)
}

// arena is what a rank of the fewest has off cache, for each direction.
func (req *verifyRequest) arena(r verify.Request) int {
	if !slices.Contains(req.caches, true) {
		return 0
	}
	return r.ArenaBytes[slices.Min(slices.Collect(maps.Keys(r.ArenaBytes)))]
}

// read reads -params.
func (req *verifyRequest) read(here provenance.Provenance) (*params.File, error) {
	f, err := params.ReadFile(req.params)
	if err != nil {
		return nil, usagef("-params: %v", err)
	}
	if f.Plan.SegmentBytes < 1 || f.Plan.Segments < 1 {
		return nil, usagef("-params: %s does not say how it was measured: take a file of taulop sweep", req.params)
	}
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		n, err := shm.ChannelBytes(f.Plan.Segments, f.Plan.SegmentBytes, 1)
		if err != nil || int64(n) > free/4/int64(slices.Max(req.ps)) {
			return nil, usagef("-params: %s has %d segments of %d bytes, and a quarter of the %d MB that are free does not hold that: take another file", req.params, f.Plan.Segments, f.Plan.SegmentBytes, free>>20)
		}
	}
	if was := f.Provenance; was.CPUModel != here.CPUModel || was.Hostname != here.Hostname {
		req.warnings = append(req.warnings, fmt.Sprintf("%s was measured on %s (%s), not here", req.params, was.Hostname, was.CPUModel))
	}
	return f, nil
}

// plan is a sweep of the transfers that occur in the cases, and no others.
func (req *verifyRequest) plan(r verify.Runs, request verify.Request, here provenance.Provenance) (*params.File, error) {
	p := params.Plan{Setups: []string{setups.Ring.Name, setups.Ping.Name, setups.Sendrecv.Name}, Policies: []numa.Policy{numa.Local}, Caches: req.caches,
		Segments: request.Segments, SegmentBytes: request.SegmentBytes, Budget: req.time.Seconds(), Width: 0.01, Copy: shm.CopyName(), NoGamma: true, Operators: []string{request.Operator}}
	sizes := map[int]bool{request.SegmentBytes: true}
	for _, m := range req.ms {
		sizes[m] = true
	}
	for _, c := range r.Cases {
		p.NoGamma = p.NoGamma && !c.Schedule.Algorithm.Reduces()
		for _, b := range c.Schedule.Blocks {
			for _, s := range b.Stages {
				for _, batch := range s.Shape {
					sizes[batch.Bytes] = true
				}
			}
		}
	}
	if req.patterns { // none is as a ring, and what lies between is predicted where lines are tested
		p.Setups = []string{setups.Ping.Name, setups.Sendrecv.Name}
		for _, m := range verify.FittedSizes(req.ms) {
			delete(sizes, m)
		}
		sizes[request.SegmentBytes], sizes[req.ms[0]], sizes[req.ms[len(req.ms)-1]] = true, true, true
	}
	delete(sizes, 0)
	p.Sizes = slices.Sorted(maps.Keys(sizes))
	p.Taus = transfers.Taus(min(slices.Max(req.ps), req.machine.Allowed.Len()))
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: p}
	if err := transfers.Fit(f, req.machine); err != nil {
		return nil, usagef("%v", err)
	}
	req.warnings = append(req.warnings, f.Warnings...)
	return f, nil
}
