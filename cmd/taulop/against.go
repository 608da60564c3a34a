package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
)

const againstHelp = `Verify -against puts predictions beside what an MPI benchmark printed: IMB-MPI1
(PingPong, PingPing, Sendrecv, Exchange and collectives) or OSU micro-benchmarks
(osu_latency and collectives, with and without -f). Several outputs may stand in
one file; repeated runs count with their median. Ranks, times and colours that mpirun
--tag-output, srun -l, mpiexec -l or ts put in front of lines may stay.

  taulop verify -against OUTPUT -params FILE [flags] [COLLECTIVE[:ALGORITHM] ...]

FILE is what taulop sweep wrote on the benchmark's machine, or a table in the
published text format. Which algorithm the MPI library used nobody says: a
collective is predicted as one usual algorithm, and as the one that comes nearest
to each time. COLLECTIVE:ALGORITHM says it. With names only those are compared:
of a collective, or message, sendrecv, exchange.

Sizes are m as taulop predict -h has it. Where a suite prints another size it is
turned into m, and -m chooses by that.

A segment is what the library copies at once through shared memory: for Open MPI's
vader without a single-copy mechanism sweep with -segment 32K -segments 4 -setups
ring,ping,sendrecv. From such a file come one-way messages as ping has them, and
exchanges as sendrecv does, which receives into another buffer than it sends, as MPI
does; ring receives into the same.

Examples:
  mpirun -n 2 osu_latency >osu.txt; taulop verify -against osu.txt -params host.json
  taulop verify -against bcast.txt -params host.json -P 4 bcast:binomial
  taulop verify -against imb.txt -params host.json -m 64K:4M message sendrecv
  taulop verify -against imb.txt -params host.json -off_cache

Flags:
`

// An againstRequest is what the user asked to compare.
type againstRequest struct {
	costRequest
	output string // of the benchmark
	file   string // to write
	json   bool
	quiet  bool
	names  []string // of collectives and kinds, none for all
}

// asksAgainst tells whether verify is to compare with a benchmark's output.
func asksAgainst(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		return name == "against" && strings.HasPrefix(arg, "-")
	})
}

func against(out, errOut io.Writer, args []string) error {
	var req againstRequest
	if err := req.parse(out, args); err != nil {
		return err
	}
	doc, err := req.compare()
	if err != nil {
		return err
	}
	if !req.quiet {
		warn(errOut, req.warnings)
	}
	return putDocument(out, req.file, doc, req.json)
}

func (req *againstRequest) parse(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop verify", flag.ContinueOnError)
	req.parameterFlags(flags)
	flags.StringVar(&req.output, "against", "", "`file` with what IMB-MPI1 or OSU micro-benchmarks printed")
	flags.StringVar(&req.psText, "P", "", "ranks: the `number` that ran an OSU collective, which does not print it; of IMB a list of those to compare")
	flags.StringVar(&req.msText, "m", "", "compare these sizes alone, a `list` like 64,8K,1M with doubling ranges: 64K:4M")
	flags.BoolVar(&req.json, "json", false, "one JSON document")
	flags.StringVar(&req.file, "o", "", "write to a `file`")
	flags.BoolVar(&req.quiet, "quiet", false, "no warnings")
	var err error
	if req.names, err = parseWords(flags, out, args, againstHelp); err != nil {
		return err
	}
	req.given = make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { req.given[f.Name] = true })
	if req.output == "" {
		return usagef("-against names no file: give one with what IMB-MPI1 or an OSU benchmark printed")
	}
	if req.costRequest.file == "" {
		return usagef("-params is missing: name a file that taulop sweep wrote on the benchmark's machine, or a table in the published text format")
	}
	if err := writable(req.file); err != nil {
		return usagef("-o %s cannot be written: %v", req.file, err)
	}
	return req.lists()
}

func (req *againstRequest) lists() (err error) {
	if req.psText != "" {
		req.ps, err = argument.List(req.psText, true, func(text string) (int, error) {
			p, err := strconv.Atoi(text)
			if err != nil || p < 2 {
				return 0, fmt.Errorf("%q is not a number of ranks from 2 up", text)
			}
			return p, nil
		})
		if err != nil {
			return usagef("-P: %v", err)
		}
	}
	if req.msText != "" {
		req.ms, err = argument.List(req.msText, false, argument.Bytes)
		if err != nil {
			return usagef("-m: %v", err)
		}
	}
	return req.tree()
}

// kinds of messages between neighbours, which are no collectives.
var neighbourly = []mpibench.Kind{mpibench.Message, mpibench.Sendrecv, mpibench.Exchange}

// chosen reads the names: of kinds, and of algorithms.
func (req *againstRequest) chosen() (kinds []mpibench.Kind, algorithms map[string]*collective.Algorithm, err error) {
	algorithms = make(map[string]*collective.Algorithm)
	for _, name := range req.names {
		of, _, named := strings.Cut(name, ":")
		switch {
		case named:
			a, err := collective.Lookup(name)
			if err != nil {
				return nil, nil, usageError(err.Error())
			}
			if other := algorithms[of]; other != nil && other != a {
				return nil, nil, usagef("%s and %s cannot both be what the benchmark ran: choose one", other, a)
			}
			algorithms[of] = a
		case !slices.Contains(neighbourly, mpibench.Kind(name)):
			if _, err := collective.Of(name); err != nil {
				return nil, nil, usageError(err.Error())
			}
		}
		kinds = append(kinds, mpibench.Kind(of))
	}
	return kinds, algorithms, nil
}

func (req *againstRequest) compare() (*report.Against, error) {
	kinds, algorithms, err := req.chosen()
	if err != nil {
		return nil, err
	}
	results, err := mpibench.ReadFile(req.output)
	if err != nil {
		return nil, usagef("-against: %v", err)
	}
	tauLop, err := req.tauLop()
	if err != nil {
		return nil, err
	}
	doc := &report.Against{Source: req.source, Output: req.output, LeftOut: results.LeftOut}
	times, err := req.take(results.Times, kinds, &doc.LeftOut)
	if err != nil {
		return nil, err
	}
	if len(times) == 0 {
		if len(doc.LeftOut) > 0 && len(results.Times) == 0 {
			o := doc.LeftOut[0]
			return nil, usagef("-against: %s has nothing to compare; %s in line %d, for one, is left out: %s", req.output, o.Benchmark, o.Line, o.Why)
		}
		return nil, usagef("-against: nothing in %s is among what -P, -m and the names ask for: leave some of them out", req.output)
	}
	a := verify.Against{TauLop: tauLop, Largest: req.largest, Algorithm: algorithms, Segment: req.segment, Degree: req.degree}
	if doc.Rows, err = a.Compare(times); err != nil {
		return nil, usagef("-against %s: %v", req.output, err)
	}
	doc.Means = verify.AgainstMeans(doc.Rows)
	return doc, nil
}

// take takes what the user asked for, and fills in the P that OSU does not print.
func (req *againstRequest) take(all []mpibench.Time, kinds []mpibench.Kind, leftOut *[]mpibench.Omission) (times []mpibench.Time, err error) {
	for _, t := range all {
		switch {
		case len(kinds) > 0 && !slices.Contains(kinds, t.Kind):
			continue
		case t.P == 0 && len(req.ps) != 1:
			return nil, usagef("%s:%d: %s does not print how many ranks took part: say it with -P, one number, like -P 4", req.output, t.Line, t.Benchmark)
		case t.P == 0:
			t = t.Among(req.ps[0])
		case t.Kind != mpibench.Message && len(req.ps) > 0 && !slices.Contains(req.ps, t.P):
			continue
		}
		if req.msText != "" && !t.Kind.Empty() && !slices.Contains(req.ms, t.Bytes) {
			continue
		}
		if req.noGamma != nil && reduces(t.Kind) {
			o := mpibench.Omission{Benchmark: t.Benchmark, Line: t.Line, Why: fmt.Sprintf("it needs γ, which %s does not have: name a file that has it with -gamma", req.costRequest.file)}
			if !slices.ContainsFunc(*leftOut, func(other mpibench.Omission) bool { return other.Benchmark == o.Benchmark && other.Why == o.Why }) {
				*leftOut = append(*leftOut, o)
			}
			continue
		}
		times = append(times, t)
	}
	return times, nil
}

func reduces(kind mpibench.Kind) bool {
	all, err := collective.Of(string(kind))
	return err == nil && slices.ContainsFunc(all, (*collective.Algorithm).Reduces)
}

// tauLop reads the parameters. What ranks copy within themselves counts, as in
// verify.
func (req *againstRequest) tauLop() (func(m int) (model.TauLop, error), error) {
	req.model = "taulop"
	if err := req.load(); err != nil {
		return nil, err
	}
	return func(m int) (model.TauLop, error) {
		tau := req.costRequest.tauLop(m)
		tau.LocalCopies = tau.Copies != nil
		return tau, nil
	}, nil
}

// tauLop is the model in the context of m bytes, after load with model taulop.
func (req *costRequest) tauLop(m int) model.TauLop {
	if req.inContext != nil {
		return req.inContext(m).(model.TauLop)
	}
	return req.coster.(model.TauLop)
}
