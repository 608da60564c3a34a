package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/numa"
)

// topoFlags is the subcommand.
func topoFlags(flags *argument.Set) action {
	var to destination
	root := flags.String("root", "/", "read the sys and proc below `DIR`, of another machine, or in an archive of hwloc-gather-topology")
	tau := flags.Int("tau", 0, "show only the CPUs of `TAU` workers under each placement")
	flags.Within("tau", 1, numa.MostWorkers, fmt.Sprintf("give a number of workers from 1 to %d", numa.MostWorkers))
	flags.Check(func() error { return checkRoot(*root) })
	to.add(flags)
	return func(_ context.Context, out io.Writer, _ *messages, _ []string) error {
		m, here, free, err := machineAt(*root)
		if err != nil {
			return err
		}
		doc, err := report.Topology(m, here, free, advised(here.Warnings()), *tau)
		if err != nil {
			return usagef("-tau: %v", err)
		}
		return to.put(out, doc)
	}
}

// machineAt is the machine whose sys and proc are below a directory or in an archive, which is
// unpacked into a temporary directory, and its free memory, 0 if unknown.
func machineAt(root string) (m *numa.Machine, here provenance.Provenance, free int64, err error) {
	dir := root
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		temporary, err := os.MkdirTemp("", "taulop-root-")
		if err != nil {
			return nil, here, 0, err
		}
		defer os.RemoveAll(temporary)
		archive, err := os.Open(root)
		if err == nil {
			defer archive.Close()
			dir, err = sysfs.Unpack(archive, temporary, deviceDirectories.MatchString)
		}
		if err != nil {
			return nil, here, 0, usagef("-root %s: %v", root, err)
		}
	}
	m, err = numa.Discover(dir)
	switch {
	case err == nil:
		here = provenance.Read(dir, m)
		free, _ = numa.FreeMemoryBytes(dir)
	case root != "/":
		err = usagef("-root %v", err)
	}
	return m, here, free, err
}

// checkRoot rejects a path that is neither a directory nor a regular file.
func checkRoot(root string) error {
	if info, err := os.Stat(root); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return usagef("-root %s is not a directory, nor an archive: name the one that holds the machine's sys and proc", root)
	}
	return nil
}

// deviceDirectories hold thousands of files without relation to CPUs and memory.
var deviceDirectories = regexp.MustCompile(`(^|/)sys/.*/(pci|LNX|net|block|infiniband)|/device-tree/[^h]`)
