package chart

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestWrap(t *testing.T) {
	long := strings.Repeat("node17.cluster.example.", 40)
	for _, facts := range [][]string{
		{"", " ", long}, {"short", long, "τ = 4"}, {"words " + long + " between", strings.Repeat("a b ", 100)},
		{strings.Repeat("W", 300)}, {strings.Repeat("i", 300)}, {strings.Repeat("一", 300)}, {"\xff\x1b[2J" + long},
	} {
		for _, width := range []vg.Length{1, 40, 230} {
			lines := wrap(facts, titleStyle, width)
			for _, line := range lines {
				if titleStyle.Width(line) > width && len([]rune(line)) > 1 {
					t.Errorf("%.20q is wider than %v", line, width)
				}
			}
			letters := func(texts []string) string {
				return strings.NewReplacer(" ", "", "·", "").Replace(strings.Join(texts, ""))
			}
			if got, want := letters(lines), letters([]string{plain(strings.Join(facts, ""))}); got != want {
				t.Errorf("%.20q in %v: letters are lost", facts, width)
			}
		}
	}
}

// A text that does not fit keeps as much of its beginning and end as fits.
func TestShorten(t *testing.T) {
	for _, s := range []string{"node17", strings.Repeat("node", 50), strings.Repeat("i", 500), strings.Repeat("τ", 500)} {
		for _, width := range []vg.Length{-5, 0, 3, 100} {
			want, letters := s, []rune(s)
			for n := len(letters); legendStyle.Width(want) > width && n > 0; n-- {
				want = within(letters, n)
			}
			if got := shorten(s, legendStyle, width, within); got != want {
				t.Errorf("%.10q… in %v is %q, want %q", s, width, got, want)
			}
		}
	}
}
