package sweep

import (
	"slices"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/params"
)

// The rounds of a sweep. Each has short messages in cache first, then those off cache, whose memory
// takes long to initialise, and long messages last: a visit takes tens of ms if many workers send them.
const (
	// The first and the last size of each series, a segment, every eighth size below it, and steps.
	coarse = iota
	half   // every second size
	fine
	unasked // reduction operators that were not named
)

// long is the size beyond which a message is long.
const long = 1 << 20

// inRounds sets tiers such that every series is visited at a few sizes before any is at more: a launch
// that runs out of time has samples of every series, and missing sizes lie between measured ones. Within
// a round cells keep their order. Caches are the bytes of each cache for a core.
func inRounds(p params.Plan, caches []int, cells []engine.Cell) {
	var all []*engine.Cell
	last := 0
	for i := range cells {
		all, last = append(all, &cells[i]), max(last, cells[i].Tier)
	}
	series := func(c *engine.Cell) params.Key { // its cells differ only in size
		k := c.Key
		k.Bytes = 0
		return k
	}
	for _, of := range lists.Groups(all, series) {
		sizes := lists.Map(of, func(c *engine.Cell) int { return c.Bytes })
		slices.Sort(sizes)
		step := steps(sizes, caches)
		for _, c := range of {
			round := fine
			switch i := slices.Index(sizes, c.Bytes); {
			case c.Tier == 0: // all predictions need these cells
				continue
			case c.Kind == params.GammaCell && len(p.Operators) == 0 && c.Operator != transfers.Common[0]:
				round = unasked
			case c.Once: // cells like it are visited in every launch
			case i == len(sizes)-1, transfers.Segment(p, c.Key), slices.Contains(step, c.Bytes),
				i%8 == 0 && (c.Bytes < p.SegmentBytes || len(step) == 0):
				round = coarse
			case i%2 == 0:
				round = half
			}
			rank := 3 * round
			switch {
			case c.Bytes > long:
				rank += 2
			case c.OffCache:
				rank++
			}
			c.Tier += rank * last
		}
	}
}

// steps are the sizes just below and above each step of a curve. A copy of m bytes fills a cache of 2m;
// sizes within a quarter of that may be on either side. Between steps curves are nearly straight.
func steps(sizes, caches []int) (beside []int) {
	for _, bytes := range caches {
		within, _ := slices.BinarySearch(sizes, bytes*3/8+1)
		beyond, _ := slices.BinarySearch(sizes, bytes*5/8)
		if within > 0 && beyond < len(sizes) {
			beside = append(beside, sizes[within-1], sizes[beyond])
		}
	}
	return beside
}
