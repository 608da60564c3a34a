package params

import (
	"slices"
	"sync"
)

// Transfers are a file's transfers of one setup, placement, state of the cache and size m.
type Transfers struct {
	Key           // with Tau 0
	Cells []*Cell // by τ, rising; τ = 1 is as in File.Table
}

// Transfers are all transfers through the plan's first buffers by setup, placement, cache and m. The file
// may be incomplete.
func (f *File) Transfers() []Transfers {
	var all []Transfers
	s, sort := f.fill(Selection{}), sync.OnceValue(f.Sort)
	for _, key := range f.tables(s) {
		s.Setup, s.Placement, s.OffCache = key.Setup, key.Placement, key.OffCache
		g := f.transfers(TransferCell, s, sort)
		for _, key.Bytes = range g.sizes {
			t := Transfers{Key: key}
			for _, tau := range g.taus {
				if c := g.cells[[2]int{key.Bytes, tau}]; c != nil {
					t.Cells = append(t.Cells, c)
				}
			}
			all = append(all, t)
		}
	}
	return all
}

// Alone is L(m,1) with as much waiting as other τ have. Every isolated transfer waits for a flag that
// another core has just set, but in a ring, as in a message alone, only one of a segment's two transfers
// does. So half of y(1) is subtracted from each isolated transfer, paired by launch and state, but at most
// half of its time. Other cells, and cells of a file without y(1) of isolated transfers, are unchanged.
func (f *File) Alone(c *Cell) *Cell {
	if c.Kind != TransferCell || c.Setup != Isolated {
		return c
	}
	return f.Sort().alone(c)
}

// alone is Alone of an isolated transfer.
func (s *Sorting) alone(c *Cell) *Cell {
	if known := s.lone[c]; known != nil {
		return known // several setups share it
	}
	f := s.f
	i := slices.IndexFunc(f.Cells, func(y Cell) bool {
		return y.Kind == NullCell && y.Setup == Isolated && y.Placement == c.Placement && y.Tau == c.Tau && y.Transport == c.Transport
	})
	if i < 0 {
		return c
	}
	y := &f.Cells[i]
	waits := float64(max(1, c.Transfers)*max(1, c.K)) / float64(max(1, y.Transfers)) / 2
	less := func(l, y float64) float64 { return max(l/2, l-waits*y) }
	alone := *c
	alone.Time.Center = less(c.Time.Center, y.Time.Center)
	alone.Time.Lo, alone.Time.Hi = less(c.Time.Lo, y.Time.Hi), less(c.Time.Hi, y.Time.Lo)
	type when struct {
		launch int32
		state  int
	}
	paired := make(map[when]float64) // y
	for _, sample := range y.Samples {
		paired[when{sample.Launch, s.Of(sample)}] = sample.NS
	}
	typical := make(map[int]float64) // y by state
	for state := range s.States(s.Workers(y)) {
		if part := (Cell{Samples: s.In(y, state)}); len(part.Samples) > 0 {
			typical[state] = part.Replicates(f).Center()
		}
	}
	launched := false
	alone.Samples = slices.Clone(c.Samples)
	for i := range alone.Samples {
		sample := &alone.Samples[i]
		state := s.Of(*sample)
		ns, known := paired[when{sample.Launch, state}]
		if !known || sample.Launch == Unlaunched {
			if ns, known = typical[state]; !known {
				ns = y.Time.Center
			}
		}
		sample.NS = less(sample.NS, ns)
		launched = launched || sample.Launch != Unlaunched
	}
	if launched {
		alone.Time = s.Estimate(&alone)
	}
	if s.lone == nil {
		s.lone = make(map[*Cell]*Cell)
	}
	s.lone[c] = &alone
	return &alone
}
