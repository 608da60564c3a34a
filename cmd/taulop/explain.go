package main

import (
	"context"
	"io"

	"github.com/taulop/taulop/internal/report"
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
  taulop explain -params SHM.txt -net IB.txt -nodes 4 -P 16 -m 64K alltoall:linear

How to read it: L(S,4) is the time of one transfer of S bytes while 4 are under
way, o(m) the time before the first byte moves, γ(m,4) that of a reduction of m
bytes while 4 ranks reduce; k segments of S bytes make a message.

Flags:
`

func explain(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req     costRequest
		flags   = req.flags("taulop explain", "64K")
		compare = flags.Bool("compare", false, "where each of the algorithms is the cheapest")
		margin  = flags.Float64("margin", 5, "with -compare, who is the cheapest stays it until another one is cheaper by more than `percent`")
		to      destination
	)
	to.add(flags)
	if err := parse(flags, out, args, explainHelp); err != nil {
		return err
	}
	if err := to.check(); err != nil {
		return err
	}
	if !(*margin >= 0 && *margin < 1000) {
		return usagef("-margin is %v: give a percentage from 0", *margin)
	}
	if *compare && givenFlags(flags)["m"] {
		return usagef("-compare looks at all m from 1 byte to 64 MiB: leave -m out")
	}
	req.byState = !*compare
	if err := req.check(flags); err != nil {
		return err
	}
	var doc *report.Explanations
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
	return to.put(out, doc)
}
