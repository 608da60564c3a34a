package printable

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a line at spaces into parts of width letters at most, unless a word is longer. Parts after
// the first begin with indent. Other spaces stay.
func Wrap(line string, width int, indent string) string {
	var b strings.Builder
	for utf8.RuneCountInString(line) > width {
		at, n, begun := -1, 0, false // at the last space that is within the width, else the first one
		for i, r := range line {
			if r == ' ' && begun && (n <= width || at < 0) {
				at = i
			}
			begun = begun || r != ' '
			if n++; n > width && at >= 0 {
				break
			}
		}
		if at < 0 {
			break
		}
		b.WriteString(strings.TrimRight(line[:at], " "))
		rest := strings.TrimLeft(line[at:], " ")
		if rest == "" {
			return b.String()
		}
		b.WriteString("\n")
		line = indent + rest
	}
	return b.String() + line
}

// leastColumn is the smallest width of a second column. With less room it is wrapped below the first.
const leastColumn = 12

// Reflow fits a text into a width: paragraphs are filled; lines that begin with a space or have two
// columns are kept and wrapped, the second column under itself.
func Reflow(text string, width int) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(Wrap(strings.Join(paragraph, " "), width, "") + "\n")
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' && !columned(line) {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		under := hanging(line)
		if under > width-leastColumn {
			under = indented(line) + 4
		}
		b.WriteString(Wrap(line, width, strings.Repeat(" ", under)) + "\n")
	}
	flush()
	return b.String()
}

// columned tells a line with two columns, which more than one space separates.
func columned(line string) bool { return hanging(line) > indented(line)+2 }

func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hanging is the indent of a wrapped line in letters: that of its second column, or two more than its own.
func hanging(line string) int {
	first := indented(line)
	gap := strings.LastIndex(strings.TrimRight(line, " "), "  ")
	if gap <= first || gap > 60 {
		return first + 2
	}
	return utf8.RuneCountInString(line[:gap+2])
}
