package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/provenance"
)

const manHelp = `Man writes the manual page of taulop, or of one command, made of what -h says.

  taulop man [COMMAND]

Examples:
  taulop man | man -l -
  taulop man >/usr/local/share/man/man1/taulop.1

Flags:
`

// manCommand is the subcommand.
func manCommand(_ context.Context, out, _ io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop man", flag.ContinueOnError)
	words, err := parseWords(flags, out, args, manHelp)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(verbatim(out))
	defer b.Flush()
	switch len(words) {
	case 0:
		fmt.Fprintf(b, ".TH TAULOP 1 \"\" \"taulop %s\" \"User Commands\"\n", provenance.Version())
		fmt.Fprintf(b, ".SH NAME\ntaulop \\- measures how a machine's memory carries concurrent transfers, and predicts MPI collectives\n")
		for _, c := range commands {
			name := strings.ToUpper(strings.TrimSpace("taulop " + c.name))
			writeManual(b, describe(c), name)
			if c.also != nil {
				writeManual(b, describe(c, c.also...), name+" "+strings.Join(c.also, " "))
			}
		}
	case 1:
		c, known := lookup(words[0])
		if !known || c.name == "" {
			return unknown(words[0])(context.Background(), out, out, nil)
		}
		fmt.Fprintf(b, ".TH TAULOP-%s 1 \"\" \"taulop %s\" \"User Commands\"\n", strings.ToUpper(c.name), provenance.Version())
		fmt.Fprintf(b, ".SH NAME\ntaulop\\-%s \\- %s\n", roff(c.name), roff(c.about))
		writeManual(b, describe(c), "DESCRIPTION")
		if c.also != nil {
			writeManual(b, describe(c, c.also...), strings.Join(c.also, " "))
		}
	default:
		return usagef("man takes one command, got %q", words)
	}
	return nil
}

// writeManual writes a section of the manual: what the help says, and the flags.
func writeManual(w io.Writer, d *description, heading string) {
	fmt.Fprintf(w, ".SH \"%s\"\n", heading)
	literal := false
	for line := range strings.Lines(strings.TrimSuffix(d.help, "Flags:\n")) {
		line = strings.TrimRight(line, "\n")
		switch indented := strings.HasPrefix(line, " ") || strings.Contains(strings.TrimSpace(line), "  "); {
		case line == "":
			if literal {
				fmt.Fprintln(w, ".RE\n.fi")
			}
			literal = false
			fmt.Fprintln(w, ".PP")
			continue
		case indented && !literal:
			fmt.Fprintln(w, ".nf\n.RS")
			literal = true
		case !indented && literal:
			fmt.Fprintln(w, ".RE\n.fi")
			literal = false
		}
		fmt.Fprintln(w, roff(strings.TrimPrefix(line, "  ")))
	}
	if literal {
		fmt.Fprintln(w, ".RE\n.fi")
	}
	for _, s := range settings(d.flags) {
		fmt.Fprintf(w, ".TP\n\\fB\\-%s\\fR", roff(s.name))
		if s.value != "" {
			fmt.Fprintf(w, " \\fI%s\\fR", roff(s.value))
		}
		fmt.Fprintf(w, "\n%s\n", roff(s.usage))
	}
}

// roff is a line of text that troff takes for nothing else.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
