package main

import (
	"context"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

// An againstRequest is what the user asked to put beside predictions.
type againstRequest struct {
	parameterFlags
	printed  string
	chosen   verify.Chosen
	mappings []string
	destination
	saying
}

// againstFlags is verify -against.
func againstFlags(flags *argument.Set) action {
	var req againstRequest
	req.parameterFlags.add(flags)
	flags.StringVar(&req.printed, "against", "", "`file` with what IMB-MPI1 or OSU micro-benchmarks printed")
	argument.Var(flags, &req.chosen.P, "P", "", "ranks: the `number` that ran an OSU collective, which does not print it; of IMB a list of those to compare", argument.Ranks(2))
	argument.Var(flags, &req.chosen.M, "m", "", "compare these sizes alone, a `list` like 64,8K,1M with doubling ranges: 64K:4M", argument.Messages(0))
	argument.Var(flags, &req.mappings, "map", "", "of a table: compare ranks of these mappings alone, a `list` like core,node", argument.Names)
	req.saying.addQuiet(flags, "no warnings")
	req.destination.add(flags)
	return func(_ context.Context, out, errOut io.Writer, words []string) error {
		if !flags.Given("buffers") { // neither suite writes its send buffers between messages
			req.choice.Buffers = params.Unchanged
		}
		if isTidy(req.printed) {
			table := tableRequest{table: req.printed, names: words, mappings: req.mappings, p: req.chosen.P, m: req.chosen.M, destination: req.destination, saying: req.saying}
			return table.against(out, errOut, &req.parameterFlags)
		}
		if req.mappings != nil {
			return usagef("-map is of tables with named columns, and %s is none: leave it out", req.printed)
		}
		if err := req.chosen.Name(req.choice.As, words); err != nil {
			return usageError(err.Error())
		}
		return req.compare(out, errOut, len(words) > 0)
	}
}

// compare puts predictions beside what a benchmark printed.
func (req *againstRequest) compare(out, errOut io.Writer, named bool) error {
	there, err := infile.Open(req.printed) // before the sweep's file is read, which takes longer
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
	results, err := mpibench.ReadFile(req.printed)
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
	doc := &report.Against{Source: req.source(f, a.Predictor), Output: req.printed}
	times, leftOut := req.chosen.Take(results.Times, req.noGamma)
	doc.LeftOut = append(results.LeftOut, leftOut...)
	if err := req.comparable(times, doc.LeftOut, len(results.Times) == 0 || len(req.chosen.P)+len(req.chosen.M) == 0 && !named); err != nil {
		return err
	}
	a.Algorithm, a.Segment = req.chosen.Algorithm, a.Predictor.Segment
	a.Degree, a.Chunk = req.scheduleFlags.given(req.flags)
	if doc.Rows, err = a.Compare(times); err != nil {
		return usagef("-against %s: %v", req.printed, err)
	}
	doc.Means = verify.AgainstMeans(doc.Rows)
	warn(req.aside(errOut), req.doubts(a.Predictor, ""))
	return req.put(out, doc.Document())
}

// comparable refuses an output of which there is nothing to compare; whole: all of it was
// asked for.
func (req *againstRequest) comparable(times []mpibench.Time, leftOut []mpibench.Omission, whole bool) error {
	if i := slices.IndexFunc(times, func(t mpibench.Time) bool { return t.P == 0 }); i >= 0 {
		return usagef("%s:%d: %s does not print how many ranks took part: say it with -P, one number, like -P 4", req.printed, times[i].Line, times[i].Benchmark)
	}
	switch {
	case len(times) > 0:
		return nil
	case len(leftOut) > 0 && whole:
		o := leftOut[0]
		return usagef("-against: %s has nothing to compare; %s in line %d, for one, is left out: %s", req.printed, o.Benchmark, o.Line, o.Why)
	}
	return usagef("-against: nothing in %s is among what -P, -m and the names ask for: leave some of them out", req.printed)
}
