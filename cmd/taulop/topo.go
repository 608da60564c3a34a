package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/numa"
)

// topoFlags is the subcommand.
func topoFlags(flags *argument.Set) action {
	var to destination
	root := flags.String("root", "/", "read the sys and proc below `DIR`, of another machine")
	tau := flags.Int("tau", 0, "only show where the workers of each placement would be, for `TAU` of them")
	flags.Within("tau", 1, numa.MostWorkers, fmt.Sprintf("give a number of workers from 1 to %d", numa.MostWorkers))
	flags.Check(func() error { return checkRoot(*root) })
	to.add(flags)
	return func(_ context.Context, out, _ io.Writer, _ []string) error {
		m, err := numa.Discover(*root)
		if err != nil && *root != "/" {
			return usagef("-root %v", err)
		}
		if err != nil {
			return err
		}
		here := provenance.Read(*root, m)
		t := report.NewTopology(m, here, *root, advised(here.Warnings()))
		if flags.Given("tau") {
			if err := t.Place(*tau); err != nil {
				return err
			}
		}
		return to.put(out, t.Document())
	}
}

// checkRoot refuses what is no directory.
func checkRoot(root string) error {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return usagef("-root %s is not a directory: name the one that holds the machine's sys and proc", root)
	}
	return nil
}
