package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// commandList is a line for each command.
func commandList() string {
	var b strings.Builder
	for _, c := range commands[1:] {
		fmt.Fprintf(&b, "  taulop %-10s %s\n", c.name, c.about)
	}
	return b.String()
}

// helpCommand is the subcommand.
func helpCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop help", flag.ContinueOnError)
	words, err := parseWords(flags, out, args, `Help says what a command is for, and which flags it has, as COMMAND -h does.

  taulop help [COMMAND]
`)
	switch {
	case err != nil:
		return err
	case len(words) > 1:
		return usagef("help takes one command, got %q", words)
	case len(words) == 0:
		return commands[0].run(ctx, out, errOut, []string{"-h"})
	}
	c, known := lookup(words[0])
	if !known || c.name == "" {
		return unknown(words[0])(ctx, out, errOut, nil)
	}
	return c.run(ctx, out, errOut, []string{"-h"})
}

// describe asks a command for its help: its words, and its flags.
func describe(c command, args ...string) *description {
	d := &description{Writer: io.Discard}
	c.run(context.Background(), d, io.Discard, append(args, "-h"))
	return d
}

// columns is how wide a text may be: as the terminal, or without one as COLUMNS says, or 80
// letters.
func columns(w io.Writer) int {
	const least = 40
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if wide, _, err := term.GetSize(int(f.Fd())); err == nil && wide >= least {
			return wide
		}
	}
	if wide, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && wide >= least {
		return wide
	}
	return view.DefaultWidth
}

// choices are the words that a flag takes, for completion; nil where there are too many, or
// none. A flag's name means the same in all commands, but for those that are named here.
func choices(command, name string) []string {
	switch command + " -" + name {
	case "disk -cache":
		return []string{"in", "out"}
	case "plot -setup":
		return []string{"ring", "ping", "bcast", "sendrecv", "copy", "share"}
	case "export -format":
		return []string{"taulop", "csv", "benchfmt"}
	case "map -format":
		return processmap.LauncherNames()
	case "map -method":
		return processmap.Methods
	case "net -cache":
		return nil
	case "estimate -model":
		return estimateModels()
	case "predict -as", "explain -as", "tune -as", "verify -as", "import -as":
		return libraryNames()
	case "estimate -run":
		return []string{estimate.Plain}
	}
	switch name {
	case "cache":
		return []string{"in", "off"}
	case "for":
		return tune.Names()
	case "setup", "as":
		return append(names(setups.All), setups.Sendrecv.Name, setups.Share.Name)
	case "placement":
		return policies()
	case "model":
		return model.Models
	case "transport":
		return transportNames()
	case "map":
		return []string{"block", "cyclic", "block:block", "block:cyclic", "cyclic:block", "cyclic:cyclic"}
	case "with":
		return survey.Planned()
	case "algorithm":
		return algorithmNames()
	}
	return nil
}

// operands are the words that a command takes besides flags, and whether it takes files.
func operands(command string) (words []string, files bool) {
	switch command {
	case "tune":
		words = collective.Names(collective.Collectives())
	case "", "help", "man":
		for _, c := range commands[1:] {
			words = append(words, c.name)
		}
	case "completion":
		words = shells
	case "map":
		words, files = comm.Names(), true
	case "predict", "explain":
		words = algorithmNames()
	case "verify":
		words = append(append(algorithmNames(), verify.Message), verify.PatternNames()...)
	case "plot":
		for _, k := range plotKinds {
			words = append(words, k.name)
		}
		files = true
	case "compare", "report", "export", "import", "disk", "estimate":
		files = true
	}
	return words, files
}

// transportNames are those of -transport.
func transportNames() (all []string) {
	for t := model.Transport(0); ; t++ {
		if _, err := model.ParseTransport(t.String()); err != nil {
			return all
		}
		all = append(all, t.String())
	}
}

// algorithmNames are all collectives, and all of their algorithms.
func algorithmNames() (all []string) {
	all = collective.Names(collective.Collectives())
	for _, a := range collective.All() {
		all = append(all, a.String())
	}
	slices.Sort(all)
	return all
}

// writeAlgorithms lists all algorithms with where they are described, a table for each
// collective.
func writeAlgorithms(w io.Writer) {
	var tables []view.Table
	for _, c := range collective.Collectives() {
		t := view.Table{Title: c.Name, Columns: view.Words("algorithm", "ranks", "flags", "described in")}
		for _, a := range c.Algorithms() {
			ranks, lays := "any", ""
			if a.Among != collective.AnyRanks {
				ranks = map[collective.Among]string{collective.PowerOfTwo: "2^n", collective.EvenRanks: "even", collective.TwoRanks: "2"}[a.Among]
			}
			if a.Branched {
				lays = "-degree"
			}
			if a.Chunked {
				lays = strings.TrimSpace(lays + " -chunk")
			}
			t.Add(a.Name, ranks, lays, a.Source)
		}
		tables = append(tables, t)
	}
	fmt.Fprint(w, "Algorithms, for taulop predict, explain and verify, such as bcast:binomial\n\n")
	view.WriteTables(w, tables)
}

// writeMeasured lists what a sweep can be told to measure.
func writeMeasured(w io.Writer) {
	of := view.Table{Title: "setups, for -setup", Columns: view.Words("setup", "what it is")}
	for _, s := range append(slices.Clip(setups.All), setups.Sendrecv, setups.Share) {
		of.Add(s.Name, s.About)
	}
	placed := view.Table{Title: "placements, for -placement; taulop topo says which differ here", Columns: view.Words("placement", "what it is")}
	for _, p := range numa.Policies {
		placed.Add(string(p), p.About())
	}
	with := view.Table{Title: "surveys, for -with", Columns: view.Words("survey", "what it is")}
	for _, s := range survey.All() {
		if s.Plan != nil {
			with.Add(s.Name, s.Doc)
		}
	}
	view.WriteTables(w, []view.Table{of, placed, with})
	operators := lists.Map(reduce.Operators, func(o reduce.Operator) string { return o.Name })
	fmt.Fprintf(w, "operators, for -operators, each also one element at a time, as SUM_I%s: %s\n", reduce.Scalar, strings.Join(operators, ", "))
}
