package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/disk"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
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

func diskCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req                   = surveyRequest{name: "disk", takes: true}
		flags                 = req.flags(10*time.Second, "")
		sizes, fileSize, mode string
		cpu                   int
		r                     disk.Request
	)
	flags.StringVar(&sizes, "sizes", "4K,16K,64K,256K,1M,4M,16M", "`list` of m, sizes of a transfer")
	flags.StringVar(&fileSize, "file", "64M", "`size` of the file, one for each state of the page cache")
	flags.StringVar(&mode, "cache", "out,in", "`list` of what becomes of the page cache: kept out, or in")
	flags.IntVar(&cpu, "cpu", -1, "measure on this `CPU` (default the first that may be used)")
	machine, err := req.parse(flags, out, args, diskHelp)
	if err != nil {
		return err
	}
	switch n := len(req.words); {
	case n > 1 && strings.HasPrefix(req.words[1], "-"):
		return usagef("flags go before DIR: move %s to the front", req.words[1])
	case n != 1 || req.words[0] == "":
		return usagef("got %d arguments, want 1: taulop disk DIR, a directory on the disk to measure", n)
	}
	r.Dir = req.words[0]
	if r.Sizes, err = argument.Numbers("-sizes", sizes, argument.Bytes); err != nil {
		return usageError(err.Error())
	}
	if r.FileBytes, err = argument.Bytes(fileSize); err != nil {
		return usagef("-file: %v", err)
	}
	names, err := argument.Among("-cache", mode, []string{"out", "in"})
	if err != nil {
		return usageError(err.Error())
	}
	for _, name := range names {
		r.Modes = append(r.Modes, map[string]disk.Mode{"out": disk.Direct, "in": disk.Cached}[name])
	}
	if err := r.Check(); err != nil {
		return usageError(err.Error())
	}
	if r.Placement, err = worker(machine, cpu); err != nil {
		return err
	}
	if free, err := numa.FreeMemoryBytes("/"); err == nil && int64(r.FileBytes) > free/4 {
		return usagef("-file is %d MB, and what it holds must fit into a quarter of the %d MB of memory that this process may take: use a smaller one", r.FileBytes>>20, free>>20)
	}
	r, warnings, err := r.Settle()
	if err != nil {
		return usageError(err.Error())
	}
	return req.measure(ctx, out, errOut, machine, task{
		survey: disk.Survey, request: r, plan: planOf(r.Placement), places: []numa.Placement{r.Placement}, warnings: warnings,
		document: func(f *params.File) (document, error) { return report.NewTransfers(f, r.Dir, r.FileBytes), nil },
	})
}
