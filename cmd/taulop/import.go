package main

import (
	"context"
	"flag"
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
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

const importHelp = `Import makes a parameter file of tables in the published text format, or of what MPI
benchmarks printed, or takes o(m) from one.

  taulop import [flags] SHM.txt [gamma.txt]
  taulop import [-pairs LIST] [-cache off] [-net NAME] [flags] OUTPUT ...
  taulop import -overheads IMB.txt -params host.json -o out.json
  taulop import -format tidy [-cores LIST] [flags] TABLE ...

SHM.txt    o(m) and L(m,τ); a network's table will do as well
gamma.txt  γ(m) of reduction operators
OUTPUT     what IMB-MPI1 or OSU micro-benchmarks printed, or bench/mpi/messages.c
IMB.txt    what PingPong, and Reduce_local, of IMB-MPI1 or osu_latency printed
TABLE      times between cores, tab-separated with names of columns:
             level, src_core, dst_core, m_bytes, latency_us  messages
             level, P, m_bytes, latency_us, max_us           one to P-1 ranks
             level, pairs, m_bytes, us_per_message           streams of pairs
           One of collectives beside them, as for taulop verify -against,
           says what memories carry at once and what passing on takes, which
           is estimated

The published format does not say how it was measured, so setup and placement are called
"published", and there are neither samples nor intervals.

OUTPUT files make a file of an MPI library's own messages, on any machine and network
that runs them: o(m) and L(m,1) come from PingPong or osu_latency, L(m,τ) from Sendrecv,
PingPing or Exchange among τ ranks, from PingPong -multi 0 or osu_multi_lat of τ pairs,
and from osu_bw and osu_mbw_mr, whose gaps are no times of messages, but tell what others
make a message longer by. Predictions from it have -transport whole. No message
tells what a rank does by itself, γ and its own copies: -params takes them from a sweep
there. γ of a sum is what Reduce_local of IMB-MPI1 took, where OUTPUT or IMB.txt has that.
With -net NAME all pairs were on two nodes, and the file has the network between them,
for predict -net.

With -overheads and -as o(m) is what messages take beyond the transfers of the library's
own way: a table up to the longest message that is one segment, one number beyond.
With -overheads alone a file of taulop sweep becomes that of an MPI library on the same
machine: its o(m) is half of the library's round trip of m bytes less the transfers that
the file has, so that predictions have the library's own time before the first byte moves.

Benchmarks do not say in which state of a machine whose host moves its CPUs their messages
went: -state takes the file of -params in one; without it, its numbers are means over all.

Examples:
  taulop import -o metropolis.json -name metropolis SHM.txt gamma.txt
  for n in 2 4 8; do srun -n $n IMB-MPI1 PingPong Sendrecv -npmin $n
    done >imb.txt
  taulop import -o node.json imb.txt
  for n in 1 2 4; do srun -N 2 -n $((2*n)) osu_multi_lat; done >lat.txt
  taulop import -pairs 1,2,4 -net ib0 -o ib.json lat.txt
  mpirun -n 2 IMB-MPI1 PingPong >imb.txt
  taulop import -overheads imb.txt -params host.json -o openmpi.json
  taulop import -format tidy -o epyc.json p2p.tsv fanout.tsv
  taulop import -o xeon.json -from bcast:chain p2p.tsv collectives.tsv

Flags:
`

// importCommand is the subcommand.
func importCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	var (
		flags  = flag.NewFlagSet("taulop import", flag.ContinueOnError)
		output output
		pings  = flags.String("overheads", "", "`file` of an MPI library's ping-pongs to take o(m) from")
		native = flags.String("params", "", "with -overheads: the parameter `file` that has the transfers; with OUTPUT: a file of taulop sweep on the same machine, to take γ and ranks' own copies from")
		off    bool
		state  stateChoice
		host   = flags.String("name", "", "the machine's `name` (default that of the directory that SHM.txt is in)")
		format = flags.String("format", "", "`format` of the files: text, the published one; tidy, columns with names; mpi, what benchmarks printed (default: what they look like)")
		cores  = flags.String("cores", "", "with -format tidy: how many cores in a row share a level, where tables do not say, a `list` like same_socket=28,other_socket=56")
		from   = flags.String("from", "", "with -format tidy and a table of collectives: what to estimate from, a `list` like bcast:basic_linear,bcast:chain (default all that were forced)")
		pairs  = flags.String("pairs", "", "`list` of how many pairs ran each osu_multi_lat, which does not print it, in the order of OUTPUT: 1,2,4")
		as     = flags.String("as", "", "with -overheads: the `library` whose way the ping-pongs' messages went: "+strings.Join(libraryNames(), ", "))
		net    = flags.String("net", "", "the ranks of a pair were on two nodes: `name` of the network between them, such as ib0")
	)
	argument.Var(flags, &off, "cache", "in", "`where` a benchmark's buffers were, in cache or off: in, off", argument.Cache)
	state.add(flags, mixture)
	output.add(flags, "write to a new `file`")
	if err := parse(flags, out, args, importHelp); err != nil {
		return err
	}
	given := givenFlags(flags)
	printed := flags.NArg() > 0 && mpibench.Printed(flags.Arg(0))
	switch {
	case given["overheads"] && (*native == "" || flags.NArg() > 0 || given["name"]):
		return usageError("-overheads takes a file of ping-pongs and one of parameters, and nothing else: taulop import -overheads IMB.txt -params host.json -o out.json")
	case given["overheads"] && (given["pairs"] || given["net"]):
		return usageError("-pairs and -net are of outputs that make a parameter file, and -overheads changes one: leave either out")
	case !given["overheads"] && given["as"]:
		return usageError("-as goes with -overheads: give that too, or leave it out")
	case given["state"] && *native == "":
		return usageError("-state is one of those that the file of -params has: give that too, or leave it out")
	case given["format"] && !slices.Contains([]string{"text", "tidy", "mpi"}, *format):
		return usagef("-format %s: files are text, tidy or mpi", *format)
	case given["format"] && given["overheads"]:
		return usageError("-format is of files that make a parameter file, and -overheads changes one: leave either out")
	case given["overheads"]:
		return importOverheads(out, errOut, *pings, sweptFile{*native, state}, *as, output, off)
	case *format == "tidy" || *format == "" && flags.NArg() > 0 && isTidy(flags.Arg(0)):
		if err := ofBenchmarks(given); err != nil {
			return err
		}
		return importTidy(out, errOut, flags.Args(), output, *host, *cores, *from)
	case given["cores"] || given["from"]:
		return usageError("-cores and -from are of tables with named columns: give -format tidy too, or leave them out")
	case *format == "mpi" || *format == "" && printed:
		return importBenchmarks(out, errOut, flags.Args(), output, *host, saidOfPairs{*pairs, *net, sweptFile{*native, state}, off})
	}
	if err := ofBenchmarks(given); err != nil {
		return err
	}
	if n := flags.NArg(); n == 0 {
		return usageError("it needs files: SHM.txt, what IMB-MPI1 or OSU micro-benchmarks printed, or tables of messages between cores (-h for more)")
	} else if n > 2 {
		return usagef("got %d arguments, want 1 or 2: taulop import SHM.txt [gamma.txt]", n)
	}
	if err := output.check(); err != nil {
		return err
	}
	table, err := readText(flags.Arg(0), params.ReadText)
	if err != nil {
		return err
	}
	var gamma *params.Gamma
	if flags.NArg() == 2 {
		if gamma, err = readText(flags.Arg(1), params.ReadGammaText); err != nil {
			return err
		}
	}
	f := params.FromText(table, gamma)
	f.Provenance = imported(*host, "the published text format does not say what machine this was measured on, nor how: look for that where the file comes from")
	if *host == "" {
		if path, err := filepath.Abs(flags.Arg(0)); err == nil {
			f.Provenance.Hostname = filepath.Base(filepath.Dir(path))
		}
	}
	if err := f.Validate(); err != nil {
		return usagef("%s: %v", flags.Arg(0), err)
	}
	return putFile(out, errOut, &output, f)
}

// ofBenchmarks refuses flags of what benchmarks printed, where other files are named.
func ofBenchmarks(given map[string]bool) error {
	for _, name := range []string{"pairs", "net", "cache", "params"} {
		if given[name] {
			return usagef("-%s is of what MPI benchmarks printed: name such a file, or leave it out", name)
		}
	}
	return nil
}

// imported is the provenance of what another program measured.
func imported(host, unknown string) provenance.Provenance {
	return provenance.Provenance{
		Time: time.Now().UTC().Format(time.RFC3339), Hostname: host,
		Go: runtime.Version(), Taulop: provenance.Version(), Command: os.Args, Unknown: []string{unknown},
	}
}

// saidOfPairs is of MPI benchmarks what they do not print.
type saidOfPairs struct {
	pairs, net string
	params     sweptFile
	offCache   bool
}

// A sweptFile is that of -params, taken in a state of the machine.
type sweptFile struct {
	path  string
	state stateChoice
}

// read reads it, and says what numbers of a machine of several states are where none was chosen:
// what benchmarks printed is of no state that anybody knows.
func (s sweptFile) read(errOut io.Writer) (*params.File, error) {
	f, err := params.ReadFile(s.path)
	if err != nil {
		return nil, usagef("-params: %v", err)
	}
	m := compare.Machine{Path: s.path, File: f}
	if err := s.state.one(&m); err != nil {
		return nil, err
	}
	if states := m.File.States(); len(states) > 0 {
		tell(errOut, "%s was measured in several states of the machine, in which a flag takes %s, and benchmarks do not say in which their messages went: what is taken from it are means over all by their shares, unless -state chooses one", s.path, params.StateList(states))
	}
	return m.File, nil
}

// importBenchmarks is import of what MPI benchmarks printed.
func importBenchmarks(out, errOut io.Writer, files []string, output output, host string, said saidOfPairs) error {
	if err := output.check(); err != nil {
		return err
	}
	var pairs []int
	if said.pairs != "" {
		for _, word := range strings.Split(said.pairs, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > mpibench.MostPairs {
				return usagef("-pairs has %q: give numbers of pairs from 1, in the order of the tables, like 1,2,4", word)
			}
			pairs = append(pairs, n)
		}
	}
	var times []mpibench.Time
	lacking := ""
	for _, file := range files {
		results, err := mpibench.ReadFile(file)
		if err != nil {
			return usageError(err.Error())
		}
		for _, o := range results.LeftOut {
			tell(errOut, "left out: %s:%d: %s: %s", file, o.Line, o.Benchmark, o.Why)
		}
		var line int
		if pairs, line = results.SayPairs(pairs); line > 0 && lacking == "" {
			lacking = fmt.Sprintf("%s:%d", file, line)
		}
		times = append(times, results.Times...)
	}
	switch {
	case lacking != "":
		return usagef("%s: osu_multi_lat does not print how many pairs ran: say it with -pairs, a number for each of its tables, like -pairs 1,2,4", lacking)
	case len(pairs) > 0:
		return usagef("-pairs %s has %s more than there are tables of osu_multi_lat: give one for each", said.pairs, printable.Count(len(pairs), "number"))
	}
	copies := mpibench.WithinNode
	if said.net != "" {
		copies = mpibench.BetweenNodes
	}
	channel, err := mpibench.ChannelOf(times, copies)
	if err != nil {
		return usagef("%s: %v", printable.List(files), err)
	}
	for _, alike := range view.Grouped(channel.LeftOut, func(o mpibench.Omission) string { return o.Why }) {
		names := lists.Map(alike, func(o mpibench.Omission) string { return o.Benchmark })
		tell(errOut, "left out: %s: %s", printable.List(names), alike[0].Why)
	}
	f := channel.File(said.offCache)
	if said.net != "" {
		n := params.Network{Name: said.net, Kind: strings.TrimRight(strings.ToLower(said.net), "0123456789")}
		if err := n.Check(); err != nil {
			return usagef("-net: %v", err)
		}
		f = channel.Network(n)
	}
	switch {
	case said.params.path != "" && said.net != "":
		return usageError("-params has what ranks do by themselves, and -net is of a network: leave one of them out")
	case said.params.path != "":
		sweep, err := said.params.read(errOut)
		if err != nil {
			return err
		}
		mpibench.WithOwn(f, sweep)
	}
	if said.net == "" {
		takeGamma(errOut, f, files, times, said.offCache)
	}
	f.Provenance = imported(host, "benchmarks do not print what machine they ran on: look for that where the output comes from")
	if err := f.Validate(); err != nil {
		return usagef("%s: %v", printable.List(files), err)
	}
	return putFile(out, errOut, &output, f)
}

// importOverheads is import -overheads.
func importOverheads(out, errOut io.Writer, pings string, native sweptFile, as string, output output, off bool) error {
	var library *mpi.Library
	if as != "" {
		var err error
		if library, err = mpi.Named(as); err != nil {
			return usagef("-as: %v", err)
		}
	}
	if err := output.check(); err != nil {
		return err
	}
	f, err := native.read(errOut)
	if err != nil {
		return err
	}
	results, err := mpibench.ReadFile(pings)
	if err != nil {
		return usagef("-overheads: %v", err)
	}
	if library != nil {
		err = verify.Overheads(f, model.Choice{As: library, OffCache: off, Buffers: params.Unchanged}, results.Times)
	} else {
		err = mpibench.TakeOverheads(f, results.Times, off)
	}
	if err != nil {
		return usagef("-overheads %s -params %s: %v", pings, native.path, err)
	}
	ofLibrary(f, "o(m)", []string{pings})
	takeGamma(errOut, f, []string{pings}, results.Times, off)
	if err := f.Validate(); err != nil {
		return usagef("%s: %v", native.path, err)
	}
	return putFile(out, errOut, &output, f)
}

// takeGamma gives a file the γ that outputs have, and says so.
func takeGamma(errOut io.Writer, f *params.File, outputs []string, times []mpibench.Time, off bool) {
	if i := slices.IndexFunc(times, func(t mpibench.Time) bool { return t.Kind == mpibench.Reduction }); off && i >= 0 {
		tell(errOut, "left out: %s: γ is of vectors in cache, whatever a message's: run it with buffers in cache, and import that first", times[i].Benchmark)
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

// ofLibrary notes in a file that a parameter is an MPI library's, in the place of what was
// noted of it before.
func ofLibrary(f *params.File, parameter string, outputs []string) {
	note := parameter + " is that of "
	f.Warnings = slices.DeleteFunc(f.Warnings, func(w string) bool { return strings.HasPrefix(w, note) })
	names := lists.Map(outputs, filepath.Base)
	f.Warn(fmt.Errorf("%s%s: predictions are of that library", note, printable.List(names)))
}

// putFile writes a file, and what speaks against it where that has a name.
func putFile(out, errOut io.Writer, output *output, f *params.File) error {
	if err := output.write(out, f.Write); err != nil || output.path == "" {
		return err
	}
	warn(errOut, sweep.Doubts(f))
	fmt.Fprintf(errOut, "taulop: %s has %s\n", output.path, printable.Count(len(f.Cells), "cell"))
	return nil
}

// readText reads a file in the published format.
func readText[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	var none T
	if outfile.Replaces(path) && holdsParameters(path) {
		return none, usagef("%s is a parameter file of taulop already, and every command reads it as it is; this takes tables in the published text format", path)
	}
	t, err := infile.Read(path, read)
	if err != nil {
		return none, usageError(err.Error())
	}
	return t, nil
}
