package document

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
)

// Markdown is for issues and wikis: tables as GitHub draws them, prose in paragraphs.
var Markdown = &Format{Name: "md", Usage: "Markdown with tables, for issues and wikis", Write: writeMarkdown}

func writeMarkdown(d *Document, to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, p := range d.read() {
		switch {
		case p.table != nil:
			markdownTable(w, p.table)
		case p.figure == nil:
			markdownLines(w, p.prose.String())
		}
	}
	return w.Flush() // it remembers the first error
}

// markdownLines is paragraphs, each with an empty line below it, in which lines end where
// they do.
func markdownLines(w *bufio.Writer, text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		lines := slices.DeleteFunc(lists.Map(strings.Split(paragraph, "\n"), Literal), func(line string) bool { return line == "" })
		if len(lines) > 0 {
			w.WriteString(strings.Join(lines, "\\\n") + "\n\n")
		}
	}
}

// markdownTable has the unit of a column beside its name. A column that says more of the one
// before it has a head of its own, which may be empty.
func markdownTable(w *bufio.Writer, t *view.Table) {
	if t.Title != "" {
		markdownLines(w, t.Title)
	}
	if len(t.Columns) > 0 {
		row := func(cells []string) {
			cells = slices.Concat(cells, make([]string, max(0, len(t.Columns)-len(cells))))
			w.WriteString("| " + strings.Join(lists.Map(cells, Literal), " | ") + " |\n")
		}
		row(lists.Map(t.Columns, view.Column.Head))
		w.WriteString("|")
		for _, c := range t.Columns {
			if c.Left {
				w.WriteString(" :-- |")
			} else {
				w.WriteString(" --: |")
			}
		}
		w.WriteString("\n")
		for _, cells := range t.Rows {
			row(cells)
		}
	}
	w.WriteString("\n")
	if len(t.Notes) > 0 {
		markdownLines(w, strings.Join(t.Notes, "\n"))
	}
}

// special is what Markdown would take for its own.
var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "|", `\|`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "#", `\#`, "&", `\&`)

// Literal is text in a line of Markdown, as it is.
func Literal(text string) string { return special.Replace(strings.Join(strings.Fields(text), " ")) }
