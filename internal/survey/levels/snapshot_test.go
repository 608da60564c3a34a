package levels

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/numa/snapshot"
)

// On all machines levels rise, memory is one of them, working sets are within bounds, and every CPU has
// a level with the first.
func TestSnapshots(t *testing.T) {
	for _, name := range snapshot.Few(t) {
		t.Run(name, func(t *testing.T) {
			m := must.Get(numa.Discover(snapshot.Unpack(t, name)))
			taus := Taus(m)
			place, err := m.Place(numa.Remote, taus[len(taus)-1])
			if err != nil {
				t.Skip(err)
			}
			for _, tau := range taus {
				levels, left := Levels(m, place, tau)
				memory := false
				for i, l := range levels {
					memory = memory || l.Name == Memory
					if l.cache() && (l.Least > l.Most || 4*l.Most > l.Cache) || i > 0 && l.Least < levels[i-1].Least {
						t.Errorf("τ = %d: %+v", tau, levels)
					}
					walksWithin(t, l)
				}
				if !memory {
					t.Errorf("τ = %d: no memory in %+v", tau, levels)
				}
				if tau == 1 {
					t.Logf("%+v, left out: %v", levels, left)
				}
			}
		})
	}
}
