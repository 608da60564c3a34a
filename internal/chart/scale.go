package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// A scale is an axis with its range and ticks.
type scale struct {
	lo, hi      float64
	logarithmic bool
	label       string
	Quantity
	name       string // label without unit
	length     vg.Length
	horizontal bool
	ticks      []plot.Tick
}

// Normalize maps lo … hi to 0 … 1. On a logarithmic axis x ≤ 0 is −1.
func (s scale) Normalize(lo, hi, x float64) float64 {
	if !s.logarithmic {
		return (x - lo) / (hi - lo)
	}
	if x <= 0 {
		return -1
	}
	return math.Log(x/lo) / math.Log(hi/lo)
}

// Ticks are the ticks within the range.
func (s scale) Ticks(lo, hi float64) []plot.Tick {
	slack := 1e-9 * (hi - lo)
	return lists.Filter(s.ticks, func(t plot.Tick) bool { return lo-slack <= t.Value && t.Value <= hi+slack })
}

// manyCounts is the τ or A above which an axis is logarithmic.
const manyCounts = 32

// wideTimes is the ratio of the longest to the shortest time from which on an axis is logarithmic.
const wideTimes = 15

// scaleOf chooses the scale for values. Measured values, at, get a tick each if labels fit into the
// length.
func (a Axis) scaleOf(values, at []float64, length vg.Length, horizontal bool) scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !drawable(v) {
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if math.IsInf(lo, 0) {
		lo, hi = 1, 1
	}
	name, _, _ := strings.Cut(a.Label, ",")
	if strings.Contains(name, "(") {
		name = a.Label // the comma is within brackets: L(m,τ)
	}
	s := scale{lo: lo, hi: hi, Quantity: a.Quantity, name: name, label: a.Label, length: length, horizontal: horizontal}
	switch a.Quantity {
	case Sizes:
		s.sizes(at)
	case Rates:
		s.lo = min(0, s.lo)
		s.widen(1)
		s.even(1e3)
	case Counts:
		s.counts(at)
	case Times:
		unit, scale := view.TimeUnit(hi)
		s.amounts(", "+unit, scale, duration)
	case Bandwidths:
		s.label += ", GB/s"
		s.amounts("", 1, threeDigits)
	case Proportions:
		s.ratios()
	case Fractions, Shares:
		s.lo, s.hi, s.label = min(0, lo), max(0, hi), a.Label+", %"
		s.widen(0.01)
		s.even(0.01)
		for i, t := range s.ticks {
			if t.Value > 0 && a.Quantity == Fractions {
				s.ticks[i].Label = "+" + t.Label
			}
		}
	}
	return s
}

// value is a value with its unit, for pages, which have no predictions.
func (s scale) value(v float64) string {
	switch s.Quantity {
	case Sizes:
		return view.Bytes(int(v))
	case Times:
		return view.Duration(v)
	case Bandwidths:
		return view.Digits(v, 0) + " GB/s"
	case Rates:
		return view.Digits(v/1e3, 0) + " GB/s"
	}
	return printable.Either(v == math.Trunc(v), strconv.FormatFloat(v, 'f', -1, 64), view.Digits(v, 0))
}

func bytesLabel(v float64) string { return view.Bytes(int(v)) }

func threeDigits(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// drawable excludes absurd values, which break axes.
func drawable(v float64) bool { return v == 0 || 1e-100 < math.Abs(v) && math.Abs(v) < 1e100 }

// sizes are the measured ones, or 1, 4, 16 … 1K, 4K …, with as many labels as fit.
func (s *scale) sizes(at []float64) {
	s.logarithmic = true
	if s.lo == s.hi {
		s.lo, s.hi = s.lo/2, s.hi*2
	}
	if s.ticksAt(at, bytesLabel) {
		return
	}
	s.powers(4, bytesLabel, 4, 16, 64, 256, 1024, 1<<20)
	if s.hi/s.lo < 64 {
		s.powers(2, bytesLabel, 2, 4, 16)
	}
}

// powers puts ticks at powers of minor, with labels at powers of the first stride that fits.
func (s *scale) powers(minor float64, label func(float64) string, strides ...float64) {
	for _, stride := range strides {
		s.ticks = nil
		for v := math.Pow(minor, math.Floor(math.Log(s.lo)/math.Log(minor))); v <= s.hi*(1+1e-9); v *= minor {
			t := plot.Tick{Value: v}
			if n := math.Log(v) / math.Log(stride); math.Abs(n-math.Round(n)) < 1e-9 {
				t.Label = label(v)
			}
			s.ticks = append(s.ticks, t)
		}
		if s.room(1) {
			return
		}
	}
}

// room reports whether neighbouring labels have times the room that they need.
func (s *scale) room(times vg.Length) bool {
	need := func(t plot.Tick) vg.Length {
		if s.horizontal {
			return tickStyle.Width(t.Label) + 2
		}
		return 1.6 * tickStyle.Font.Size
	}
	place := func(t plot.Tick) float64 { return s.Normalize(s.lo, s.hi, t.Value) }
	labelled := lists.Filter(s.Ticks(s.lo, s.hi), func(t plot.Tick) bool { return t.Label != "" })
	for i := 1; i < len(labelled); i++ {
		if last, t := labelled[i-1], labelled[i]; s.length/times*vg.Length(place(t)-place(last)) < (need(last)+need(t))/2 {
			return false
		}
	}
	return true
}

// counts puts a tick at every measured τ if labels fit. A(τ) begins at 1, where the channel is serial.
func (s *scale) counts(at []float64) {
	label := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	if !s.horizontal {
		s.lo = min(s.lo, 1)
	}
	first := max(s.lo, 1)
	switch {
	case s.hi > manyCounts:
		s.logarithmic, s.lo = true, max(s.lo, 1e-3)
		s.powers(2, label, 2, 4, 16)
		return
	case s.lo == s.hi:
		s.lo, s.hi = s.lo-1, s.hi+1
	case !s.horizontal:
		s.lo, s.hi = s.lo-0.04*(s.hi-s.lo), s.hi+0.04*(s.hi-s.lo)
	}
	if !s.horizontal || !s.ticksAt(at, label) {
		s.even(1)
		s.include(first, label)
	}
}

// include adds a tick below the others if it fits.
func (s *scale) include(v float64, label func(float64) string) {
	without := s.ticks
	if slices.ContainsFunc(without, func(t plot.Tick) bool { return t.Value == v }) {
		return
	}
	if s.ticks = append([]plot.Tick{{Value: v, Label: label(v)}}, without...); !s.room(1) {
		s.ticks = without
	}
}

// ticksAt puts ticks at values, and reports whether their labels fit.
func (s *scale) ticksAt(values []float64, label func(float64) string) bool {
	s.ticks = lists.Map(lists.Rising(values), func(v float64) plot.Tick { return plot.Tick{Value: v, Label: label(v)} })
	return s.room(1)
}

// amounts is linear from zero in a unit of the given size, or logarithmic from wideTimes on.
func (s *scale) amounts(unit string, size float64, label func(float64) string) {
	if s.lo > 0 && s.hi/s.lo >= wideTimes {
		s.decades(label)
		return
	}
	s.label += unit
	if s.lo, s.hi = 0, s.hi*1.05; s.hi <= 0 {
		s.hi = size
	}
	s.even(size)
}

// decades puts ticks at all digits of each decade, and labels some.
func (s *scale) decades(label func(float64) string) {
	s.logarithmic = true
	s.lo, s.hi = s.lo/1.1, s.hi*1.1
	for _, labelled := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		s.ticks = nil
		for exponent := math.Floor(math.Log10(s.lo)); exponent <= math.Log10(s.hi); exponent++ {
			for n := 1.0; n < 10; n++ {
				t := plot.Tick{Value: n * math.Pow(10, exponent)}
				if slices.Contains(labelled, n) {
					t.Label = label(t.Value)
				}
				s.ticks = append(s.ticks, t)
			}
		}
		if s.room(1.3) {
			return
		}
	}
}

func duration(ns float64) string {
	unit, scale := view.TimeUnit(ns)
	return threeDigits(ns/scale) + " " + unit
}

// ratios are customary ratios.
func (s *scale) ratios() {
	s.logarithmic = true
	s.lo, s.hi = min(s.lo, 1), max(s.hi, 1)
	s.lo, s.hi = s.lo/1.05, s.hi*1.05
	if s.lo <= 0 {
		s.lo = s.hi / 1e3
	}
	for _, steps := range [][]float64{
		{0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15},
		{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2},
		{0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4},
		{0.125, 0.25, 0.5, 1, 2, 4, 8, 16},
	} {
		if first, last := steps[0], steps[len(steps)-1]; first/1.3 < s.lo && s.hi < last*1.3 && s.ticksAt(steps, threeDigits) {
			return
		}
	}
	s.powers(2, func(v float64) string {
		return printable.Either(v < 1, "1/"+strconv.FormatFloat(1/v, 'g', 6, 64), strconv.FormatFloat(v, 'g', 6, 64))
	}, 2, 4, 16, 256, 65536)
}

// widen adds 5 % above, and below negative values; a unit on both sides of a single value.
func (s *scale) widen(unit float64) {
	if s.lo == s.hi {
		s.lo, s.hi = s.lo-unit, s.hi+unit
	}
	room := 0.05 * (s.hi - s.lo)
	if s.lo < 0 {
		s.lo -= room
	}
	s.hi += room
}

// widenBy adds room at both ends of an axis for series drawn beside their X.
func (s *scale) widenBy(room vg.Length) {
	if room == 0 {
		return
	}
	share := float64((room + markRadius) / s.length)
	if s.logarithmic {
		f := math.Pow(s.hi/s.lo, share)
		s.lo, s.hi = s.lo/f, s.hi*f
		return
	}
	by := share * (s.hi - s.lo)
	s.lo, s.hi = s.lo-by, s.hi+by
}

// even puts ticks at multiples of 1, 2 or 5 times a power of ten units, eight at most.
func (s *scale) even(unit float64) {
	lo, hi := s.lo/unit, s.hi/unit
	for exponent := math.Floor(math.Log10(hi-lo)) - 1; ; exponent++ {
		for _, n := range []float64{1, 2, 5} {
			step := n * math.Pow(10, exponent)
			s.ticks = nil
			for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
				v := i*step + 0 // no −0
				label := strconv.FormatFloat(v, 'f', max(0, int(-exponent)), 64)
				s.ticks = append(s.ticks, plot.Tick{Value: v * unit, Label: strings.Replace(label, "-", "−", 1)})
			}
			if len(s.ticks) <= 8 && s.room(1.2) {
				return
			}
		}
	}
}
