package collective

import (
	"iter"

	"github.com/taulop/taulop/internal/lists"
)

func init() {
	register(Bcast, "sm-tree", "τ-Lop, section 4.2, Figs. 13 and 14: Open MPI's COLL SM broadcast", bcastTree)
}

// bcastTree: the ranks form a tree of degree g, filled level by level, and every inner rank has a shared
// buffer of two segments that its children read. Segment j = 0, 1, … moves down one level a stage. The
// root fills its shared buffer in stage 1+2j. A level d with inner ranks copies the parents' buffers
// to the shared buffers of its inner ranks in stage 1+d+2j and to the user buffers of all its ranks in
// stage 2+d+2j; the last level, of leaves only, copies to its user buffers in stage 1+d+2j. The stages
// are single copies, not messages. Two stages alternate while the pipeline is full.
func bcastTree(s *Schedule) {
	c := s.Call
	if c.P == 1 || c.M == 0 {
		return
	}
	t := newSegmentTree(c)
	s.Levels = len(t.levels)
	s.temp = func(rank int) int {
		if relative := (rank - c.Root + c.P) % c.P; c.Degree*relative+1 < c.P {
			return 2 * c.Segment
		}
		return 0
	}

	stage := func(n int) Stage {
		return Stage{
			Phase:    "pipeline",
			Pattern:  Transfer,
			Shape:    t.shape(n),
			messages: func(repetition int) iter.Seq[Message] { return t.messages(n + 2*repetition) },
		}
	}
	// The pipeline is full from stage `levels` on, and up to stage 2k−2 no rank has reached the last
	// segment.
	first, last := len(t.levels), 2*t.segments-2+len(t.levels)
	pairs := max(0, (2*t.segments-1-first)/2)
	for n := 1; n <= last; n++ {
		if n == first && pairs > 0 {
			s.Blocks = append(s.Blocks, Block{Repeat: pairs, Stages: []Stage{stage(n), stage(n + 1)}})
			n += 2*pairs - 1
			continue
		}
		s.Blocks = append(s.Blocks, Block{Repeat: 1, Stages: []Stage{stage(n)}})
	}
}

// segmentTree is the tree of a call, and the number of segments.
type segmentTree struct {
	call     Call
	segments int
	levels   []treeLevel
}

type treeLevel struct {
	first int // rank relative to the root
	ranks int
	inner int // the first `inner` ranks have children
}

func newSegmentTree(c Call) segmentTree {
	t := segmentTree{call: c, segments: (c.M + c.Segment - 1) / c.Segment}
	inner := (c.P-2)/c.Degree + 1
	for first, width := 0, 1; first < c.P; first, width = first+width, width*c.Degree {
		ranks := min(width, c.P-first)
		t.levels = append(t.levels, treeLevel{first, ranks, min(ranks, max(0, inner-first))})
	}
	return t
}

// A treeCopy is a copy of a segment by consecutive ranks of a level, to their user or shared buffers.
type treeCopy struct {
	first, ranks int // relative to the root
	segment      int
	toUser       bool
}

// copies are the copies of stage n.
func (t segmentTree) copies(n int) (all []treeCopy) {
	add := func(start, first, ranks int, toUser bool) {
		if segment := (n - start) / 2; n >= start && (n-start)%2 == 0 && segment < t.segments {
			all = append(all, treeCopy{first, ranks, segment, toUser})
		}
	}
	for d, level := range t.levels {
		if level.inner == 0 {
			add(1+d, level.first, level.ranks, true)
			continue
		}
		add(1+d, level.first, level.inner, false)
		if d > 0 {
			add(2+d, level.first, level.ranks, true)
		}
	}
	return all
}

func (t segmentTree) shape(n int) []Batch {
	return tally(lists.Map(t.copies(n), func(tc treeCopy) Batch { return Batch{tc.ranks, t.bytes(tc.segment)} })...)
}

func (t segmentTree) bytes(segment int) int {
	return min(t.call.Segment, t.call.M-segment*t.call.Segment)
}

func (t segmentTree) messages(n int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		c := t.call
		for _, tc := range t.copies(n) {
			user := Span{Recv, tc.segment * c.Segment, t.bytes(tc.segment)}
			shared := Span{Temp, tc.segment % 2 * c.Segment, t.bytes(tc.segment)}
			for i := range tc.ranks {
				relative := tc.first + i
				m := Message{From: c.rank((relative - 1) / c.Degree), To: c.rank(relative), Src: shared, Dst: shared}
				if tc.toUser {
					m.Dst = user
				}
				if relative == 0 {
					m.From, m.Src = m.To, user
				}
				if !yield(m) {
					return
				}
			}
		}
	}
}
