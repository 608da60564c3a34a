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
	text := `A paragraph of two
lines.

  taulop predict   what collectives cost
  taulop plot host.json
word  a definition
`
	want := `A paragraph of
two lines.

  taulop predict   what
                   collectives
                   cost
  taulop plot host.json
word  a definition
`
	if got := Reflow(text, 24)[:len("A paragraph of two lines.")]; got != "A paragraph of two\nlines." {
		t.Errorf("%q", got)
	}
	if got, want := Reflow("  taulop predict   what collectives cost\n", 30), "  taulop predict   what\n      collectives cost\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got := Reflow(text, 31)
	want = "A paragraph of two lines.\n" + want[len("A paragraph of\ntwo lines.\n"):]
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
