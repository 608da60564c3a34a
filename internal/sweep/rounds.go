package sweep

import (
	"slices"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/params"
)

// The rounds of a sweep. Each has short sizes in cache first, then off cache, whose memory
// takes long to lay out, and last long ones, of which a visit takes tens of ms where many
// workers send them at once.
const (
	coarse = iota // the first size of each series, the last, every eighth, and a segment
	half          // every second
	fine
	unasked // reduction operators that were not named
)

// long is the size from which on a message is long.
const long = 1 << 20

// inRounds has everything that a sweep measures visited at a few sizes before any of it is at
// more: a launch whose time is over has something of everything, and missing sizes lie between
// others. Within a round cells keep their order.
func inRounds(p params.Plan, cells []engine.Cell) {
	series := func(k params.Key) params.Key { // cells of one differ in nothing but their sizes
		k.Bytes = 0
		return k
	}
	sizes, last := make(map[params.Key][]int), 0
	for _, c := range cells {
		s := series(c.Key)
		sizes[s] = append(sizes[s], c.Bytes)
		last = max(last, c.Tier)
	}
	for _, of := range sizes {
		slices.Sort(of)
	}
	for i := range cells {
		c := &cells[i]
		of := sizes[series(c.Key)]
		round := fine
		switch at := slices.Index(of, c.Bytes); {
		case c.Kind == params.GammaCell && len(p.Operators) == 0 && c.Operator != transfers.Common[0]:
			round = unasked
		case c.Once: // cells like it are visited in every launch
		case at%8 == 0, at == len(of)-1, transfers.Segment(p, c.Key):
			round = coarse
		case at%2 == 0:
			round = half
		}
		if c.Tier == 0 {
			continue // what all predictions need
		}
		step := 3 * round
		switch {
		case c.Bytes > long:
			step += 2
		case c.OffCache:
			step++
		}
		c.Tier += step * last
	}
}
