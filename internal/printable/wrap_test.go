package printable

import "testing"

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		line   string
		width  int
		indent string
		want   string
	}{
		{"short", 10, "", "short"},
		{"one two three four", 9, "", "one two\nthree\nfour"},
		{"τ τ τ τ", 3, "", "τ τ\nτ τ"},
		{"  item of a list", 10, "    ", "  item of\n    a list"},
		{"unbreakablelongword next", 5, "", "unbreakablelongword\nnext"},
		{"a  unbreakablelongword", 5, "   ", "a\n   unbreakablelongword"},
		{"ends in spaces    ", 14, "", "ends in spaces"},
		{"", 5, "", ""},
	} {
		if got := Wrap(tt.line, tt.width, tt.indent); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.line, tt.width, got, tt.want)
		}
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
		if got := Reflow(tt.text, tt.width); got != tt.want {
			t.Errorf("in %d:\n%s\nwant\n%s", tt.width, got, tt.want)
		}
	}
}
