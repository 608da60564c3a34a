package main

import (
	"context"
	"flag"
	"io"
	"os"
	"slices"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/report/page"
)

const reportHelp = `Report makes one HTML page of machines: what it comes to and a chart of it, warnings,
more charts, tables, and the files themselves for download. It needs no network and no server.

  taulop report -o report.html FILES...

FILES are parameter files, as taulop sweep, import, pairs, copy, access, pack and
disk write them, or tables in the published text format. Ten and more are a
fleet: an overview comes first, and a file that cannot be read is skipped.

Examples:
  taulop report -o report.html host.json
  taulop report -o report.html a.json b.json metropolis/SHM.txt
  taulop report -o cluster.html nodes/*.json

Flags:
`

// reportCommand is the subcommand.
func reportCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	var (
		flags  = flag.NewFlagSet("taulop report", flag.ContinueOnError)
		output output
		state  stateChoice
		as     = flags.String("as", "", "take published tables for this `setup`, placement local")
		bare   = flags.Bool("bare", false, "leave out the files for download, which make most of the page's size")
	)
	output.add(flags, "the page, a new `file`")
	state.add(flags, "each by itself; of a fleet means over all by their shares")
	if err := parse(flags, out, args, reportHelp); err != nil {
		return err
	}
	switch {
	case output.path == "":
		return usagef("-o is missing: name the page, like taulop report -o report.html host.json")
	case flags.NArg() == 0:
		return usagef("name the parameter files: taulop report -o %s host.json", output.path)
	}
	if err := checkAs(*as); err != nil {
		return err
	}
	if output.path != "-" { // asked for by name, it is for reading by others
		out = offTerminal(out)
	}
	if err := output.check(); err != nil {
		return err
	}
	machines, skipped, err := compare.ReadAll(flags.Args())
	if err != nil {
		return usagef("%v", err)
	}
	if each, err := state.each(machines); err != nil {
		return err
	} else if len(each) < compare.Fleet { // which shows means
		machines = each
	}
	warn(errOut, takePublished(machines, *as))
	for _, err := range skipped {
		tell(errOut, "skipped: %v", err)
	}
	p := page.Page{Machines: machines, Skipped: skipped}
	if !*bare {
		p.Raw = func(path string) ([]byte, error) {
			if i := slices.IndexFunc(machines, func(m compare.Machine) bool { return m.Path == path }); machines[i].Pipe != nil {
				return machines[i].Pipe, nil
			}
			return os.ReadFile(path)
		}
	}
	if err := output.write(out, p.Write); err != nil {
		return err
	}
	return skippedFiles(skipped, flags.NArg())
}
