package document

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"github.com/taulop/taulop/internal/view"
)

// A Later is charts and sections that a page holds packed until its script shows them.
type Later struct {
	Charts   map[int][]sheet `json:"charts"` // by their number in the page
	Sections []string        `json:"sections"`
}

// Packed is JSON in the form of Pack.
func (l *Later) Packed() string {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false) // Pack needs no escapes
	to.Encode(l)            // strings always can
	return Pack(text.Bytes(), gzip.BestCompression)
}

// Pack compresses text as gzip at one of its levels, in URL-safe base64, which HTML does not escape.
func Pack(text []byte, level int) string {
	var out bytes.Buffer // which takes all
	w, _ := gzip.NewWriterLevel(&out, level)
	w.Write(text)
	w.Close()
	return base64.RawURLEncoding.EncodeToString(out.Bytes())
}

//go:embed document.html
var markup string

var body = template.Must(template.New("").Funcs(template.FuncMap{
	"words": func(s string) string { return strings.Join(strings.Fields(s), " ") },
	"json": func(choice map[string]string) (string, error) {
		text, err := json.Marshal(choice)
		return string(text), err
	},
}).Parse(markup))

// WriteHTML writes the body of a page, and returns the parts that its script shows later. Each line of prose
// is a paragraph.
func (d *Document) WriteHTML(w io.Writer) (*Later, error) {
	p := &page{later: &Later{Charts: make(map[int][]sheet)}, figures: figures(d.Charts())}
	for _, f := range p.figures {
		if f.more() {
			p.later.Charts[f.Number] = f.sheets
		}
	}
	parts := p.parts(d, 2)
	if p.err == nil {
		p.err = body.ExecuteTemplate(w, "parts", parts)
	}
	return p.later, p.err
}

// A page collects the data of the template.
type page struct {
	later   *Later
	figures map[*Chart]*figure
	err     error // the first
}

// A block is a part of a page.
type block struct {
	Lines   []string
	Table   *view.Table
	Items   []string
	Charts  []*figure
	Section *passage
}

// A passage is a section of a page.
type passage struct {
	*Section
	Top           bool
	Level, Number int // of its heading; in Later.Sections
	Within        []block
}

// unbroken keeps units beside their numbers.
var unbroken = strings.NewReplacer(" %", "\u00a0%", " GB/s", "\u00a0GB/s", " ns", "\u00a0ns")

// parts are the blocks of a document.
func (p *page) parts(d *Document, level int) (all []block) {
	for _, part := range d.read() {
		b := block{Table: part.table, Items: part.items}
		for line := range strings.Lines(part.prose.String()) {
			if line = strings.TrimSpace(line); line != "" {
				b.Lines = append(b.Lines, unbroken.Replace(line))
			}
		}
		for _, c := range part.charts {
			if f := p.figures[c]; len(f.sheets) > 0 {
				f.Level = level
				b.Charts = append(b.Charts, f)
			}
		}
		if part.section != nil {
			b.Section = p.section(part.section, level)
		}
		all = append(all, b)
	}
	return all
}

// section moves the blocks of a section to later, if it is packed.
func (p *page) section(s *Section, level int) *passage {
	made := &passage{Section: s, Top: level == 2, Level: level, Within: p.parts(s.of, level+1)}
	if s.Later {
		var text strings.Builder
		p.err = cmp.Or(p.err, body.ExecuteTemplate(&text, "parts", made.Within))
		made.Number, made.Within = len(p.later.Sections), nil
		p.later.Sections = append(p.later.Sections, text.String())
	}
	return made
}
