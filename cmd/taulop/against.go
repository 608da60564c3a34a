package main

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// An againstRequest holds the flags of verify -against.
type againstRequest struct {
	parameterFlags
	printed  string
	chosen   verify.Chosen
	mappings []string
	destination
}

// againstFlags is verify -against.
func againstFlags(flags *argument.Set) action {
	var req againstRequest
	req.parameterFlags.add(flags)
	flags.StringVar(&req.printed, "against", "", "`file` with what IMB-MPI1 or OSU micro-benchmarks printed")
	argument.Var(flags, &req.chosen.P, "P", "", "ranks: the `number` in an OSU collective, which does not print it; of IMB a list of numbers to compare", argument.Ranks(2))
	argument.Var(flags, &req.chosen.M, "m", "", "message sizes to compare, a `list` like 64,8K,1M with doubling ranges: 64K:4M", argument.Messages(0))
	argument.Var(flags, &req.mappings, "map", "", "of a table: mappings of ranks to compare, a `list` like core,node", argument.Names)
	req.destination.add(flags)
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		if !flags.Given("buffers") { // neither IMB nor OSU writes its send buffers between messages
			req.choice.Buffers = params.Unchanged
		}
		if isTidy(req.printed) {
			choice := published.Choice{Collectives: words, Mappings: req.mappings, P: req.chosen.P, M: req.chosen.M}
			table := tableRequest{table: req.printed, Choice: choice, destination: req.destination}
			c, source, version, err := table.compared(errOut, &req.parameterFlags)
			if err != nil {
				return err
			}
			return req.put(out, report.NewPublished(source, req.printed, version, c).Document())
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

// compare predicts the times that a benchmark printed.
func (req *againstRequest) compare(out io.Writer, errOut *messages, named bool) error {
	results, err := mpibench.ReadFile(req.printed)
	if err != nil {
		return usagef("-against: %v", err)
	}
	f, err := req.read()
	if err != nil {
		return err
	}
	if f.File.OfLevels() {
		return usagef("%s has messages by levels, and stands beside tables of collectives with names of columns: give its times in one (collective, algorithm, mapping, P, m_bytes, latency_us)", req.file)
	}
	a, err := verify.NewAgainst(f.File, req.choice)
	if err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if err := req.checkOperator(a.Predictor); err != nil {
		return err
	}
	doc := &report.Against{Source: req.source(f, a.Predictor), Output: req.printed}
	times, leftOut := req.chosen.Take(results.Times, advised([]error{req.noGamma})[0])
	doc.LeftOut = append(results.LeftOut, leftOut...)
	whole := len(results.Times) == 0 || len(req.chosen.P)+len(req.chosen.M) == 0 && !named
	if err := req.comparable(times, slices.Concat(leftOut, results.LeftOut), whole || len(leftOut) > 0); err != nil {
		return err
	}
	a.Algorithm, a.Segment = req.chosen.Algorithm, a.Predictor.Segment
	a.Degree, a.Chunk = req.degree, req.chunk
	if doc.Rows, err = a.Compare(times); err != nil {
		return usagef("-against %s: %v", req.printed, err)
	}
	doc.Means = verify.AgainstMeans(doc.Rows)
	sayCache(errOut, req.printed, results, a.Predictor.OffCache)
	warn(errOut, req.doubts(a.Predictor, ""))
	return req.put(out, doc.Document())
}

// sayCache says that an output's buffers were off cache where it counts as in cache.
func sayCache(errOut *messages, file string, results *mpibench.Results, offCache bool) {
	if results.OffCache && !offCache {
		tell(errOut, "%s was measured with -off_cache and counts as in cache here: give -cache off", file)
	}
}

// comparable rejects an output without a time to compare. told: leftOut, not flags or names, is the reason.
func (req *againstRequest) comparable(times []mpibench.Time, leftOut []mpibench.Omission, told bool) error {
	if t := lists.Find(times, func(t mpibench.Time) bool { return t.P == 0 }); t != nil {
		return usagef("%s:%d: %s does not print how many ranks took part: say it with -P, one number, like -P 4", req.printed, t.Line, t.Benchmark)
	}
	switch {
	case len(times) > 0:
		return nil
	case len(leftOut) > 0 && told:
		o := leftOut[0]
		return usagef("-against: %s has nothing to compare; %s in line %d, for one, is left out: %s", req.printed, o.Benchmark, o.Line, o.Why)
	}
	return usagef("-against: nothing in %s is among what -P, -m and the names ask for: leave some of them out", req.printed)
}

// A tableRequest selects times from a table of published collectives.
type tableRequest struct {
	table string
	published.Choice
	destination
}

// compared predicts the times of the table.
func (req *tableRequest) compared(errOut *messages, flags *parameterFlags) (c *published.Comparison, source predict.Source, version string, err error) {
	for _, name := range req.Collectives {
		collectiveName, _, _ := strings.Cut(name, ":")
		if _, err := collective.Of(collectiveName); err != nil {
			return nil, source, "", usageError(err.Error())
		}
	}
	f, err := flags.read()
	if err != nil {
		return nil, source, "", err
	}
	table, err := tidy.ReadFile(req.table, cmp.Or(flags.machine, f.File.Provenance.Machine()))
	if err != nil {
		return nil, source, "", usagef("%v", err)
	}
	c, err = published.Compare(table, f.File, flags.choice, req.Choice)
	if err != nil {
		return nil, source, "", usageError(err.Error())
	}
	if c.Predictor == nil || len(c.ByAlgorithm()) == 0 {
		why := c.LeftOut()
		if len(why) == 0 {
			return nil, source, "", usagef("%s: all rows are flagged as noise", req.table)
		}
		return nil, source, "", usagef("%s: nothing of %s can be predicted: line %d, for one: %s", flags.file, req.table, why[0].Line, why[0].Why)
	}
	source = flags.source(f, c.Predictor)
	source.Cluster = ""
	warn(errOut, lists.Map(c.Warnings, func(w string) string { return flags.file + ": " + w }))
	_, version, _ = mpi.OfHead(table.Head)
	return c, source, version, nil
}

// evaluateFlags is tune -eval.
func evaluateFlags(flags *argument.Set) action {
	var parameters parameterFlags
	var req tableRequest
	parameters.add(flags)
	flags.StringVar(&req.table, "eval", "", "`table` of measured collectives")
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024 (default all)", argument.Ranks(1))
	argument.Var(flags, &req.M, "m", "", "message sizes, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default all)", argument.Messages(0))
	argument.Var(flags, &req.Mappings, "map", "", "mappings of ranks, a `list` like core,node (default all)", argument.Names)
	var margin float64
	argument.Var(flags, &margin, "margin", "2%", "the least predicted gain, a `share`, that replaces the library's own choice", argument.Share(0.99))
	req.destination.add(flags)
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		req.Collectives, req.AtOnce = words, true
		var filters []string
		if len(req.P) == 0 {
			filters = []string{"all P"}
		}
		for _, filter := range [][2]string{{"P", "P = "}, {"m", "m = "}, {"map", "mapping "}} {
			if text := flags.Lookup(filter[0]).Value.String(); text != "" {
				filters = append(filters, filter[1]+text)
			}
		}
		c, source, version, err := req.compared(errOut, &parameters)
		if err != nil {
			return err
		}
		judged := c.Evaluate(margin)
		doc := &report.Evaluation{Source: source, Output: req.table, Version: version, Library: c.Library,
			Filters: strings.Join(filters, ", "), Evaluation: judged, Timed: judged.Plans(), LeftOut: c.LeftOut()}
		if len(doc.Cases) == 0 {
			return usagef("%s: no collective of so many ranks and bytes has two algorithms measured: ask for more", req.table)
		}
		return req.put(out, doc.Document())
	}
}
