// Package view has tables, matrices and profiles, which text, charts and pages render.
package view

import (
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Profile is a time of a survey over a size, a stride or a rate: a line of a chart.
type Profile struct {
	Kind  params.Kind
	Panel string // of the chart: "float64, N = 4K"
	Line  string // "read"
	Where
	Size   int // message size of all points; 0: points have sizes of their own, or no messages
	Number int // N of accesses, P of patterns: by default the largest is drawn
	Tau    int
	Alike  bool     // a variant: many in a panel are thin lines about their median
	Over   Quantity // of X
	Time   Quantity // of Y
	Points []ProfilePoint
}

// Where is the setup, placement and cache of a profile, "" where the kind has none or the panel names it.
type Where struct {
	Setup     string // of transfers
	Placement numa.Policy
	Cache     string // as from Cache
}

// A Quantity is the label of an axis.
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

// TauName is the name of lines and panels of one τ.
func TauName(tau int) string { return "τ = " + strconv.Itoa(tau) }

// A ProfilePoint is a time at a size, stride or rate.
type ProfilePoint struct {
	X int
	Y fit.Estimate // ns
}

// ByCell makes profiles with a point for each cell. place completes the profile, which has the cell's
// kind, placement, cache and τ, and returns the point; false leaves the cell out.
func ByCell(place func(c params.Cell, p *Profile) (x int, y fit.Estimate, ok bool)) func([]params.Cell) []Profile {
	return func(cells []params.Cell) []Profile {
		var points []Profile
		for _, c := range cells {
			p := Profile{Kind: c.Kind, Where: Where{Placement: c.Placement, Cache: Cache(c.OffCache)}, Tau: c.Tau, Over: MessageSize, Time: Time}
			if x, y, ok := place(c, &p); ok && y.Center > 0 {
				p.Points = []ProfilePoint{{x, y}}
				points = append(points, p)
			}
		}
		all := Gathered(points)
		for _, p := range all {
			slices.SortFunc(p.Points, func(a, b ProfilePoint) int { return a.X - b.X })
		}
		return all
	}
}

// Gathered joins profiles of one kind that are alike but for their points.
func Gathered(profiles []Profile) []Profile {
	type identity struct {
		panel, line string
		Where
		size, tau int
	}
	like := func(p Profile) identity { return identity{p.Panel, p.Line, p.Where, p.Size, p.Tau} }
	return lists.Map(lists.Groups(profiles, like), func(alike []Profile) Profile {
		all := alike[0]
		all.Points = lists.Concat(alike, func(p Profile) []ProfilePoint { return p.Points })
		return all
	})
}

// A Drawing says how cells of one kind are drawn as lines, in charts and on pages.
type Drawing struct {
	Kind     params.Kind
	Profiles func([]params.Cell) []Profile // of a file's cells of that kind

	// Of charts.
	Name     string // of the chart; "": there is none
	About    string // a description of the chart
	Example  string // a command that draws it
	Title    string
	Rate     string             // title in GB/s of all τ together, which pages show where it is set
	What     string             // is drawn, in sentences: "transfers of a disk"
	Measure  string             // the command that measures it
	Order    []string           // of panels and lines, by the prefixes of their names
	Few      bool               // lines or panels have a τ each, and a few τ are drawn by default
	OnePanel bool               // panels have a τ each; for one machine they are merged, and τ is the dash
	Setup    string             // drawn by default
	Own      func(Profile) bool // drawn by default; nil: all
	Ranks    bool               // τ is the number of ranks, P
	// Fitted selects the sizes that T_s + m·τ_d is fitted to, which is drawn beside few lines; nil: no fit.
	Fitted func(sizes []int) []int

	// Of pages.
	Label string // of the section
}
