package main

import (
	"cmp"
	"context"
	"flag"
	"io"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/tidy"
)

// A tableRequest is what the user asks of a table of published collectives.
type tableRequest struct {
	table    string
	names    []string // of collectives and algorithms
	mappings []string
	p, m     []int
	destination
	quiet bool
}

// compared puts predictions beside the table.
func (req *tableRequest) compared(errOut io.Writer, flags *parameterFlags) (c *published.Comparison, source report.Source, version string, err error) {
	for _, name := range req.names {
		of, _, _ := strings.Cut(name, ":")
		if _, err := collective.Of(of); err != nil {
			return nil, source, "", usageError(err.Error())
		}
	}
	if err := req.destination.check(); err != nil {
		return nil, source, "", err
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
	_, version, _ = published.LibraryOf(table.Head)
	return c, source, version, nil
}

// againstTable is verify -against of a table with named columns.
func againstTable(out, errOut io.Writer, flags *parameterFlags, req tableRequest) error {
	c, source, version, err := req.compared(errOut, flags)
	if err != nil {
		return err
	}
	doc := report.NewPublished(source, req.table, version, c)
	return req.destination.put(out, doc)
}

const evaluateHelp = `Tune -eval says what a choice by predictions would have cost, from what others measured
of every algorithm: the penalty against the best measured algorithm of each case
(collective, mapping of ranks, P, m) for the library's own choice, for ours, and for
always the same algorithm.

  taulop tune -eval TABLE -params FILE [flags] [COLLECTIVE ...]

TABLE has the columns collective, alg_id, algorithm, P, m_bytes, latency_us, and
perhaps mapping, nodes, max_us, flag. FILE is what taulop import made of the machine's
messages. Ours is the algorithm predicted to be the cheapest of those that were
measured; the library's own choice stays where less than -margin, or less than
predictions can be told apart by, would be gained.

Examples:
  taulop tune -eval collectives.tsv -params epyc.json
  taulop tune -eval collectives.tsv -params epyc.json -map core -P 8-256 bcast

Flags:
`

// evaluateCommand is tune -eval.
func evaluateCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	var (
		flags  parameterFlags
		set    = flag.NewFlagSet("taulop tune", flag.ContinueOnError)
		req    tableRequest
		margin = set.Float64("margin", 2, "the least predicted gain in `percent` for which the library's own choice is left")
		err    error
	)
	flags.add(set)
	set.StringVar(&req.table, "eval", "", "`table` of measured collectives")
	argument.Var(set, &req.p, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024 (default all)", argument.Ranks(1))
	argument.Var(set, &req.m, "m", "", "message sizes, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default all)", argument.Messages(0))
	argument.Var(set, &req.mappings, "map", "", "mappings of ranks, a `list` like core,node (default all)", argument.Names)
	req.destination.add(set)
	set.BoolVar(&req.quiet, "quiet", false, "no warnings")
	if req.names, err = parseWords(set, out, args, evaluateHelp); err != nil {
		return err
	}
	var filters []string
	if len(req.p) == 0 {
		filters = []string{"all P"}
	}
	for _, of := range [][2]string{{"P", "P = "}, {"m", "m = "}, {"map", "mapping "}} {
		if text := set.Lookup(of[0]).Value.String(); text != "" {
			filters = append(filters, of[1]+text)
		}
	}
	if !(*margin >= 0 && *margin < 100) {
		return usagef("-margin is %v: give a percentage from 0 to 100", *margin)
	}
	if err := flags.check(set); err != nil {
		return err
	}
	if !isTidy(req.table) {
		if _, err := tidy.ReadFile(req.table); err != nil {
			return usagef("-eval: %v", err)
		}
	}
	c, source, version, err := req.compared(errOut, &flags)
	if err != nil {
		return err
	}
	doc := &report.Evaluation{Source: source, Output: req.table, Version: version, Library: c.Library,
		Filters: strings.Join(filters, ", "), Evaluation: c.Evaluate(*margin / 100), LeftOut: c.LeftOut()}
	if len(doc.Cases) == 0 {
		return usagef("%s: no collective of so many ranks and bytes has two algorithms measured: ask for more", req.table)
	}
	return req.destination.put(out, doc)
}
