package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/mpi"
)

// A tableRequest is what the user asks of a table of published collectives.
type tableRequest struct {
	table    string
	names    []string // of collectives and algorithms
	mappings []string
	p, m     []int
	destination
	saying
}

// compared puts predictions beside the table.
func (req *tableRequest) compared(errOut io.Writer, flags *parameterFlags) (c *published.Comparison, source predict.Source, version string, err error) {
	for _, name := range req.names {
		of, _, _ := strings.Cut(name, ":")
		if _, err := collective.Of(of); err != nil {
			return nil, source, "", usageError(err.Error())
		}
	}
	f, err := flags.read()
	if err != nil {
		return nil, source, "", err
	}
	table, err := tidy.ReadFileOf(req.table, cmp.Or(flags.machine, f.File.Provenance.Machine()))
	if err != nil {
		return nil, source, "", usagef("%v", err)
	}
	c, err = published.Compare(table, f.File, flags.choice, published.Choice{Collectives: req.names, Mappings: req.mappings, P: req.p, M: req.m})
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
	if !req.quiet {
		for _, w := range c.Warnings {
			tell(errOut, "warning: %s: %s", flags.file, w)
		}
	}
	_, version, _ = mpi.OfHead(table.Head)
	return c, source, version, nil
}

// against is verify -against of a table with named columns.
func (req *tableRequest) against(out, errOut io.Writer, flags *parameterFlags) error {
	c, source, version, err := req.compared(errOut, flags)
	if err != nil {
		return err
	}
	return req.destination.put(out, report.NewPublished(source, req.table, version, c).Document())
}

// evaluateFlags is tune -eval.
func evaluateFlags(flags *argument.Set) action {
	var (
		parameters parameterFlags
		req        tableRequest
	)
	parameters.add(flags)
	flags.StringVar(&req.table, "eval", "", "`table` of measured collectives")
	argument.Var(flags, &req.p, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024 (default all)", argument.Ranks(1))
	argument.Var(flags, &req.m, "m", "", "message sizes, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default all)", argument.Messages(0))
	argument.Var(flags, &req.mappings, "map", "", "mappings of ranks, a `list` like core,node (default all)", argument.Names)
	margin := flags.Float64("margin", 2, "the least predicted gain in `percent` for which the library's own choice is left")
	flags.Within("margin", 0, 99, "give a percentage from 0 to 99")
	req.saying.addQuiet(flags, "no warnings")
	req.destination.add(flags)
	return func(_ context.Context, out, errOut io.Writer, words []string) error {
		req.names = words
		var filters []string
		if len(req.p) == 0 {
			filters = []string{"all P"}
		}
		for _, of := range [][2]string{{"P", "P = "}, {"m", "m = "}, {"map", "mapping "}} {
			if text := flags.Lookup(of[0]).Value.String(); text != "" {
				filters = append(filters, of[1]+text)
			}
		}
		if !isTidy(req.table) {
			if _, err := tidy.ReadFile(req.table); err != nil {
				return usagef("-eval: %v", err)
			}
		}
		c, source, version, err := req.compared(errOut, &parameters)
		if err != nil {
			return err
		}
		judged := c.Evaluate(*margin / 100)
		doc := &report.Evaluation{Source: source, Output: req.table, Version: version, Library: c.Library,
			Filters: strings.Join(filters, ", "), Evaluation: judged, Timed: judged.Plans(), LeftOut: c.LeftOut()}
		if len(doc.Cases) == 0 {
			return usagef("%s: no collective of so many ranks and bytes has two algorithms measured: ask for more", req.table)
		}
		return req.destination.put(out, doc.Document())
	}
}
