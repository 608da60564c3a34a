package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/report"
)

// predictFlags is the subcommand.
func predictFlags(flags *argument.Set) action {
	var (
		req  costRequest
		test fit.Test
		to   destination
	)
	req.add(flags, "1K:4M")
	tsv := flags.Bool("tsv", false, "a line for each cost: machine, collective, algorithm, P, m_bytes, cost_us")
	list := flags.Bool("list", false, "list all algorithms, and where they are described, and predict nothing")
	flags.Lookup("params").Usage = "parameters of a machine, a `file`; a list of them puts machines side by side"
	flags.Lookup("gamma").Usage = "γ of reductions, a `file` in the published text format (default what -params has); of several machines a list, one for each"
	flags.Lookup("name").Usage = "`name` of the machine in the output (default from the file); of several machines a list"
	addTest(flags, &test)
	to.add(flags, "tsv")
	return func(ctx context.Context, out, errOut io.Writer, words []string) error {
		if *list {
			return put(out, nil, asPage(widthFor(out, ""), func(w io.Writer) { writeAlgorithms(w, req.choice.As) }))
		}
		if *tsv && len(req.files) > 1 {
			return usagef("-tsv is of one machine, and -params names %d: take -csv, or one of them", len(req.files))
		}
		if err := req.choose(words); err != nil {
			return err
		}
		machines, err := req.machines(flags)
		if err != nil {
			return err
		}
		var docs []*predict.Predictions
		for _, m := range machines {
			doc, err := m.Predict(ctx)
			if err != nil {
				return refused(err)
			}
			docs = append(docs, doc)
		}
		said := req.aside(errOut)
		for _, m := range machines {
			warn(said, m.warnings)
		}
		if len(docs) > 1 {
			return to.put(out, report.Machines(predict.NewMachines(docs, req.named(), test)))
		}
		if as := to.format(); *tsv || as != nil && as.Name == "csv" {
			sayLeftOut(said, docs[0])
		}
		if !*tsv {
			return to.put(out, report.Predictions(docs[0]))
		}
		if n := docs[0].Extrapolated(); n > 0 {
			tell(said, "%d of %d costs are extrapolated, which -csv and -json mark", n, len(docs[0].Rows))
		}
		return to.write(out, asText(func(w io.Writer) error { return report.WriteTSV(docs[0], w) }))
	}
}

// sayLeftOut says what rows of values do not.
func sayLeftOut(said io.Writer, doc *predict.Predictions) {
	if doc.States != "" {
		tell(said, "%s", doc.States)
	}
	for _, why := range doc.LeftOut {
		tell(said, "left out: %s", why)
	}
}

// machines are requests of one machine each, in the order of -params.
func (req *costRequest) machines(flags *argument.Set) (machines []*costRequest, err error) {
	if len(req.files) < 2 {
		return []*costRequest{req}, req.complete()
	}
	gammas, names := strings.Split(req.gamma, ","), strings.Split(req.machine, ",")
	for name, list := range map[string][]string{"gamma": gammas, "name": names} {
		if flags.Given(name) && len(list) != len(req.files) {
			return nil, usagef("-%s names %d, and -params %d: give one for each machine, in their order", name, len(list), len(req.files))
		}
	}
	var hosts []string
	for i, file := range req.files {
		one := *req
		one.files, one.state.among = parameterFiles{file}, true
		if req.gamma != "" {
			one.gamma = gammas[i]
		}
		if one.machine = ""; req.machine != "" {
			one.machine = strings.TrimSpace(names[i])
		}
		if err := one.complete(); err != nil {
			return nil, err
		}
		machines, hosts = append(machines, &one), append(hosts, one.Source.Machine)
	}
	if req.state.ns > 0 && !slices.ContainsFunc(machines, func(m *costRequest) bool { return m.of.File.State() != nil }) {
		return nil, req.state.one(&machines[0].of)
	}
	if names, err = compare.Names(req.files, hosts); err != nil {
		return nil, usagef("-params: %v", err)
	}
	for i, m := range machines {
		m.Source.Machine = names[i]
	}
	return machines, nil
}

// named are the algorithms that were asked for by their names.
func (req *costRequest) named() (names []string) {
	for _, a := range req.Algorithms {
		if req.Asked[a] {
			names = append(names, a.String())
		}
	}
	return names
}

// refused makes of an error one about what was asked for, but where a signal came.
func refused(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return usagef("%v", err)
}

// explainFlags is the subcommand.
func explainFlags(flags *argument.Set) action {
	var (
		req costRequest
		to  destination
	)
	req.add(flags, "64K")
	compare := flags.Bool("compare", false, "where each of the algorithms is the cheapest")
	margin := flags.Float64("margin", 5, "with -compare, who is the cheapest stays it until another one is cheaper by more than `percent`")
	flags.Within("margin", 0, 1000, "give a percentage from 0")
	flags.Rules(
		argument.Rule{Flags: "margin", Needs: "compare", Why: "says when one algorithm is cheaper than another"},
		argument.Rule{Flags: "m", Not: "compare", Why: "chooses sizes, and -compare looks at all from 1 byte to 64 MiB", Do: "leave -m out"},
	)
	to.add(flags)
	return func(ctx context.Context, out, errOut io.Writer, words []string) error {
		req.byState = !*compare
		if err := req.choose(words); err != nil {
			return err
		}
		if err := req.complete(); err != nil {
			return err
		}
		var doc *predict.Explanations
		var err error
		if *compare {
			doc, err = req.Compare(ctx, 1, 64<<20, *margin/100)
		} else {
			doc, err = req.Explain(ctx)
		}
		if err != nil {
			return refused(err)
		}
		warn(req.aside(errOut), req.warnings)
		return to.put(out, report.Explanations(doc))
	}
}
