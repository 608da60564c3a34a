// Package compare compares machines: the cost of concurrent transfers, how many each carries, and
// whether differences are significant.
//
// Its opinion: only curves of the same setup, placement, state of the cache and message size are
// compared; a difference that a test does not find is none; values without samples are compared, but
// never called significant.
package compare

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Channel identifies comparable curves.
type Channel struct {
	Setup     string      `json:"setup"`
	Placement numa.Policy `json:"placement"`
	OffCache  bool        `json:"off_cache"`
	Bytes     int         `json:"m_bytes"` // of a message
}

// String names the channel in a sentence, without its size.
func (c Channel) String() string {
	return fmt.Sprintf("%s, placement %s, %s", c.Setup, c.Placement, view.Cache(c.OffCache))
}

// Key is the key of τ transfers in the channel.
func (c Channel) Key(tau int) params.Key {
	return params.Key{Kind: params.TransferCell, Setup: c.Setup, Placement: c.Placement, OffCache: c.OffCache, Tau: tau, Bytes: c.Bytes}
}

// A Curve is one machine's L(m,τ) over τ. A message of more than a segment counts as a whole, as in
// params.File.Table.
type Curve struct {
	Machine  string `json:"machine"`
	Channel  `json:"-"`
	Segment  bool    `json:"-"`        // m is the size S of the segments that messages travel in
	Isolated bool    `json:"isolated"` // L(m,1) is that between two processes, not the setup's own
	Points   []Point `json:"points"`   // τ rising
}

// A Point is a curve at one τ.
type Point struct {
	Tau       int          `json:"tau"`
	L         fit.Estimate `json:"L_ns"`          // L(m,τ); Center is NaN where the file has a time of 0
	Bandwidth fit.Estimate `json:"bandwidth_GBs"` // of all together, τ·m/L(m,τ): bytes a ns, 10⁹ bytes a second
	A         fit.Estimate `json:"A"`             // memory concurrency τ·L(m,1)/L(m,τ); Center is NaN where L(m,1) or L(m,τ) is not known
	// L by session and launch, in ns; nil where the file has none. A's are of launches that
	// measured both of its times, so that differences between launches cancel.
	Replicates  fit.Replicates `json:"-"`
	AReplicates fit.Replicates `json:"-"`
	// Ratio is to the first machine; nil for the first itself, and if that lacks this τ or has another
	// kind of L(m,1).
	Ratio *Ratio `json:"to_first,omitempty"`
}

// Curves are all transfers of a machine by setup, placement, cache (in before off) and m. L(m,1) is the
// transfer between two processes (setup "isolated") if the file has it. Without transfers it fails.
func Curves(name string, f *params.File) ([]Curve, error) { return curvesOf(name, f, f.Transfers()) }

func curvesOf(name string, f *params.File, transfers []params.Transfers) ([]Curve, error) {
	var curves []Curve
	isolated := slices.ContainsFunc(f.Cells, func(c params.Cell) bool { return c.Kind == params.TransferCell && c.Setup == params.Isolated })
	for _, t := range transfers {
		c := Curve{
			Machine: name, Segment: t.Bytes == f.Plan.SegmentBytes,
			Channel: Channel{t.Setup, t.Placement, t.OffCache, t.Bytes},
		}
		first := t.Cells[0]
		c.Isolated = first.Setup == params.Isolated || first.Setup == params.Published && first.Tau == 1
		for _, cell := range t.Cells {
			p := Point{Tau: cell.Tau, L: known(cell.Whole()), A: fit.Median(nil), Replicates: cell.Replicates(f)}
			p.Replicates.Scale(1 / float64(max(1, cell.Transfers)))
			p.Bandwidth = p.L.Rate(float64(p.Tau) * float64(t.Bytes))
			if first.Tau == 1 && first.Time.Center > 0 && (c.Isolated || !isolated) { // a ring of one worker is not L(m,1)
				p.A, p.AReplicates = Concurrency(f, first, cell)
			}
			c.Points = append(c.Points, p)
		}
		curves = append(curves, c)
	}
	if len(curves) == 0 && f.OfLevels() {
		return nil, fmt.Errorf("%s has messages by levels and no transfers, L(m,τ): put the machines side by side with taulop predict", name)
	}
	if len(curves) == 0 {
		return nil, fmt.Errorf("%s has no transfers, L(m,τ): measure them with taulop sweep", name)
	}
	return curves, nil
}

// Concurrency is A(τ) = τ·L(m,1)/L(m,τ) of a cell, where one has L(m,1): the median of ratios within
// launches if they suffice for an interval, else the ratio of medians.
func Concurrency(f *params.File, one, cell *params.Cell) (A fit.Estimate, ratios fit.Replicates) {
	A = fit.Concurrency(cell.Tau, one.Whole(), known(cell.Whole()))
	ratios = params.Paired(f, one, cell)
	ratios.Scale(float64(cell.Tau) * float64(max(1, cell.Transfers)) / float64(max(1, one.Transfers)))
	if paired := ratios.Estimate(); paired.Known() {
		A = paired
	}
	if cell.Tau == 1 { // by definition
		A.Lo, A.Hi = 1, 1
	}
	return A, ratios
}

// Bare removes the samples, which are most of the curves' memory.
func Bare(curves []Curve) {
	for _, c := range curves {
		for i := range c.Points {
			c.Points[i].Replicates, c.Points[i].AReplicates = nil, nil
		}
	}
}

// known makes times of 0 unknown, which some published files have: they were below the clock's resolution.
func known(L fit.Estimate) fit.Estimate {
	if L.Center > 0 {
		return L
	}
	return fit.Median(nil)
}

// At is the point of a τ.
func (c *Curve) At(tau int) (p Point, measured bool) {
	if p := lists.Find(c.Points, func(p Point) bool { return p.Tau == tau }); p != nil {
		return *p, true
	}
	return Point{}, false
}
