package compare

import (
	"slices"
	"testing"
)

func TestDistinguish(t *testing.T) {
	for _, test := range []struct{ hosts, paths, want []string }{
		{[]string{"a", "b"}, []string{"f", "g"}, []string{"a", "b"}},
		{[]string{"a", "a"}, []string{"x/f.json", "x/g.json"}, []string{"f.json", "g.json"}},
		{[]string{"a", "a", "a"}, []string{"/x/1/f", "/x/2/f", "g"}, []string{"1/f", "2/f", "g"}},
		{[]string{"a", "a"}, []string{"f", "x/f"}, []string{"f", "x/f"}},
		{[]string{"a", "b", "a"}, []string{"x/f", "g", "y/f"}, []string{"a (x/f)", "b", "a (y/f)"}},
	} {
		if got := distinguish(test.hosts, test.paths); !slices.Equal(got, test.want) {
			t.Errorf("hosts %q of files %q are called %q, want %q", test.hosts, test.paths, got, test.want)
		}
	}
}
