package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
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

func accessCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req                                     = surveyRequest{name: "access"}
		flags                                   = req.flags(30*time.Second, "")
		ops, types, elements, sizes, strides, c string
		cpu                                     int
	)
	flags.StringVar(&ops, "ops", strings.Join(access.Operations, ","), "`list` of what is done to each element")
	flags.StringVar(&types, "types", strings.Join(access.Types, ","), "`list` of types of elements")
	flags.StringVar(&elements, "n", "", "`list` of N, elements that a pass takes, like 1K,4K (default 1K,4K,16K)")
	flags.StringVar(&sizes, "size", "", "`list` of sizes of arrays in bytes, or with a unit, instead of -n: N is size/(stride·element)")
	flags.StringVar(&strides, "stride", "1,2,4,8,16,32", "`list` of strides, in elements")
	flags.StringVar(&c, "cache", "in,off", "`list` of where arrays are: in, off")
	flags.IntVar(&cpu, "cpu", -1, "measure on this `CPU` (default the first that may be used)")
	machine, err := req.parse(flags, out, args, accessHelp)
	if err != nil {
		return err
	}
	var r access.Request
	if r.Caches, err = argument.Caches(c); err != nil {
		return usageError(err.Error())
	}
	if r.Passes, err = passes(ops, types, elements, sizes, strides); err != nil {
		return err
	}
	if r.Placement, err = worker(machine, cpu); err != nil {
		return err
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return err
	}
	var warnings []error
	if r.ArenaBytes, warnings, err = access.Arena(machine, r.Placement, r.Passes, r.Caches, free); err != nil {
		return usageError(err.Error())
	}
	plan := planOf(r.Placement)
	plan.Caches, plan.CacheBytes = r.Caches, machine.LastLevelCacheBytes()
	return req.measure(ctx, out, errOut, machine, task{
		survey: access.Survey, request: r, plan: plan, places: []numa.Placement{r.Placement}, warnings: warnings,
		document: func(f *params.File) (document, error) {
			doc := report.NewAccesses(f, machine.LineBytes())
			doc.ArenaBytes = r.ArenaBytes
			return doc, nil
		},
	})
}

// passes reads the flags that choose them.
func passes(ops, types, elements, sizes, strides string) (all []access.Pass, err error) {
	if elements != "" && sizes != "" {
		return nil, usagef("-n and -size cannot be used together: choose one")
	}
	strideList, err := argument.Numbers("-stride", strides, argument.Bytes)
	if err != nil {
		return nil, usageError(err.Error())
	}
	operations, err := argument.Among("-ops", ops, access.Operations)
	if err != nil {
		return nil, usageError(err.Error())
	}
	typeList, err := argument.Among("-types", types, access.Types)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if sizes == "" {
		n := access.DefaultN
		if elements != "" {
			if n, err = argument.Numbers("-n", elements, argument.Bytes); err != nil {
				return nil, usageError(err.Error())
			}
		}
		all = access.Grid(operations, typeList, n, strideList)
	} else {
		list, err := argument.Numbers("-size", sizes, argument.Bytes)
		if err != nil {
			return nil, usageError(err.Error())
		}
		if all, err = access.Sized(operations, typeList, list, strideList); err != nil {
			return nil, usageError(err.Error())
		}
	}
	for _, p := range all {
		if err := p.Check(); err != nil {
			return nil, usageError(err.Error())
		}
	}
	return all, nil
}
