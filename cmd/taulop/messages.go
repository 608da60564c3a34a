package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
)

// Messages are standard error of a command: warnings, notes, and progress.
type messages struct {
	io.Writer              // of what is told
	progress  io.Writer    // of bars
	to        io.Writer    // standard error
	held      bytes.Buffer // what is told before there is a result, of a command that does not measure
	full      bool         // warnings say why, and what to do
	cut       bool         // one has not said so
}

// newMessages is what flags leave of standard error; at once is of what is told in a minute's work.
func newMessages(flags *argument.Set, errOut io.Writer, atOnce bool) *messages {
	m := &messages{Writer: errOut, progress: errOut, to: errOut, full: flags.On("v")}
	if flags.On("quiet") {
		m.Writer, m.progress = io.Discard, io.Discard
	} else if !atOnce {
		m.Writer = &m.held
	}
	if flags.On("no-progress") {
		m.progress = io.Discard
	}
	return m
}

// end writes what was held, and where to read more.
func (m *messages) end() {
	if m.cut && m.Writer != io.Discard {
		tell(m.Writer, "-v says why, and what to do")
	}
	m.to.Write(m.held.Bytes())
}

// warn writes warnings, each once: in a line each, what comes first in them, unless all is asked for.
func warn[W any](w io.Writer, warnings []W) {
	m, is := w.(*messages)
	if !is {
		m = &messages{Writer: w, to: w}
	}
	times := make(map[string]int)
	starts := make(map[string]int) // where the statement begins, behind the names of machines
	all := lists.Map(warnings, func(w W) string {
		text := fmt.Sprint(advised([]any{w})...)
		if named, is := any(w).(interface{ Who() string }); is && strings.HasPrefix(text, named.Who()+": ") {
			starts[text] = len(named.Who()) + len(": ")
		}
		return text
	})
	for _, text := range all {
		times[text]++
	}
	for _, text := range all {
		head := "warning: "
		n := times[text]
		if n > 1 {
			head = fmt.Sprintf("warning, %d times: ", n)
		}
		if delete(times, text); n > 0 {
			short := text
			if !m.full {
				short = brief(text, starts[text], columns(m.to)-len("taulop: ")-len(head))
			}
			m.cut = m.cut || short != text
			tell(m, "%s%s", head, short)
		}
	}
}

// brief is as much of a warning as a line of width columns holds. A warning says first what is so, from
// byte start on, and then why and what to do, behind colons, semicolons, parentheses or commas.
func brief(text string, start, width int) string {
	fits := func(s string) bool { return utf8.RuneCountInString(s) <= width }
	short := text
	for _, marks := range [][]string{{": ", "; ", " ("}, {", "}} {
		if fits(short) {
			break
		}
		for i := range text {
			if i <= start {
				continue
			}
			part := text[:i]
			ends := slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text[i:], mark) })
			whole := strings.Contains(part, " ") && strings.Count(part, "(") == strings.Count(part, ")")
			if ends && whole && (fits(part) || len(part) < len(short)) {
				short = part
			}
		}
	}
	return short
}

// tell writes an error, a warning or a note to standard error, a sentence in a line. Of
// what the user typed it repeats as much as of a file.
func tell(w io.Writer, format string, args ...any) {
	sentence := fmt.Sprintf(format, advised(args)...)
	for _, word := range os.Args[1:] {
		if part := printable.Part(word); part != word {
			sentence = strings.ReplaceAll(sentence, word, part)
		}
	}
	fmt.Fprintf(w, "taulop: %s\n", printable.Sentence(sentence))
}
