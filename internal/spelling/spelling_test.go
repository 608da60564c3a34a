package spelling

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	known := []string{"recursive-doubling", "ring", "bruck"}
	for name, nearest := range map[string]string{"rnig": "ring", "recursive_doubling": "recursive-doubling", "brucks": "bruck", "": "ring", strings.Repeat("recursive", 1<<20): "recursive-doubling"} {
		if got, want := Suggest(name, known), `did you mean "`+nearest+`"? Known are recursive-doubling, ring, bruck`; got != want {
			t.Errorf("%.40q: %s, want %s", name, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"ring", "ring", 0}, {"", "ring", 4}, {"rnig", "ring", 2}, {"linear_sync", "linear-sync", 0}, {"brucks", "bruck", 1}} {
		if got := Edits(tt.a, tt.b); got != tt.want || Edits(tt.b, tt.a) != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
