package mpibench

import (
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// split reads the columns of a line with commas between them, as some print or save OSU's tables.
func split(text string) []string {
	return lists.Map(strings.Split(text, ","), strings.TrimSpace)
}

// isNumber tells what begins a row, also where a row cannot begin so: 1_000 and 0x10
// are refused, and not taken for what some other program printed.
func isNumber(text string) bool {
	text = strings.ReplaceAll(text, "_", "")
	_, float := strconv.ParseFloat(text, 64)
	_, whole := strconv.ParseInt(text, 0, 64)
	return float == nil || whole == nil
}
