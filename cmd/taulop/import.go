package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/coretocore"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// An importRequest holds the flags of import.
type importRequest struct {
	format, name string
	cores        map[string]int // that share a level, for tables that do not say
	pairs        []int          // of each table that does not print them
	net          string
	cpus         []int // of a matrix's rows
	sweptFile
	output
}

// An importer makes a parameter file of files of one kind.
type importer struct {
	format string
	looks  func(path string) bool // whether a file looks like this kind
	of     string                 // the files, in a sentence
	flags  string                 // that only this kind has
	read   func(req *importRequest, errOut *messages, files []string) (*params.File, error)
}

func importers() []importer {
	return []importer{
		{"tidy", isTidy, "tables with named columns", "cores", (*importRequest).tables},
		{"mpi", mpibench.Printed, "what MPI benchmarks printed", "pairs net cache params state", (*importRequest).benchmarks},
		{"core-to-core", isMatrix, "a matrix of core-to-core-latency", "cpus params", (*importRequest).matrix},
		{"text", func(string) bool { return true }, "tables in the published text format", "", (*importRequest).text},
	}
}

// importFlags is the subcommand.
func importFlags(flags *argument.Set) action {
	var req importRequest
	formats := lists.Map(importers(), func(i importer) string { return i.format })
	argument.Word(flags, &req.format, "format", "", "`format` of the files: text, the published one; tidy, columns with names; mpi, what benchmarks printed; core-to-core, a matrix of core-to-core-latency (default: what they look like)", formats)
	flags.StringVar(&req.name, "name", "", "the machine's `name` (default that of the directory that SHM.txt is in)")
	argument.Var(flags, &req.cores, "cores", "", "of tables that do not say: how many consecutive cores share a level, a `list` like same_socket=28,other_socket=56", readCores)
	argument.Var(flags, &req.pairs, "pairs", "", "of benchmarks: pairs in each osu_multi_lat, which does not print them, a `list` in the order of OUTPUT: 1,2,4", readPairs)
	flags.StringVar(&req.net, "net", "", "of benchmarks whose pairs were on two nodes: `name` of the network between them, such as ib0")
	argument.Var(flags, &req.cpus, "cpus", "", "of a matrix of core-to-core-latency: the CPUs of its rows, a `list` like 0-3,8-11 (default from 0 on)", numa.ParseOrder)
	req.sweptFile.add(flags, "a `file` of taulop sweep on the same machine: benchmarks take γ and ranks' own copies from it, a matrix the machine's levels")
	flags.Rules(
		argument.Rule{Flags: "state", Needs: "params", Why: "is one of those that the file of -params has"},
		argument.Rule{Flags: "params", Not: "net", Why: "has what ranks do by themselves, and not between nodes"},
	)
	req.output.add(flags, "write to a new `file`")
	return func(_ context.Context, out io.Writer, errOut *messages, files []string) error {
		if err := infile.Once(files); err != nil {
			return usageError(err.Error())
		}
		kind := lists.Find(importers(), func(i importer) bool {
			return req.format == i.format || req.format == "" && i.looks(files[0])
		})
		for _, other := range importers() {
			for _, name := range strings.Fields(other.flags) {
				if flags.Given(name) && !slices.Contains(strings.Fields(kind.flags), name) {
					return usagef("-%s is of %s, and %s is taken for %s: leave it out, or give -format %s", name, other.of, files[0], kind.of, other.format)
				}
			}
		}
		f, err := kind.read(&req, errOut, files)
		if err != nil {
			return err
		}
		if err := f.Validate(); err != nil {
			return usagef("%s: %v", printable.List(lists.Map(files, infile.Name)), err)
		}
		return putFile(out, errOut, &req.output, f)
	}
}

// text imports tables in the published text format.
func (req *importRequest) text(errOut *messages, files []string) (*params.File, error) {
	if n := len(files); n > 2 {
		return nil, usagef("got %d arguments, want 1 or 2: taulop import SHM.txt [gamma.txt]", n)
	}
	table, err := readText(files[0], params.ReadText)
	if err != nil {
		return nil, err
	}
	var gamma *params.Gamma
	if len(files) == 2 {
		if gamma, err = readText(files[1], params.ReadGammaText); err != nil {
			return nil, usagef("the second file has γ, times of reductions: %v", err)
		}
	}
	f := params.FromText(table, gamma)
	warn(errOut, f.Warnings)
	imported(f, req.name, directory(files[0]), "the published text format does not say what machine this was measured on, nor how: look for that where the file comes from")
	return f, nil
}

// imported sets when, by what and of which machine a file was made of another program's measurements, and
// what of its provenance is unknown. Without the user's name the machine is called host.
func imported(f *params.File, name, host string, unknown ...string) {
	p := &f.Provenance
	p.Name, p.Hostname = printable.Name(name), cmp.Or(name, host)
	p.Time, p.Unknown = time.Now().UTC().Format(time.RFC3339), append(p.Unknown, unknown...)
	p.Go, p.Taulop, p.Command = runtime.Version(), provenance.Version(), os.Args
}

// directory is the name of a file's directory, which published tables have from their machine.
func directory(file string) string {
	path, _ := filepath.Abs(file)
	return filepath.Base(filepath.Dir(path))
}

// readPairs reads -pairs, a number per table.
func readPairs(list string) (pairs []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > mpibench.MostPairs {
			return nil, fmt.Errorf("%q is no number of pairs: give them from 1, in the order of the tables, like 1,2,4", word)
		}
		pairs = append(pairs, n)
	}
	return pairs, nil
}

// printed reads the times that benchmarks printed, and sets their numbers of pairs.
func (req *importRequest) printed(errOut *messages, files []string) (times []mpibench.Time, err error) {
	pairs, lacking := req.pairs, ""
	for _, file := range files {
		results, err := mpibench.ReadFile(file)
		if err != nil {
			return nil, usageError(err.Error())
		}
		for _, o := range results.LeftOut {
			tell(errOut, "left out: %s:%d: %s: %s", file, o.Line, o.Benchmark, o.Why)
		}
		sayCache(errOut, file, results, req.offCache)
		var line int
		if pairs, line = results.SayPairs(pairs); line > 0 && lacking == "" {
			lacking = fmt.Sprintf("%s:%d", file, line)
		}
		times = append(times, results.Times...)
	}
	switch {
	case lacking != "":
		return nil, usagef("%s: osu_multi_lat does not print how many pairs ran: say it with -pairs, a number for each of its tables, like -pairs 1,2,4", lacking)
	case len(pairs) > 0:
		return nil, usagef("-pairs has %s more than there are tables of osu_multi_lat: give one for each", printable.Count(len(pairs), "number"))
	}
	return times, nil
}

// benchmarks imports the output of MPI benchmarks.
func (req *importRequest) benchmarks(errOut *messages, files []string) (*params.File, error) {
	times, err := req.printed(errOut, files)
	if err != nil {
		return nil, err
	}
	copies := mpibench.WithinNode
	if req.net != "" {
		copies = mpibench.BetweenNodes
	}
	channel, err := mpibench.ChannelOf(times, copies)
	if err != nil {
		return nil, usagef("%s: %v", printable.List(lists.Map(files, infile.Name)), err)
	}
	for _, alike := range lists.Groups(channel.LeftOut, func(o mpibench.Omission) string { return o.Why }) {
		names := lists.Map(alike, func(o mpibench.Omission) string { return o.Benchmark })
		tell(errOut, "left out: %s: %s", printable.List(names), alike[0].Why)
	}
	var f *params.File
	if req.net != "" {
		n := params.Network{Name: req.net, Kind: strings.TrimRight(strings.ToLower(req.net), "0123456789")}
		if err := n.Check(); err != nil {
			return nil, usagef("-net: %v", err)
		}
		f = channel.Network(n)
	} else {
		f = channel.File(req.offCache)
		if req.params != "" {
			sweep, err := req.sweptFile.read(errOut)
			if err != nil {
				return nil, err
			}
			mpibench.WithOwn(f, sweep)
		}
		takeGamma(errOut, f, files, times, req.offCache)
	}
	imported(f, req.name, "", "benchmarks do not print what machine they ran on: look for that where the output comes from")
	return f, nil
}

// putFile writes a parameter file, and warnings about it if it has a name.
func putFile(out io.Writer, errOut *messages, output *output, f *params.File) error {
	if err := output.write(out, f.Write); err != nil || output.path == "" {
		return err
	}
	warn(errOut, doubt.Of(f))
	fmt.Fprintf(errOut, "taulop: %s has %s\n", output.path, printable.Count(len(f.Cells), "cell"))
	return nil
}

// readText reads a file in the published text format.
func readText[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	var none T
	if holdsParameters(path) {
		if _, err := params.ReadFile(path); err != nil {
			return none, usageError(err.Error())
		}
		return none, usagef("%s is a parameter file of taulop already, and every command reads it as it is; this takes tables in the published text format", infile.Name(path))
	}
	t, err := infile.Read(path, read)
	return t, refused(err)
}

// matrix imports a matrix of core-to-core-latency, and prints its groups of CPUs.
func (req *importRequest) matrix(errOut *messages, files []string) (*params.File, error) {
	if n := len(files); n > 1 {
		return nil, usagef("got %d arguments, want 1: a matrix is of one machine", n)
	}
	m, err := infile.Read(files[0], coretocore.Read)
	if err != nil {
		return nil, usageError(err.Error())
	}
	var levels numa.Levels
	if req.params != "" {
		swept, err := readParameters("params", req.params)
		if err != nil {
			return nil, err
		}
		levels = swept.Provenance.Levels
	}
	f, err := m.File(req.cpus, levels)
	if err != nil {
		return nil, usagef("%s: %v: name the CPUs of its rows with -cpus", files[0], err)
	}
	imported(f, req.name, "", "core-to-core-latency does not print what machine it ran on, nor where the lines lay: look for that where the matrix comes from")
	p, err := f.Pairs()
	if err != nil {
		return nil, err
	}
	for _, g := range pairs.FindGroups(p, f.Provenance.Levels) {
		tell(errOut, "%s", g)
	}
	return f, nil
}

// tables imports tables with named columns.
func (req *importRequest) tables(errOut *messages, files []string) (*params.File, error) {
	tables, timed, err := req.readTables(files)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(tables, timed)
	if err := tidy.OneMachine(all); err != nil && req.name == "" {
		return nil, usagef("%v: give tables of one machine, or its name with -name", err)
	}
	f, err := tidy.File(tables, req.cores)
	if err != nil {
		return nil, usagef("%s: %v", printable.List(lists.Map(files, infile.Name)), err)
	}
	if len(timed) > 0 {
		var note string
		if f, note, err = published.WithNetwork(f, tables, timed, req.cores); err != nil {
			return nil, usageError(err.Error())
		}
		tell(errOut, "%s", note)
	}
	imported(f, req.name, cmp.Or(published.Machine(all), directory(files[0])))
	return f, nil
}

// readTables reads tables of messages, and of collectives (timed).
func (req *importRequest) readTables(files []string) (tables, timed []*tidy.Table, err error) {
	for _, file := range files {
		t, err := tidy.ReadFile(file, req.name)
		switch {
		case errors.Is(err, tidy.ErrMachines):
			return nil, nil, usagef("%v, or name it with -name", err)
		case err != nil:
			return nil, nil, usagef("%v", err)
		case len(t.Collectives) > 0:
			timed = append(timed, t)
		default:
			tables = append(tables, t)
		}
	}
	switch {
	case len(tables) == 0:
		return nil, nil, usagef("%s: tables of collectives alone do not say what a message takes: give one of messages too", printable.List(lists.Map(files, infile.Name)))
	case !slices.ContainsFunc(tables, func(t *tidy.Table) bool { return t.Points[0].Parameter == params.ChannelMessage }):
		return nil, nil, usagef("%s: one sender to many, and streams, do not say what a message alone takes: give a table of messages too", printable.List(lists.Map(files, infile.Name)))
	}
	return tables, timed, nil
}

// readCores reads numbers of cores per level: same_socket=28,other_socket=56.
func readCores(text string) (map[string]int, error) {
	given := make(map[string]int)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		level, number, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 2 || level == "" || given[level] > 0 {
			return nil, fmt.Errorf("%q is no level: give each level's number of cores once, like same_socket=28,other_socket=56", word)
		}
		given[level] = n
	}
	return given, nil
}

// A sweptFile is the file of -params in a state of the machine, with the cache state of a
// benchmark's buffers.
type sweptFile struct {
	params   string
	state    stateChoice
	offCache bool
}

func (s *sweptFile) add(flags *argument.Set, usage string) {
	flags.StringVar(&s.params, "params", "", usage)
	argument.Var(flags, &s.offCache, "cache", "in", "benchmark's buffers `in|off` cache", argument.Cache, "in", "off")
	s.state.add(flags, mixture)
}

// read reads the file. Without -state it prints that its values are means over all states: the
// benchmarks' state is unknown.
func (s *sweptFile) read(errOut *messages) (*params.File, error) {
	f, err := readParameters("params", s.params)
	if err != nil {
		return nil, err
	}
	m := compare.Machine{Path: s.params, File: f}
	if err := s.state.one(&m); err != nil {
		return nil, err
	}
	if states := m.File.States(); len(states) > 0 {
		tell(errOut, "%s was measured in several states of the machine, in which a flag takes %s, and benchmarks do not say in which their messages went: what is taken from it are means over all by their shares, unless -state chooses one", s.params, params.StateList(states))
	}
	return m.File, nil
}

// overheadsFlags is import -overheads.
func overheadsFlags(flags *argument.Set) action {
	var native sweptFile
	var library *mpi.Library
	var output output
	pings := flags.String("overheads", "", "`file` of an MPI library's ping-pongs to take o(m) from")
	native.add(flags, "the parameter `file` that has the transfers")
	argument.Var(flags, &library, "as", "", "the MPI `library` whose transports the ping-pongs used: "+strings.Join(libraryNames(), ", "), mpi.Named, libraryNames()...)
	flags.Rules(argument.Rule{Flags: "overheads", Needs: "params", Why: "takes a file of ping-pongs and one of parameters", Do: "taulop import -overheads IMB.txt -params host.json -o out.json"})
	output.add(flags, "write to a new `file`")
	return func(_ context.Context, out io.Writer, errOut *messages, _ []string) error {
		f, err := native.read(errOut)
		if err != nil {
			return err
		}
		results, err := mpibench.ReadFile(*pings)
		if err != nil {
			return usagef("-overheads: %v", err)
		}
		if library != nil {
			err = verify.Overheads(f, model.Choice{As: library, OffCache: native.offCache, Buffers: params.Unchanged}, results.Times)
		} else {
			err = mpibench.TakeOverheads(f, results.Times, native.offCache)
		}
		if err != nil {
			return usagef("-overheads %s -params %s: %v", *pings, native.params, err)
		}
		ofLibrary(f, "o(m)", []string{*pings})
		takeGamma(errOut, f, []string{*pings}, results.Times, native.offCache)
		if err := f.Validate(); err != nil {
			return usagef("%s: %v", native.params, err)
		}
		return putFile(out, errOut, &output, f)
	}
}

// takeGamma adds the γ of outputs to a file, and prints what it added.
func takeGamma(errOut *messages, f *params.File, outputs []string, times []mpibench.Time, off bool) {
	if t := lists.Find(times, func(t mpibench.Time) bool { return t.Kind == mpibench.Reduction }); off && t != nil {
		tell(errOut, "left out: %s: γ is of vectors in cache, whatever a message's: run it with buffers in cache, and import that first", t.Benchmark)
		return
	}
	operators, leftOut := mpibench.TakeGamma(f, times)
	for _, o := range leftOut {
		tell(errOut, "left out: %s: %s", o.Benchmark, o.Why)
	}
	for _, operator := range operators {
		tell(errOut, "γ of %s is what MPI_Reduce_local took in %s", operator, printable.List(outputs))
		ofLibrary(f, "γ of "+operator, outputs)
	}
}

// ofLibrary notes in a file that a parameter is an MPI library's, and removes older notes about it.
func ofLibrary(f *params.File, parameter string, outputs []string) {
	note := parameter + " is that of "
	f.Warnings = slices.DeleteFunc(f.Warnings, func(w string) bool { return strings.HasPrefix(w, note) })
	names := lists.Map(outputs, filepath.Base)
	f.Warn(fmt.Errorf("%s%s: predictions are of that library", note, printable.List(names)))
}
