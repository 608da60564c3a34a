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

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

const verifyHelp = `Verify holds the models to what they say: it carries collectives out on this
machine's memory, every rank's data checked, and prints what was measured beside
what τ-Lop, log_nP and LogGP predict from transfers alone.

  taulop verify [flags] [COLLECTIVE[:ALGORITHM] ...]
  taulop verify -patterns [flags] [PATTERN ...]
  taulop verify -against OUTPUT -params FILE [flags] [COLLECTIVE[:ALGORITHM] ...]
  taulop verify -map -params FILE [flags] MATRIX ... | PATTERN

With -patterns all ranks follow a message pattern instead: permutation, at every
distance; ping-pong, of every pair; scatter and broadcast, from every rank. Times of
each are fitted by T_s + m·τ_d at every other size, and at the sizes between they
stand beside what that, the same line of permutations and τ-Lop predict.

With -against nothing is measured: what IMB-MPI1 or OSU micro-benchmarks printed
stands beside predictions; taulop verify -against OUTPUT -h says more. With -map it is a
program's messages under two mappings to cores; taulop verify -map -h says more.

Without a collective it takes one-way messages ("message") and one algorithm of
each collective. It sweeps what it needs too, in launches of its own between those of
the collectives, and tests other sizes than it sweeps, and on more than four cores
other τ. With -params FILE, what another session measured predicts beside that; with
-no-sweep, as with -patterns, instead of it. Stopped by a signal, or out of time, it
prints what was measured, with a dash where parameters lack for a prediction. Where the
host moves the CPUs, each state has its own predictions, runs and errors.

Examples:
  taulop verify                                   messages and every collective, in two minutes
  taulop verify -cache in -m 60000 bcast          all broadcasts of 60000 bytes
  taulop verify -params host.json                 what yesterday's parameters are worth today
  taulop verify -params host.json -no-sweep -P 4,8 message allgather:ring
  taulop verify -transport cma                    ranks that are processes, single copies
  taulop verify -P 8 -tau 1,2,4                   eight ranks, from four transfers and fewer
  taulop verify -patterns                         four patterns, 1 KB to 4 MB
  taulop verify -patterns -P 8 -save host.json ping-pong

Flags:
`

// A verifyRequest is what the user asked to verify.
type verifyRequest struct {
	verify.Request
	save          string        // parameter file to write
	saving        *outfile.File // it, or nil
	oversubscribe bool
	huge          bool
	destination
	saying
}

func verifyCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	if asks(args, "against") {
		return against(out, errOut, args)
	}
	if asks(args, "map") {
		return verifyMap(ctx, out, errOut, args)
	}
	machine, discovery := numa.Discover("/")
	req := &verifyRequest{}
	if err := req.parse(out, args, machine); err != nil {
		return err
	}
	if !shm.Supported {
		return errNoMeasuring
	}
	if discovery != nil {
		return discovery
	}
	limited, cancel := within(ctx, req.Time)
	defer cancel()
	slow, said := starved(), req.aside(errOut)
	warn(said, slow)
	if req.Source != "" {
		var err error
		if req.Params, err = params.ReadFile(req.Source); err != nil {
			return usagef("-params: %v", err)
		}
	}
	here := provenance.Read("/", machine)
	here.Give(req.huge)
	e, err := verify.New(req.Request, machine, here)
	if err != nil {
		return err
	}
	e.Warn(advised(here.Warnings())...)
	ended, err := carryOutCases(limited, req.progress(errOut), req.Time, e)
	if err != nil {
		return err
	}
	if short := e.Short(); short != nil {
		e.Warn(fmt.Errorf("%w; allow more with -time, or ask for fewer -m, -P or -cache", short))
	}
	untold := e.Warnings
	e.Warn(slow...)
	var saved *params.File
	var unsaved error
	if req.save != "" {
		if saved = e.PatternFile(); saved != nil {
			unsaved = put(out, req.saving, saved.Write)
		}
	}
	doc, lacking := req.document(e)
	warn(said, untold)
	failed := cmp.Or(unsaved, req.destination.put(out, doc))
	var stopped interrupted
	switch {
	case !errors.As(ended, &stopped):
		return cmp.Or(failed, ended, lacking)
	case failed != nil:
		return interrupted(fmt.Sprintf("%v, and %v", ended, failed))
	case saved != nil:
		return interrupted(fmt.Sprintf("%v; the patterns that were are in %s", ended, req.save))
	}
	return ended
}

// carryOutCases carries an experiment out. What ended it early is no error as long as a case
// was measured.
func carryOutCases(ctx context.Context, said io.Writer, budget time.Duration, e *verify.Experiment) (ended, err error) {
	steal := provenance.StartSteal("/")
	_, ended = carryOut(ctx, said, budget, &e.Report, e.Run)
	measured, all := e.Measured(), len(e.Cases)
	if errors.Is(ended, context.Canceled) {
		ended = interrupted(fmt.Sprintf("stopped after %d of %s were measured", measured, printable.Count(all, "case")))
	}
	if measured == 0 {
		return nil, cmp.Or(ended, nothingIn(budget))
	}
	e.Warn(steal.Warnings()...)
	return ended, nil
}

func (req *verifyRequest) parse(out io.Writer, args []string, machine *numa.Machine) error {
	flags := flag.NewFlagSet("taulop verify", flag.ContinueOnError)
	var transport string
	var schedule scheduleFlags
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4 with ranges: 2-8, or doubling 2:8 (default the number of cores, 2 at least)", argument.Ranks(2))
	argument.Var(flags, &req.M, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default three a decade from 1200 to 2400000, between those of a sweep)", argument.Messages(1))
	flags.BoolVar(&req.Patterns, "patterns", false, "carry out message patterns; -m is then 1K:4M by default")
	flags.IntVar(&req.Variants, "variants", 32, "of a pattern, the most distances, pairs or roots, evenly spread; 0 for all")
	flags.StringVar(&req.save, "save", "", "with -patterns, write parameters and patterns to a new parameter `file`")
	argument.Var(flags, &req.Tau, "tau", "", "τ that parameters may be of, a `list` like 1,2,4 or 1-4 (default all, on more than four cores to half of the largest P)", argument.Rising(argument.Taus))
	schedule.add(flags)
	flags.StringVar(&req.Source, "params", "", "predict from a `file` of taulop sweep too: what another session is worth")
	flags.BoolVar(&req.NoSweep, "no-sweep", false, "sweep nothing: predict from -params alone")
	flags.StringVar(&transport, "transport", "segmented", "`way` of messages: segmented, through channels between threads; cma, single copies by the kernel between processes")
	argument.Var(flags, &req.Buffers, "buffers", "rewritten", "with -transport cma, `state` of send buffers: rewritten before each run, or unchanged", params.ParseBuffers)
	argument.Var(flags, &req.Caches, "cache", "in,off", "`list` of where user buffers are: in, off", argument.Caches)
	flags.DurationVar(&req.Time, "time", 2*time.Minute, "time for everything, 1m with -patterns; a minute is the least for what is tested by itself")
	addNode(flags)
	flags.BoolVar(&req.oversubscribe, "oversubscribe", false, "let ranks share CPUs: what is measured is then the scheduler")
	flags.BoolVar(&req.huge, "huge", false, hugeUsage)
	req.destination.add(flags)
	req.saying.add(flags, "no progress and no warnings")
	names, err := parseWords(flags, out, args, verifyHelp)
	if err != nil {
		return err
	}
	given := givenFlags(flags)
	for _, name := range []string{"variants", "save"} {
		if given[name] && !req.Patterns {
			return usagef("-%s is of message patterns: add -patterns", name)
		}
	}
	switch {
	case given["m"]:
	case req.Patterns:
		req.M, _ = argument.Sizes("1K:4M")
	default:
		req.M = verify.Sizes
	}
	if req.Patterns && !given["time"] {
		req.Time = time.Minute
	}
	switch {
	case req.NoSweep && req.Source == "":
		return usagef("-no-sweep leaves nothing to predict from: name a file of taulop sweep with -params")
	case req.Patterns && (given["degree"] || given["chunk"]):
		return usagef("-degree and -chunk are of collectives: leave them out, or -patterns")
	case req.Patterns && given["tau"]:
		return usagef("-tau is of collectives: leave it out, or -patterns")
	}
	if req.Transport, err = model.ParseTransport(transport); err != nil || req.Transport != model.Segmented && req.Transport != model.CMA {
		return usagef("-transport is %q: messages are carried out segmented or by cma, choose one", transport)
	}
	switch cma := req.Transport == model.CMA; {
	case cma && req.Patterns:
		return usagef("-transport cma is of collectives: leave it out, or -patterns")
	case given["buffers"] && !cma:
		return usagef("-buffers is of single copies: add -transport cma")
	}
	if len(req.P) == 0 {
		req.P = []int{2}
		if machine != nil {
			req.P[0] = max(2, machine.Concurrency())
		}
	}
	if err := schedule.check(given); err != nil {
		return err
	}
	req.Degree, req.Chunk = schedule.degree, schedule.chunk
	if err := req.Name(names); err != nil {
		return usageError(err.Error())
	}
	if n := len(req.Tau); n > 0 && machine != nil && req.Tau[n-1] > machine.Allowed.Len() && !req.oversubscribe {
		return usagef("-tau: τ = %d transfers need as many CPUs and %d may be used here: take fewer, or -oversubscribe", req.Tau[n-1], machine.Allowed.Len())
	}
	for _, p := range req.P {
		switch {
		case req.oversubscribe && p > numa.MostWorkers:
			return usagef("-P: P = %d is more than the %d ranks that are measured at the most: take fewer", p, numa.MostWorkers)
		case machine == nil || req.oversubscribe || p <= machine.Allowed.Len():
			continue
		}
		return usagef("P = %d ranks need as many CPUs and %d may be used here: take fewer, or -oversubscribe, and then it is the scheduler that is measured", p, machine.Allowed.Len())
	}
	n := len(req.M)
	if req.Patterns {
		slices.Sort(req.M)
	}
	switch {
	case req.Time <= 0:
		return usagef("-time is %v: give a time above zero, like 60s", req.Time)
	case req.Patterns && n < verify.LeastPatternSizes:
		return usagef("-m has %s: a line is fitted to some and tested on others, so give %d or more, like 1K:4M", printable.Count(n, "size"), verify.LeastPatternSizes)
	case req.Variants < 0:
		return usagef("-variants is %d: give a number from 1 up, or 0 for all", req.Variants)
	}
	if err = req.destination.check(); err == nil {
		req.saving, err = fresh("-save "+req.save, req.save, req.force)
	}
	return err
}

// document is what was found, with what to do where something is missing.
func (req *verifyRequest) document(e *verify.Experiment) (documented, error) {
	if !req.Patterns {
		found, lacking := e.Collectives()
		return (*report.Verification)(found), req.lacking(lacking, e.OutOfTime())
	}
	found, lacking, unfitted := e.PatternResult()
	if lacking == nil && unfitted != nil {
		return (*report.Patterns)(found), usagef("%v", unfitted)
	}
	return (*report.Patterns)(found), req.lacking(lacking, e.OutOfTime())
}

// lacking is what to do where parameters are missing, if they are: allow more time where
// that is why.
func (req *verifyRequest) lacking(err error, outOfTime bool) error {
	where := ""
	if req.save != "" {
		where = "; the patterns are in " + req.save
	}
	switch {
	case err == nil:
		return nil
	case outOfTime:
		return usagef("-time %v is too short, nothing could be predicted: %v; allow more, or ask for fewer -m or -cache%s", req.Time, err, where)
	}
	return usagef("nothing could be predicted, for %v%s", err, where)
}
