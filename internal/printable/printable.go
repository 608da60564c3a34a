// Package printable makes text from elsewhere fit to be shown: names, warnings and
// whole outputs that come from files, from a machine's sysfs or from the command line.
//
// Its opinion: what steers a terminal is escaped where text leaves the program, so
// that no reader has to remember it; what a reader needs to see stays as it is, µ, τ
// and × included. Names are cut where they are read, and sentences where they are
// printed.
package printable

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// NewWriter escapes what is written to it and passes it on to w: control characters
// but newline and tab, characters that turn the direction of writing, and bytes that
// are no UTF-8. Letters may come in parts; Close ends the last one and leaves w open.
//
// JSON stays JSON of the same value: its strings have characters from U+007F on only,
// for which \u007f is an escape there as well.
func NewWriter(w io.Writer) io.WriteCloser { return transform.NewWriter(w, escaper{}) }

// Text is what NewWriter makes of s.
func Text(s string) string {
	escaped, _, err := transform.String(escaper{}, s)
	if err != nil { // an escaper refuses nothing
		return "?"
	}
	return escaped
}

// Line is s in one line without tabs, for tables and for sentences.
func Line(s string) string { return tabs.Replace(Text(s)) }

var tabs = strings.NewReplacer("\n", `\n`, "\t", `\t`)

type escaper struct{ transform.NopResetter }

func (escaper) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		shown := src[nSrc : nSrc+size]
		switch {
		case r == utf8.RuneError && size == 1, r < ' ' && r != '\n' && r != '\t':
			shown = fmt.Appendf(nil, `\x%02x`, src[nSrc])
		case r >= 0x7f && steers(r):
			shown = fmt.Appendf(nil, `\u%04x`, r)
		}
		if len(dst)-nDst < len(shown) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += copy(dst[nDst:], shown)
		nSrc += size
	}
	return nDst, nSrc, nil
}

// steers tells of DEL, the control characters of ISO 6429 in 8 bits, and what turns the
// direction of writing, so that a line reads as something else than it is.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Limits of what is repeated from elsewhere.
const (
	MaxName  = 64   // letters, as many as Linux has for the name of a host
	maxPart  = 200  // bytes of one piece of input in a sentence
	maxTotal = 1000 // bytes of a sentence
)

// Name is s in one line, with at most MaxName letters.
func Name(s string) string {
	if len(s) > utf8.UTFMax*(MaxName+1) { // the rest is not looked at
		s = s[:utf8.UTFMax*(MaxName+1)]
	}
	letters := []rune(Line(s))
	if len(letters) <= MaxName {
		return string(letters)
	}
	return string(letters[:MaxName-1]) + "…"
}

// Part is s with at most 200 bytes, the beginning and the end of it: what an error
// repeats of a file or of the command line.
func Part(s string) string { return shortened(s, maxPart) }

// Sentence is an error or a warning in one line. Words and quotations in it are parts,
// and it is not longer than a sentence may be, whatever an error is made of.
func Sentence(s string) string {
	s = quotation.ReplaceAllStringFunc(Line(s), Part)
	words := strings.Split(s, " ")
	for i := range words {
		words[i] = Part(words[i])
	}
	return shortened(strings.Join(words, " "), maxTotal)
}

var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// shortened leaves the middle out of what has more bytes than most.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const gap = "…"
	head, tail := (most-len(gap))*3/4, len(s)-(most-len(gap))/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + gap + s[tail:]
}

// List is names in a sentence, as many as have room in a part.
func List(names []string) string {
	text := ""
	for i, name := range names {
		separator := ", "
		if i == 0 {
			separator, name = "", Part(name)
		}
		if len(text)+len(separator)+len(name) > maxPart {
			return fmt.Sprintf("%s and %d more", text, len(names)-i)
		}
		text += separator + name
	}
	return text
}

// Count is a number of things: 1 file, 2 files, 3 launches.
func Count(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "ch"):
		what += "es"
	default:
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Percent is a share of a whole, to a tenth: 3 %, 12.5 %.
func Percent(share float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0") + " %"
}

// Duration is a time to wait, in one unit: 40 s, 12 min, 35 hours.
func Duration(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f hours", d.Hours())
}
