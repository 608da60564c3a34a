// Package decimal reads numbers as programs print them into tables, and tells where a
// file was cut within one.
package decimal

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads digits with or without a point, a sign and an exponent. What Go's own
// syntax has beside these, such as 1_000, 0x1p4, inf and nan, no table means.
func Parse(text string) (float64, error) {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%.40q is no decimal number", text)
	}
	return strconv.ParseFloat(text, 64)
}

// A shape is how many digits a number has behind its point and in its exponent. A
// column has one shape where a program printed it with a fixed number of digits.
type shape struct{ Decimals, Exponent int }

// shapeOf is that of a number.
func shapeOf(text string) (s shape) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	return shape{len(decimals), len(strings.TrimLeft(exponent, "+-"))}
}

// Cut tells whether the last number of a file without a line end may have lost digits:
// it has fewer of them than the number that it should look like, or is a whole number,
// of which nobody can tell.
func Cut(last, like string) bool {
	s, of := shapeOf(last), shapeOf(like)
	return s.Decimals < of.Decimals || s.Exponent < of.Exponent || s == shape{}
}

// Severed tells whether the last number of a file cannot be whole beside the number that it
// should look like: it ends with a point, lacks digits of its exponent or all its decimals, or
// is a zero with fewer of them. With fewer decimals it is off by less than its last digit.
func Severed(last, like string) bool {
	s, of := shapeOf(last), shapeOf(like)
	value, _ := strconv.ParseFloat(last, 64)
	return strings.HasSuffix(last, ".") || s.Exponent < of.Exponent || s.Decimals < of.Decimals && (s.Decimals == 0 || value == 0)
}
