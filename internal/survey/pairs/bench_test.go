package pairs

import (
	"testing"

	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/setups"
)

// What a pair costs besides the measurement: a team of its own, made and ended.
func BenchmarkTeam(b *testing.B) {
	m := surveytest.Machine(b, 2)
	place, err := m.PlaceOn(m.Allowed[:2], 2)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		team, err := setups.NewTeam(place)
		if err != nil {
			b.Fatal(err)
		}
		team.Close()
	}
}
