package document

import "io"

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

// Charts are the charts of the document and its sections.
func (d *Document) Charts() (all []*Chart) {
	for _, p := range d.read() {
		all = append(all, p.charts...)
		if p.section != nil {
			all = append(all, p.section.of.Charts()...)
		}
	}
	return all
}
