package params

import (
	"slices"
	"sync"
)

// Transfers are the transfers of a file of one setup, placement, state of the
// cache and size m, for every τ there is, rising.
type Transfers struct {
	Key           // of all, its Tau 0
	Cells []*Cell // L(m,1), L(m,2) …; the column τ = 1 is as in File.Table
}

// Transfers are all of a file through the plan's first buffers, setup by setup, placement by placement, in cache
// before off cache, m rising, those that were isolated as Alone has them. It needs no
// complete file.
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

// Alone is L(m,1) as other τ count waiting. Every isolated transfer waits for a flag that another core
// has just set; of a segment's two transfers in a ring, as in a message alone, one does. So half of
// y(1) comes off each, launch by launch and in the same state of the machine, but at most half of its
// time. Other cells, and cells of a file without y(1) of isolated transfers, are unchanged.
func (f *File) Alone(c *Cell) *Cell {
	if c.Kind != TransferCell || c.Setup != Isolated {
		return c
	}
	return f.Sort().alone(c)
}

// alone is Alone of an isolated transfer of the file that was sorted.
func (s *Sorting) alone(c *Cell) *Cell {
	if known := s.lone[c]; known != nil {
		return known // in the table of another setup
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
	in := make(map[when]float64) // y
	for _, y := range y.Samples {
		in[when{y.Launch, s.Of(y)}] = y.NS
	}
	typical := make(map[int]float64) // y by state
	for state := range s.States(s.Workers(y)) {
		if of := (Cell{Samples: s.In(y, state)}); len(of.Samples) > 0 {
			typical[state] = of.Replicates(f).Center()
		}
	}
	launched := false
	alone.Samples = slices.Clone(c.Samples)
	for i := range alone.Samples {
		one := &alone.Samples[i]
		state := s.Of(*one)
		ns, known := in[when{one.Launch, state}]
		if !known || one.Launch == Unlaunched {
			if ns, known = typical[state]; !known {
				ns = y.Time.Center
			}
		}
		one.NS = less(one.NS, ns)
		launched = launched || one.Launch != Unlaunched
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
