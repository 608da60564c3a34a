package mpibench

import (
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// split reads the columns of a line with commas between them, as some print or save OSU's tables.
func split(text string) []string {
	return lists.Map(strings.Split(text, ","), strings.TrimSpace)
}
