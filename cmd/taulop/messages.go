package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/infile"
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
func warn[W any](m *messages, warnings []W) {
	starts := make(map[string]int) // where the statement begins, after the names of machines
	all := lists.Map(warnings, func(w W) string {
		text := fmt.Sprint(advised([]any{w})...)
		if named, is := any(w).(interface{ Who() string }); is && strings.HasPrefix(text, named.Who()+": ") {
			starts[text] = len(named.Who()) + len(": ")
		}
		return text
	})
	for _, alike := range lists.Groups(all, func(text string) string { return text }) {
		text, head := alike[0], printable.Either(len(alike) > 1, fmt.Sprintf("warning, %d times: ", len(alike)), "warning: ")
		short := text
		if !m.full {
			short = brief(text, starts[text], columns(m.to)-len("taulop: ")-len(head))
		}
		m.cut = m.cut || short != text
		tell(m, "%s%s", head, short)
	}
}

// brief shortens a warning to width columns, after byte start: where a clause ends, because reasons and
// advice follow the statement, or within the statement, which then ends in "…".
func brief(text string, start, width int) string {
	fits := func(s string) bool { return utf8.RuneCountInString(s) <= width }
	cut := func(text, end string, marks ...string) string {
		short := text
		for i := range text {
			part := text[:i]
			ends := i > start && slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text[i:], mark) })
			whole := strings.Contains(part, " ") && strings.Count(part, "(") == strings.Count(part, ")")
			if ends && whole && (short == text || fits(part+end)) {
				short = part + end
			}
		}
		return short
	}
	if fits(text) {
		return text
	}
	clause := cut(text, "", ": ", "; ")
	if fits(clause) {
		return clause
	}
	return cut(clause, " …", ", ", " (")
}

// tell writes an error, a warning or a note as one line. It shortens long words of the command line.
func tell(w io.Writer, format string, args ...any) {
	sentence := fmt.Sprintf(format, advised(called(args))...)
	for _, word := range os.Args[1:] {
		if part := printable.Part(word); part != word {
			sentence = strings.ReplaceAll(sentence, word, part)
		}
	}
	fmt.Fprintf(w, "taulop: %s\n", printable.Sentence(sentence))
}

// called names standard input, which - stands for on the command line.
func called(args []any) []any {
	return lists.Map(args, func(arg any) any {
		if arg == "-" {
			return infile.Name("-")
		}
		return arg
	})
}

// launchProgress shows the progress of an experiment.
func launchProgress(m *messages, budget time.Duration) (show func(engine.Progress), done func()) {
	text := func(p engine.Progress) string {
		launch := fmt.Sprintf("launch %d", p.Launch) + printable.If(p.Launches > 0, fmt.Sprintf(" of %d", p.Launches))
		return fmt.Sprintf("%s: %d of %d cells, %v left", launch, p.Visited, p.Cells, max(0, p.Left.Round(time.Second)))
	}
	set, done := progress(m.progress, int(budget.Milliseconds()))
	return func(p engine.Progress) { set(text(p), int(min(max(0, budget-p.Left), budget).Milliseconds())) }, done
}

// countProgress shows progress over steps of similar duration.
func countProgress(m *messages, what string) (show func(done, of int), done func()) {
	began := time.Now()
	set, done := progress(m.progress, 1000)
	return func(done, of int) {
		left := time.Since(began) / time.Duration(max(1, done)) * time.Duration(of-done)
		set(fmt.Sprintf("%d of %s, %v left", done, printable.Count(of, what), left.Round(time.Second)), 1000*done/max(1, of))
	}, done
}

// progress draws a bar on a terminal, and prints a line per minute elsewhere.
func progress(w io.Writer, most int) (set func(text string, at int), done func()) {
	if !isTerminal(w) {
		last := time.Now()
		return func(text string, _ int) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %s\n", text)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(most, progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(text string, at int) {
		const bars = 30 // columns of the bar, with the percentage before it
		if letters, room := []rune(text), columns(w)-bars; len(letters) > room {
			text = string(letters[:max(0, room-1)]) + "…"
		}
		bar.Describe(text)
		bar.Set(at)
	}, func() { bar.Finish() }
}
