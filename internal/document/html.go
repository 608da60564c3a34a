package document

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Later is what a page holds packed until its script shows it.
type Later struct {
	Charts   map[int][]sheet `json:"charts"` // by their number in the page
	Sections []string        `json:"sections"`
	numbered int
}

// Packed is that as the page holds it.
func (l *Later) Packed() (string, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false) // it is packed
	if err := to.Encode(l); err != nil {
		return "", err
	}
	return Pack(text.Bytes(), gzip.BestCompression)
}

// Pack is text as a page holds it: gzip in URL-safe base64, which HTML does not escape.
func Pack(text []byte, level int) (string, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(out.Bytes()), nil
}

// WriteHTML writes what people read as the body of a page, whose script has what is left for
// later: a paragraph for each line of prose, tables whose columns can be sorted, charts.
func (d *Document) WriteHTML(to io.Writer) (*Later, error) {
	p := &page{bufio.NewWriter(to), &Later{Charts: make(map[int][]sheet)}, d.sheets(), 2}
	p.parts(d)
	return p.later, p.Flush() // it remembers the first error
}

// A page is an HTML page in the making.
type page struct {
	*bufio.Writer
	later *Later
	drawn map[*Chart][]sheet
	level int // of the next heading
}

// unbroken keeps units beside their numbers.
var unbroken = strings.NewReplacer(" %", "\u00a0%", " GB/s", "\u00a0GB/s", " ns", "\u00a0ns")

func (w *page) parts(d *Document) {
	parts := d.read()
	charted := func(i int) bool { return i >= 0 && i < len(parts) && parts[i].chart != nil }
	for i, p := range parts {
		if charted(i) && !charted(i-1) && charted(i+1) {
			w.WriteString("<div class=\"figures\">\n")
		}
		switch {
		case p.table != nil:
			htmlTable(w.Writer, p.table)
		case p.chart != nil:
			w.chart(p.chart)
		case p.section != nil:
			w.section(p.section)
		case len(p.items) > 0:
			w.WriteString("<ul>\n")
			for _, item := range p.items {
				fmt.Fprintf(w, "<li>%s</li>\n", html.EscapeString(item))
			}
			w.WriteString("</ul>\n")
		}
		for line := range strings.Lines(p.prose.String()) {
			if line = strings.TrimSpace(line); line != "" {
				fmt.Fprintf(w, "<p>%s</p>\n", html.EscapeString(unbroken.Replace(line)))
			}
		}
		if charted(i) && charted(i-1) && !charted(i+1) {
			w.WriteString("</div>\n")
		}
	}
}

// section writes a section that begins with its title, or folds away behind it.
func (w *page) section(s *Section) {
	element, look := "section", ""
	if w.level > 2 {
		element = "div"
	}
	if s.ID != "" {
		look = fmt.Sprintf(" id=\"%s\"", s.ID)
	}
	if s.Class != "" {
		look += fmt.Sprintf(" class=\"%s\"", s.Class)
	}
	fmt.Fprintf(w, "<%s%s>\n", element, look)
	title := fmt.Sprintf("<h%d>%s</h%[1]d>", w.level, html.EscapeString(s.Title))
	switch of := w; {
	case s.Folded:
		state := ""
		if s.Later {
			n := len(w.later.Sections)
			state, w.later.Sections = fmt.Sprintf(" data-later=\"%d\"", n), append(w.later.Sections, "")
			var text bytes.Buffer
			of = &page{bufio.NewWriter(&text), w.later, w.drawn, w.level}
			defer func() { of.Flush(); w.later.Sections[n] = text.String() }()
		}
		if s.Open {
			state += " open"
		}
		fmt.Fprintf(w, "<details%s><summary>%s</summary>\n", state, title)
		of.within(s)
		w.WriteString("</details>\n")
	default:
		if s.Title != "" {
			w.WriteString(title + "\n")
		}
		w.within(s)
	}
	fmt.Fprintf(w, "</%s>\n", element)
}

func (w *page) within(s *Section) {
	w.level++
	w.parts(s.of)
	w.level--
}

// heavy is how long a drawing is that is packed, which makes it a fifth.
const heavy = 12 << 10

// chart writes a chart with its menus; nothing of one that cannot be drawn.
func (w *page) chart(c *Chart) {
	sheets, number := w.drawn[c], w.later.numbered
	w.later.numbered++
	if len(sheets) == 0 {
		return
	}
	shown := sheets[0]
	packed := c.Later || len(shown.SVG) > heavy && shown.Cells == nil
	if packed || len(sheets) > 1 || shown.Cells != nil {
		w.later.Charts[number] = sheets
	}
	if packed {
		shown.SVG = "<noscript>This chart needs JavaScript; taulop plot draws it.</noscript>"
	}
	if c.Title != "" {
		fmt.Fprintf(w, "<div class=\"kind\"><h%d>%s</h%[1]d>\n", w.level, html.EscapeString(c.Title))
		defer w.WriteString("</div>\n")
	}
	fmt.Fprintf(w, "<figure data-chart=\"%s\" data-number=\"%d\"", c.Name, number)
	if shown.Choice != nil {
		choice, _ := json.Marshal(shown.Choice) // strings always can
		fmt.Fprintf(w, " data-choice=\"%s\"", html.EscapeString(string(choice)))
	}
	fmt.Fprintf(w, ">\n<figcaption><span>%s</span> <span class=\"unit\">%s</span></figcaption>\n", html.EscapeString(shown.Title), html.EscapeString(shown.About))
	if keys, values := c.menus(sheets); len(keys) > 0 {
		w.WriteString("<form class=\"choices\">")
		for i, key := range keys {
			fmt.Fprintf(w, "<label>%s <select name=\"%[1]s\">", key)
			for _, v := range values[i] {
				fmt.Fprintf(w, "<option>%s</option>", html.EscapeString(v))
			}
			w.WriteString("</select></label> ")
		}
		w.WriteString("</form>\n")
	}
	fmt.Fprintf(w, "<div class=\"plot\">%s</div>\n<div class=\"tip\" role=\"status\"></div>\n</figure>\n", shown.SVG)
}

func htmlTable(w *bufio.Writer, t *view.Table) {
	if len(t.Columns) > 0 {
		w.WriteString("<div class=\"table\">\n")
		defer w.WriteString("</div>\n")
	}
	title := strings.Join(strings.Fields(t.Title), " ")
	if title != "" {
		fmt.Fprintf(w, "<p class=\"title\">%s</p>\n", html.EscapeString(title))
	}
	if len(t.Columns) > 0 {
		fmt.Fprintf(w, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n", html.EscapeString(cmp.Or(title, "table")))
		if t.Headed() {
			w.WriteString("<thead><tr>")
			for _, c := range t.Columns {
				if name := c.Head(); name == "" {
					w.WriteString("<td></td>")
				} else {
					fmt.Fprintf(w, "<th scope=\"col\" data-sort>%s</th>", html.EscapeString(name))
				}
			}
			w.WriteString("</tr></thead>\n")
		}
		w.WriteString("<tbody>\n")
		for _, cells := range t.Rows {
			w.WriteString("<tr>")
			for i, c := range cells {
				switch c = html.EscapeString(strings.TrimSpace(c)); {
				case i == 0:
					fmt.Fprintf(w, "<th scope=\"row\">%s</th>", c)
				case t.Columns[i].Left:
					fmt.Fprintf(w, "<td class=\"w\">%s</td>", c)
				default: // most are numbers
					fmt.Fprintf(w, "<td>%s</td>", c)
				}
			}
			w.WriteString("</tr>\n")
		}
		w.WriteString("</tbody></table></div>\n")
	}
	for _, note := range t.Notes {
		fmt.Fprintf(w, "<p class=\"note\">%s</p>\n", html.EscapeString(strings.TrimSpace(note)))
	}
}
