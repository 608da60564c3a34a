package main

import (
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

const againstHelp = `Verify -against puts predictions beside what an MPI benchmark printed: IMB-MPI1
(PingPong, PingPing, Sendrecv, Exchange and collectives) or OSU micro-benchmarks
(osu_latency and collectives, with and without -f). Several outputs may stand in
one file; repeated runs count with their median. Ranks, times and colours that mpirun
--tag-output, srun -l, mpiexec -l or ts put in front of lines may stay. Or a table with
named columns, of collectives by algorithm, mapping, P and m: then it prints how wrong
predictions are by algorithm, mapping, P and m, and names may be bcast:5 or
bcast:binary_tree, as the library calls it.

  taulop verify -against OUTPUT -params FILE [flags] [COLLECTIVE[:ALGORITHM] ...]

FILE is what taulop sweep wrote on the benchmark's machine, or a table in the
published text format. Which algorithm the MPI library used nobody says: a
collective is predicted as one usual algorithm, and as the one that comes nearest
to each time. COLLECTIVE:ALGORITHM says it. With names only those are compared:
of a collective, or message, sendrecv, exchange.

With -as LIBRARY messages go the way that it sends them, and collectives are predicted by
the algorithm that it chooses by itself, where its tables are known; send buffers are
unchanged, as benchmarks leave them, without -buffers rewritten. docs/mpi.md has more.

Sizes are m as taulop predict -h has it. Where a suite prints another size it is
turned into m, and -m chooses by that.

A segment is what the library copies at once through shared memory: for Open MPI's
vader without a single-copy mechanism sweep with -segment 32K -segments 4 -setup
ring,ping,sendrecv. From such a file come one-way messages as ping has them, and
exchanges as sendrecv does, which receives into another buffer than it sends, as MPI
does; ring receives into the same.

Neither suite writes its send buffers anew between messages, so single copies (-as,
-transport cma) are those of unchanged buffers, unless -buffers rewritten is given.

Examples:
  mpirun -n 2 osu_latency >osu.txt; taulop verify -against osu.txt -params host.json
  taulop verify -against bcast.txt -params host.json -P 4 bcast:binomial
  taulop verify -against imb.txt -params host.json -m 64K:4M message sendrecv
  taulop verify -against imb.txt -params host.json -cache off
  taulop verify -against imb.txt -params host.json -as openmpi4
  taulop verify -against collectives.tsv -params epyc.json -map core -P 8-128 bcast

Flags:
`

// asks tells whether a flag is there that makes another command of this one.
func asks(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		return name == flag && strings.HasPrefix(arg, "-")
	})
}

// against is verify -against.
func against(out, errOut io.Writer, args []string) error {
	var (
		req      parameterFlags
		flags    = flag.NewFlagSet("taulop verify", flag.ContinueOnError)
		printed  string
		chosen   verify.Chosen
		to       destination
		mappings []string
		quiet    bool
	)
	req.add(flags)
	flags.StringVar(&printed, "against", "", "`file` with what IMB-MPI1 or OSU micro-benchmarks printed")
	argument.Var(flags, &chosen.P, "P", "", "ranks: the `number` that ran an OSU collective, which does not print it; of IMB a list of those to compare", argument.Ranks(2))
	argument.Var(flags, &chosen.M, "m", "", "compare these sizes alone, a `list` like 64,8K,1M with doubling ranges: 64K:4M", argument.Messages(0))
	argument.Var(flags, &mappings, "map", "", "of a table: compare ranks of these mappings alone, a `list` like core,node", argument.Names)
	to.add(flags)
	flags.BoolVar(&quiet, "quiet", false, "no warnings")
	names, err := parseWords(flags, out, args, againstHelp)
	if err != nil {
		return err
	}
	if printed == "" {
		return usagef("-against names no file: give one with what IMB-MPI1 or an OSU benchmark printed")
	}
	if err := to.check(); err != nil {
		return err
	}
	if err := req.check(flags); err != nil {
		return err
	}
	if !req.given["buffers"] { // neither suite writes its send buffers between messages
		req.choice.Buffers = params.Unchanged
	}
	if isTidy(printed) {
		return againstTable(out, errOut, &req, tableRequest{table: printed, names: names, mappings: mappings, p: chosen.P, m: chosen.M, destination: to, quiet: quiet})
	}
	if mappings != nil {
		return usagef("-map is of tables with named columns, and %s is none: leave it out", printed)
	}
	if err := chosen.Name(names); err != nil {
		return usageError(err.Error())
	}
	there, err := infile.Open(printed) // before the sweep's file is read, which takes longer
	if err != nil {
		return usagef("-against: %v", err)
	}
	there.Close()
	f, err := req.read()
	if err != nil {
		return err
	}
	if f.File.OfLevels() {
		return usagef("%s has messages by levels, and stands beside tables of collectives with names of columns: give its times in one (collective, algorithm, mapping, P, m_bytes, latency_us)", req.file)
	}
	results, err := mpibench.ReadFile(printed)
	if err != nil {
		return usagef("-against: %v", err)
	}
	a, err := verify.NewAgainst(f.File, req.choice)
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if err := req.checkOperator(a.Predictor); err != nil {
		return err
	}
	doc := &report.Against{Source: req.source(f, a.Predictor), Output: printed}
	times, leftOut := chosen.Take(results.Times, req.noGamma)
	doc.LeftOut = append(results.LeftOut, leftOut...)
	if i := slices.IndexFunc(times, func(t mpibench.Time) bool { return t.P == 0 }); i >= 0 {
		return usagef("%s:%d: %s does not print how many ranks took part: say it with -P, one number, like -P 4", printed, times[i].Line, times[i].Benchmark)
	}
	switch {
	case len(times) == 0 && len(doc.LeftOut) > 0 && (len(results.Times) == 0 || len(chosen.P)+len(chosen.M) == 0 && len(names) == 0):
		o := doc.LeftOut[0]
		return usagef("-against: %s has nothing to compare; %s in line %d, for one, is left out: %s", printed, o.Benchmark, o.Line, o.Why)
	case len(times) == 0:
		return usagef("-against: nothing in %s is among what -P, -m and the names ask for: leave some of them out", printed)
	}
	a.Algorithm, a.Segment, a.Degree, a.Chunk = chosen.Algorithm, a.Predictor.Segment, req.degree, req.chunk
	if doc.Rows, err = a.Compare(times); err != nil {
		return usagef("-against %s: %v", printed, err)
	}
	doc.Means = verify.AgainstMeans(doc.Rows)
	if !quiet {
		warn(errOut, req.doubts(a.Predictor, ""))
	}
	return to.put(out, doc)
}
