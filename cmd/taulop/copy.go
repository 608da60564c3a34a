package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
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
		req                = surveyRequest{name: "copy"}
		flags              = req.flags(20*time.Second, "")
		taus, sizes, names string
		copies             levels.Request
	)
	flags.StringVar(&taus, "tau", "", "τ, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default doubling to the number of cores)")
	flags.StringVar(&sizes, "m", "", "sizes of copies in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default 64 B to 4 MB, eight of them)")
	flags.StringVar(&names, "levels", "", "only between these, a `list` of "+strings.Join(levels.Order, ", "))
	machine, err := req.parse(flags, out, args, copyHelp)
	if err != nil {
		return err
	}
	if copies.Sizes = levels.CopySizes; sizes != "" {
		if copies.Sizes, err = argument.List(sizes, false, argument.Some); err != nil {
			return usagef("-m: %v", err)
		}
	}
	if copies.Taus = levels.Taus(machine); taus != "" {
		if copies.Taus, err = argument.List(taus, true, argument.Tau); err != nil {
			return usagef("-tau: %v", err)
		}
	}
	slices.Sort(copies.Sizes)
	slices.Sort(copies.Taus)
	if most := machine.Allowed.Len(); copies.Taus[len(copies.Taus)-1] > most {
		return usagef("-tau %d is more than the %d CPUs that may be used: oversubscribed copies are not concurrent", copies.Taus[len(copies.Taus)-1], most)
	}
	place, err := copies.Place(machine)
	if err != nil {
		return usageError(err.Error())
	}
	found, _ := levels.Levels(machine, place, copies.Taus[0])
	for _, name := range argument.Names(names) {
		var known []string
		for _, l := range found {
			known = append(known, l.Name)
		}
		if !slices.Contains(known, name) {
			return usagef("-levels: there is no level %q on this machine: choose from %s", name, strings.Join(known, ", "))
		}
		copies.Levels = append(copies.Levels, name)
	}
	if copies, err = levels.NewRequest(machine, copies); err != nil {
		return usageError(err.Error())
	}
	return req.measure(ctx, out, errOut, machine, task{
		survey: levels.Survey, request: copies, doubts: levels.Doubts,
		plan: params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: copies.Sizes, Taus: copies.Taus},
		document: asTables(func(w io.Writer, f *params.File) {
			report.WriteLevelSets(w, found)
			report.WriteLevels(w, f)
		}),
	})
}
