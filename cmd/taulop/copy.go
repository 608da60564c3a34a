package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/hierarchy"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/provenance"
	"github.com/taulop/taulop/report"
	"github.com/taulop/taulop/shm"
)

const copyHelp = `Copy measures c(m,τ), a copy of m bytes while τ run at once, between every two
levels of the memory: the caches, the worker's own memory and that of the node
farthest away.

  taulop copy [flags]

Data are in a level because copies walk through more than the level before holds
and less than this one does; whether they are shows in the times, which are
compared. Tam's M_ctc, M_ctm and M_mtm are rows of it.

Examples:
  taulop copy                          all levels, in half a minute
  taulop copy -tau 1 -levels L2,memory -m 1K:256K
  taulop copy -o copy.json             a parameter file, for taulop plot copy

Flags:
`

func copyCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req                = cellsRequest{name: "copy"}
		flags              = req.flags(20 * time.Second)
		taus, sizes, names string
		copies             hierarchy.Copies
	)
	flags.StringVar(&taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default doubling to the number of cores)")
	flags.StringVar(&sizes, "m", "", "sizes of copies in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default 64 B to 4 MB, eight of them)")
	flags.StringVar(&names, "levels", "", "only between these, a `list` of "+strings.Join(hierarchy.Order, ", "))
	machine, err := req.parse(flags, out, args, copyHelp)
	if err != nil {
		return err
	}
	if copies.Sizes = hierarchy.CopySizes; sizes != "" {
		if copies.Sizes, err = parseList(sizes, false, parseBytes); err != nil {
			return usagef("-m: %v", err)
		}
	}
	if copies.Taus = hierarchy.Taus(machine); taus != "" {
		if copies.Taus, err = parseList(taus, true, parseTau); err != nil {
			return usagef("-tau: %v", err)
		}
	}
	slices.Sort(copies.Sizes)
	slices.Sort(copies.Taus)
	if most := machine.Allowed.Len(); copies.Taus[len(copies.Taus)-1] > most {
		return usagef("-tau %d is more than the %d CPUs that may be used: what copies do at once cannot be measured by turns", copies.Taus[len(copies.Taus)-1], most)
	}
	place, err := copies.Place(machine)
	if err != nil {
		return usageError(err.Error())
	}
	for _, name := range fields(names) {
		levels, _ := hierarchy.Levels(machine, place, copies.Taus[0])
		var known []string
		for _, l := range levels {
			known = append(known, l.Name)
		}
		if !slices.Contains(known, name) {
			return usagef("-levels: there is no level %q on this machine: choose from %s", name, strings.Join(known, ", "))
		}
		copies.Levels = append(copies.Levels, name)
	}
	if err := copies.Fits(machine); err != nil {
		return usageError(err.Error())
	}
	plan := params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: copies.Sizes, Taus: copies.Taus, With: []string{req.name}}
	return req.measure(ctx, out, errOut, machine, plan, func(ctx context.Context, r hierarchy.Rounds) (int, []error, error) {
		return copies.Measure(ctx, machine, r)
	}, func(w io.Writer, f *params.File) {
		levels, _ := hierarchy.Levels(machine, place, copies.Taus[0])
		report.WriteLevelSets(w, levels)
		report.WriteLevels(w, f)
	})
}

func parseBytes(text string) (int, error) {
	m, _, err := parseSize(text, 1)
	if err == nil && m < 1 {
		err = fmt.Errorf("size %q: give at least one byte", text)
	}
	return m, err
}

func parseTau(text string) (int, error) {
	tau, err := strconv.Atoi(text)
	if err != nil || tau < 1 {
		return 0, fmt.Errorf("%q is not a τ: give whole numbers from 1, like 1,2,4", text)
	}
	return tau, nil
}

// A cellsRequest is what commands have in common that measure cells of a kind.
type cellsRequest struct {
	name  string
	takes bool     // arguments,
	words []string // which are these
	time  time.Duration
	width float64
	json  bool
	file  string
	quiet bool
}

func (req *cellsRequest) flags(budget time.Duration) *flag.FlagSet {
	flags := flag.NewFlagSet("taulop "+req.name, flag.ContinueOnError)
	flags.DurationVar(&req.time, "time", budget, "time for everything")
	flags.Float64Var(&req.width, "ci", 0.02, "a cell is done when the half-width of its interval, relative to its centre, is `w`")
	flags.BoolVar(&req.json, "json", false, "write a parameter file with all samples to standard output")
	flags.StringVar(&req.file, "o", "", "write to a `file`: what ends in .json is a parameter file, anything else the table")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	return flags
}

// parse parses flags, and looks at the machine.
func (req *cellsRequest) parse(flags *flag.FlagSet, out io.Writer, args []string, help string) (*numa.Machine, error) {
	machine, discovery := numa.Discover("/")
	if err := parse(flags, out, args, help); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0 && !req.takes:
		return nil, usagef("%s takes no arguments, got %q: all is said by flags", req.name, flags.Arg(0))
	case req.time <= 0:
		return nil, usagef("-time is %v: give a budget above zero, like 20s", req.time)
	case !(req.width > 0 && req.width < 1):
		return nil, usagef("-ci is %v: give a relative half-width between 0 and 1, like 0.02", req.width)
	}
	req.words = flags.Args()
	if err := writable(req.file); err != nil {
		return nil, usagef("-o %s cannot be written: %v", req.file, err)
	}
	if !shm.Supported {
		return nil, errNoMeasuring
	}
	return machine, discovery
}

// measure measures, and writes what it has, also if it ends early.
func (req *cellsRequest) measure(ctx context.Context, out, errOut io.Writer, m *numa.Machine, plan params.Plan,
	run func(context.Context, hierarchy.Rounds) (int, []error, error), write func(io.Writer, *params.File)) error {
	here := provenance.Read("/", m)
	plan.Budget, plan.Width, plan.Copy = req.time.Seconds(), req.width, shm.CopyName()
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: plan}
	for _, w := range here.Warnings() {
		f.Warnings = append(f.Warnings, w.Error())
	}
	for _, w := range starved() {
		f.Warnings = append(f.Warnings, w.Error())
	}
	if !req.quiet {
		writeWarnings(errOut, f.Warnings)
	}
	told := len(f.Warnings)
	steal, began := provenance.StartSteal("/"), time.Now()
	bar := progress(errOut, req.quiet)
	limited, cancel := within(ctx, req.time)
	defer cancel()
	missing, warnings, err := run(limited, hierarchy.Rounds{Width: req.width, Budget: req.time, Add: hierarchy.Collect(&f.Cells),
		Report: func(done, all int) { bar(done, all+1) }})
	bar(-1, 0)
	if overdue(err) {
		err = nil
	}
	f.Seconds, f.Complete = time.Since(began).Seconds(), missing == 0 && err == nil
	if errors.Is(err, context.Canceled) {
		err = interrupted(fmt.Sprintf("stopped with %s; of the plan %d have too few samples", count(len(f.Cells), "cell"), missing))
	}
	if len(f.Cells) == 0 {
		return cmp.Or(err, nothingIn(req.time))
	}
	for _, w := range append(warnings, steal.Warnings()...) {
		f.Warnings = append(f.Warnings, w.Error())
	}
	if missing > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d cells have too few samples for an interval: allow more with -time, or choose fewer", missing))
	}
	if !req.quiet {
		writeWarnings(errOut, f.Warnings[told:])
	}
	if failed := req.write(out, f, write); failed != nil {
		return failed
	}
	return err
}

func (req *cellsRequest) write(out io.Writer, f *params.File, write func(io.Writer, *params.File)) error {
	text := func(w io.Writer) {
		write(w, f)
		report.WriteReach(w, f)
	}
	switch {
	case req.json:
		return put(out, req.file, f.Write)
	case strings.EqualFold(filepath.Ext(req.file), ".json"):
		return putParameters(out, req.file, f, text)
	}
	return put(out, req.file, asText(func(w io.Writer) error { text(w); return nil }))
}
