// Package collective holds algorithms of collectives as schedules: stages of messages between ranks,
// without costs or memory.
//
// Each algorithm is written once: the model costs its stages, the runner executes its messages, and
// reports draw them. A stage has two views, and the tests prove that they agree. Its Shape counts the
// concurrent messages by size, and is as small for a million ranks as for two; its Messages give
// sender, receiver and bytes, one at a time.
//
// A Collective is data, too: where the ranks' data lie before the call, and what they hold
// afterwards. No other package knows one by name.
//
// The size M of a call is MPI's: the message of a broadcast, the vector of a reduction, and one
// rank's block in scatter, gather, allgather and alltoall (Collective.M). If P does not divide M,
// blocks are MPICH's: ⌈M/P⌉ bytes each, then a shorter one, then empty ones. Empty blocks are not
// sent; barriers and ready messages are the only empty messages.
package collective

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/taulop/taulop/internal/lists"
)

// Schedule is an algorithm for one call: blocks of stages in order. A stage begins when the previous
// one is complete.
type Schedule struct {
	Algorithm *Algorithm // for bcast:mpich the algorithm that MPICH selects
	Call      Call
	Blocks    []Block

	// Unit is the bytes of a rank's block if the message is distributed over the ranks, else of the
	// message. Formulas count segments k in it.
	Unit int

	// Levels is the height of the tree if the stages consist of transfers, else 0.
	Levels int

	// Blocking: ranks use MPI_Send and MPI_Recv. Else consecutive sends, or receives, of a rank overlap.
	Blocking bool

	// Posted: a rank posts all messages of a stage at once, unless the schedule is Blocking.
	Posted bool

	// ToSelf: in local stages ranks send themselves a message instead of copying.
	ToSelf bool

	// Touched is the footprint of a rank in bytes, for schedules without an algorithm.
	Touched int

	// Between is the synchronisation between two calls of a benchmark; nil: all ranks begin the call at
	// once.
	Between *Schedule

	temp func(rank int) int
}

// A Key identifies a schedule of an algorithm.
type Key struct {
	algorithm        *Algorithm
	call             Call
	blocking, toSelf bool
}

// Key is equal for schedules of equal cost, apart from Between.
func (s *Schedule) Key() Key { return Key{s.Algorithm, s.Call, s.Blocking, s.ToSelf} }

// Block is a sequence of stages that is repeated Repeat times.
type Block struct {
	Repeat int
	Stages []Stage
}

// Stage is a set of concurrent messages. All sources are read as they are at the stage's beginning: a
// rank that reduces into bytes that it sends, sends each byte first.
type Stage struct {
	Phase    string // part of the algorithm, such as "scatter"
	Pattern  Pattern
	Reduce   bool    // the receiver combines the message with its buffer
	Blocking bool    // as of a Schedule, for this stage alone
	Shape    []Batch // by falling size, each size once; the same in every repetition
	// Beside, of a Local stage, is the shape of a one-way stage just before or after it, one transfer of
	// which overlaps it. The ranks that copy take no part in that transfer.
	Beside []Batch

	// Peers, if not nil, gives senders and receivers by a rule, to count messages without visiting
	// each. The tests prove that Messages follow it.
	Peers func(repetition int) Peers
	// Same: Peers are equal in every repetition, except First if all ranks send.
	Same bool

	// Steep: enumerating the messages is many times slower than in other stages, as in trees.
	Steep bool

	messages func(repetition int) iter.Seq[Message]
	numbers  iter.Seq[int] // of the non-empty messages; nil: all
}

// Count is the number of messages in the Shape, or of ranks in a Local stage.
func (s *Stage) Count() int { return lists.Sum(s.Shape, func(b Batch) int { return b.Count }) }

// Peers are the senders of a step, one message each: Ranks consecutive ranks from First on, modulo P. The
// receiver is the rank Distance to the right, or with Flip the rank XOR Distance.
type Peers struct {
	First, Ranks int
	Distance     int
	Flip         bool
}

// shiftedBy has all ranks send to the right, by a distance of 1 … P−1 in repetition 0 and step more in
// each further one.
func (c Call) shiftedBy(distance, step int) func(repetition int) Peers {
	return func(repetition int) Peers { return Peers{Ranks: c.P, Distance: distance + repetition*step} }
}

// flippedBy is shiftedBy with partners rank XOR distance.
func (c Call) flippedBy(distance, step int) func(repetition int) Peers {
	return func(repetition int) Peers { return Peers{Ranks: c.P, Distance: distance + repetition*step, Flip: true} }
}

// Batch counts messages of one size.
type Batch struct {
	Count int `json:"count"`
	Bytes int `json:"bytes"`
}

// Pattern is the relation of a stage's messages to its ranks.
type Pattern int

const (
	// OneWay messages have senders that only send and receivers that only receive.
	OneWay Pattern = iota
	// Exchange is MPI_Sendrecv, eq. (17): a rank alternates between sending one message and receiving
	// one, so that no more transfers than ranks are active.
	Exchange
	// Transfer is a single copy by the receiver, as in Open MPI's shared memory collectives.
	Transfer
	// Local copies stay within a rank. A batch counts ranks, and the bytes that each copies in the
	// stage.
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

// inPlace is a message that lies at the same place in both ranks.
func inPlace(from, to int, at Span) Message { return Message{From: from, To: to, Src: at, Dst: at} }

// Bytes is the size of the message.
func (m Message) Bytes() int { return m.Src.Bytes }

// Span is a range of bytes in one of a rank's buffers.
type Span struct {
	Buffer Buffer
	Offset int
	Bytes  int
}

// Buffer is one of a rank's buffers. The Collective defines the content of Send before the call and of
// Recv after it.
type Buffer int

const (
	Send Buffer = iota
	Recv
	Temp // temporary buffer of the algorithm
)

func (b Buffer) String() string { return [...]string{Send: "send", Recv: "recv", Temp: "temp"}[b] }

// Call has the parameters of a collective call.
type Call struct {
	P    int // ranks
	Root int // of Rooted collectives; ignored by others
	M    int // bytes, see the package comment

	Element int // bytes of an element of a reduction, never split; 0 means 1
	Segment int // bytes of a segment of bcast:sm-tree; 0 means 8192
	Chunk   int // bytes of a segment of Chunked algorithms; 0 means 65536, or more for m over 4 GiB
	Degree  int // fan-out, number of chains, or radix of Branched algorithms; 0 means 2

	Distance int // of Shifted collectives, 1 … P−1; ignored by others
}

// Limits of schedules: filling a pipeline has a stage for each chunk, and a rank sends to its children in
// as many stages.
const (
	maxChunks = 1 << 16
	maxDegree = 1 << 10
)

// maxBytes is the limit of P·M, so that no size overflows.
const maxBytes = 1 << 60

// ErrChunks: a pipeline would have too many stages.
var ErrChunks = fmt.Errorf("has more than %d chunks: take larger chunks", maxChunks)

// check rejects calls without a schedule, and fills in defaults.
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
		return c, fmt.Errorf("%s of m = %d bytes %w", a, c.M, ErrChunks)
	case c.Degree < 2:
		return c, fmt.Errorf("%s needs a tree of degree 2 or more, got %d", a, c.Degree)
	case a.Branched && c.Degree > maxDegree:
		return c, fmt.Errorf("%s takes a degree of at most %d, got %d", a, maxDegree, c.Degree)
	}
	return c, nil
}

// rank turns a rank relative to the root into a rank.
func (c Call) rank(relative int) int { return (relative + c.Root) % c.P }

// Step is one repetition of a stage.
type Step struct {
	*Stage
	Repetition int
}

// Messages yields each message of the step once, without storing them. A stage that has only a shape
// yields none.
func (s Step) Messages() iter.Seq[Message] {
	if s.messages == nil {
		return func(func(Message) bool) {}
	}
	return s.messages(s.Repetition)
}

// change changes each message of a stage.
func (s *Stage) change(change func(repetition int, m *Message)) {
	before := s.messages
	s.messages = func(repetition int) iter.Seq[Message] {
		return func(yield func(Message) bool) {
			for m := range before(repetition) {
				if change(repetition, &m); !yield(m) {
					return
				}
			}
		}
	}
}

// Steps yields the steps in temporal order, numbered from 0.
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

// Len is the number of steps.
func (s *Schedule) Len() int {
	return lists.Sum(s.Blocks, func(b Block) int { return b.Repeat * len(b.Stages) })
}

// Brings is the location of a rank's contribution before the call.
func (s *Schedule) Brings(rank int) Span {
	brings := s.Algorithm.Collective.Brings
	if brings == nil {
		return Span{}
	}
	return brings(s.Call, rank)
}

// Promise is the content of a rank's Recv after the call, part after part.
func (s *Schedule) Promise(rank int) []Part {
	promise := s.Algorithm.Collective.Promise
	if promise == nil {
		return nil
	}
	return promise(s.Call, rank)
}

// Size is the size of a rank's buffer in bytes.
func (s *Schedule) Size(rank int, b Buffer) (n int) {
	if b == Temp {
		if s.temp == nil {
			return 0
		}
		return s.temp(rank)
	}
	if b == Recv {
		n += lists.Sum(s.Promise(rank), Part.Size)
	}
	if own := s.Brings(rank); own.Buffer == b {
		n = max(n, own.Bytes)
	}
	return n
}

// Stages yields each stage once, in order, with its number of repetitions.
func (s *Schedule) Stages() iter.Seq2[*Stage, int] {
	return func(yield func(*Stage, int) bool) {
		for _, b := range s.Blocks {
			for i := range b.Stages {
				if !yield(&b.Stages[i], b.Repeat) {
					return
				}
			}
		}
	}
}

// Footprint is the bytes that a rank touches: its buffers, and the largest message that it receives to reduce.
func (s *Schedule) Footprint(rank int) (n int) {
	if s.Touched > 0 || s.Algorithm == nil {
		return s.Touched
	}
	n += lists.Sum([]Buffer{Send, Recv, Temp}, func(b Buffer) int { return s.Size(rank, b) })
	arrives := 0
	for stage := range s.Stages() {
		if stage.Reduce && stage.Shape[0].Bytes > arrives && mayReceive(Step{stage, 0}, rank) {
			arrives = stage.Shape[0].Bytes
		}
	}
	return n + arrives
}

// mayReceive reports whether a rank receives in a step. It is true without a check for steps other than a
// few one-way messages.
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

// Join is a schedule of parts with the same ranks, one after the other. Each part finds the buffers as the
// previous one left them.
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
	s.temp = func(rank int) int {
		return lists.Most(parts, func(part *Schedule) int { return part.Size(rank, Temp) })
	}
	return s
}

// local appends a stage of local copies of n ranks. Beside is the Stage's.
func (s *Schedule) local(phase string, n int, rank func(i int) int, beside []Batch, copied func(rank int) (src, dst Span)) {
	s.add(1, n, Stage{Phase: phase, Pattern: Local, Beside: beside}, func(_, i int) Message {
		src, dst := copied(rank(i))
		return Message{From: rank(i), To: rank(i), Src: src, Dst: dst}
	})
}

func everyRank(i int) int { return i }

// atRoot is the root, for stages of the root alone.
func (c Call) atRoot(int) int { return c.Root }

// shift appends repetitions of an exchange in which every rank sends to the one `distance` to its right.
func (s *Schedule) shift(repeat int, phase string, distance int, moved func(repetition, rank int) (src, dst Span)) {
	c := s.Call
	s.add(repeat, c.P, Stage{Phase: phase, Pattern: Exchange, Peers: c.shiftedBy(distance, 0), Same: true}, func(repetition, rank int) Message {
		src, dst := moved(repetition, rank)
		return Message{From: rank, To: (rank + distance) % c.P, Src: src, Dst: dst}
	})
}

// backwards reverses the stages from a block on.
func (s *Schedule) backwards(from int) {
	slices.Reverse(s.Blocks[from:])
	for _, b := range s.Blocks[from:] {
		slices.Reverse(b.Stages)
	}
}

// add appends a stage of n messages, numbered from 0, with repeat repetitions. Without a Shape all messages
// have the size of the first. Empty messages are not sent unless all of the Shape or of the collective are,
// and a stage without messages is left out. Messages after the Shape's count are empty and not visited.
func (s *Schedule) add(repeat, n int, st Stage, message func(repetition, i int) Message) {
	if st.Shape == nil && n > 0 {
		st.Shape = []Batch{{n, message(0, 0).Bytes()}}
		if !s.Algorithm.Collective.Empty() {
			st.Shape = shape(st.Shape...)
		}
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
	if st.Pattern == Local { // the Shape counts ranks
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
