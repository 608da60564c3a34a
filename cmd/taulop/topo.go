package main

import (
	"context"
	"flag"
	"io"
	"os"
	"strconv"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
)

const topoHelp = `Topo shows the machine that taulop would measure: what it has, what this process
may use of it, and what would spoil a measurement. It measures nothing.

  taulop topo [flags]

Examples:
  taulop topo -tau 8              which CPU and which nodes each of 8 workers gets
  taulop topo -json -root /tmp/b  another machine's /sys and /proc, copied to /tmp/b

Flags:
`

// topo is the subcommand.
func topo(_ context.Context, out, _ io.Writer, args []string) error {
	var (
		flags = flag.NewFlagSet("taulop topo", flag.ContinueOnError)
		to    destination
		root  = flags.String("root", "/", "read the sys and proc below `DIR`, of another machine")
		tau   = flags.Int("tau", 0, "only show where the workers of each placement would be, for `TAU` of them")
	)
	to.add(flags)
	if err := parse(flags, out, args, topoHelp); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usagef("topo takes no arguments, got %s: flags begin with a dash", strconv.Quote(flags.Arg(0)))
	}
	placements := givenFlags(flags)["tau"]
	if most := numa.MostWorkers; placements && (*tau < 1 || *tau > most) {
		return usagef("-tau %d is no number of workers: give 1 to %d", *tau, most)
	}
	if *root == "" {
		return usageError("-root is empty: name the directory that holds the machine's sys and proc")
	}
	if info, err := os.Stat(*root); err != nil || !info.IsDir() {
		return usagef("-root %s is not a directory: name the one that holds the machine's sys and proc", *root)
	}
	if err := to.check(); err != nil {
		return err
	}
	m, err := numa.Discover(*root)
	if err != nil && *root != "/" {
		return usagef("-root %v", err)
	}
	if err != nil {
		return err
	}
	here := provenance.Read(*root, m)
	t := report.NewTopology(m, here, *root, advised(here.Warnings()))
	if placements {
		if err := t.Place(*tau); err != nil {
			return err
		}
	}
	return to.put(out, t)
}
