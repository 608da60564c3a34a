package params

import (
	"strings"
	"testing"
)

// What is called off cache is refused for a placement and τ where half of the launches had
// more in a cache, and not for one launch that a neighbour disturbed.
func TestInCache(t *testing.T) {
	launch := func(loads ...Loads) Launch { return Launch{Loads: loads} }
	memory, cache := func(tau int) Loads { return Loads{"local", tau, 112, 116, 4.4, 0} }, func(tau int) Loads { return Loads{"local", tau, 60, 116, 4.4, 0} }
	for _, tt := range []struct {
		launches []Launch
		want     string
	}{
		{nil, ""},
		{[]Launch{launch(), launch()}, ""},
		{[]Launch{launch(memory(1), memory(2)), launch(memory(1), cache(2)), launch(memory(2), memory(1))}, ""},
		{[]Launch{launch(memory(1), cache(2)), launch(cache(2), cache(1)), launch(memory(1), memory(2))},
			"in placement local, τ = 2: a cache held 50 % of what messages came to next, of which a read took 60 ns, and from memory 116 ns"},
		{[]Launch{launch(cache(1), cache(2))}, "in placement local, τ = 1, and in 1 more"},
	} {
		f := &File{Launches: tt.launches}
		err := f.InCache()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.launches, err, tt.want)
		}
	}
	for _, l := range []Loads{{"local", 1, 5, 5, 4, 0}, {"local", 1, 5, 5, 0, 0}, {"local", 0, 9, 9, 1, 0}, {"a\nb", 1, 9, 9, 1, 0}, {"local", 1, -1, 9, 1, 0}} {
		if err := (&Launch{Began: "2026-11-21T20:15:00Z", Loads: []Loads{l}}).Check(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if err := (&Launch{Began: "2026-11-21T20:15:00Z", Loads: []Loads{memory(2)}}).Check(); err != nil {
		t.Error(err)
	}
}
