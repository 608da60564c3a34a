package strides

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// On machines of all kinds every CPU is at some level of the first, and no level is
// there twice.
func TestSnapshots(t *testing.T) {
	for _, name := range snapshot.Few(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Get(numa.Discover(snapshot.Unpack(t, name)))
			pairs := Pairs(m)
			if (len(pairs) == 0) != (m.Allowed.Len() == 1) {
				t.Errorf("%d pairs among %d CPUs", len(pairs), m.Allowed.Len())
			}
			for i, p := range pairs {
				if p != between(m.Levels(m.Allowed), p.CPUs[0], p.CPUs[1]) || i > 0 && p.Level == pairs[i-1].Level {
					t.Errorf("%+v", pairs)
				}
			}
		})
	}
}
