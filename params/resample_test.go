package params

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// Launches are drawn whole: cells with equal times in each launch stay equal. Of several sessions whole ones are drawn.
func TestResampled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, each := range []int{6, 2} { // launches of a session
		f := &File{Cells: []Cell{{Key: Key{Kind: NullCell, Tau: 1}}, {Key: Key{Kind: NullCell, Tau: 2}}}}
		for l := range 6 {
			f.Launches = append(f.Launches, Launch{Session: l / each})
			for i := range f.Cells {
				f.Cells[i].Samples = append(f.Cells[i].Samples, Sample{NS: float64(l + 1), Launch: int32(l)})
			}
		}
		f.Cells = append(f.Cells, Cell{Samples: Samples(7, 8, 9), Time: fit.Estimate{Center: 8}}) // without a known launch
		centers := make(map[float64]bool)
		for range 50 {
			drawn := f.Resampled(random)
			a, b, old := drawn.Cells[0].Time.Center, drawn.Cells[1].Time.Center, drawn.Cells[2].Time.Center
			check.Need(t, len(drawn.Launches) == 6 && len(drawn.Cells[0].Samples) == 6 && a == b && old == 8,
				"centres %g, %g and, without launches, %g of %+v", a, b, old, drawn)
			must.Do(drawn.checkCell(&drawn.Cells[0]))
			for _, session := range drawn.Cells[0].Replicates(drawn) {
				check.Need(t, each != 2 || len(session) == 2 && session[0] == session[1]-1, "a session of %v", session)
			}
			centers[a] = true
		}
		check.True(t, len(centers) >= 3 && f.Cells[2].Time.Center == 8 && f.Cells[0].Samples[4].NS == 5, "50 draws of %+v have the centres %v", f.Cells, centers)
	}
}

// A machine that was in one of two states in each launch: what it was in, of the drawn ones, is its share.
func TestResampledStates(t *testing.T) {
	f := &File{Cells: []Cell{{Key: Key{Kind: NullCell, Tau: 2}}}}
	for l := range 12 {
		f.Launches = append(f.Launches, Launch{})
		for range 5 {
			flag := 60 * float32(1+l%2)
			f.Cells[0].Samples = append(f.Cells[0].Samples, Sample{NS: float64(flag), Launch: int32(l), Watch: f.Watch(0, []int{0, 1}), Before: flag, After: flag})
		}
	}
	f.FindStates(0, f.Looks())
	f.Cells[0].Time = f.Sort().Estimate(&f.Cells[0])
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		drawn, mean := f.Resampled(random), 0.
		for _, x := range drawn.Cells[0].Samples {
			mean += x.NS / float64(len(drawn.Cells[0].Samples))
		}
		got := drawn.Cells[0].Time.Center
		check.True(t, f.Cells[0].Time.Center == 90 && math.Abs(got-mean) <= 1e-9, "%g ns, drawn %g, want 90 and %g", f.Cells[0].Time.Center, got, mean)
	}
}
