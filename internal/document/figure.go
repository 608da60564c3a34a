package document

import (
	"html/template"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/parallel"
)

// A figure is a chart in a page.
type figure struct {
	*Chart
	Level, Number int // of its heading; in the page
	sheets        []sheet
}

// A sheet is a drawing in a page.
type sheet struct {
	Choice map[string]string `json:"choice,omitempty"`
	Title  string            `json:"title"`
	About  string            `json:"about"`
	SVG    template.HTML     `json:"svg"`
	Cells  []string          `json:"cells,omitempty"`
}

// figures draws charts, several sketches at a time.
func figures(charts []*Chart) map[*Chart]*figure {
	sketches := lists.Concat(charts, func(c *Chart) []Sketch { return c.Sketches })
	sheets := parallel.Map(sketches, func(s Sketch) (made sheet) {
		if drawn, err := s.Draw(); err == nil {
			title, about := drawn.Words()
			made = sheet{s.Choice, title, about, template.HTML(drawn.Inline()), s.Cells}
		}
		return made
	})
	all := make(map[*Chart]*figure)
	for number, c := range charts {
		n := len(c.Sketches)
		all[c] = &figure{Chart: c, Number: number, sheets: lists.Filter(sheets[:n], func(s sheet) bool { return s.SVG != "" })}
		sheets = sheets[n:]
	}
	return all
}

// Shown is the drawing that is shown at first.
func (f *figure) Shown() sheet { return f.sheets[0] }

// heavy is the length of an SVG in bytes from which on it is packed, to a fifth of it.
const heavy = 12 << 10

// Packed tells whether the script shows the first drawing, too.
func (f *figure) Packed() bool {
	return f.Later || len(f.Shown().SVG) > heavy && f.Shown().Cells == nil
}

// more tells whether the script needs the drawings.
func (f *figure) more() bool {
	return len(f.sheets) > 1 || len(f.sheets) == 1 && (f.Packed() || f.Shown().Cells != nil)
}

type menu struct {
	Name   string
	Values []string
}

// Menus has a menu for each key with several values.
func (f *figure) Menus() (all []menu) {
	for _, key := range f.Keys {
		if values := lists.Unique(lists.Map(f.sheets, func(s sheet) string { return s.Choice[key] })); len(values) > 1 {
			all = append(all, menu{key, values})
		}
	}
	return all
}
