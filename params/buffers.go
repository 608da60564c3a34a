package params

import (
	"cmp"
	"math"
	"slices"
)

// MostBuffers is how many numbers of segments, and how many sizes, a plan may have.
const MostBuffers = 64

// AllSegments are the numbers of segments of intermediate buffers, the plan's first one
// first.
func (p *Plan) AllSegments() []int { return append([]int{p.Segments}, p.MoreSegments...) }

// AllSegmentBytes are the sizes of segments, likewise.
func (p *Plan) AllSegmentBytes() []int { return append([]int{p.SegmentBytes}, p.MoreSegmentBytes...) }

// Abridge leaves out of a key what it has in common with one of the plan's first
// buffers: values that are these, and those that make no difference to what is measured.
func (p *Plan) Abridge(k *Key) {
	if k.Setup == Isolated || k.Segments == p.Segments { // whose buffer has one segment
		k.Segments = 0
	}
	if k.Kind == NullCell || k.Bytes <= min(k.SegmentBytes, p.SegmentBytes) || k.SegmentBytes == p.SegmentBytes {
		k.SegmentBytes = 0
	}
}

// nearestTo is the value nearest to one by their ratio, the larger of two; for 0 it is
// the first.
func nearestTo(want int, values []int) int {
	if want <= 0 {
		return values[0]
	}
	far := func(v int) float64 { return math.Abs(math.Log(float64(max(1, v)) / float64(want))) }
	return slices.MinFunc(values, func(a, b int) int { return cmp.Or(cmp.Compare(far(a), far(b)), b-a) })
}
