package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
)

// manFlags is the subcommand.
func manFlags(*argument.Set) action {
	return func(_ context.Context, out io.Writer, _ *messages, words []string) error {
		b := bufio.NewWriter(verbatim(out))
		defer b.Flush()
		if len(words) == 0 {
			writeManual(b)
			return nil
		}
		c := lookup(words[0])
		if c == nil {
			return unknown(words[0])
		}
		fmt.Fprintf(b, ".TH TAULOP-%s 1 \"\" \"taulop %s\" \"User Commands\"\n", strings.ToUpper(c.name), provenance.Version())
		fmt.Fprintf(b, ".SH NAME\ntaulop\\-%s \\- %s\n", roff(c.name), roff(c.about))
		var calls []string
		for _, m := range c.all() {
			for _, call := range m.calls() {
				if !slices.Contains(calls, call) { // a command's page may list its modes
					calls = append(calls, call)
				}
			}
		}
		writeSynopsis(b, calls)
		for i, m := range c.all() {
			writePage(b, m, append([]string{"DESCRIPTION"}, m.called())[min(i, 1)])
			writeFlags(b, m.settings(), setting.whole)
		}
		return nil
	}
}

// shared are flags with the same meaning in many commands, which the common manual explains once.
var shared = []string{"o", "force", "json", "csv", "md", "quiet", "no-progress", "v", "node", "name", "state", "launches", "huge"}

// writeManual writes the manual of all commands: the purpose, the calls and short flags of each.
// The manual of a command has its full flags.
func writeManual(w io.Writer) {
	fmt.Fprintf(w, ".TH TAULOP 1 \"\" \"taulop %s\" \"User Commands\"\n", provenance.Version())
	fmt.Fprint(w, ".SH NAME\ntaulop \\- measures how a machine's memory carries concurrent transfers, and predicts MPI collectives\n")
	writeSynopsis(w, []string{"taulop [flags] SEGMENTS SIZE TAU", "taulop COMMAND [flags] [ARGUMENT ...]"})
	writePage(w, commands[0], "DESCRIPTION")
	var once []setting
	told := make(map[string]bool)
	for _, c := range commands {
		for _, m := range c.all() {
			var own []setting
			var before []string
			for _, s := range m.settings() {
				key := s.name + s.usage
				switch common := slices.Contains(shared, s.name); {
				case common && told[s.name]:
				case common:
					once = append(once, s)
				case told[key]:
					before = append(before, `\fB\-`+roff(s.name)+`\fR`)
				default:
					own = append(own, s)
				}
				told[key], told[s.name] = true, true
			}
			fmt.Fprintf(w, ".SH \"%s\"\n%s\n", roff(strings.ToUpper(m.called())), roff(m.about))
			if calls := m.calls(); m.name != "" && len(calls) > 0 {
				fmt.Fprintf(w, ".nf\n%s\n.fi\n", strings.Join(lists.Map(calls, roff), "\n"))
			}
			writeFlags(w, own, setting.first)
			io.WriteString(w, printable.If(before != nil, "Flags as above: "+strings.Join(before, ", ")+".\n"))
		}
	}
	fmt.Fprint(w, ".SH \"FLAGS OF MANY COMMANDS\"\n")
	writeFlags(w, once, setting.whole)
	fmt.Fprint(w, ".SH \"SEE ALSO\"\ntaulop man COMMAND, the whole manual of a command\n")
}

// all is a command and its modes.
func (c command) all() []command { return append([]command{c}, lists.Map(c.modes, c.as)...) }

// calls are the usage lines of a help page.
func (c command) calls() []string {
	page, _, _ := strings.Cut(c.page(), "\nExamples:")
	lines := lists.Filter(strings.Split(page, "\n"), func(line string) bool { return strings.HasPrefix(line, "  taulop "+c.name) })
	return lists.Map(lines, strings.TrimSpace)
}

// first is the first clause of a usage, for short lists.
func (s setting) first() string {
	text, _, _ := strings.Cut(strings.ReplaceAll(s.usage, "`", ""), ";")
	text, _, _ = strings.Cut(text, " (default")
	return text
}

func (s setting) whole() string { return s.usage }

// writeSynopsis writes how a command is called; nothing if its page does not say it.
func writeSynopsis(w io.Writer, calls []string) {
	if len(calls) > 0 {
		fmt.Fprintf(w, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", strings.Join(lists.Map(calls, roff), "\n"))
	}
}

// writePage writes the help page, broken for a terminal of 80 columns.
func writePage(w io.Writer, c command, heading string) {
	fmt.Fprintf(w, ".SH \"%s\"\n.nf\n", roff(heading))
	for line := range strings.Lines(printable.Reflow(c.page(), 72)) {
		io.WriteString(w, roff(line))
	}
	fmt.Fprintln(w, ".fi")
}

// writeFlags writes a list of flags.
func writeFlags(w io.Writer, all []setting, text func(setting) string) {
	fmt.Fprintln(w, ".PD 0")
	for _, s := range all {
		name := `\fB\-` + roff(s.name) + `\fR` + printable.If(s.value != "", ` \fI`+roff(s.value)+`\fR`)
		fmt.Fprintf(w, ".IP \"%s\" 20\n%s\n", name, roff(text(s)))
	}
	fmt.Fprintln(w, ".PD")
}

// roff escapes a line of text for troff.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
