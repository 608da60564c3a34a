package document

import (
	"html/template"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/internal/lists"
)

// A Drawing is a finished drawing of a chart.
type Drawing interface {
	Words() (title, about string)
	Inline() string // as an element of a page
	Write(w io.Writer, format string, cm float64) error
}

// A Chart has alternative drawings, which a reader of a page chooses from menus. Sketches that fail are left
// out.
type Chart struct {
	Name     string   // of its kind, for file names and for the page's script
	Title    string   // above it, "" for none
	Keys     []string // of Sketch.Choice, a menu each, in this order
	Sketches []Sketch // the first that can be drawn is shown
	Later    bool     // a page holds it packed until it is visible
}

// A Sketch is a drawing that is not made yet.
type Sketch struct {
	Choice map[string]string // values in the menus
	Draw   func() (Drawing, error)
	Cells  []string // of a heat map: a description of each pair
}

// first draws the first sketch that can be drawn; nil if none can.
func (c *Chart) first() Drawing {
	for _, s := range c.Sketches {
		if drawn, err := s.Draw(); err == nil {
			return drawn
		}
	}
	return nil
}

// A sheet is a drawing in a page.
type sheet struct {
	Choice map[string]string `json:"choice,omitempty"`
	Title  string            `json:"title"`
	About  string            `json:"about"`
	SVG    template.HTML     `json:"svg"`
	Cells  []string          `json:"cells,omitempty"`
}

type menu struct {
	Name   string
	Values []string
}

// menus has a menu for each key with several values.
func (c *Chart) menus(sheets []sheet) (all []menu) {
	for _, key := range c.Keys {
		if values := lists.Unique(lists.Map(sheets, func(s sheet) string { return s.Choice[key] })); len(values) > 1 {
			all = append(all, menu{key, values})
		}
	}
	return all
}

// sheets draws all charts, several at a time.
func (d *Document) sheets() map[*Chart][]sheet {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	made := make(map[*Chart][]sheet)
	for _, c := range d.Charts() {
		made[c] = make([]sheet, len(c.Sketches))
		for i, s := range c.Sketches {
			to := &made[c][i]
			workers.Go(func() error {
				if drawn, err := s.Draw(); err == nil {
					title, about := drawn.Words()
					*to = sheet{s.Choice, title, about, template.HTML(drawn.Inline()), s.Cells}
				}
				return nil
			})
		}
	}
	workers.Wait() // none fails
	for c, all := range made {
		made[c] = lists.Filter(all, func(s sheet) bool { return s.SVG != "" })
	}
	return made
}

// Charts are the charts of the document and its sections.
func (d *Document) Charts() (all []*Chart) {
	for _, p := range d.read() {
		if p.chart != nil {
			all = append(all, p.chart)
		}
		if p.section != nil {
			all = append(all, p.section.of.Charts()...)
		}
	}
	return all
}
