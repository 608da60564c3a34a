package main

import (
	"bytes"
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// pages are the help texts of commands, without flags, a file each. A line in capitals stands for a
// generated list.
//
//go:embed help
var pages embed.FS

var listed = map[string]func(io.Writer){
	"COMMANDS": func(w io.Writer) {
		group := mainGroup
		for _, c := range commands[1:] {
			if c.group != group {
				group = c.group
				fmt.Fprintf(w, "\n%s:\n", group)
			}
			fmt.Fprintf(w, "  taulop %-10s %s\n", c.name, c.about)
		}
	},
	"COLLECTIVES": func(w io.Writer) {
		for _, c := range collective.Collectives() {
			fmt.Fprintf(w, "  %-15s %s%s\n", c.Name, c.About, printable.If(!c.Empty(), "; m is "+c.M))
		}
	},
	"KINDS": func(w io.Writer) {
		for _, k := range plotKinds {
			fmt.Fprintf(w, "  %-12s %s\n  %-12s   %s\n", k.name, k.about, "", k.example)
		}
	},
	"PATTERNS":  described(comm.Patterns, func(p comm.Pattern) (name, about string) { return p.Name, p.About }),
	"METHODS":   described(processmap.Methods, func(m processmap.Method) (name, about string) { return m.Name, m.About }),
	"LAUNCHERS": described(processmap.Launchers, func(l processmap.Launcher) (name, about string) { return l.Name, l.About }),
}

// described lists names with what they are.
func described[T any](all []T, of func(T) (name, about string)) func(io.Writer) {
	return func(w io.Writer) {
		for _, one := range all {
			name, about := of(one)
			fmt.Fprintf(w, "  %-9s  %s\n", name, about)
		}
	}
}

// page is the help text without flags.
func (c command) page() string {
	text := c.words
	if text == "" {
		words := strings.Fields(strings.ReplaceAll(c.name+" ", " -", "-"))
		file, _ := pages.ReadFile("help/" + append(words, "taulop")[0] + ".txt") // each command has one
		text = string(file)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if list := listed[strings.TrimRight(line, "\n")]; list != nil {
			list(&b)
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}

// writeHelp writes the help page and the flags.
func (c command) writeHelp(out io.Writer, flags *argument.Set) {
	width := columns(out)
	io.WriteString(out, printable.Reflow(c.page(), width))
	if len(flags.Names()) == 0 {
		return
	}
	fmt.Fprint(out, "\nFlags:\n")
	var b bytes.Buffer
	flags.SetOutput(&b)
	flags.PrintDefaults()
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		usage, below := strings.CutPrefix(line, "    \t")
		if name, beside, found := strings.Cut(line, "\t"); !below && found { // flags of one letter have their usage on the same line
			fmt.Fprintln(out, name)
			usage, below = beside, true
		}
		if below {
			line = "        " + usage
		}
		fmt.Fprintln(out, printable.Wrap(line, width, "        "))
	}
}

// set is the flags of a command, with those that all commands share, and its action.
func (c command) set() (*argument.Set, action) {
	flags := argument.NewSet(c.called())
	act := c.flags(flags)
	if c.group != "" && c.group != selfGroup {
		if flags.Lookup("quiet") == nil {
			flags.Bool("quiet", false, "no warnings and no progress")
		}
		if c.measures {
			flags.Bool("no-progress", false, "no progress; warnings are printed")
		}
		flags.Bool("v", false, "full warnings, with reasons and remedies")
	}
	return flags, act
}

// A setting is a flag for man page and completion.
type setting struct {
	name, value, usage string // value is the placeholder; "": none
	words              []string
}

// settings are the flags of a command.
func (c command) settings() (all []setting) {
	flags, _ := c.set()
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		all = append(all, setting{f.Name, value, usage, argument.Words(f)})
	})
	return all
}

// helpFlags is the subcommand.
func helpFlags(*argument.Set) action {
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		if len(words) == 0 {
			return commands[0].run(ctx, out, errOut, []string{"-h"})
		}
		c := lookup(words[0])
		if c == nil {
			return unknown(words[0])
		}
		return c.run(ctx, out, errOut, []string{"-h"})
	}
}

// columns is the width of the terminal, or without one the value of COLUMNS, or the default of 80.
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

// collectiveNames are all collectives.
func collectiveNames() []string { return collective.Names(collective.Collectives()) }

// verifiable are the operands of verify.
func verifiable() []string {
	return slices.Concat(algorithmNames(), []string{verify.Message}, verify.PatternNames())
}

// kindNames are the names of charts.
func kindNames() []string { return lists.Map(plotKinds, func(k plotKind) string { return k.name }) }

// algorithmNames are all collectives and their algorithms.
func algorithmNames() []string {
	return slices.Sorted(slices.Values(append(collectiveNames(), lists.Map(collective.All(), (*collective.Algorithm).String)...)))
}

// writeAlgorithms lists algorithms, a table per collective: those of a library with their textbook
// names, or without a library those of textbooks with their sources.
func writeAlgorithms(w io.Writer, library *mpi.Library) {
	described, title := "described in", "Algorithms, for taulop predict, explain and verify, such as bcast:binomial"
	if library != nil {
		described, title = "is, in textbooks", "Algorithms of "+library.Version+", for -as "+library.Name+", by number or name, such as bcast:own"
	}
	var tables []view.Table
	for _, c := range collective.Collectives() {
		found, _ := mpi.Find(library, c.Name) // every library has every collective
		t := view.Table{Title: c.Name, Columns: view.Words("algorithm", "ranks", "flags", described)}
		for _, a := range found {
			like, branched, chunked := a.Like()
			ranks, source := "any", "what it chooses by itself"
			if like != nil && like.Among != collective.AnyRanks {
				ranks = map[collective.Among]string{collective.PowerOfTwo: "2^n", collective.EvenRanks: "even", collective.TwoRanks: "2", collective.Thousands: "to 64K"}[like.Among]
			}
			lays := strings.TrimSpace(printable.If(branched, "-degree") + printable.If(chunked, " -chunk"))
			switch {
			case a.Textbook != nil:
				source = like.Source
			case like != nil:
				source = like.Name
			}
			t.Add(a.Name(), ranks, lays, source)
		}
		tables = append(tables, t)
	}
	fmt.Fprint(w, title+"\n\n")
	view.WriteTables(w, tables)
}

// writeMeasured lists the setups, placements, surveys and operators of a sweep.
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
