// Package view is what text, charts and pages draw: descriptions without a form.
package view

import (
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Profile is how a time of what surveys measured grows with a size, a
// stride or a rate: a line of a chart.
type Profile struct {
	Kind  params.Kind
	Panel string // lines of one chart have the same: "float64, N = 4K"
	Line  string // "read"
	Where
	Size   int // bytes of the messages of all its points; 0: they have their own, or are none
	Number int // of profiles that have one, the largest is drawn by itself: N of accesses, P of patterns
	Tau    int
	Alike  bool     // a variant: many in a panel are thin lines about their median
	Over   Quantity // what X is
	Time   Quantity // what Y is
	Points []ProfilePoint
}

// Where is where and how a profile was measured: what is empty makes no difference, or the
// panel says it.
type Where struct {
	Setup     string // of transfers
	Placement numa.Policy
	Cache     string // as Cache says it
}

// A Quantity is what an axis shows.
type Quantity string

// The quantities of profiles; times are in ns.
const (
	MessageSize   Quantity = "m, bytes"
	Tau           Quantity = "τ, concurrent transfers"
	ElementStride Quantity = "stride, elements"
	ByteStride    Quantity = "stride d, bytes"
	Bandwidth     Quantity = "bandwidth, GB/s" // given in MB/s, 10⁶ bytes
	Time          Quantity = "time"
	TimeOfElement Quantity = "time of an element"
	Throughput    Quantity = "bandwidth of all τ" // bytes a ns
)

// TauName is what lines and panels of a τ are called.
func TauName(tau int) string { return "τ = " + strconv.Itoa(tau) }

// A ProfilePoint is a time at a size, stride or rate.
type ProfilePoint struct {
	X int
	Y fit.Estimate // ns
}

// ByCell makes profiles of cells that are a point each: place says what it is a point
// of, and where on it; what cells say for themselves is there already. False leaves a
// cell out, one of a newer version.
func ByCell(place func(c params.Cell, p *Profile) (x int, y fit.Estimate, ok bool)) func([]params.Cell) []*Profile {
	type name struct {
		panel, line string
		Where
		tau int
	}
	return func(cells []params.Cell) (profiles []*Profile) {
		found := make(map[name]*Profile)
		for _, c := range cells {
			p := &Profile{Kind: c.Kind, Where: Where{Placement: c.Placement, Cache: Cache(c.OffCache)}, Tau: c.Tau, Over: MessageSize, Time: Time}
			x, y, ok := place(c, p)
			if !ok || !(y.Center > 0) {
				continue
			}
			n := name{p.Panel, p.Line, p.Where, p.Tau}
			if found[n] == nil {
				found[n], profiles = p, append(profiles, p)
			}
			found[n].Points = append(found[n].Points, ProfilePoint{X: x, Y: y})
		}
		for _, p := range profiles {
			slices.SortFunc(p.Points, func(a, b ProfilePoint) int { return a.X - b.X })
		}
		return profiles
	}
}

// A Drawing is how cells of one kind are drawn as lines, in charts and on pages.
type Drawing struct {
	Kind params.Kind
	// Profiles are the lines of a file's cells of that kind.
	Profiles func([]params.Cell) []*Profile

	// Of charts: what users call it, "" where no chart of its own draws it; what it is,
	// a command that draws it, the title, what is drawn and the command that measures
	// it, and what names of panels and lines begin with, in their order.
	Name, About, Example, Title, What, Measure string
	Order                                      []string
	Few                                        bool                // lines or panels are of a τ each, and of many few are drawn by themselves
	OnePanel                                   bool                // panels are of a τ each: of one machine they become one, where τ is the dash
	Setup                                      string              // of those measured the one that is drawn by itself
	Own                                        func(*Profile) bool // what is drawn by itself; nil: all
	Ranks                                      bool                // τ is the number of ranks, P
	// Fitted are those of the sizes that T_s + m·τ_d goes through, where few lines are
	// drawn with theirs; nil: they have none.
	Fitted func(sizes []int) []int

	// Of pages: the section, and what is in it.
	Label string
	Rate  bool // GB/s of all τ together instead of their times
}
