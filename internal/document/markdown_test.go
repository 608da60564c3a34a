package document

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

// Markup and separators of cells are escaped.
func TestMarkdown(t *testing.T) {
	const want = "the answer\n\ncosts\n\n| m | cost, µs |\n| --: | --: |\n| 1K | 2.5\\* |\n| 2K | a\\|b |\n\n\\* the cheapest\n\nhow it was measured, x\\_1 \\< 2\\\nin two lines\n\n"
	var b strings.Builder
	if err := Markdown.Write(sample(), &b); err != nil || b.String() != want {
		t.Errorf("%v, %q", err, b.String())
	}
}

// Every row of a table has as many cells as the head.
func FuzzMarkdown(f *testing.F) {
	f.Add("m", "a|b\nc")
	f.Add("", `\|`)
	f.Fuzz(func(t *testing.T, head, cell string) {
		table := view.Table{Columns: view.Words(head, "x")}
		table.Add(cell)
		d := New("", nil, nil, func(d *Document) { d.Table(table) })
		var b strings.Builder
		must.Do(Markdown.Write(d, &b))
		for _, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
			bars := strings.Count(strings.NewReplacer(`\\`, "", `\|`, "").Replace(line), "|")
			if bars != 3 {
				t.Errorf("%d bars in %q", bars, line)
			}
		}
	})
}
