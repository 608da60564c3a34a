package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/model"
)

const explainHelp = `Explain says what the cost of a collective is made of: its formula in the
notation of the τ-Lop papers, every term with the numbers in, and its stages.

  taulop explain -params FILE -P LIST [flags] COLLECTIVE[:ALGORITHM] ...
  taulop explain -compare -params FILE -P LIST [flags] COLLECTIVE[:ALGORITHM] ...

With -compare it says from which message size to which each of the algorithms is
the cheapest, between 1 byte and 64 MiB.

Examples:
  taulop explain -params host.json -P 8 -m 64K bcast:binomial
  taulop explain -compare bcast:binomial bcast:scatter-ring -params host.json -P 8

How to read it: L(S,4) is the time of one transfer of S bytes while 4 are under
way, o(m) the time before the first byte moves, γ(m,4) that of a reduction of m
bytes while 4 ranks reduce; k segments of S bytes make a message.

Flags:
`

// An explanation is what the command shows; its JSON is this value.
type explanation struct {
	report.Source
	Calls       []report.Explanation `json:"calls,omitempty"`
	Comparisons []report.Comparison  `json:"comparisons,omitempty"`
	LeftOut     []report.Omission    `json:"left_out"`
}

func explain(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req     costRequest
		flags   = req.flags("taulop explain", "64K")
		compare = flags.Bool("compare", false, "where each of the algorithms is the cheapest")
		margin  = flags.Float64("margin", 5, "with -compare, who is the cheapest stays it until another one is cheaper by more than `percent`")
		asJSON  = flags.Bool("json", false, "one JSON document")
	)
	if err := req.parse(flags, out, args, explainHelp); err != nil {
		return err
	}
	warn(errOut, req.warnings)
	if !(*margin >= 0 && *margin < 1000) {
		return usagef("-margin is %v: give a percentage from 0", *margin)
	}
	doc := explanation{LeftOut: []report.Omission{}}
	var err error
	if *compare {
		err = req.compare(ctx, *margin, &doc)
	} else {
		err = req.each(ctx, &doc.LeftOut, func(p report.Prediction, s *collective.Schedule, c model.Cost) {
			doc.Calls = append(doc.Calls, report.Explain(s, c, p))
		})
	}
	if err != nil {
		return err
	}
	doc.Source = req.source
	if *asJSON {
		encoder := json.NewEncoder(verbatim(out))
		encoder.SetIndent("", "  ")
		return encoder.Encode(doc)
	}
	doc.write(out)
	return nil
}

func (d *explanation) write(out io.Writer) {
	d.Source.WriteText(out)
	extrapolated := false
	for i := range d.Calls {
		d.Calls[i].WriteText(out)
		extrapolated = extrapolated || d.Calls[i].Extrapolated
	}
	if len(d.Comparisons) > 0 && d.Comparisons[0].Margin > 0 {
		fmt.Fprintf(out, "Who is the cheapest stays it until another one is cheaper by more than %.3g %%.\n", 100*d.Comparisons[0].Margin)
	}
	for i := range d.Comparisons {
		d.Comparisons[i].WriteText(out)
		for _, in := range d.Comparisons[i].Intervals {
			extrapolated = extrapolated || in.Extrapolated
		}
	}
	if extrapolated || len(d.LeftOut) > 0 {
		fmt.Fprintln(out)
	}
	d.WriteNotes(out, extrapolated, d.LeftOut)
}

// compare finds where each algorithm is the cheapest, for every P.
func (req *costRequest) compare(ctx context.Context, margin float64, doc *explanation) error {
	const from, to = 1, 64 << 20
	if req.given["m"] {
		return usagef("-compare looks at all m from 1 byte to 64 MiB: leave -m out")
	}
	for _, a := range req.algorithms {
		if a.Collective != req.algorithms[0].Collective {
			return usagef("%s and %s do different things: compare algorithms of one collective", req.algorithms[0], a)
		}
	}
	for _, p := range req.ps {
		algorithms := req.existing(p, &doc.LeftOut)
		if len(algorithms) < 2 {
			return usagef("nothing to compare for P = %d: name two algorithms, or a collective that has more than one", p)
		}
		var names []string
		for _, a := range algorithms {
			names = append(names, a.String())
		}
		intervals, err := model.Cheapest(from, to, margin/100, func(m int) ([]model.Cost, error) {
			costs := make([]model.Cost, len(algorithms))
			for i, a := range algorithms {
				var err error
				if _, costs[i], err = req.cost(a, p, m); err != nil {
					return nil, err
				}
			}
			return costs, ctx.Err()
		})
		if err != nil {
			return err
		}
		doc.Comparisons = append(doc.Comparisons, report.Compare(p, margin/100, names, intervals))
	}
	return nil
}
