package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/printable"
)

// Digits formats v, known to within ±uncertainty. The last decimal is at most ten times smaller than the
// uncertainty; the last digit of a whole number that is not 0 at most a hundred times. A number with more
// than three decimals has three digits.
func Digits(v, uncertainty float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "?"
	}
	three := 0 // decimals that make three digits
	if v != 0 {
		three = 2 - int(math.Floor(math.Log10(math.Abs(v))))
	}
	places := three
	if uncertainty > 0 && !math.IsInf(uncertainty, 0) {
		places = int(math.Ceil(-math.Log10(uncertainty)))
	}
	if places < -1 {
		unit := math.Pow10(-places - 1)
		v = math.Round(v/unit) * unit
	}
	text := fmt.Sprintf("%.*f", min(max(places, 0), max(three, 3), 9), v)
	if strings.Trim(text, "-0.") == "" { // no -0
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

// Center formats an estimate's centre with the digits that its interval leaves, or with three digits if
// there are too few samples for an interval.
func Center(e fit.Estimate) string {
	if !e.Known() && e.N > 0 && math.Abs(e.Center) >= 1000 {
		return Digits(e.Center, math.Pow10(int(math.Log10(math.Abs(e.Center)))-1))
	}
	half := (e.Hi - e.Lo) / 2
	if math.Abs(e.Center) >= 1 && !math.IsInf(half, 0) { // a wide interval does not make 0 of a whole number
		half = min(half, 2*math.Abs(e.Center))
	}
	return Digits(e.Center, half)
}

// Few marks a value that has samples, but too few for an interval; "" for others. NoteFew explains it.
func Few(e fit.Estimate) string { return printable.If(e.N > 0 && !e.Known(), fewMark) }

const fewMark = "≈"

// Rough formats an estimate's centre as Center does, but with at least two digits unless the interval is wider
// than twenty times the centre.
func Rough(e fit.Estimate) string {
	half := (e.Hi - e.Lo) / 2
	return printable.Either(half > 10*e.Center && e.Known(), Center(e), Digits(e.Center, min(e.Center/10, half)))
}

// Interval formats the bounds of an estimate: [3780, 3810]. Where rounded bounds would leave the centre out they
// have the digits of Rough.
func Interval(e fit.Estimate) string {
	if !e.Known() {
		return "[too few samples]"
	}
	bounds := func(uncertainty float64) (lo, hi string) { return Digits(e.Lo, uncertainty), Digits(e.Hi, uncertainty) }
	half := (e.Hi - e.Lo) / 2
	lo, hi := bounds(half)
	least, _ := strconv.ParseFloat(lo, 64)
	most, _ := strconv.ParseFloat(hi, 64)
	if least > e.Center || most < e.Center {
		lo, hi = bounds(min(math.Abs(e.Center)/10, half))
	}
	return fmt.Sprintf("[%s, %s]", lo, hi)
}

// Known formats an estimate with a unit and its interval; a published time has none.
func Known(e fit.Estimate, unit string) string {
	return printable.Either(e.N == 0 && !e.Known(), Center(e)+unit, Rough(e)+unit+" "+Interval(e))
}

// Timed formats a time in ns with its interval in the unit of TimeUnit: 3.79 µs [3.78, 3.81].
func Timed(e fit.Estimate) string {
	unit, scale := TimeUnit(e.Center)
	return Known(e.Scale(1/scale), " "+unit)
}

// HalfWidth formats a relative half-width: ±9 %; above 1 it is ±>100 %.
func HalfWidth(share float64) string {
	switch {
	case !(share <= 1):
		return "±>100 %"
	case share < 0.01:
		return fmt.Sprintf("±%.1f %%", 100*share)
	}
	return fmt.Sprintf("±%.0f %%", 100*share)
}

// Within formats an estimate's centre and half-width, if that is known: 571 ±9 %; "" for NaN. A wide interval
// leaves the centre the digits of Rough.
func Within(e fit.Estimate) string {
	switch {
	case math.IsNaN(e.Center):
		return ""
	case !e.Known() || e.Lo == e.Hi:
		return Digits(e.Center, 0)
	}
	return Rough(e) + " " + HalfWidth(e.Width())
}

// Coefficient formats a fitted number with its standard error; - if it is held at 0.
func Coefficient(c fit.Coefficient) string {
	switch {
	case c.Held:
		return "-"
	case c.Error == 0:
		return Digits(c.Value, 0)
	}
	return fmt.Sprintf("%s ± %s", Digits(c.Value, c.Error/2), Digits(c.Error, c.Error/2))
}

// TimeUnit is the unit in which a time has one to three digits before the point, and the unit in ns.
func TimeUnit(ns float64) (name string, scale float64) {
	switch near := ns * (1 + 1e-9); {
	case near >= 1e9:
		return "s", 1e9
	case near >= 1e6:
		return "ms", 1e6
	case near >= 1e3:
		return "µs", 1e3
	}
	return "ns", 1
}

// Duration writes a time in ns in the unit of TimeUnit.
func Duration(ns float64) string {
	unit, scale := TimeUnit(ns)
	return Digits(ns/scale, 0) + " " + unit
}

// Bytes writes a size with a binary prefix if it is a multiple: 8K, 1536, 4M.
func Bytes(n int) string { return printable.Bytes(n) }

// ByteUnit is the unit to write n bytes in, and its bytes. Each larger unit is step times the one before, and is taken
// if n is that many, from, of the one before or more.
func ByteUnit(n, from, step float64, larger ...string) (unit string, bytes float64) {
	unit, bytes = "B", 1
	for _, next := range larger {
		if n >= from*bytes {
			unit, bytes = next, step*bytes
		}
	}
	return unit, bytes
}

// Size writes a size in a sentence: 8K, 100 B.
func Size(n int) string {
	text := Bytes(n)
	return text + printable.If(strings.Trim(text, "0123456789") == "", " B")
}

// Capital writes the first letter, which is ASCII, as a capital.
func Capital(sentence string) string { return strings.ToUpper(sentence[:1]) + sentence[1:] }

// Cache is where user buffers are.
func Cache(off bool) string { return printable.Cache(off) }
