package spelling

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	known := []string{"recursive-doubling", "ring", "bruck"}
	for name, nearest := range map[string]string{"rnig": "ring", "recursive_doubling": "recursive-doubling", "brucks": "bruck", "rec": "recursive-doubling"} {
		if got, want := Suggest(name, known), `did you mean "`+nearest+`"? Known are recursive-doubling, ring, bruck`; got != want {
			t.Errorf("%.40q: %s, want %s", name, got, want)
		}
	}
}

// What has little in common with any name is not said to be one.
func TestNearNothing(t *testing.T) {
	known := []string{"o", "op", "json", "ring", "csv"}
	for _, name := range []string{"", "x", "xx", "np", "abc", "frobnicate", strings.Repeat("ring", 1<<20)} {
		if got := Nearest(name, known); got != "" {
			t.Errorf("%.40q: %q", name, got)
		}
	}
	if got, want := Suggest("xx", known), "known are o, op, json, ring, csv"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{"oo": "o", "jsn": "json", "cvs": "csv", "js": "json"} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"ring", "ring", 0}, {"", "ring", 4}, {"rnig", "ring", 1}, {"linear_sync", "linear-sync", 0}, {"brucks", "bruck", 1}} {
		if got := Edits(tt.a, tt.b); got != tt.want || Edits(tt.b, tt.a) != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
