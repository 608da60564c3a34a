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
	// The first size of each series, the last, a segment, every eighth below it, and those of steps.
	coarse = iota
	half   // every second
	fine
	unasked // reduction operators that were not named
)

// long is the size from which on a message is long.
const long = 1 << 20

// inRounds has everything that a sweep measures visited at a few sizes before any of it is at
// more: a launch whose time is over has something of everything, and missing sizes lie between
// others. Within a round cells keep their order. Caches are bytes a core of each.
func inRounds(p params.Plan, caches []int, cells []engine.Cell) {
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
	beside := make(map[params.Key][]int)
	for s, of := range sizes {
		slices.Sort(of)
		beside[s] = steps(of, caches)
	}
	for i := range cells {
		c := &cells[i]
		of, step := sizes[series(c.Key)], beside[series(c.Key)]
		round := fine
		switch at := slices.Index(of, c.Bytes); {
		case c.Kind == params.GammaCell && len(p.Operators) == 0 && c.Operator != transfers.Common[0]:
			round = unasked
		case c.Once: // cells like it are visited in every launch
		case at == len(of)-1, transfers.Segment(p, c.Key), slices.Contains(step, c.Bytes),
			at%8 == 0 && (c.Bytes < p.SegmentBytes || len(step) == 0):
			round = coarse
		case at%2 == 0:
			round = half
		}
		if c.Tier == 0 {
			continue // what all predictions need
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

// steps are the sizes below and above each step of a curve. A copy of m bytes fills a cache of 2m; sizes
// within a quarter of that may be on either side. Between steps curves are nearly straight.
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
