// Package printable makes text from files, sysfs and the command line safe to show: names, warnings and
// whole outputs.
//
// Its opinion: terminal controls are escaped where text leaves the program, so no other code has to
// remember it; µ, τ and × stay. Names are cut when they are read, sentences when they are printed.
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

	"github.com/taulop/taulop/internal/lists"
)

// NewWriter escapes text and writes it to w: control characters except newline and tab, bidirectional
// controls, and bytes that are not UTF-8. Letters may be split between writes; Close ends the last one
// and leaves w open.
//
// JSON keeps its value: its strings have only controls from U+007F on, and \u007f is a JSON escape.
func NewWriter(w io.Writer) io.WriteCloser { return transform.NewWriter(w, escaper{}) }

// Text is s as NewWriter escapes it.
func Text(s string) string {
	escaped, _, _ := transform.String(escaper{}, s) // escaper returns no error of its own
	return escaped
}

// Line is s in one line without tabs, for tables and sentences.
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

// steers tells DEL, 8-bit control characters of ISO 6429, and bidirectional controls, which make a line
// read as something else.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Limits of text from elsewhere.
const (
	MaxName  = 64   // letters, as of Linux's host names
	maxPart  = 200  // bytes of one piece of input in a sentence
	maxTotal = 1000 // bytes of a sentence
)

// Name is s in one line, with at most MaxName letters.
func Name(s string) string {
	if len(s) > utf8.UTFMax*(MaxName+1) { // the rest is cut anyway
		s = s[:utf8.UTFMax*(MaxName+1)]
	}
	letters := []rune(Line(s))
	if len(letters) <= MaxName {
		return string(letters)
	}
	return string(letters[:MaxName-1]) + "…"
}

// Part is the beginning and the end of s, 200 bytes at most, for input that an error quotes.
func Part(s string) string { return shortened(s, maxPart) }

// Sentence is an error or a warning in one line of 1000 bytes at most, with words and quotations cut as
// by Part.
func Sentence(s string) string {
	s = quotation.ReplaceAllStringFunc(Line(s), Part)
	return shortened(strings.Join(lists.Map(strings.Split(s, " "), Part), " "), maxTotal)
}

var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// shortened leaves out the middle of a text with more than most bytes.
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

// If is a text that stands where it applies, else "".
func If(applies bool, text string) string { return Either(applies, text, "") }

// Either is one of two texts.
func Either(first bool, text, other string) string {
	if first {
		return text
	}
	return other
}

// And joins texts in a sentence: a, b and c.
func And(texts []string) string {
	if last := len(texts) - 1; last > 0 {
		texts = []string{strings.Join(texts[:last], ", "), texts[last]}
	}
	return strings.Join(texts, " and ")
}

// Bytes writes a size with a binary prefix if it is a multiple: 8K, 1536, 4M.
func Bytes(n int) string {
	for i, prefix := range []string{"G", "M", "K"} {
		if unit := 1 << (30 - 10*i); n >= unit && n%unit == 0 {
			return strconv.Itoa(n/unit) + prefix
		}
	}
	return strconv.Itoa(n)
}

// Cache is where user buffers are.
func Cache(off bool) string { return Either(off, "off cache", "in cache") }

// List is names in a sentence, 200 bytes of them at most and the number of others.
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

// Percent is a share with one decimal, unless that is 0: 3 %, 12.5 %.
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
