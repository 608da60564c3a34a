// Package collective holds collective algorithms as schedules: stages of
// messages between ranks, and nothing else. It knows neither costs nor memory.
//
// An algorithm is written once, in a file of its own, and everything else reads
// it: a model costs its stages, a runner carries out its messages, a report
// draws them. Two views of a stage make that possible. Its Shape says how many
// messages of which size are on their way at once, and takes no more room for a
// million ranks than for two; its Messages say who sends which bytes to whom,
// one at a time. The tests prove for every algorithm that the two agree.
//
// What a collective does is data, too: a Collective says where ranks' data lie
// before and what they hold afterwards, and no other package knows one by name.
//
// The size M of a call means what it means in MPI, and M of the Collective says
// what: the whole message of a broadcast, the vector of a reduction, and in scatter,
// gather, allgather and alltoall the bytes of one rank's block. A message that P does
// not divide is cut as MPICH cuts it: blocks of ⌈M/P⌉ bytes, then a shorter one, then
// empty ones. An empty block is not sent; only a barrier, and a rank that says that it is
// ready, sends empty messages.
package collective

import (
	"cmp"
	"fmt"
	"iter"
	"math"
)

// Schedule is an algorithm laid out for one call: blocks of stages, in order.
// No stage begins before the one ahead of it is over.
type Schedule struct {
	Algorithm *Algorithm // for bcast:mpich the algorithm MPICH chooses
	Call      Call
	Blocks    []Block

	// Unit is the natural piece of this schedule in bytes: what one rank owns
	// where the message is spread over ranks, and the whole message otherwise.
	// Formulas count their segments k in it.
	Unit int

	// Levels is the height of the tree if stages consist of transfers instead of messages, else
	// 0.
	Levels int

	// Blocking: a rank sends and receives one message after another, as with MPI_Send and
	// MPI_Recv. Else the messages that it sends in a row, or receives, are under way together.
	Blocking bool

	// Posted: a rank that exchanges begins all its messages at once, and waits for none before
	// the others; unless the schedule is Blocking.
	Posted bool

	// ToSelf: in local stages ranks send to themselves, as a message of the library's, instead
	// of copying.
	ToSelf bool

	// Touched is the bytes that each rank touches, where no algorithm says it.
	Touched int

	// Between is what ranks do between two calls, as benchmarks synchronise them; nil: a call is the
	// first, and all ranks begin at once.
	Between *Schedule

	temp func(rank int) int
}

// Block is a run of stages that happens Repeat times in a row.
type Block struct {
	Repeat int
	Stages []Stage
}

// Stage is a set of messages that are on their way at the same time.
// Sources are read as they were when the stage began: where a rank reduces into
// the very bytes it sends, it sends each byte before it touches it.
type Stage struct {
	Phase   string // the part of the algorithm it belongs to, such as "scatter"
	Pattern Pattern
	Reduce  bool // what arrives is combined with what is there
	// Blocking is as a schedule's, of this stage alone.
	Blocking bool
	Ahead    bool    // Beside is of the stage after it
	Shape    []Batch // sizes falling, none twice; the same in every repetition
	// Beside, of a Local stage, is the shape of the one-way stage before it whose last
	// transfer, or of the stage after it whose first transfer, goes on meanwhile: the ranks
	// that copy take no part in it.
	Beside []Batch

	// Peers, if not nil, is a rule that says who sends to whom, so that messages can be
	// counted without looking at each. The tests prove that Messages follow it.
	Peers func(repetition int) Peers
	// Same tells that Peers are the same in every repetition, but for First where all ranks send.
	Same bool

	// Steep tells that finding a message takes many times as long as elsewhere: in a tree.
	Steep bool

	messages func(repetition int) iter.Seq[Message]
	numbers  iter.Seq[int] // of the messages that are not empty; nil: of all
}

// Count is how many messages the Shape counts; of a Local stage it is ranks.
func (s *Stage) Count() (n int) {
	for _, b := range s.Shape {
		n += b.Count
	}
	return n
}

// Peers are the ranks of a step that send one message each: Ranks in a row from First on, the
// last rank's neighbour being rank 0. The receiver is the rank Distance to the right, or, under
// Flip, the rank whose number differs in the bits of Distance.
type Peers struct {
	First, Ranks int
	Distance     int
	Flip         bool
}

// shiftedBy is all ranks' messages to the right, by a distance of 1 … P−1 in repetition 0
// and step more in each after it.
func (c Call) shiftedBy(distance, step int) func(repetition int) Peers {
	return func(repetition int) Peers { return Peers{Ranks: c.P, Distance: distance + repetition*step} }
}

// flippedBy is as shiftedBy for partners that differ in the bits of distance.
func (c Call) flippedBy(distance, step int) func(repetition int) Peers {
	return func(repetition int) Peers { return Peers{Ranks: c.P, Distance: distance + repetition*step, Flip: true} }
}

// Batch counts messages of one size.
type Batch struct {
	Count int `json:"count"`
	Bytes int `json:"bytes"`
}

// Pattern says how the messages of a stage share the ranks.
type Pattern int

const (
	// OneWay messages have a sender and a receiver that do nothing else.
	OneWay Pattern = iota
	// Exchange is MPI_Sendrecv, eq. (17): a rank sends one message and receives
	// one, turn by turn, so no more transfers than ranks are active.
	Exchange
	// Transfer is a single copy between buffers, carried out by the message's
	// To, the building block of Open MPI's shared memory collectives.
	Transfer
	// Local copies stay within a rank. A batch counts the ranks, and its bytes
	// are all that one of them copies in this stage.
	Local
)

func (p Pattern) String() string {
	return [...]string{OneWay: "one-way", Exchange: "exchange", Transfer: "transfer", Local: "local"}[p]
}

// Message moves Src of rank From to Dst of rank To.
type Message struct {
	From, To int
	Src, Dst Span
	Reduce   bool // Dst becomes Dst op Src
}

// Bytes is the size of the message.
func (m Message) Bytes() int { return m.Src.Bytes }

// Span is a run of bytes in one of a rank's buffers.
type Span struct {
	Buffer Buffer
	Offset int
	Bytes  int
}

// Buffer names a rank's buffer. What Send holds before and Recv afterwards the
// Collective says.
type Buffer int

const (
	Send Buffer = iota
	Recv
	Temp // room of the algorithm's own
)

func (b Buffer) String() string {
	return [...]string{Send: "send", Recv: "recv", Temp: "temp"}[b]
}

// Call is what a collective is asked to do.
type Call struct {
	P    int // ranks
	Root int // of a Rooted collective; the others ignore it
	M    int // bytes, see the package comment

	Element int // bytes of an element, which no block of a reduction cuts; 0 means 1
	Segment int // bytes of a segment of bcast:sm-tree; 0 means 8192
	Chunk   int // bytes of the pieces that Chunked algorithms cut messages into; 0 means 65536, or more where m is over 4 GiB
	Degree  int // children of a rank, chains or radix of Branched algorithms; 0 means 2

	Distance int // of a Shifted one, 1 … P−1; the others ignore it
}

// The most that schedules are laid out for: chunks, because what fills a pipeline is a stage
// each, and children, because a rank sends to one after another.
const (
	maxChunks = 1 << 16
	maxDegree = 1 << 10
)

// maxBytes bounds the bytes of a call, so that no size overflows.
const maxBytes = 1 << 60

// check refuses a call that no schedule exists for, and fills in defaults.
func (c Call) check(a *Algorithm) (Call, error) {
	c.Element, c.Segment, c.Chunk, c.Degree = cmp.Or(c.Element, 1), cmp.Or(c.Segment, 8192), cmp.Or(c.Chunk, max(64<<10, c.M/maxChunks+1)), cmp.Or(c.Degree, 2)
	if !a.Collective.Rooted {
		c.Root = 0
	}
	if !a.Collective.Shifted {
		c.Distance = 0
	}
	switch {
	case c.P < 1:
		return c, fmt.Errorf("%s needs at least one rank, got P = %d", a, c.P)
	case c.P > math.MaxInt32:
		return c, fmt.Errorf("%s takes at most %d ranks, got P = %d", a, math.MaxInt32, c.P)
	case c.M < 0:
		return c, fmt.Errorf("%s needs a message of 0 bytes or more, got m = %d", a, c.M)
	case c.M > maxBytes/c.P:
		return c, fmt.Errorf("%s of m = %d bytes among P = %d ranks is more than %d bytes in all; take a smaller m or P", a, c.M, c.P, maxBytes)
	case c.Root < 0 || c.Root >= c.P:
		return c, fmt.Errorf("%s needs a root from 0 to %d, got %d", a, c.P-1, c.Root)
	case a.Collective.Shifted && c.P < 2:
		return c, fmt.Errorf("%s needs at least two ranks, got P = %d", a, c.P)
	case a.Collective.Shifted && (c.Distance < 1 || c.Distance >= c.P):
		return c, fmt.Errorf("%s needs a distance from 1 to %d, got %d", a, c.P-1, c.Distance)
	case !a.Among.Has(c.P):
		return c, fmt.Errorf("%s needs %s, got P = %d; %s", a, a.Among, c.P, a.Among.nearest(c.P))
	case c.Element < 1:
		return c, fmt.Errorf("%s needs elements of at least one byte, got %d", a, c.Element)
	case a.Collective.Reduces && c.M%c.Element != 0:
		return c, fmt.Errorf("%s of m = %d bytes is no whole number of elements of %d bytes", a, c.M, c.Element)
	case c.Segment < 1:
		return c, fmt.Errorf("%s needs segments of at least one byte, got %d", a, c.Segment)
	case c.Chunk < 1:
		return c, fmt.Errorf("%s needs chunks of at least one byte, got %d", a, c.Chunk)
	case a.Chunked && c.M/c.Chunk > maxChunks:
		return c, fmt.Errorf("%s of m = %d bytes in chunks of %d has more than %d of them; take larger chunks", a, c.M, c.Chunk, maxChunks)
	case c.Degree < 2:
		return c, fmt.Errorf("%s needs a tree of degree 2 or more, got %d", a, c.Degree)
	case a.Branched && c.Degree > maxDegree:
		return c, fmt.Errorf("%s takes a degree of at most %d, got %d", a, maxDegree, c.Degree)
	}
	return c, nil
}

// rank turns a rank relative to the root into a rank.
func (c Call) rank(relative int) int { return (relative + c.Root) % c.P }

// Step is one stage at one of its repetitions.
type Step struct {
	*Stage
	Repetition int
}

// Messages yields the messages of the step, each once, none of them stored. A
// stage that was made for its shape alone has none.
func (s Step) Messages() iter.Seq[Message] {
	if s.messages == nil {
		return func(func(Message) bool) {}
	}
	return s.messages(s.Repetition)
}

// Steps yields every stage in the order of time, numbered from 0, repetitions
// and all.
func (s *Schedule) Steps() iter.Seq2[int, Step] {
	return func(yield func(int, Step) bool) {
		n := 0
		for _, b := range s.Blocks {
			for r := range b.Repeat {
				for i := range b.Stages {
					if !yield(n, Step{&b.Stages[i], r}) {
						return
					}
					n++
				}
			}
		}
	}
}

// Len is the number of stages, repetitions counted.
func (s *Schedule) Len() int {
	n := 0
	for _, b := range s.Blocks {
		n += b.Repeat * len(b.Stages)
	}
	return n
}

// Brings is where a rank's contribution lies before.
func (s *Schedule) Brings(rank int) Span {
	brings := s.Algorithm.Collective.Brings
	if brings == nil {
		return Span{}
	}
	return brings(s.Call, rank)
}

// Promise is what a rank's Recv holds afterwards, part after part.
func (s *Schedule) Promise(rank int) []Part {
	promise := s.Algorithm.Collective.Promise
	if promise == nil {
		return nil
	}
	return promise(s.Call, rank)
}

// Size is the number of bytes that a rank's buffer must have.
func (s *Schedule) Size(rank int, b Buffer) (n int) {
	if b == Temp {
		if s.temp == nil {
			return 0
		}
		return s.temp(rank)
	}
	if b == Recv {
		for _, part := range s.Promise(rank) {
			n += part.Size()
		}
	}
	if given := s.Brings(rank); given.Buffer == b {
		n = max(n, given.Bytes)
	}
	return n
}

// Footprint is the bytes that a rank touches: its buffers, and what it receives to reduce.
func (s *Schedule) Footprint(rank int) (n int) {
	if s.Touched > 0 || s.Algorithm == nil {
		return s.Touched
	}
	for _, b := range []Buffer{Send, Recv, Temp} {
		n += s.Size(rank, b)
	}
	arrives := 0
	for _, b := range s.Blocks {
		for i := range b.Stages {
			if stage := &b.Stages[i]; stage.Reduce && stage.Shape[0].Bytes > arrives && mayReceive(Step{stage, 0}, rank) {
				arrives = stage.Shape[0].Bytes
			}
		}
	}
	return n + arrives
}

// mayReceive reports whether a rank receives in a step, or the step is not of a few one-way messages.
func mayReceive(step Step, rank int) bool {
	const few = 64
	if step.Pattern != OneWay || step.Count() > few || step.messages == nil {
		return true
	}
	for m := range step.Messages() {
		if m.To == rank {
			return true
		}
	}
	return false
}

// Join is a call's schedule made of others of as many ranks, one after the other: each finds in
// the buffers what the last one left.
func Join(a *Algorithm, c Call, parts ...*Schedule) *Schedule {
	s := &Schedule{Algorithm: a, Call: c, Unit: c.M}
	for _, part := range parts {
		for _, b := range part.Blocks {
			for i := range b.Stages {
				b.Stages[i].Blocking = part.Blocking
			}
			s.Blocks = append(s.Blocks, b)
		}
	}
	s.temp = func(rank int) (most int) {
		for _, part := range parts {
			most = max(most, part.Size(rank, Temp))
		}
		return most
	}
	return s
}

// local appends what n ranks copy within themselves; beside is the Stage's, and comes after it where stages do.
func (s *Schedule) local(phase string, n int, rank func(i int) int, beside []Batch, copied func(rank int) (src, dst Span)) {
	s.add(1, n, Stage{Phase: phase, Pattern: Local, Beside: beside, Ahead: len(s.Blocks) == 0 && beside != nil}, func(_, i int) Message {
		src, dst := copied(rank(i))
		return Message{From: rank(i), To: rank(i), Src: src, Dst: dst}
	})
}

func everyRank(i int) int { return i }

// atRoot is for ranks of which the root alone is the call's.
func (c Call) atRoot(int) int { return c.Root }

// add appends a stage of n messages, numbered from 0, that happens repeat times. Without a
// Shape all messages have the first one's size. Empty messages are not sent unless the Shape
// has nothing else, and a stage without messages is left out. Messages beyond the number that
// the Shape counts are empty and are not visited.
func (s *Schedule) add(repeat, n int, st Stage, message func(repetition, i int) Message) {
	if st.Shape == nil && n > 0 {
		st.Shape = shape(Batch{n, message(0, 0).Bytes()})
	}
	if repeat < 1 || len(st.Shape) == 0 {
		return
	}
	if st.numbers == nil {
		st.numbers = func(yield func(int) bool) {
			for i := 0; i < n && yield(i); i++ {
			}
		}
	}
	reduce, empty, all, numbers := st.Reduce, st.Shape[0].Bytes == 0, st.Count(), st.numbers
	if st.Pattern == Local { // whose Shape counts ranks
		all = n
	}
	st.messages = func(repetition int) iter.Seq[Message] {
		return func(yield func(Message) bool) {
			left := all
			for i := range numbers {
				m := message(repetition, i)
				m.Reduce = reduce
				if m.Bytes() == 0 && !empty {
					continue
				}
				if left--; !yield(m) || left == 0 {
					return
				}
			}
		}
	}
	s.Blocks = append(s.Blocks, Block{Repeat: repeat, Stages: []Stage{st}})
}
