package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/params"
)

const importHelp = `Import makes a parameter file of tables in the published text format, or takes o(m)
from an MPI benchmark.

  taulop import [flags] SHM.txt [gamma.txt]
  taulop import -overheads IMB.txt -params host.json -o out.json
  taulop import -format tidy [-cores LIST] [flags] TABLE ...

SHM.txt    o(m) and L(m,τ); a network's table will do as well
gamma.txt  γ(m) of reduction operators
IMB.txt    what the PingPong of IMB-MPI1 or osu_latency printed
TABLE      times between cores of a machine, tab-separated with names of columns: level,
           src_core, dst_core, m_bytes, latency_us of messages; level, P, m_bytes,
           latency_us, max_us of one rank that sends to P-1; level, pairs, m_bytes,
           us_per_message of streams

The format does not say how it was measured, so setup and placement are called
"published", and there are neither samples nor intervals.

With -overheads a file of taulop sweep becomes that of an MPI library on the same
machine: its o(m) is half of the library's round trip of m bytes less the transfers that
the file has, so that predictions have the library's own time before the first byte moves.

Examples:
  taulop import -o metropolis.json -name metropolis SHM.txt gamma.txt
  mpirun -n 2 IMB-MPI1 PingPong >imb.txt
  taulop import -overheads imb.txt -params host.json -o openmpi.json
  taulop import -format tidy -o epyc.json p2p.tsv fanout.tsv

Flags:
`

// importCommand is the subcommand.
func importCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	var (
		flags  = flag.NewFlagSet("taulop import", flag.ContinueOnError)
		output = flags.String("o", "", "write to a new `file` instead of standard output")
		pings  = flags.String("overheads", "", "`file` of an MPI library's ping-pongs to take o(m) from")
		native = flags.String("params", "", "with -overheads: the parameter `file` that has the transfers")
		cache  = flags.String("cache", "in", "with -overheads: `where` the ping-pongs' buffers were, in cache or off: in, off")
		host   = flags.String("name", "", "the machine's `name` (default that of the directory that SHM.txt is in)")
		format = flags.String("format", "", "of the files: text, the published one, or tidy, `name`d columns (default: what they look like)")
		cores  = flags.String("cores", "", "with -format tidy: how many cores in a row share a level, where tables do not say, a `list` like same_socket=28,other_socket=56")
	)
	argument.Switch(flags, "off_cache", "cache", "off", "in")
	argument.Alias(flags, "host", "name")
	if err := parse(flags, out, args, importHelp); err != nil {
		return err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["overheads"] && (*native == "" || flags.NArg() > 0 || given["name"]):
		return usageError("-overheads takes a file of ping-pongs and one of parameters, and nothing else: taulop import -overheads IMB.txt -params host.json -o out.json")
	case !given["overheads"] && (given["params"] || given["cache"]):
		return usageError("-params and -cache go with -overheads: give that too, or leave them out")
	case given["format"] && (given["overheads"] || *format != "text" && *format != "tidy"):
		return usagef("-format %s: files are text or tidy, and none of them goes with -overheads", *format)
	case *format == "tidy" || *format == "" && flags.NArg() > 0 && isTidy(flags.Arg(0)):
		return importTidy(out, errOut, flags.Args(), *output, *host, *cores)
	case given["cores"]:
		return usageError("-cores is of tables with named columns: give -format tidy too, or leave it out")
	case given["overheads"]:
		off, err := argument.Cache("-cache", *cache)
		if err != nil {
			return usageError(err.Error())
		}
		return importOverheads(out, errOut, *pings, *native, *output, off)
	}
	if n := flags.NArg(); n != 1 && n != 2 {
		return usagef("got %d arguments, want 1 or 2: taulop import SHM.txt [gamma.txt]", n)
	}
	if err := fresh(*output); err != nil {
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
	f.Provenance = provenance.Provenance{
		Time: time.Now().UTC().Format(time.RFC3339), Hostname: *host,
		Go: runtime.Version(), Taulop: provenance.Version(), Command: os.Args,
		Unknown: []string{"the published text format does not say what machine this was measured on, nor how: look for that where the file comes from"},
	}
	if *host == "" {
		if path, err := filepath.Abs(flags.Arg(0)); err == nil {
			f.Provenance.Hostname = filepath.Base(filepath.Dir(path))
		}
	}
	if err := f.Validate(); err != nil {
		return usagef("%s: %v", flags.Arg(0), err)
	}
	return putFile(out, errOut, *output, f)
}

// importOverheads is import -overheads.
func importOverheads(out, errOut io.Writer, pings, native, output string, off bool) error {
	if err := fresh(output); err != nil {
		return err
	}
	f, err := params.ReadFile(native)
	if err != nil {
		return usagef("-params: %v", err)
	}
	results, err := mpibench.ReadFile(pings)
	if err != nil {
		return usagef("-overheads: %v", err)
	}
	if err := mpibench.TakeOverheads(f, results.Times, off); err != nil {
		return usagef("-overheads %s -params %s: %v", pings, native, err)
	}
	f.Warn(fmt.Errorf("o(m) is that of %s: predictions are of that library", filepath.Base(pings)))
	if err := f.Validate(); err != nil {
		return usagef("%s: %v", native, err)
	}
	return putFile(out, errOut, output, f)
}

// putFile writes a file, and what speaks against it where that has a name.
func putFile(out, errOut io.Writer, output string, f *params.File) error {
	if err := put(out, output, f.Write); err != nil || output == "" {
		return err
	}
	warn(errOut, sweep.Doubts(f))
	fmt.Fprintf(errOut, "taulop: %s has %s\n", output, printable.Count(len(f.Cells), "cell"))
	return nil
}

// readText reads a file in the published format.
func readText[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	var none T
	in, err := infile.Open(path)
	if err != nil {
		return none, usageError(err.Error())
	}
	defer in.Close()
	if outfile.Replaces(path) && holdsParameters(path) {
		return none, usagef("%s is a parameter file of taulop already, and every command reads it as it is; this takes tables in the published text format", path)
	}
	t, err := read(in, path)
	if err != nil {
		return none, usageError(err.Error())
	}
	return t, nil
}
