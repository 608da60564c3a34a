package document

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
)

// Markdown is GitHub's Markdown with tables.
var Markdown = &Format{Name: "md", Usage: "Markdown with tables, for issues and wikis", Write: func(d *Document, w io.Writer) error { return d.WriteMarkdown(w, nil) }}

// Draw writes a chart to a file of this name, and returns the link to it.
type Draw func(name string, write func(io.Writer) error) (link string, err error)

// chartCm is the width of charts, about the width of a web page.
const chartCm = 14

// WriteMarkdown writes all parts, charts as SVG under distinct names; without charts if draw is nil.
func (d *Document) WriteMarkdown(to io.Writer, draw Draw) error {
	w := &markdown{bufio.NewWriter(to), draw, make(map[string]int)}
	if err := w.parts(d, 1); err != nil {
		return err
	}
	return w.Flush() // it remembers the first error
}

type markdown struct {
	*bufio.Writer
	draw  Draw
	times map[string]int // charts by name
}

func (w *markdown) parts(d *Document, level int) error {
	for _, p := range d.read() {
		markdownLines(w.Writer, p.prose.String())
		if p.table != nil {
			markdownTable(w.Writer, p.table)
		}
		for _, item := range p.items {
			fmt.Fprintf(w, "- %s\n", literal(item))
		}
		for _, c := range p.charts {
			if err := w.chart(c); err != nil {
				return err
			}
		}
		if s := p.section; s != nil {
			fmt.Fprintf(w, "%s %s\n\n", strings.Repeat("#", level), literal(s.Title))
			if err := w.parts(s.of, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// chart draws the first sketch that can be drawn.
func (w *markdown) chart(c *Chart) error {
	if w.draw == nil {
		return nil
	}
	drawn := c.first()
	if drawn == nil {
		return nil
	}
	name := c.Name
	if w.times[name]++; w.times[name] > 1 {
		name = fmt.Sprintf("%s-%d", name, w.times[name])
	}
	link, err := w.draw(name, func(to io.Writer) error { return drawn.Write(to, "svg", chartCm) })
	if err != nil {
		return err
	}
	title, about := drawn.Words()
	fmt.Fprintf(w, "![%s](%s)\n\n", literal(title+" · "+about), link)
	return nil
}

// markdownLines writes paragraphs with their line breaks.
func markdownLines(w *bufio.Writer, text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		lines := slices.DeleteFunc(lists.Map(strings.Split(paragraph, "\n"), literal), func(line string) bool { return line == "" })
		if len(lines) > 0 {
			w.WriteString(strings.Join(lines, "\\\n") + "\n\n")
		}
	}
}

// markdownTable writes a table; the unit of a column stands behind its name.
func markdownTable(w *bufio.Writer, t *view.Table) {
	markdownLines(w, t.Title)
	if len(t.Columns) > 0 {
		row := func(cells []string) {
			cells = slices.Concat(cells, make([]string, max(0, len(t.Columns)-len(cells))))
			w.WriteString("| " + strings.Join(lists.Map(cells, literal), " | ") + " |\n")
		}
		row(lists.Map(t.Columns, view.Column.Head))
		w.WriteString("|")
		for _, c := range t.Columns {
			w.WriteString(map[bool]string{true: " :-- |", false: " --: |"}[c.Left])
		}
		w.WriteString("\n")
		for _, cells := range t.Rows {
			row(cells)
		}
	}
	w.WriteString("\n")
	markdownLines(w, strings.Join(t.Notes, "\n"))
}

// special escapes Markdown's characters.
var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "|", `\|`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "#", `\#`, "&", `\&`)

// literal is text in one line of Markdown, without markup.
func literal(text string) string { return special.Replace(strings.Join(strings.Fields(text), " ")) }
