package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A verifyRequest holds the flags of verify.
type verifyRequest struct {
	verify.Request
	transport     string
	machine       string        // name in the output
	save          string        // parameter file to write
	saving        *outfile.File // at save; nil without -save
	oversubscribe bool
	huge          bool
	destination
}

// verifyFlags is the subcommand.
func verifyFlags(flags *argument.Set) action {
	req := &verifyRequest{}
	req.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		machine, err := here()
		if err != nil {
			return err
		}
		if err := req.complete(flags, words, machine); err != nil {
			return err
		}
		if req.Source != "" {
			if req.Params, err = readParameters("params", req.Source); err != nil {
				return err
			}
		}
		now := provenance.Read("/", machine)
		now.Give(req.huge)
		e, err := verify.New(req.Request, machine, now)
		if err != nil {
			return err
		}
		e.Warn(append(advised(now.Warnings()), starved()...)...)
		return req.carryOut(ctx, out, errOut, e)
	}
}

// carryOut measures, and writes the result and the file of -save.
func (req *verifyRequest) carryOut(ctx context.Context, out io.Writer, errOut *messages, e *verify.Experiment) error {
	var doc *document.Document
	var lacking error // why nothing is predicted
	warnings := slices.Clone(e.Warnings)
	return measurement{
		limit: req.Time, budget: req.Time, report: &e.Report, run: e.Run, warnings: &warnings,
		came: func() string {
			return fmt.Sprintf("stopped after %d of %s were measured", e.Measured(), printable.Count(len(e.Cases), "case"))
		},
		conclude: func(steal *provenance.StealMeter, ended error) error {
			if e.Measured() == 0 {
				return cmp.Or(ended, nothingIn(req.Time))
			}
			e.Warn(steal.Warnings()...)
			short := e.Short()
			if short != nil {
				e.Warn(fmt.Errorf("%w; allow more with -time, or ask for fewer -m, -P or -cache", short))
			}
			doc, lacking = req.document(e)
			said := func(w string) bool { // by the error
				return lacking != nil && (short != nil && strings.HasPrefix(w, short.Error()) || strings.Contains(lacking.Error(), w))
			}
			warnings = append(warnings, slices.DeleteFunc(slices.Clone(e.Warnings[len(warnings):]), said)...)
			return nil
		},
		put: func(ended error) error { return req.put(out, e, doc, ended, lacking) },
	}.carryOut(ctx, errOut)
}

// put writes the patterns to the file of -save, and the result.
func (req *verifyRequest) put(out io.Writer, e *verify.Experiment, doc *document.Document, ended, lacking error) error {
	var saved *params.File
	var unsaved error
	if req.save != "" {
		if saved = e.PatternFile(); saved != nil {
			unsaved = put(out, req.saving, saved.Write)
		}
	}
	failed := cmp.Or(unsaved, req.destination.put(out, doc))
	switch {
	case !errors.As(ended, new(interrupted)):
		return cmp.Or(failed, ended, lacking)
	case failed != nil:
		return interrupted(fmt.Sprintf("%v, and %v", ended, failed))
	case saved != nil:
		return interrupted(fmt.Sprintf("%v; the measured patterns are in %s", ended, req.save))
	}
	return ended
}

func (req *verifyRequest) add(flags *argument.Set) {
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4 with ranges: 2-8, or doubling 2:8 (default the number of cores, 2 at least)", argument.Ranks(2))
	argument.Var(flags, &req.M, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default three a decade from 1200 to 2400000, between those of a sweep)", argument.Messages(1))
	flags.BoolVar(&req.Patterns, "patterns", false, "run message patterns; -m is then 1K:4M by default")
	flags.IntVar(&req.Variants, "variants", 32, "the most distances, pairs or roots of a pattern, evenly spread; 0 for all")
	flags.StringVar(&req.save, "save", "", "with -patterns, write parameters and patterns to a new parameter `file`")
	argument.Var(flags, &req.Tau, "tau", "", "τ to take parameters from, a `list` like 1,2,4 or 1-4 (default all; on more than four cores, up to half of the largest P)", argument.Rising(argument.Taus))
	addSchedule(flags, &req.Degree, &req.Chunk)
	flags.StringVar(&req.Source, "params", "", "predict from a `file` of taulop sweep, too: how well another session predicts")
	flags.BoolVar(&req.NoSweep, "no-sweep", false, "sweep nothing: predict from -params alone")
	argument.Word(flags, &req.transport, "transport", "segmented", "`transport` of messages: segmented, through channels between threads; cma, single copies by the kernel between processes", []string{"segmented", "cma"})
	argument.Var(flags, &req.Buffers, "buffers", "rewritten", "with -transport cma, `state` of send buffers: rewritten before each run, or unchanged", params.ParseBuffers, "rewritten", "unchanged")
	argument.Var(flags, &req.Caches, "cache", "in,off", "user buffers in cache or off cache, a `list`: in,off", argument.Caches, "in", "off")
	flags.DurationVar(&req.Time, "time", 2*time.Minute, "time for everything, 1m with -patterns; a minute is the least for what is tested by itself")
	addNode(flags, &req.machine)
	flags.BoolVar(&req.oversubscribe, "oversubscribe", false, "let ranks share CPUs; the scheduler then determines the times")
	flags.BoolVar(&req.huge, "huge", false, hugeUsage)
	flags.Within("variants", 0, math.MaxInt32, "give a number from 1 up, or 0 for all")
	flags.Rules(
		argument.Rule{Flags: "variants save", Needs: "patterns", Why: "is of message patterns"},
		argument.Rule{Flags: "degree chunk tau", Not: "patterns", Why: "is of collectives"},
		argument.Rule{Flags: "transport", Not: "patterns", Why: "is of collectives"},
		argument.Rule{Flags: "buffers", Needs: "transport=cma", Why: "is of single copies"},
		argument.Rule{Flags: "no-sweep", Needs: "params", Why: "leaves nothing to predict from", Do: "name a file of taulop sweep with -params"},
	)
	req.destination.add(flags)
	flags.Check(func() (err error) {
		req.saving, err = fresh(flags, "-save "+req.save, req.save, req.force)
		return err
	})
}

// complete completes the request from flags, operands and the machine.
func (req *verifyRequest) complete(flags *argument.Set, words []string, machine *numa.Machine) (err error) {
	switch {
	case flags.Given("m"):
	case req.Patterns:
		req.M, _ = argument.Sizes("1K:4M")
	default:
		req.M = verify.Sizes
	}
	if req.Patterns {
		slices.Sort(req.M)
		if !flags.Given("time") {
			req.Time = time.Minute
		}
	}
	req.Transport, _ = model.ParseTransport(req.transport) // a word of the flag's
	if len(req.P) == 0 {
		req.P = []int{max(2, machine.Concurrency())}
	}
	if err := req.Name(words); err != nil {
		return usageError(err.Error())
	}
	cpus := machine.Allowed.Len()
	if n := len(req.Tau); n > 0 && req.Tau[n-1] > cpus && !req.oversubscribe {
		return usagef("-tau: τ = %d transfers need as many CPUs and %d may be used here: take fewer, or -oversubscribe", req.Tau[n-1], cpus)
	}
	if p := slices.Max(req.P); p > numa.MostWorkers && req.oversubscribe {
		return usagef("-P: P = %d is more than the %d ranks that are measured at the most: take fewer", p, numa.MostWorkers)
	}
	if err := fewEnough(slices.Max(req.P), cpus, req.oversubscribe); err != nil {
		return err
	}
	if n := len(req.M); req.Patterns && n < verify.LeastPatternSizes {
		return usagef("-m has %s: a line is fitted to some and tested on others, so give %d or more, like 1K:4M", printable.Count(n, "size"), verify.LeastPatternSizes)
	}
	return nil
}

// fewEnough rejects more ranks than CPUs without -oversubscribe.
func fewEnough(ranks, cpus int, oversubscribe bool) error {
	if ranks <= cpus || oversubscribe {
		return nil
	}
	return usagef("P = %d ranks need as many CPUs and %d may be used here: take fewer, or -oversubscribe, with which the scheduler determines the times", ranks, cpus)
}

// document is the result, and an error if a part is missing.
func (req *verifyRequest) document(e *verify.Experiment) (*document.Document, error) {
	if !req.Patterns {
		found, lacking := e.Collectives()
		return report.Verification(found), req.lacking(lacking, e.OutOfTime())
	}
	found, lacking, unfitted := e.PatternResult()
	if lacking == nil && unfitted != nil {
		return report.Patterns(found), usagef("%v", unfitted)
	}
	return report.Patterns(found), req.lacking(lacking, e.OutOfTime())
}

// lacking is the error for missing parameters, nil if err is nil. It advises more time if the
// time was up.
func (req *verifyRequest) lacking(err error, outOfTime bool) error {
	where := printable.If(req.save != "", "; the patterns are in "+req.save)
	switch {
	case err == nil:
		return nil
	case outOfTime:
		return noAnswer(fmt.Sprintf("nothing could be predicted within -time %v: %v; allow more, or ask for fewer -m or -cache%s", req.Time, err, where))
	}
	return usagef("nothing could be predicted, for %v%s", err, where)
}
