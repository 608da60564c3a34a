// Package decimal reads numbers in tables, and recognises a last number that was cut off.
package decimal

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads digits with an optional point, sign and exponent. It refuses the rest of Go's syntax: 1_000,
// 0x1p4, inf, nan.
func Parse(text string) (float64, error) {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, fmt.Errorf("%.40q is no decimal number", text)
	}
	return strconv.ParseFloat(text, 64)
}

// A shape has the numbers of digits after the point and in the exponent. Programs print the numbers of a
// column with equal shapes.
type shape struct{ Decimals, Exponent int }

func shapeOf(text string) shape {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	return shape{len(decimals), len(strings.TrimLeft(exponent, "+-"))}
}

// Cut reports whether the last number of a file without a line end may have lost digits, compared with a
// number of the same format: it has fewer decimals or exponent digits, or is a whole number, which may always
// have lost some.
func Cut(last, like string) bool {
	s, whole := shapeOf(last), shapeOf(like)
	return s.Decimals < whole.Decimals || s.Exponent < whole.Exponent || s == shape{}
}

// Severed reports whether the last number of a file is unusable: it ends with a point, lacks exponent digits
// or all decimals, or is a zero with fewer decimals. Any other number with fewer decimals is off by less than
// its last digit.
func Severed(last, like string) bool {
	s, whole := shapeOf(last), shapeOf(like)
	value, _ := strconv.ParseFloat(last, 64)
	return strings.HasSuffix(last, ".") || s.Exponent < whole.Exponent || s.Decimals < whole.Decimals && (s.Decimals == 0 || value == 0)
}
