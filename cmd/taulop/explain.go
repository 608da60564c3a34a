package main

import (
	"context"
	"io"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/report"
)

// explainFlags is the subcommand.
func explainFlags(flags *argument.Set) action {
	var (
		req costRequest
		to  destination
	)
	req.add(flags, "64K")
	compare := flags.Bool("compare", false, "the message sizes for which each algorithm is the cheapest")
	var margin float64
	argument.Var(flags, &margin, "margin", "5%", "with -compare, the least gain, a `share`, for which another algorithm replaces the cheapest one so far", argument.Share(10))
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
			doc, err = req.Compare(ctx, 1, 64<<20, margin)
		} else {
			doc, err = req.Explain(ctx)
		}
		if err != nil {
			return refused(err)
		}
		warn(errOut, req.warnings)
		return to.put(out, report.Explanations(doc))
	}
}
