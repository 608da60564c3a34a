package spelling

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

func TestSuggest(t *testing.T) {
	known := []string{"recursive-doubling", "ring", "bruck"}
	for name, nearest := range map[string]string{"rnig": "ring", "recursive_doubling": "recursive-doubling", "brucks": "bruck", "rec": "recursive-doubling"} {
		check.Equal(t, Suggest(name, known), `did you mean "`+nearest+`"? Known are recursive-doubling, ring, bruck`, "%.40q", name)
	}
}

// What has little in common with any name is not said to be one.
func TestNearNothing(t *testing.T) {
	known := []string{"o", "op", "json", "ring", "csv"}
	for _, name := range []string{"", "x", "xx", "np", "abc", "frobnicate", strings.Repeat("ring", 1<<20)} {
		check.Equal(t, Nearest(name, known), "", "%.40q", name)
	}
	check.Equal(t, Suggest("xx", known), "known are o, op, json, ring, csv", "Suggest")
	for name, want := range map[string]string{"oo": "o", "jsn": "json", "cvs": "csv", "js": "json"} {
		check.Equal(t, Nearest(name, known), want, "%q", name)
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"ring", "ring", 0}, {"", "ring", 4}, {"rnig", "ring", 1}, {"linear_sync", "linear-sync", 0}, {"brucks", "bruck", 1}} {
		got := Edits(tt.a, tt.b)
		check.True(t, got == tt.want && Edits(tt.b, tt.a) == tt.want, "%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
	}
}
