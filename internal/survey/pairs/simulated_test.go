package pairs

import (
	"math"
	"testing"

	"github.com/taulop/taulop/internal/survey/surveytest"
	"github.com/taulop/taulop/numa/numatest"
	"github.com/taulop/taulop/params"
)

// Pairs of a simulated machine take what their level was given, and the slow ones are
// those of the slow CPU.
func TestSimulated(t *testing.T) {
	m := numatest.EPYC(2, 1, 1, 4, 1)
	for _, slower := range []float64{0, 1.5} {
		s := surveytest.Simulate(surveytest.Simulated{Machine: m, Latency: 60, Far: 3, PerByte: 0.05, Noise: 0.02, SlowCPU: 5, Slower: slower}, 4)
		f := &params.File{Format: params.Format, Version: params.Version}
		f.Provenance.Levels = m.Levels(m.Allowed)
		s.Measure(t, f, Survey, Request{CPUs: m.CoreCPUs(), Sizes: []int{0, SegmentBytes}})
		p, err := f.Pairs()
		if err != nil || len(p.Levels) != 2 {
			t.Fatalf("%+v, %v", p, err)
		}
		for _, level := range p.Levels {
			want := s.Latency
			if level.Pairs == 16 {
				want *= s.Far
			}
			if got := level.Median[0]; math.Abs(got/want-1) > 0.05 {
				t.Errorf("%s takes %g ns, put in %g", level.Name, got, want)
			}
		}
		slow := FindSlow(p)
		for _, of := range slow {
			if of.From != 5 && of.To != 5 {
				t.Errorf("%+v", of)
			}
		}
		if want := map[float64]int{0: 0, 1.5: 7}[slower]; len(slow) != want {
			t.Errorf("%d slow pairs, want %d: %+v", len(slow), want, slow)
		}
	}
}
