package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/disk"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/report"
)

const diskHelp = `Disk measures what reading and writing a file in DIR costs: how long a transfer
takes to begin, and its bandwidth, past the page cache (O_DIRECT) and through it.

  taulop disk [flags] DIR

The file has no name, so that it is gone with the command, however that ends.
Writing past the page cache ends when the disk has the data, which it may keep in
a cache of its own; writing through it ends when memory has them.

Examples:
  taulop disk /scratch                          both
  taulop disk -cache out -sizes 4K,1M,16M .     past the page cache alone
  taulop disk -file 1G -o disk.json /scratch    a larger file; a parameter file with every sample

Flags:
`

// diskRequest is what the user asked to measure.
type diskRequest struct {
	plan  disk.Plan
	cpu   int
	json  bool
	file  string
	quiet bool
}

func diskCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	req, err := parseDisk(out, args)
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
	if free, err := numa.FreeMemoryBytes("/"); err == nil && int64(req.plan.FileBytes) > free/4 {
		return usagef("-file is %d MB, and what it holds must fit into a quarter of the %d MB of memory that this process may take: use a smaller one", req.plan.FileBytes>>20, free>>20)
	}
	to, err := newOutput(req.file, req.json)
	if err != nil {
		return err
	}
	file := lone.file(req.plan.Time, req.plan.Width)
	addWarnings(errOut, req.quiet, file, starved()...)
	bar := progress(errOut, req.quiet)
	cells, warnings, err := disk.Measure(limited, lone.place, req.plan, func(p disk.Progress) { bar(p.Done, p.Cells+1) })
	bar(-1, 0)
	var refused disk.RefusedError
	switch {
	case overdue(err):
		err = nil
	case errors.Is(err, context.Canceled):
		err = interrupted(fmt.Sprintf("stopped after %s; the file is gone", count(len(cells), "cell")))
	case errors.As(err, &refused):
		err = usageError(err.Error())
	}
	if err != nil {
		warnings = append(warnings, fmt.Errorf("%v: the results are of what is here", err))
	}
	if len(cells) == 0 {
		if err == nil && len(warnings) > 0 {
			err = usageError(warnings[0].Error())
		}
		return cmp.Or(err, nothingIn(req.plan.Time))
	}
	file.Cells, file.Seconds = cells, time.Since(began).Seconds()
	file.Complete = err == nil && len(cells) == len(req.plan.Modes)*len(req.plan.Sizes)*len(disk.Operations) &&
		!slices.ContainsFunc(cells, func(c params.Cell) bool { return !c.Time.Known() })
	addWarnings(errOut, req.quiet, file, warnings...)
	if failed := to.write(out, file, report.NewTransfers(file, req.plan.Dir, req.plan.FileBytes)); failed != nil {
		return failed
	}
	return err
}

func parseDisk(out io.Writer, args []string) (*diskRequest, error) {
	var (
		req                   = &diskRequest{}
		flags                 = flag.NewFlagSet("taulop disk", flag.ContinueOnError)
		sizes, fileSize, mode string
	)
	flags.StringVar(&sizes, "sizes", "4K,16K,64K,256K,1M,4M,16M", "`list` of m, sizes of a transfer")
	flags.StringVar(&fileSize, "file", "64M", "`size` of the file, one for each state of the page cache")
	flags.StringVar(&mode, "cache", "out,in", "`list` of what becomes of the page cache: kept out, or in")
	flags.IntVar(&req.cpu, "cpu", -1, "measure on this `CPU` (default the first that may be used)")
	flags.DurationVar(&req.plan.Time, "time", 10*time.Second, "budget of the measurement")
	flags.Float64Var(&req.plan.Width, "ci", 0.05, "a cell is done when the half-width of its interval, relative to its centre, is `w`")
	flags.BoolVar(&req.json, "json", false, "write one JSON document, with the fits")
	flags.StringVar(&req.file, "o", "", "write to `file`: a parameter file if it ends in .json and -json is not given")
	flags.BoolVar(&req.quiet, "quiet", false, "no progress and no warnings")
	if err := parse(flags, out, args, diskHelp); err != nil {
		return nil, err
	}
	switch n := flags.NArg(); {
	case n > 1 && strings.HasPrefix(flags.Arg(1), "-"):
		return nil, usagef("flags go before DIR: move %s to the front", flags.Arg(1))
	case n != 1 || flags.Arg(0) == "":
		return nil, usagef("got %d arguments, want 1: taulop disk DIR, a folder on the disk to measure", n)
	case req.plan.Time <= 0:
		return nil, usagef("-time is %v: give a budget above zero, like 10s", req.plan.Time)
	case !(req.plan.Width > 0 && req.plan.Width < 1):
		return nil, usagef("-ci is %v: give a relative half-width between 0 and 1, like 0.05", req.plan.Width)
	}
	req.plan.Dir = flags.Arg(0)
	var err error
	if req.plan.Sizes, err = numbers("-sizes", sizes, numberOf); err != nil {
		return nil, err
	}
	if req.plan.FileBytes, err = numberOf(fileSize); err != nil {
		return nil, usagef("-file: %v", err)
	}
	names, err := among("-cache", mode, []string{"out", "in"})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		req.plan.Modes = append(req.plan.Modes, map[string]disk.Mode{"out": disk.Direct, "in": disk.Cached}[name])
	}
	if err := req.plan.Check(); err != nil {
		return nil, usageError(err.Error())
	}
	return req, nil
}
