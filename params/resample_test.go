package params

import (
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
)

// Launches are drawn whole: cells with equal times in each launch stay equal.
func TestResampledLaunches(t *testing.T) {
	f := &File{Launches: make([]Launch, 5)}
	for i := range 3 {
		c := Cell{Key: Key{Kind: NullCell, Tau: i + 1}, Time: fit.Estimate{Center: 3}}
		for l := range f.Launches {
			c.Samples = append(c.Samples, Sample{NS: float64(l + 1), Launch: int32(l)})
		}
		f.Cells = append(f.Cells, c)
	}
	f.Cells[2].Samples = Samples(7, 8, 9) // without a known launch
	f.Cells[2].Time.Center = 8
	random := rand.New(rand.NewPCG(1, 2))
	centers := make(map[float64]bool)
	for range 50 {
		drawn := f.Resampled(random)
		if len(drawn.Launches) != 5 || len(drawn.Cells[0].Samples) != 5 {
			t.Fatalf("%+v", drawn)
		}
		a, b, old := drawn.Cells[0].Time.Center, drawn.Cells[1].Time.Center, drawn.Cells[2].Time.Center
		if a != b || old != 8 {
			t.Fatalf("centres %g, %g and, without launches, %g", a, b, old)
		}
		must.Do(drawn.Cells[0].checkLaunches(len(drawn.Launches), 0))
		centers[a] = true
	}
	if len(centers) < 3 {
		t.Errorf("50 draws have the centres %v alone", centers)
	}
	if f.Cells[0].Time.Center != 3 || f.Cells[0].Samples[4].NS != 5 {
		t.Errorf("the file itself was changed: %+v", f.Cells[0])
	}
}

// Of several sessions whole ones are drawn.
func TestResampledSessions(t *testing.T) {
	f := &File{Cells: []Cell{{Key: Key{Kind: NullCell, Tau: 1}}}}
	for l := range 6 {
		f.Launches = append(f.Launches, Launch{Session: l / 2})
		f.Cells[0].Samples = append(f.Cells[0].Samples, Sample{NS: float64(l/2 + 1), Launch: int32(l)})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		drawn := f.Resampled(random)
		for _, session := range drawn.Cells[0].Replicates(drawn) {
			if len(session) != 2 || session[0] != session[1] {
				t.Fatalf("a session of %v", session)
			}
		}
	}
}
