package printable

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"µs and τ, 2 × ü 主机 ±3 %\tlike\nthis", "µs and τ, 2 × ü 主机 ±3 %\tlike\nthis"},
		{"\x1b[31m\x1b]0;t\x07", `\x1b[31m\x1b]0;t\x07`},
		{"\x00\r\b\v\f\x7f", `\x00\x0d\x08\x0b\x0c\u007f`},
		{"\u0085\u009b2J", `\u0085\u009b2J`},
		{"\u202egpj.exe\u202c \u2066x\u2069", `\u202egpj.exe\u202c \u2066x\u2069`},
		{"\x9b2J \xff \xc3( \xed\xa0\x80", `\x9b2J \xff \xc3( \xed\xa0\x80`},
		{"\ufffd \u200b \u200d", "\ufffd \u200b \u200d"},
		{`a\x1bb`, `a\x1bb`},
	} {
		check.Equal(t, Text(tt.text), tt.want, "%q", tt.text)
		check.Equal(t, Text(Text(tt.text)), tt.want, "%q twice", tt.text)
		// In parts of any length.
		for n := 1; n <= len(tt.text); n++ {
			var b strings.Builder
			w := NewWriter(&b)
			for begin := 0; begin < len(tt.text); begin += n {
				part := tt.text[begin:min(begin+n, len(tt.text))]
				check.Equal(t, must.Get(w.Write([]byte(part))), len(part), "%q: written", part)
			}
			w.Close()
			check.Equal(t, b.String(), tt.want, "%q in parts of %d", tt.text, n)
		}
	}
	check.Equal(t, Line("a\tb\nc"), `a\tb\nc`, "a line")
}

// What is longer than the writer's buffers comes out whole.
func TestLongText(t *testing.T) {
	text := strings.Repeat("τ\x1b[0m 1.5 µs\n", 10_000)
	var b strings.Builder
	w := NewWriter(&b)
	fmt.Fprint(w, text)
	w.Close()
	want := strings.ReplaceAll(text, "\x1b", `\x1b`)
	check.True(t, Text(text) == want && b.String() == want, "a long text is not whole")
}

func TestJSONStaysJSON(t *testing.T) {
	was := "\x1b\x7f\u009b\u202e\\\"\xff\n\t"
	document := must.Get(json.MarshalIndent(map[string]string{was: was}, "", "\t"))
	var before, after map[string]string
	json.Unmarshal(document, &before)
	must.Do(json.Unmarshal([]byte(Text(string(document))), &after))
	check.Equal(t, fmt.Sprint(after), fmt.Sprint(before), "what is printed")
}

func TestName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"node17", "node17"},
		{"a\tb\x1b[0m", `a\tb\x1b[0m`},
		{strings.Repeat("τ", 64), strings.Repeat("τ", 64)},
		{strings.Repeat("τ", 65), strings.Repeat("τ", 63) + "…"},
		{strings.Repeat("机", 1_000_000), strings.Repeat("机", 63) + "…"},
		{strings.Repeat("\U0001f600", 64), strings.Repeat("\U0001f600", 64)},
		{strings.Repeat("\xff", 100), strings.Repeat(`\xff`, 16)[:63] + "…"},
	} {
		check.Equal(t, Name(tt.name), tt.want, "%.40q", tt.name)
	}
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		text string
		most int
	}{
		{"host.json:3: there is no field \"colour\"", 0},
		{"no: " + strings.Repeat("x", 1_000_000) + ": leave it out", 300},
		{fmt.Sprintf("there is no %q here", strings.Repeat("two words ", 100_000)), 300},
		{fmt.Sprintf("there is no %q here", strings.Repeat(`a "b" \`, 1000)), 300},
		{strings.Repeat("word ", 100_000), 1000}, {strings.Repeat(`"`, 100_001), 1000},
		{strings.Repeat("τ\xff", 10_000), 1000},
	} {
		got := Sentence(tt.text)
		check.True(t, (got == tt.text || tt.most > 0 && len(got) <= tt.most) && utf8.ValidString(got), "%.40q is %q with %d bytes", tt.text, got, len(got))
	}
	got := Sentence("no: " + strings.Repeat("x", 999) + ": leave it out")
	check.True(t, strings.HasPrefix(got, "no: xxx") && strings.HasSuffix(got, "xxx: leave it out"), "the advice is lost: %q", got)
}

func TestList(t *testing.T) {
	check.Slices(t, []string{And(nil), And([]string{"a"}), And([]string{"a", "b"}), And([]string{"a", "b", "c"})}, []string{"", "a", "a and b", "a, b and c"}, "And")
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"ring", "ping"}, "ring, ping"},
		{[]string{strings.Repeat("a", 150), strings.Repeat("b", 150), "c"}, strings.Repeat("a", 150) + " and 2 more"},
		{[]string{strings.Repeat("a", 300), "c"}, strings.Repeat("a", 147) + "…" + strings.Repeat("a", 49) + " and 1 more"},
	} {
		check.Equal(t, List(tt.names), tt.want, "%.30q", tt.names)
	}
}

func TestTable(t *testing.T) {
	row := []string{"node17", "-1.5", "+2e9", "-Inf", "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "a\tb", "a\nb", "\x1b[0m", `a"b`, "a,b", "-", ""}
	want := []string{"node17", "-1.5", "+2e9", "-Inf", "'=1+1", "'+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", `'\t=1`, `'\x0d=1`, "'＝1", `a\tb`, `a\nb`, `\x1b[0m`, `a"b`, "a,b", "'-", ""}
	for _, comma := range ",\t" {
		var b strings.Builder
		out := NewTable(&b, comma)
		must.Do(out.Write(row))
		must.Do(out.Flush())
		lines := strings.Count(b.String(), "\n")
		check.True(t, lines == 1 && (comma != '\t' || strings.Count(b.String(), "\t") == len(row)-1), "%q has %d lines", b.String(), lines)
		r := csv.NewReader(strings.NewReader(b.String()))
		r.Comma = comma
		check.Equal(t, fmt.Sprintf("%q", must.Get(r.Read())), fmt.Sprintf("%q", want), "%q", row)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		line   string
		width  int
		indent string
		want   string
	}{
		{"short", 10, "", "short"}, {"one two three four", 9, "", "one two\nthree\nfour"}, {"τ τ τ τ", 3, "", "τ τ\nτ τ"},
		{"  item of a list", 10, "    ", "  item of\n    a list"},
		{"unbreakablelongword next", 5, "", "unbreakablelongword\nnext"},
		{"a  unbreakablelongword", 5, "   ", "a\n   unbreakablelongword"}, {"ends in spaces    ", 14, "", "ends in spaces"},
		{"", 5, "", ""},
	} {
		check.Equal(t, Wrap(tt.line, tt.width, tt.indent), tt.want, "%q in %d", tt.line, tt.width)
	}
}

func TestReflow(t *testing.T) {
	const text = "A paragraph of two\nlines.\n\n  taulop predict   what collectives cost\n  taulop plot host.json\nword  a definition\n"
	const list = "\n  taulop predict   what\n                   collectives\n                   cost\n  taulop plot host.json\nword  a definition\n"
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{text, 31, "A paragraph of two lines.\n" + list},
		{"A paragraph of two\nlines.\n", 24, "A paragraph of two\nlines.\n"},
		{"  taulop predict   what collectives cost\n", 30, "  taulop predict   what\n      collectives cost\n"},
	} {
		check.Equal(t, Reflow(tt.text, tt.width), tt.want, "%q in %d", tt.text, tt.width)
	}
}

func TestChoice(t *testing.T) {
	for applies, want := range map[bool][2]string{true: {"a", "a"}, false: {"", "b"}} {
		check.Equal(t, If(applies, "a"), want[0], "If %v", applies)
		check.Equal(t, Either(applies, "a", "b"), want[1], "Either %v", applies)
	}
}
