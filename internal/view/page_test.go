package view

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A wide table is split into parts, each with the first column. Columns marked Beside stay together. Words are
// wrapped in their column, sentences with an indent.
func TestPage(t *testing.T) {
	table := Table{Title: "a title that is longer than a line", Columns: append(Numbers("m", "first", "second", "", "third"), Words("remark")...)}
	table.Columns[3].Left = true
	table.Add("1K", "100", "200", "± 1", "300", "of one word")
	table.Add("2K", "1000", "2000", "± 10", "3000", "of several words that have no room beside it")
	table.Note("a note that is longer than a line as well")
	for _, tt := range []struct {
		width int
		want  string
	}{
		{24, `a title that is longer
  than a line
   m  first
  1K    100
  2K   1000

   m  second
  1K     200  ± 1
  2K    2000  ± 10

   m  third
  1K    300
  2K   3000

   m  remark
  1K  of one word
  2K  of several words
      that have no room
      beside it
a note that is longer
  than a line as well
`},
		{60, `a title that is longer than a line
   m  first  second        third  remark
  1K    100     200  ± 1     300  of one word
  2K   1000    2000  ± 10   3000  of several words that have
                                  no room beside it
a note that is longer than a line as well
`},
	} {
		var b strings.Builder
		page := NewPage(&b, tt.width)
		table.WriteText(page)
		if page.Close(); b.String() != tt.want {
			t.Errorf("%d letters:\n%s\nwant\n%s", tt.width, b.String(), tt.want)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > tt.width {
				t.Errorf("%d letters in %d: %s", n, tt.width, line)
			}
		}
	}
	var b strings.Builder
	if table.WriteText(&b); strings.Count(b.String(), "\n") != 5 {
		t.Errorf("who does not say how wide it is gets a line for each row:\n%s", b.String())
	}
}

// Lines are wrapped however they are split over writes, also a last line without an end.
func TestPageLines(t *testing.T) {
	var b strings.Builder
	page := NewPage(&b, 12)
	for _, part := range []string{"one two", " three four\n\nfi", "ve\nlast of", " all of them"} {
		if n, err := page.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	page.Close()
	if got, want := b.String(), "one two\n  three four\n\nfive\nlast of all\n  of them"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
