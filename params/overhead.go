package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// An Overhead is o(m), ns: the time before the first byte of a message of Bytes moves. From a measured
// message it is T(m) less its transfers, eq. (9) of taulop-2015, and negative if they take longer.
type Overhead struct {
	Bytes     int
	Placement numa.Policy // of the cell: the nearest to the selection's
	OffCache  bool
	Message   fit.Estimate // T(m), ns; its centre is NaN if o(m) does not come from messages
	Time      fit.Estimate
}

// Exchanging is the τ of o(m) of two ranks that exchange messages.
const Exchanging = 2

// OfOverheads are the kinds of cells that o(m) comes from.
var OfOverheads = []Kind{OverheadCell, MessageCell, ExchangeCell}

// Overheads are o(m), m rising, of a selection's placement and state of the cache, or the nearest to
// them. Their source is the first that the file has of: messages of an MPI library, segmented messages
// of taulop, published o(m). Single copies have o(m) from a library alone. A message of k segments has
// two transfers alone and k−1 of two at once, eq. (10): the former are Isolated, corrected by Alone, the
// latter ping's, or those of the plan's first setup if ping was not measured.
func (f *File) Overheads(s Selection) (all []Overhead) {
	var kind func(*Cell) bool
	for _, kind = range []func(*Cell) bool{
		func(c *Cell) bool {
			return c.Kind == MessageCell && c.Variant != Segmented && s.Transport == InSegments
		},
		func(c *Cell) bool { return c.Kind == MessageCell && s.Transport == InSegments },
		func(c *Cell) bool { return c.Kind == OverheadCell && c.Transport == s.Transport && c.Tau < Exchanging },
	} {
		if slices.ContainsFunc(f.Cells, func(c Cell) bool { return kind(&c) }) {
			break
		}
	}
	return f.beyond(kind, s)
}

// ExchangeOverheads are o(m) of ranks that exchange messages, as Overheads: the time of an exchange
// over idle channels less its transfers, of sendrecv or else of ring; or an MPI library's overhead.
// Ranks take turns in consecutive exchanges, which hides the latency of flags, but consecutive empty
// exchanges take longer than one alone. So o(m) may be negative.
func (f *File) ExchangeOverheads(s Selection) []Overhead {
	return f.beyond(func(c *Cell) bool {
		return c.Kind == ExchangeCell && s.Transport == InSegments || c.Kind == OverheadCell && c.Transport == s.Transport && c.Tau == Exchanging
	}, s)
}

// OfLibrary reports whether o(m) is an MPI library's or published, not a sweep's.
func (f *File) OfLibrary() bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Kind == OverheadCell && c.Tau <= Exchanging })
}

// beyond are the o(m) of matching cells.
func (f *File) beyond(match func(*Cell) bool, s Selection) (all []Overhead) {
	s = f.fill(s)
	chosen := f.nearest(s.Placement, s.OffCache, match)
	for i := range f.Cells {
		c := &f.Cells[i]
		if !match(c) || !chosen(c) || c.Kind == ExchangeCell && !(c.Time.Center > 0) {
			continue
		}
		o := Overhead{Bytes: c.Bytes, Placement: c.Placement, OffCache: c.OffCache, Message: fit.Median(nil), Time: c.Time}
		if c.Kind != OverheadCell {
			var known bool
			if o.Time, known = f.beyondTransfers(c, s); !known {
				continue
			}
			o.Message = c.Time
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b Overhead) int { return a.Bytes - b.Bytes })
	return slices.CompactFunc(all, func(a, b Overhead) bool { return a.Bytes == b.Bytes })
}

// beyondTransfers is the time of a message less its transfers; unknown if these were not measured.
func (f *File) beyondTransfers(message *Cell, s Selection) (o fit.Estimate, known bool) {
	var parts []Part
	add := func(times int, setup string, tau int) bool {
		s.Setup = setup
		c := f.transfer(s, message, tau)
		if c == nil {
			return false
		}
		c = f.Alone(c)
		parts = append(parts, Part{c, float64(times) / float64(max(1, c.Transfers)*max(1, c.K))})
		return true
	}
	k := 1
	if size := s.SegmentBytes; size > 0 {
		k = max(1, (message.Bytes+size-1)/size)
	}
	if message.Kind == ExchangeCell {
		known = add(2*k, Sendrecv, 2) || add(2*k, Ring, 2)
		return message.Less(f, parts...), known
	}
	pairs := k > 1 && (add(k-1, Ping, 2) || len(f.Plan.Setups) > 0 && add(k-1, f.Plan.Setups[0], 2))
	if k > 1 && !pairs || !add(2, Isolated, 1) {
		return o, false
	}
	return message.Less(f, parts...), true
}

// A Part is a cell's time with a factor.
type Part struct {
	*Cell
	Times float64
}

// Less is the cell's time less its parts, paired by launch and state: effects on a whole launch cancel.
// If no launch visited all of them, it is the difference of the estimates.
func (c *Cell) Less(f *File, parts ...Part) fit.Estimate {
	sorting, left := f.Sort(), *c
	left.Samples = nil
	for _, s := range c.Samples {
		paired := s.Launch != Unlaunched
		for _, p := range parts {
			t := lists.Find(p.Samples, func(t Sample) bool { return sorting.together(s, t) })
			if paired = paired && t != nil; paired {
				s.NS -= p.Times * t.NS
			}
		}
		if paired {
			left.Samples = append(left.Samples, s)
		}
	}
	if len(left.Samples) > 0 {
		return sorting.Estimate(&left)
	}
	e := c.Time
	for _, p := range parts {
		e = e.Sub(p.Time.Scale(p.Times))
	}
	return e
}

// transfer is the cell of a message's transfers, or one interpolated between other sizes; nil if there
// are none.
func (f *File) transfer(s Selection, message *Cell, tau int) *Cell {
	at := Key{Kind: TransferCell, Setup: s.Setup, Placement: message.Placement, OffCache: message.OffCache, Tau: tau, Bytes: message.Bytes}
	if message.Bytes == 0 {
		at.Kind, at.OffCache = NullCell, false
	}
	over := f.over(s)
	g := f.grid(func(c *Cell) bool {
		return c.Kind == at.Kind && c.Setup == at.Setup && c.Placement == at.Placement && c.OffCache == at.OffCache && c.Tau == tau && over(c)
	})
	if c := g.cells[[2]int{at.Bytes, tau}]; c != nil || len(g.cells) == 0 {
		return c
	}
	curve, _ := g.curve(s.Setup, Cell.Segment) // one τ: no cell is missing
	seconds, _ := curve.At(at.Bytes, tau)
	return &Cell{Key: at, K: 1, Transfers: 1, Time: fit.Unbounded(1e9 * seconds)}
}

// BelowZero says at which sizes o(m) is negative, with its whole interval if that is known, and counts
// as 0; nil if there are none. It names the placement and state of the cache that Overheads took.
func (f *File) BelowZero(s Selection) error {
	s = f.fill(s)
	placement, offCache := s.Placement, s.OffCache
	var below, unsure []string
	for _, o := range f.Overheads(s) {
		placement, offCache = cmp.Or(o.Placement, placement), o.OffCache
		switch {
		case o.Time.Known() && o.Time.Hi < 0:
			below = append(below, overheadText(o.Time)+" ns of m = "+printable.Bytes(o.Bytes))
		case !o.Time.Known() && o.Time.Center < 0:
			unsure = append(unsure, "m = "+printable.Bytes(o.Bytes))
		}
	}
	var all []string
	if len(below) > 0 {
		all = append(all, "is below zero ("+Where(placement, offCache)+"), "+abridged(below)+
			": a message alone took less than its transfers")
	}
	if len(unsure) > 0 {
		all = append(all, "seems to be below zero ("+Where(placement, offCache)+") at "+abridged(unsure)+
			", with too few samples to tell")
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New("o(m) " + strings.Join(all, ", and ") + "; it counts as 0 there")
}

// overheadText writes whole ns, and one decimal below 1 ns.
func overheadText(e fit.Estimate) string {
	ns := func(v float64) string {
		return printable.Either(math.Abs(v) < 1, fmt.Sprintf("%.1f", v), fmt.Sprintf("%.0f", v))
	}
	return ns(e.Center) + printable.If(e.Lo != e.Hi, fmt.Sprintf(" [%s, %s]", ns(e.Lo), ns(e.Hi)))
}

// overheads is o(m) in seconds at each size, 0 if there is none or it is negative.
func overheads(all []Overhead, sizes []int) []float64 {
	for i := range all {
		all[i].Time.Center = max(0, all[i].Time.Center)
	}
	return lists.Map(sizes, func(m int) float64 { return OverheadAt(all, m) })
}

// OverheadAt is o(m) in seconds, interpolated between sizes, m rising: 0 without any, constant beyond the
// last, because the time before the first byte moves does not depend on the rest.
func OverheadAt(all []Overhead, m int) float64 {
	if len(all) == 0 {
		return 0
	}
	sizes := lists.Map(all, func(o Overhead) int { return o.Bytes })
	return levelOff(sizes, lists.Map(all, func(o Overhead) float64 { return seconds(o.Time.Center) }), m)
}
