package main

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/report/page"
)

// reportFlags is the subcommand.
func reportFlags(flags *argument.Set) action {
	var (
		output output
		state  stateChoice
		as     string
	)
	addAs(flags, &as)
	bare := flags.Bool("bare", false, "leave out the files for download, which make most of the page's size")
	state.add(flags, "each by itself; of a fleet means over all by their shares")
	flags.Check(func() error {
		if output.path == "" {
			return usagef("-o is missing: name the page, like taulop report -o report.html host.json")
		}
		return nil
	})
	output.add(flags, "the page, a new `file`")
	return func(_ context.Context, out, errOut io.Writer, paths []string) error {
		if output.path != "" { // asked for by name, it is for reading by others
			out = offTerminal(out)
		}
		machines, skipped, err := compare.ReadAll(paths)
		if err != nil {
			return usagef("%v", err)
		}
		if each, err := state.each(machines); err != nil {
			return err
		} else if len(each) < compare.Fleet { // which shows means
			machines = each
		}
		warn(errOut, takePublished(machines, as))
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
		return skippedFiles(skipped, len(paths))
	}
}
