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

// messages is the standard error of a command: warnings, notes and progress.
type messages struct {
	io.Writer              // for warnings and notes
	progress  io.Writer    // for progress bars
	to        io.Writer    // standard error
	held      bytes.Buffer // messages held until the result, unless the command measures
	full      bool         // print warnings in full
	cut       bool         // a warning was shortened
}

// newMessages applies -quiet, -no-progress and -v to standard error. atOnce: do not hold messages.
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

// end writes held messages, and a hint at -v if a warning was shortened.
func (m *messages) end() {
	if m.cut && m.Writer != io.Discard {
		tell(m.Writer, "-v says why, and what to do")
	}
	m.to.Write(m.held.Bytes())
}

// warn writes warnings, duplicates once, each shortened to a line unless -v is given.
func warn[W any](w io.Writer, warnings []W) {
	m, is := w.(*messages)
	if !is {
		m = &messages{Writer: w, to: w}
	}
	times := make(map[string]int)
	starts := make(map[string]int) // where the statement begins, after the names of machines
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

// brief shortens a warning to width columns. It cuts at a colon, semicolon, parenthesis or comma after
// byte start: the statement comes first there, reasons and advice follow.
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

// tell writes an error, a warning or a note as one line. It shortens long words of the command line.
func tell(w io.Writer, format string, args ...any) {
	sentence := fmt.Sprintf(format, advised(args)...)
	for _, word := range os.Args[1:] {
		if part := printable.Part(word); part != word {
			sentence = strings.ReplaceAll(sentence, word, part)
		}
	}
	fmt.Fprintf(w, "taulop: %s\n", printable.Sentence(sentence))
}
