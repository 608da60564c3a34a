// Package view is what text, charts and pages draw: descriptions without a form.
package view

import (
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Profile is how a time of what surveys measured grows with a size, a
// stride or a rate: a line of a chart.
type Profile struct {
	Kind      params.Kind    `json:"kind"`
	Panel     string         `json:"panel"`          // lines of one chart have the same: "float64, N = 4K"
	Line      string         `json:"line"`           // "read"
	Size      int            `json:"size,omitempty"` // of all its points: N of accesses, bytes of packed messages
	Placement numa.Policy    `json:"placement"`
	OffCache  bool           `json:"off_cache"`
	Tau       int            `json:"tau"`
	Over      Quantity       `json:"over"` // what X is
	Time      Quantity       `json:"time"` // what Y is
	Points    []ProfilePoint `json:"points"`
}

// A Quantity is what an axis shows.
type Quantity string

// The quantities of profiles; times are in ns.
const (
	MessageSize   Quantity = "m, bytes"
	ElementStride Quantity = "stride, elements"
	ByteStride    Quantity = "stride d, bytes"
	Bandwidth     Quantity = "bandwidth, MB/s" // 10⁶ bytes
	Time          Quantity = "time"
	TimeOfElement Quantity = "time of an element"
)

// FromZero tells quantities whose axes begin with 0; others are drawn by their
// logarithms.
func (q Quantity) FromZero() bool { return q == Bandwidth }

// A ProfilePoint is a time at a size, stride or rate.
type ProfilePoint struct {
	X int          `json:"x"`
	Y fit.Estimate `json:"ns"`
}

// A Drawing is how cells of one kind are drawn as lines, in charts and on pages.
type Drawing struct {
	Kind params.Kind
	// Profiles are the lines of a file's cells of that kind.
	Profiles func([]params.Cell) []*Profile
	Over     Quantity // what they run over
	Least    []string // variants of which the fewest cells that can be drawn are
	// Of charts: what the kind is, a command that draws it, the title, what is drawn
	// and the command that measures it, and what names of panels and lines begin with,
	// in their order.
	About, Example, Title, What, Measure string
	Order                                []string
	Unplaced                             bool // panels say all there is to say of where
	Uncached                             bool // user data are neither in cache nor off it
	// Of pages: the section, what its times are, what of, and what panels and lines
	// are, where the reader chooses.
	Label, Quantity, Of, Panel, Line string
}
