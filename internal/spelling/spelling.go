// Package spelling suggests known names for a misspelt one.
package spelling

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// Suggest is the end of an error about an unknown name: the nearest known name, if any is near,
// and the list of all.
func Suggest(name string, known []string) string {
	list := strings.Join(known, ", ")
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Sprintf("did you mean %q? Known are %s", nearest, list)
	}
	return "known are " + list
}

// Nearest is the candidate with the fewest edits to name, or one that begins with name. An
// underscore equals a dash. "" if every candidate differs in more than half of the letters.
func Nearest(name string, candidates []string) string {
	name = dashed(name)
	if len(name) < 2 { // one edit removes it
		return ""
	}
	nearest, fewest := "", len(name)/2+1
	for _, c := range candidates {
		n := edits(name, dashed(c))
		if len(c) > len(name)+1 && strings.HasPrefix(dashed(c), name) {
			n = min(n, 1)
		}
		if n < fewest && (len(name) > 2 || len(c) != 2) {
			nearest, fewest = c, n
		}
	}
	return nearest
}

// Edits is the number of insertions, deletions, replacements and swaps of neighbouring letters
// between two names. An underscore equals a dash.
func Edits(a, b string) int { return edits(dashed(a), dashed(b)) }

// dashed is a name in lower case with dashes for underscores. Only the first 64 bytes count,
// because the time of edits grows with the length.
func dashed(name string) string {
	return strings.ToLower(strings.ReplaceAll(name[:min(len(name), 64)], "_", "-"))
}

// edits is the distance between two names (optimal string alignment).
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), lists.Indices(len(b)+1)
	for i := range len(a) {
		above := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = above
	}
	return row[len(b)]
}
