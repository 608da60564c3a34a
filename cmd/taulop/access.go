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
	"strings"
	"time"

	"github.com/taulop/taulop/access"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/provenance"
	"github.com/taulop/taulop/report"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

const accessHelp = `Access measures what touching memory costs: reading, writing, multiplying and
dividing N elements of an array at a stride, in cache and off it, and how the
time divides into elements, cache lines and strides.

  taulop access [flags]

An array holds N·stride elements. In cache the same array is passed over again
and again; off cache passes walk through more memory than the caches hold.

Examples:
  taulop access                                      every operation on every type
  taulop access -ops read -types float64 -stride 1,2,4,8,16
  taulop access -size 32K,1M,64M -stride 1           arrays of these sizes
  taulop access -o access.json                       a parameter file with every sample

Flags:
`

// accessRequest is what the user asked to measure.
type accessRequest struct {
	plan  access.Plan
	cpu   int
	json  bool
	file  string
	quiet bool
}

func accessCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	req, err := parseAccess(out, args)
	if err != nil {
		return err
	}
	began := time.Now()
	limited, cancel := within(ctx, req.plan.Time)
	defer cancel()
	lone, err := loneWorker(req.cpu)
	if err != nil {
		return err
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return err
	}
	arena, warnings, err := access.Arena(lone.machine, lone.place, req.plan.Passes, req.plan.Caches, free)
	if err != nil {
		return usageError(err.Error())
	}
	req.plan.ArenaBytes = arena
	to, err := newOutput(req.file, req.json)
	if err != nil {
		return err
	}
	file := lone.file(req.plan.Time, req.plan.Width)
	file.Plan.With, file.Plan.Caches = []string{"access"}, req.plan.Caches
	file.Plan.CacheBytes = lone.machine.LastLevelCacheBytes()
	addWarnings(errOut, req.quiet, file, append(warnings, starved()...)...)

	team, err := setups.NewTeam(lone.place)
	if err != nil {
		return err
	}
	defer team.Close()
	bar := progress(errOut, req.quiet)
	steal := provenance.StartSteal("/")
	budget := req.plan.Time
	req.plan.Time -= time.Since(began)
	cells, warnings, err := access.Measure(limited, team, req.plan, func(p access.Progress) { bar(p.Done, p.Cells+1) })
	bar(-1, 0)
	if overdue(err) {
		err = nil
	}
	if errors.Is(err, context.Canceled) {
		err = interrupted(fmt.Sprintf("stopped after %s", count(len(cells), "cell")))
	}
	if len(cells) == 0 {
		return cmp.Or(err, nothingIn(budget))
	}
	if err != nil {
		warnings = append(warnings, fmt.Errorf("%v: the results are of what is here", err))
	}
	file.Cells, file.Seconds = cells, time.Since(began).Seconds()
	file.Complete = err == nil && !slices.ContainsFunc(cells, func(c params.Cell) bool { return !c.Time.Known() }) &&
		len(cells) == len(req.plan.Passes)*len(req.plan.Caches)
	addWarnings(errOut, req.quiet, file, append(warnings, steal.Warnings()...)...)
	doc := report.NewAccesses(file, lone.machine.LineBytes())
	doc.ArenaBytes = arena
	if failed := to.write(out, file, doc); failed != nil {
		return failed
	}
	return err
}

func parseAccess(out io.Writer, args []string) (*accessRequest, error) {
	var (
		req                                     = &accessRequest{}
		flags                                   = flag.NewFlagSet("taulop access", flag.ContinueOnError)
		ops, types, elements, sizes, strides, c string
	)
	flags.StringVar(&ops, "ops", strings.Join(access.Operations, ","), "`list` of what is done to each element")
	flags.StringVar(&types, "types", strings.Join(access.Types, ","), "`list` of types of elements")
	flags.StringVar(&elements, "n", "", "`list` of N, elements that a pass takes, like 1K,4K (default 1K,4K,16K)")
	flags.StringVar(&sizes, "size", "", "`list` of sizes of arrays in bytes, or with a unit, instead of -n: N is size/(stride·element)")
	flags.StringVar(&strides, "stride", "1,2,4,8,16,32", "`list` of strides, in elements")
	flags.StringVar(&c, "cache", "in,off", "`list` of where arrays are: in, off")
	flags.IntVar(&req.cpu, "cpu", -1, "measure on this `CPU` (default the first that may be used)")
	flags.DurationVar(&req.plan.Time, "time", 30*time.Second, "budget of the whole command")
	flags.Float64Var(&req.plan.Width, "ci", 0.02, "a cell is done when the half-width of its interval, relative to its centre, is `w`")
	flags.BoolVar(&req.json, "json", false, "write one JSON document, with the fits")
	flags.StringVar(&req.file, "o", "", "write to `file`: a parameter file if it ends in .json and -json is not given")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	if err := parse(flags, out, args, accessHelp); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, usagef("access takes no arguments, got %q: say what to measure with flags (taulop access -h)", flags.Arg(0))
	case req.plan.Time <= 0:
		return nil, usagef("-time is %v: give a budget above zero, like 30s", req.plan.Time)
	case !(req.plan.Width > 0 && req.plan.Width < 1):
		return nil, usagef("-ci is %v: give a relative half-width between 0 and 1, like 0.02", req.plan.Width)
	case elements != "" && sizes != "":
		return nil, usagef("-n and -size cannot be used together: choose one")
	}
	strideList, err := numbers("-stride", strides, numberOf)
	if err != nil {
		return nil, err
	}
	operations, err := among("-ops", ops, access.Operations)
	if err != nil {
		return nil, err
	}
	typeList, err := among("-types", types, access.Types)
	if err != nil {
		return nil, err
	}
	if req.plan.Caches, err = parseCaches(c); err != nil {
		return nil, err
	}
	if sizes == "" {
		n := access.DefaultN
		if elements != "" {
			if n, err = numbers("-n", elements, numberOf); err != nil {
				return nil, err
			}
		}
		req.plan.Passes = access.Grid(operations, typeList, n, strideList)
	} else {
		list, err := numbers("-size", sizes, numberOf)
		if err != nil {
			return nil, err
		}
		if req.plan.Passes, err = access.Sized(operations, typeList, list, strideList); err != nil {
			return nil, usageError(err.Error())
		}
	}
	for _, p := range req.plan.Passes {
		if err := p.Check(); err != nil {
			return nil, usageError(err.Error())
		}
	}
	return req, nil
}

// numberOf reads a number or a size, 4096 or 4K.
func numberOf(text string) (int, error) {
	n, _, err := parseSize(text, 1)
	return n, err
}

// among reads a list of names that there are, each once, in their own order.
func among(name, list string, known []string) (found []string, err error) {
	given := strings.Split(list, ",")
	for i := range given {
		if given[i] = strings.TrimSpace(given[i]); !slices.Contains(known, given[i]) {
			return nil, usagef("%s: there is no %q: use some of %s", name, given[i], strings.Join(known, ","))
		}
	}
	for _, k := range known {
		if slices.Contains(given, k) {
			found = append(found, k)
		}
	}
	return found, nil
}

// lone is a worker alone on this machine, and where it measures.
type lone struct {
	machine *numa.Machine
	place   numa.Placement
}

// loneWorker places it on a CPU; −1 is the first that may be used.
func loneWorker(cpu int) (l lone, err error) {
	if !shm.Supported {
		return l, errNoMeasuring
	}
	if l.machine, err = numa.Discover("/"); err != nil {
		return l, err
	}
	if cpu < -1 {
		return l, usagef("-cpu is %d: give the number of a CPU, from 0", cpu)
	}
	if cpu < 0 {
		l.place, err = l.machine.Place(numa.Local, 1)
	} else {
		l.place, err = l.machine.PlaceOn([]int{cpu}, 1)
	}
	if err != nil {
		return l, usageError(err.Error())
	}
	return l, nil
}

// file is a new parameter file of the worker's measurements.
func (l lone) file(budget time.Duration, width float64) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: provenance.Read("/", l.machine),
		Placements: []numa.Placement{l.place},
		Plan:       params.Plan{Policies: []numa.Policy{l.place.Policy}, Budget: budget.Seconds(), Width: width, Copy: shm.CopyName()}}
	if l.place.Policy == numa.List {
		f.Plan.CPUs = []int{l.place.Workers[0].CPU.ID}
	}
	for _, w := range f.Provenance.Warnings() {
		f.Warnings = append(f.Warnings, w.Error())
	}
	return f
}

// addWarnings adds warnings to a file and tells them, with those that it had if it has
// no cells yet.
func addWarnings(errOut io.Writer, quiet bool, f *params.File, more ...error) {
	told := len(f.Warnings)
	if len(f.Cells) == 0 {
		told = 0
	}
	for _, w := range more {
		f.Warnings = append(f.Warnings, w.Error())
	}
	if !quiet {
		warn(errOut, f.Warnings[told:])
	}
}

// An output is where a measurement's document goes.
type output struct {
	file string
	json bool
}

// newOutput finds out before the measurement whether there will be one. A
// parameter file that is there is not replaced: it may hold an hour's samples.
func newOutput(file string, json bool) (output, error) {
	o := output{file, json}
	if err := writable(file); err != nil {
		return o, usagef("-o %s cannot be written: %v", file, err)
	}
	if o.native() && outfile.Replaces(file) {
		return o, usagef("%s is there already: choose another file, or -json for a document of its own", file)
	}
	return o, nil
}

// native: the output is a parameter file.
func (o output) native() bool { return !o.json && filepath.Ext(o.file) == ".json" }

func (o output) write(out io.Writer, f *params.File, doc document) error {
	if o.native() {
		return putParameters(out, o.file, f, doc.WriteText)
	}
	return putDocument(out, o.file, doc, o.json)
}
