package document

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

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
