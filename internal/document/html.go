package document

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// WriteHTML writes what people read as parts of a page: a paragraph for each line of prose, and
// tables whose columns can be sorted by the page's script.
func (d *Document) WriteHTML(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, p := range d.read() {
		switch {
		case p.table != nil:
			htmlTable(w, p.table)
		case p.figure == nil:
			for line := range strings.Lines(p.prose.String()) {
				if line = strings.TrimSpace(line); line != "" {
					fmt.Fprintf(w, "<p>%s</p>\n", html.EscapeString(line))
				}
			}
		}
	}
	return w.Flush() // it remembers the first error
}

func htmlTable(w *bufio.Writer, t *view.Table) {
	w.WriteString("<div class=\"table\">\n")
	title := strings.Join(strings.Fields(t.Title), " ")
	if title != "" {
		fmt.Fprintf(w, "<p class=\"title\">%s</p>\n", html.EscapeString(title))
	}
	if len(t.Columns) > 0 {
		fmt.Fprintf(w, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table class=\"sortable\">\n<thead><tr>", html.EscapeString(title))
		for _, c := range t.Columns {
			name := c.Head()
			if name == "" {
				w.WriteString("<td></td>")
				continue
			}
			fmt.Fprintf(w, "<th scope=\"col\" data-sort>%s</th>", html.EscapeString(name))
		}
		w.WriteString("</tr></thead>\n<tbody>\n")
		for _, cells := range t.Rows {
			w.WriteString("<tr>")
			for i, c := range cells {
				switch c = html.EscapeString(strings.TrimSpace(c)); {
				case i == 0:
					fmt.Fprintf(w, "<th scope=\"row\">%s</th>", c)
				case t.Columns[i].Left:
					fmt.Fprintf(w, "<td>%s</td>", c)
				default:
					fmt.Fprintf(w, "<td class=\"n\">%s</td>", c)
				}
			}
			w.WriteString("</tr>\n")
		}
		w.WriteString("</tbody></table></div>\n")
	}
	for _, note := range t.Notes {
		fmt.Fprintf(w, "<p class=\"note\">%s</p>\n", html.EscapeString(strings.TrimSpace(note)))
	}
	w.WriteString("</div>\n")
}
