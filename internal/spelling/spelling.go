// Package spelling says what somebody may have meant who wrote a name that nothing has.
package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// Suggest asks in an error whether the nearest of the known names was meant, and lists them.
func Suggest(name string, known []string) string {
	return fmt.Sprintf("did you mean %q? Known are %s", Nearest(name, known), strings.Join(known, ", "))
}

// Nearest is the candidate that takes the fewest edits to become name, where _ is -.
func Nearest(name string, candidates []string) string {
	name = dashed(name)
	return slices.MinFunc(candidates, func(a, b string) int { return edits(name, dashed(a)) - edits(name, dashed(b)) })
}

// Edits is how many letters must be put in, taken out or replaced to make one name the
// other, where _ is -.
func Edits(a, b string) int { return edits(dashed(a), dashed(b)) }

// dashed is a name with - for _, and no more of it than anybody mistypes: edits take time
// ∝ length.
func dashed(name string) string {
	return strings.ReplaceAll(name[:min(len(name), 64)], "_", "-")
}

// edits is the Levenshtein distance between two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
