// Package spelling says what somebody may have meant who wrote a name that nothing has.
package spelling

import (
	"fmt"
	"strings"
)

// Suggest asks in an error whether the nearest of the known names was meant, if one is near,
// and lists them.
func Suggest(name string, known []string) string {
	list := strings.Join(known, ", ")
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Sprintf("did you mean %q? Known are %s", nearest, list)
	}
	return "known are " + list
}

// Nearest is the candidate that takes the fewest edits to become name, where _ is -, or that
// begins with it; "" where none is near enough to have been meant: half of the letters are
// right at the least.
func Nearest(name string, candidates []string) string {
	name = dashed(name)
	if len(name) < 2 { // one edit leaves nothing of it
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

// Edits is how many letters must be put in, taken out, replaced or exchanged with the next to
// make one name the other, where _ is -.
func Edits(a, b string) int { return edits(dashed(a), dashed(b)) }

// dashed is a name in small letters with - for _, and no more of it than anybody mistypes:
// edits take time ∝ length.
func dashed(name string) string {
	return strings.ToLower(strings.ReplaceAll(name[:min(len(name), 64)], "_", "-"))
}

// edits is the distance between two names (optimal string alignment).
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
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
