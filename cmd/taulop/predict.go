package main

import (
	"context"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/params"
)

// predictFlags is the subcommand.
func predictFlags(flags *argument.Set) action {
	var req costRequest
	var test compare.Test
	var to destination
	req.add(flags, "1K:4M")
	list := flags.Bool("list", false, "list all algorithms with their sources, and predict nothing")
	flags.Lookup("params").Usage = "parameters of a machine, a `file`; a list of them puts machines side by side"
	addTest(flags, &test)
	to.add(flags)
	flags.Rules(argument.Rule{Flags: "csv json md o tsv", Not: "list", Why: "is of predictions, and -list prints a text", Do: "leave it out"})
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		if *list {
			return put(out, nil, asPage(columns(out), func(w io.Writer) { writeAlgorithms(w, req.choice.As) }))
		}
		if err := req.choose(words); err != nil {
			return err
		}
		machines, err := req.machines(flags)
		if err != nil {
			return err
		}
		var docs []*predict.Predictions
		var files []*params.File
		for _, m := range machines {
			doc, err := m.Predict(ctx)
			if err != nil {
				return refused(err)
			}
			docs, files = append(docs, doc), append(files, m.loaded.File)
		}
		for _, m := range machines {
			warn(errOut, m.warnings)
		}
		if len(docs) > 1 {
			return to.put(out, report.Machines(predict.NewMachines(docs, req.Named(), test.Between(files, req.choice.OffCache))))
		}
		if doc := docs[0]; to.valued() { // CSV and TSV have no columns for it
			if doc.States != "" {
				tell(errOut, "%s", doc.States)
			}
			for _, why := range doc.LeftOut {
				tell(errOut, "left out: %s", why)
			}
		}
		return to.put(out, report.Predictions(docs[0]))
	}
}

// machines are requests for one machine each, in the order of -params.
func (req *costRequest) machines(flags *argument.Set) (machines []*costRequest, err error) {
	if len(req.files) < 2 {
		return []*costRequest{req}, req.complete()
	}
	for _, name := range []string{"gamma", "name"} {
		if flags.Given(name) {
			return nil, usagef("-%s is of one machine, and -params names %d: leave it out", name, len(req.files))
		}
	}
	var hosts []string
	for _, file := range req.files {
		one := *req
		one.files, one.state.among = parameterFiles{file}, true
		if err := one.complete(); err != nil {
			return nil, err
		}
		machines, hosts = append(machines, &one), append(hosts, one.Source.Machine)
	}
	if req.state.like != nil && req.state.like.NS > 0 && !slices.ContainsFunc(machines, func(m *costRequest) bool { return m.loaded.File.State() != nil }) {
		return nil, req.state.one(&machines[0].loaded)
	}
	names, err := compare.Names(req.files, hosts)
	if err != nil {
		return nil, usagef("-params: %v", err)
	}
	for i, m := range machines {
		m.Source.Machine = names[i]
	}
	return machines, nil
}

// explainFlags is the subcommand.
func explainFlags(flags *argument.Set) action {
	var req costRequest
	var to destination
	req.add(flags, "64K")
	compare := flags.Bool("compare", false, "the message sizes for which each algorithm is the cheapest")
	var margin float64
	argument.Var(flags, &margin, "margin", "5%", "with -compare, the least gain, a `share`, for which another algorithm replaces the cheapest one so far", argument.Share(10))
	flags.Rules(
		argument.Rule{Flags: "margin", Needs: "compare", Why: "says when one algorithm is cheaper than another"},
		argument.Rule{Flags: "m", Not: "compare", Why: "chooses sizes, and -compare looks at all from 1 byte to 64 MiB", Do: "leave -m out"},
	)
	to.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		req.byState = !*compare
		if err := req.choose(words); err != nil {
			return err
		}
		if err := req.complete(); err != nil {
			return err
		}
		explain := req.Explain
		if *compare {
			explain = func(ctx context.Context) (*predict.Explanations, error) { return req.Compare(ctx, 1, 64<<20, margin) }
		}
		doc, err := explain(ctx)
		if err != nil {
			return refused(err)
		}
		warn(errOut, req.warnings)
		return to.put(out, report.Explanations(doc))
	}
}
