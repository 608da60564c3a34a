package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/hwloc"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// An exportRequest holds the flags of export.
type exportRequest struct {
	format string
	output
	setup     string
	placement string
	offCache  bool
	state     stateChoice
	file      string
	flags     *argument.Set
}

// exportFlags is the subcommand.
func exportFlags(flags *argument.Set) action {
	req := exportRequest{flags: flags}
	argument.Word(flags, &req.format, "format", "", "`format`: libtaulop, csv, benchfmt, otava or hwloc", []string{"libtaulop", "csv", "benchfmt", "otava", "hwloc"})
	argument.Var(flags, &req.setup, "setup", "", "of libtaulop: the transfers of a `setup` (default the first that was measured)", verbatimWord, setupNames()...)
	argument.Var(flags, &req.placement, "placement", "", "of libtaulop: under this `placement` (default the first that was measured)", verbatimWord, policies()...)
	argument.Var(flags, &req.offCache, "cache", "", "of libtaulop: user buffers `in|off` cache (default in, unless all was measured off)", argument.Cache, "in", "off")
	req.state.add(flags, "each by itself; of libtaulop "+mixture)
	flags.Required("format", "use libtaulop, csv, benchfmt, otava or hwloc")
	flags.Rules(
		argument.Rule{Flags: "setup placement cache", Needs: "format=libtaulop", Why: "chooses a table of format libtaulop, and other formats have all of them", Do: "leave it out"},
		argument.Rule{Flags: "o", Not: "format=libtaulop", Why: "names one file, and format libtaulop writes two files into a directory", Do: "name the directory before the parameter file instead"},
	)
	req.output.add(flags, "of all but libtaulop: write to a new `file`")
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		want, example := 1, "taulop export -format csv host.json"
		if req.format == "libtaulop" {
			want, example = 2, "taulop export -format libtaulop DIR host.json"
		}
		if len(words) != want {
			return usagef("got %s, want %d, like %s", printable.Count(len(words), "argument"), want, example)
		}
		req.file = words[want-1]
		read, err := req.state.read("", req.file)
		if err != nil {
			return err
		}
		f := read.File
		var b bytes.Buffer
		left := 0 // cells
		switch req.format {
		case "csv":
			return req.write(out, asText(func(w io.Writer) error { return f.WriteValues(w, ',') }))
		case "benchfmt":
			return req.write(out, asText(f.WriteBenchmarks))
		case "hwloc":
			err = hwloc.Write(&b, f)
		case "otava":
			left, err = f.WriteTrend(&b)
		default:
			return req.text(words[0], out, errOut, f)
		}
		if err != nil {
			return usagef("%s: %v", req.file, err)
		}
		if left > 0 {
			tell(errOut, "left out: %s that some session has no sample of", printable.Count(left, "cell"))
		}
		return req.write(out, asText(exactly(b.Bytes())))
	}
}

// text writes the published text format into a directory. It composes both files before it writes
// one.
func (req *exportRequest) text(dir string, out io.Writer, errOut *messages, f *params.File) error {
	shm, reductions, notes, err := req.tables(f)
	if err != nil {
		return err
	}
	if err := outfile.MakeDir(dir); err != nil {
		return usagef("%v", err)
	}
	var files []*outfile.File
	texts := [][]byte{shm, reductions}
	for i, name := range []string{"SHM.txt", "gamma.txt"} {
		if path := filepath.Join(dir, name); len(texts[i]) > 0 {
			to, err := fresh(req.flags, path, path, req.force)
			if err != nil {
				return err
			}
			files = append(files, to)
		}
	}
	for i, to := range files {
		if err := put(out, to, exactly(texts[i])); err != nil {
			return err
		}
	}
	if states := f.States(); len(states) > 0 {
		notes = append(notes, fmt.Sprintf("times are means over %d states of the machine by their shares, %s: choose one with -state", len(states), params.StateList(states)))
	}
	if !slices.Contains(f.Plan.Setups, params.Published) {
		notes = append(notes, "SHM.txt has no intervals, no y(τ), other setups or placements, and not what a segment costs within longer messages: predictions from it differ from those of "+req.file)
	}
	for _, note := range notes {
		tell(errOut, "%s", note)
	}
	return nil
}

// tables are the contents of SHM.txt and gamma.txt, which is empty if no operator is complete, and
// notes on what they lack.
func (req *exportRequest) tables(f *params.File) (shm, reductions []byte, notes []string, err error) {
	placement := numa.Policy(req.placement)
	selection := params.Selection{Setup: req.setup, Placement: placement, OffCache: req.offCache || !req.flags.Given("cache") && f.Plan.OffCacheOnly()}
	f = f.Throughout()
	table, err := f.Table(selection)
	if err != nil {
		return nil, nil, nil, usagef("%s: %v", req.file, err)
	}
	lacking := table.Lacking
	table, notes, err = table.Fill()
	if err != nil {
		return nil, nil, nil, usagef("%s: %v", req.file, err)
	}
	if below := f.BelowZero(selection); below != nil {
		notes = append(notes, below.Error())
	}
	if lacking != nil {
		notes = append(notes, usagef("SHM.txt has only the sizes that are complete: %v", lacking).Error())
	}
	var b bytes.Buffer
	if err := params.WriteText(&b, table); err != nil {
		return nil, nil, nil, usagef("%s: %v", req.file, err)
	}
	gamma, err := f.Gamma(placement)
	if err != nil {
		return b.Bytes(), nil, append(notes, usagef("gamma.txt is not written: %v", err).Error()), nil
	}
	for _, name := range slices.Sorted(maps.Keys(gamma.Unfinished)) {
		notes = append(notes, usagef("gamma.txt has no %s: %v", name, gamma.Unfinished[name]).Error())
	}
	gamma, missing := gamma.Fit(table.Transfers.Sizes)
	if notes = append(notes, missing...); len(gamma.Operators) == 0 {
		return b.Bytes(), nil, append(notes, "gamma.txt is not written: no operator is complete"), nil
	}
	var g bytes.Buffer
	if err := params.WriteGammaText(&g, gamma); err != nil {
		return nil, nil, nil, usagef("%s: %v", req.file, err)
	}
	return b.Bytes(), g.Bytes(), notes, nil
}
