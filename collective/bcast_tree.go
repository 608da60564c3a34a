package collective

import "iter"

func init() {
	register(Bcast, "sm-tree", "τ-Lop, section 4.2, Figs. 13 and 14: Open MPI's COLL SM broadcast", bcastTree)
}

// bcastTree: the ranks form a tree of degree g, filled level by level, and every
// inner rank has a buffer of two segments that its children read. Segment
// j = 0, 1, … moves down one level a stage. The root fills its buffer in stage
// 1+2j. A level d with an inner rank copies its parents' buffers into the inner
// ranks' own in stage 1+d+2j and into the user buffers of all its ranks in stage
// 2+d+2j; the last level, all leaves, copies straight into its user buffers in
// stage 1+d+2j. The stages are single copies, not messages. Between the filling
// and the emptying of the pipeline, two stages alternate.
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
	// From stage `levels` on the whole tree is at work, and up to stage 2k−2 no rank has
	// reached the last segment.
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

// segmentTree is the tree of a call and the segments that move down.
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

// A treeCopy is what ranks of a level do in a stage: they copy a segment into their
// user buffers, or into their own ones for others.
type treeCopy struct {
	first, ranks int // relative to the root
	segment      int
	toUser       bool
}

// copies returns the copies of stage n.
func (t segmentTree) copies(n int) (all []treeCopy) {
	from := func(start, first, ranks int, toUser bool) {
		if segment := (n - start) / 2; n >= start && (n-start)%2 == 0 && segment < t.segments {
			all = append(all, treeCopy{first, ranks, segment, toUser})
		}
	}
	for d, level := range t.levels {
		if level.inner == 0 {
			from(1+d, level.first, level.ranks, true)
			continue
		}
		from(1+d, level.first, level.inner, false)
		if d > 0 {
			from(2+d, level.first, level.ranks, true)
		}
	}
	return all
}

// shape counts the copies of stage n: whole segments, and the short last one.
func (t segmentTree) shape(n int) []Batch {
	var whole, short int
	for _, do := range t.copies(n) {
		if t.bytes(do.segment) == t.call.Segment {
			whole += do.ranks
		} else {
			short += do.ranks
		}
	}
	return shape(Batch{whole, t.call.Segment}, Batch{short, t.bytes(t.segments - 1)})
}

func (t segmentTree) bytes(segment int) int {
	return min(t.call.Segment, t.call.M-segment*t.call.Segment)
}

func (t segmentTree) messages(n int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		c := t.call
		for _, do := range t.copies(n) {
			user := Span{Recv, do.segment * c.Segment, t.bytes(do.segment)}
			shared := Span{Temp, do.segment % 2 * c.Segment, t.bytes(do.segment)}
			for i := range do.ranks {
				relative := do.first + i
				m := Message{From: c.rank((relative - 1) / c.Degree), To: c.rank(relative), Src: shared, Dst: shared}
				if do.toUser {
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
