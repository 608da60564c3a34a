package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const exportHelp = `Export writes a parameter file in the format of other tools.

  taulop export [flags] -format taulop DIR host.json
  taulop export [flags] -format csv host.json
  taulop export [flags] -format benchfmt host.json

taulop    DIR/SHM.txt with o(m) and L(m,τ), DIR/gamma.txt with γ(m), as the
          authors' τ-Lop library reads them: one setup, placement and state of
          the cache. It wants every τ; those not measured lie between their
          neighbours.
csv       a row for each cell, with units in the header, and where the host moved the
          CPUs for each state of the machine
benchfmt  all samples as results of Go benchmarks, for benchstat

Nothing that exists is replaced without -force.

Examples:
  taulop export -format taulop params/here host.json
  taulop export -format csv -o host.csv host.json
  taulop export -format benchfmt -o a.txt a.json
  taulop export -format benchfmt -o b.txt b.json
  benchstat a.txt b.txt                 two machines side by side

Flags:
`

// exportRequest is what the user asked to export.
type exportRequest struct {
	format string
	output
	setup     string
	placement string
	offCache  bool
	state     stateChoice
	given     map[string]bool // flags that were given
	dir       string
	file      string
}

// export is the subcommand.
func export(_ context.Context, out, errOut io.Writer, args []string) error {
	req, err := parseExport(out, args)
	if err != nil {
		return err
	}
	read, err := compare.Read(req.file)
	if err != nil {
		return usagef("%v", err)
	}
	if err := req.state.one(&read); err != nil {
		return err
	}
	f := read.File
	switch req.format {
	case "csv":
		return req.write(out, asText(func(w io.Writer) error { return f.WriteValues(w, ',') }))
	case "benchfmt":
		return req.write(out, asText(f.WriteBenchmarks))
	}
	return req.text(out, errOut, f)
}

func parseExport(out io.Writer, args []string) (*exportRequest, error) {
	req := &exportRequest{}
	flags := flag.NewFlagSet("taulop export", flag.ContinueOnError)
	flags.StringVar(&req.format, "format", "", "`format`: taulop, csv or benchfmt")
	req.output.add(flags, "of csv and benchfmt: write to a new `file`")
	flags.StringVar(&req.setup, "setup", "", "of taulop: the transfers of a `setup` (default the first that was measured)")
	flags.StringVar(&req.placement, "placement", "", "of taulop: under this `placement` (default the first that was measured)")
	argument.Var(flags, &req.offCache, "cache", "", "of taulop: `where` user buffers are, in cache or off: in, off (default in, unless all was measured off)", argument.Cache)
	req.state.add(flags, "each by itself; of taulop "+mixture)
	if err := parse(flags, out, args, exportHelp); err != nil {
		return nil, err
	}
	req.given = givenFlags(flags)
	want, example := 1, "taulop export -format csv host.json"
	switch req.format {
	case "taulop":
		want, example = 2, "taulop export -format taulop DIR host.json"
		if req.given["o"] {
			return nil, usageError("-o is for one file, format taulop writes two: name their directory, taulop export -format taulop DIR host.json")
		}
	case "csv", "benchfmt":
		for _, name := range []string{"setup", "placement", "cache"} {
			if req.given[name] {
				return nil, usagef("-%s chooses a table of format taulop: %s has all of them, so leave it out", name, req.format)
			}
		}
	case "":
		return nil, usageError("-format is missing: use taulop, csv or benchfmt")
	default:
		return nil, usagef("-format is %q: use taulop, csv or benchfmt", req.format)
	}
	if flags.NArg() != want {
		return nil, usagef("got %d arguments, want %d, like %s", flags.NArg(), want, example)
	}
	req.file = flags.Arg(want - 1)
	if want == 2 {
		req.dir = flags.Arg(0)
	}
	return req, req.output.check()
}

// text writes the published text format. Everything is made before anything is
// written.
func (req *exportRequest) text(out, errOut io.Writer, f *params.File) error {
	placement, offCache := numa.Policy(req.placement), req.offCache || !req.given["cache"] && f.Plan.OffCacheOnly()
	table, err := f.Table(req.setup, placement, offCache)
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	lacking := table.Lacking
	table, notes, err := table.Fill()
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if below := f.BelowZero(placement, offCache); below != nil {
		notes = append(notes, below.Error())
	}
	if lacking != nil {
		notes = append(notes, usagef("SHM.txt has only the sizes that are complete: %v", lacking).Error())
	}
	var shm, reductions bytes.Buffer
	if err := params.WriteText(&shm, table); err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if gamma, err := f.Gamma(placement); err != nil {
		notes = append(notes, usagef("gamma.txt is not written: %v", err).Error())
	} else {
		for _, name := range slices.Sorted(maps.Keys(gamma.Unfinished)) {
			notes = append(notes, usagef("gamma.txt has no %s: %v", name, gamma.Unfinished[name]).Error())
		}
		gamma, missing := gamma.Fit(table.Transfers.Sizes)
		notes = append(notes, missing...)
		if len(gamma.Operators) == 0 {
			notes = append(notes, "gamma.txt is not written: no operator is complete")
		} else if err := params.WriteGammaText(&reductions, gamma); err != nil {
			return usagef("%s: %v", req.file, err)
		}
	}
	if err := os.MkdirAll(req.dir, 0o755); err != nil {
		return usagef("directory %s cannot be made: %v", req.dir, err)
	}
	type file struct {
		path string
		text []byte
		to   *outfile.File
	}
	files := []file{{path: filepath.Join(req.dir, "SHM.txt"), text: shm.Bytes()}}
	if reductions.Len() > 0 {
		files = append(files, file{path: filepath.Join(req.dir, "gamma.txt"), text: reductions.Bytes()})
	}
	for i, file := range files {
		if files[i].to, err = fresh(file.path, file.path, req.force); err != nil {
			return err
		}
	}
	for _, file := range files {
		whole := func(w io.Writer) error { _, err := w.Write(file.text); return err }
		if err := put(out, file.to, whole); err != nil {
			return err
		}
	}
	if states := f.States(); len(states) > 0 {
		notes = append(notes, fmt.Sprintf("times are means over %d states of the machine by their shares, %s: choose one with -state", len(states), params.StateList(states)))
	}
	if f.Plan.Swept() {
		notes = append(notes, "SHM.txt has no intervals, no y(τ), other setups or placements, and not what a segment costs within longer messages: predictions from it differ from those of "+req.file)
	}
	for _, note := range notes {
		tell(errOut, "%s", note)
	}
	return nil
}
