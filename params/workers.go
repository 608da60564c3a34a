package params

import (
	"fmt"

	"github.com/taulop/taulop/fit"
)

// Workers compares the workers of a visit: each one's median time over its batches, over the
// slowest one's. Where all are slow together, all are near 1.
type Workers struct {
	Fastest float32 `json:"fastest,omitempty"` // 0: one worker, or unknown
	Typical float32 `json:"typical,omitempty"` // the median of all but the last
	Last    int32   `json:"last,omitempty"`    // CPU of the last
}

func (w Workers) check() error {
	if w == (Workers{}) {
		return nil
	}
	if !(w.Fastest > 0 && w.Fastest <= w.Typical && w.Typical <= 1) || w.Last < 0 || w.Last > maxCPUs {
		return fmt.Errorf("of several workers the fastest took %g of the last one's time, the median of the others %g, on CPU %d: want shares that rise to 1 and a CPU up to %d", w.Fastest, w.Typical, w.Last, maxCPUs)
	}
	return nil
}

// A Balance is what workers took by themselves, over what the last of them took, the
// median over visits.
type Balance struct {
	Fastest float64 `json:"fastest"`
	Typical float64 `json:"typical"` // the median of all but the last
}

// Balance is the balance of a kind of cells, nil where no sample says it.
func (f *File) Balance(kind Kind) *Balance {
	var fastest, typical []float64
	for _, c := range f.Cells {
		for _, s := range c.Samples {
			if c.Kind == kind && s.Fastest > 0 {
				fastest, typical = append(fastest, float64(s.Fastest)), append(typical, float64(s.Typical))
			}
		}
	}
	if len(fastest) == 0 {
		return nil
	}
	return &Balance{fit.Median(fastest).Center, fit.Median(typical).Center}
}

// Begun are how many batches began together, and how many did not.
type Begun struct {
	Batches int `json:"batches"`          // all that were timed
	Late    int `json:"late,omitempty"`   // that a worker began late; others were measured in their place
	Forced  int `json:"forced,omitempty"` // late ones that count, because none of their visit began together
}

// Add adds the batches of a visit.
func (s *Begun) Add(o Begun) {
	s.Batches, s.Late, s.Forced = s.Batches+o.Batches, s.Late+o.Late, s.Forced+o.Forced
}

// Begun are the batches of all launches.
func (f *File) Begun() (all Begun) {
	for _, l := range f.Launches {
		all.Add(l.Begun)
	}
	return all
}

// String says what became of batches that did not begin together, nothing where all did.
func (s Begun) String() string {
	switch {
	case s.Late == 0:
		return ""
	case s.Forced == 0:
		were := "were"
		if s.Late == 1 {
			were = "was"
		}
		return fmt.Sprintf("%d of %d batches %s measured again, because a worker began late", s.Late, s.Batches, were)
	}
	return fmt.Sprintf("in %d of %d batches a worker began late: %d count nonetheless, the others were measured again", s.Late, s.Batches, s.Forced)
}
