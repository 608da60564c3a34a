package collective

import (
	"math/bits"

	"github.com/taulop/taulop/internal/lists"
)

// blocks divides total bytes into blocks of unit bytes, numbered from 0, as in MPICH's broadcast and ring
// allreduce: the last one that is not empty may be shorter.
type blocks struct {
	total int
	unit  int
}

// ceilBlocks divides m bytes among n ranks into blocks of whole elements.
func ceilBlocks(m, n, element int) blocks {
	unit := (m + n - 1) / n
	unit = (unit + element - 1) / element * element
	return blocks{m, unit}
}

// span is the bytes of the blocks from first up to, not including, end.
func (b blocks) span(in Buffer, first, end int) Span {
	from, to := min(first*b.unit, b.total), min(end*b.unit, b.total)
	return Span{in, from, to - from}
}

// groups is the shape of a stage in which n ranks send each group of n consecutive blocks.
func (b blocks) groups(n int) []Batch { return b.runs(n, 1, n) }

// subtrees is the shape of the stage of a binomial tree in which every 2n-th rank sends its n-th neighbour
// the n blocks of that neighbour's subtree.
func (b blocks) subtrees(n int) []Batch { return b.runs(n, 2, 1) }

// lower is the shape of a stage in which the first n of every 2n blocks are sent once.
func (b blocks) lower(n int) []Batch {
	period := 2 * n * b.unit
	if period == 0 {
		return nil
	}
	return tally(Batch{b.total / period, n * b.unit}, Batch{1, min(b.total%period, n*b.unit)})
}

// runs counts groups of n blocks, each sent by `ranks` ranks: all groups if every is 1, the odd ones if it
// is 2.
func (b blocks) runs(n, every, ranks int) []Batch {
	if b.total == 0 {
		return nil
	}
	period := every * n * b.unit
	full := b.total / period
	rest := b.total%period - (every-1)*n*b.unit
	return shape(Batch{full * ranks, n * b.unit}, Batch{ranks, rest})
}

// shape keeps the batches that have non-empty messages.
func shape(batches ...Batch) []Batch {
	return lists.Filter(batches, func(b Batch) bool { return b.Count > 0 && b.Bytes > 0 })
}

// ceilLog2 is ⌈log2 p⌉, the height of a binomial tree of p ranks.
func ceilLog2(p int) int { return bits.Len(uint(p - 1)) }

func floorPowerOfTwo(p int) int { return 1 << (bits.Len(uint(p)) - 1) }
