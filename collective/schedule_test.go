package collective

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// sizes are the message sizes of the property tests: 0, fewer bytes than ranks, a number that few P divide, and
// one with several segments.
var sizes = []int{0, 3, 17, 40}

// roots are the roots of the property tests: all among few ranks, some among many.
func roots(c *Collective, p int) []int { return from(0, c.Rooted, p) }

// distances are those of the property tests, likewise; none among one rank if the collective has distances.
func distances(c *Collective, p int) []int {
	if c.Shifted {
		return from(1, true, p)
	}
	return []int{0}
}

// from are numbers from the least to p − 1, or the least alone.
func from(least int, several bool, p int) (some []int) {
	for n := least; n < p; n++ {
		if n == least || several && (p <= 20 || n == 1 || n == p/2 || n == p-1) {
			some = append(some, n)
		}
	}
	return some
}

// ranks are the P of the property tests: all up to 17, with every remainder of the groups
// and trees that algorithms make, and those beside and at powers of two. With TAULOP_LONG
// all up to 64; with -short, where only sharing of data is looked for, up to 17.
func ranks() (of []int) {
	for p := 1; p <= 64; p++ {
		if p <= 17 || os.Getenv("TAULOP_LONG") != "" || !testing.Short() && (p >= 31 && p <= 33 || p == 64) {
			of = append(of, p)
		}
	}
	return of
}

// calls yields every call of the property tests.
func calls(t *testing.T, a *Algorithm, try func(*Schedule)) {
	t.Helper()
	for _, p := range ranks() {
		if !a.Among.Has(p) {
			continue
		}
		for _, root := range roots(a.Collective, p) {
			for _, distance := range distances(a.Collective, p) {
				for _, m := range sizes {
					if a.Collective.Empty() && m > 0 {
						continue
					}
					c := Call{P: p, Root: root, M: m, Segment: 4, Chunk: 1 + p%7, Degree: 2 + m%3, Distance: distance}
					if a.Reduces() && m%2 == 0 {
						c.Element = 2
					}
					s := must.Get(a.Schedule(c))
					try(s)
					check.Need(t, !t.Failed(), "with %+v", s.Call)
				}
			}
		}
	}
}

// cell is a byte of a buffer: its index in the collective's data, and the ranks that have contributed to it. An
// unwritten byte has no contributor.
type cell struct {
	id  int32
	who uint64
}

// machine is the memory of all ranks, which executes a schedule byte by byte.
type machine struct {
	*testing.T
	schedule *Schedule
	buffers  [][3][]cell
	touched  [][3][]touch
	seen     map[transmission]int
}

// touch notes in which stage, counted from 1, a byte was last read and written, and by which of its messages.
type touch struct{ readIn, reader, writtenIn, write int }

// transmission identifies a message by its ranks and spans, and the first cell of its data.
type transmission struct {
	Message
	first cell
}

func newMachine(t *testing.T, s *Schedule) *machine {
	m := &machine{T: t, schedule: s, buffers: make([][3][]cell, s.Call.P), touched: make([][3][]touch, s.Call.P), seen: map[transmission]int{}}
	for rank := range m.buffers {
		for b := Send; b <= Temp; b++ {
			m.buffers[rank][b] = make([]cell, s.Size(rank, b))
			m.touched[rank][b] = make([]touch, s.Size(rank, b))
		}
		given := s.Brings(rank)
		for i := range given.Bytes {
			m.buffers[rank][given.Buffer][i] = cell{int32(i), 1 << rank}
		}
	}
	return m
}

func (m *machine) run() {
	for n, step := range m.schedule.Steps() {
		messages := slices.Collect(step.Messages())
		m.checkRanks(n, step, messages)
		var held []cell // all that is on the way
		for i, msg := range messages {
			held = append(held, m.send(n, i, step, msg)...)
		}
		if m.Failed() {
			return
		}
		for i, msg := range messages {
			m.receive(n, i, messages, held[:msg.Bytes()])
			held = held[msg.Bytes():]
		}
		if m.Failed() {
			return
		}
	}
}

// checkRanks proves that a stage conforms to its pattern.
func (m *machine) checkRanks(n int, step Step, messages []Message) {
	sends, receives := make([]int, len(m.buffers)), make([]int, len(m.buffers))
	for _, msg := range messages {
		check.True(m, msg.Reduce == step.Reduce, "stage %d: %+v reduces, its stage says %v", n, msg, step.Reduce)
		check.True(m, step.Pattern == Local == (msg.From == msg.To) || step.Pattern == Transfer,
			"stage %d, %v: message from %d to %d", n, step.Pattern, msg.From, msg.To)
		sends[msg.From]++
		receives[msg.To]++
		switch {
		case step.Pattern == OneWay && (sends[msg.From] > 1 || receives[msg.To] > 1 || sends[msg.To] > 0 || receives[msg.From] > 0):
			m.Errorf("stage %d: a rank of the one-way message %+v has another one", n, msg)
		case step.Pattern == Exchange && (sends[msg.From] > 1 || receives[msg.To] > 1):
			m.Errorf("stage %d: a rank of %+v sends or receives twice", n, msg)
		case step.Pattern == Transfer && receives[msg.To] > 1:
			m.Errorf("stage %d: the rank that carries out %+v has another copy to make", n, msg)
		}
	}
}

// send reads a message, which its sender must have in full and not have sent before. Empty
// messages, which only announce a rank, may be sent again.
func (m *machine) send(n, i int, step Step, msg Message) []cell {
	if msg.Src.Bytes != msg.Dst.Bytes || msg.Bytes() == 0 && step.Shape[0].Bytes > 0 {
		m.Errorf("stage %d: %+v is empty or changes its size on the way", n, msg)
		return nil
	}
	if msg.Bytes() == 0 {
		return nil
	}
	data, touched := m.at(n, msg.From, msg.Src)
	key := transmission{Message: msg}
	for at, c := range data {
		if c.who == 0 {
			m.Errorf("stage %d: %+v sends byte %d, which its sender does not have", n, msg, at)
			return nil
		}
		touched[at].readIn, touched[at].reader = n+1, i
		key.first = data[0]
	}
	before, again := m.seen[key]
	check.True(m, !again, "stage %d: %+v was sent in stage %d already", n, msg, before)
	m.seen[key] = n
	return data
}

// receive stores or reduces a message. A byte may be read and written in one stage only if a rank reduces into the
// bytes that it sends, in the same order.
func (m *machine) receive(n, i int, messages []Message, data []cell) {
	msg := messages[i]
	target, touched := m.at(n, msg.To, msg.Dst)
	for at, c := range data {
		if touch := touched[at]; touch.writtenIn == n+1 {
			m.Errorf("stage %d: %+v and %+v write the same byte", n, msg, messages[touch.write])
			return
		} else if out := messages[min(touch.reader, len(messages)-1)]; touch.readIn == n+1 && !(msg.Reduce && msg.Dst == out.Src) {
			m.Errorf("stage %d: %+v overwrites what %+v sends", n, msg, out)
			return
		}
		touched[at].writtenIn, touched[at].write = n+1, i
		if !msg.Reduce {
			target[at] = c
			continue
		}
		if target[at].id != c.id || target[at].who&c.who != 0 || target[at].who == 0 {
			m.Errorf("stage %d: %+v adds byte %d of %b to byte %d of %b", n, msg, c.id, c.who, target[at].id, target[at].who)
			return
		}
		target[at].who |= c.who
	}
}

func (m *machine) at(n, rank int, s Span) ([]cell, []touch) {
	buffer := m.buffers[rank][s.Buffer]
	check.Need(m, s.Offset >= 0 && s.Bytes >= 0 && s.Offset+s.Bytes <= len(buffer),
		"stage %d: rank %d has no %+v; the buffer has %d bytes", n, rank, s, len(buffer))
	return buffer[s.Offset : s.Offset+s.Bytes], m.touched[rank][s.Buffer][s.Offset : s.Offset+s.Bytes]
}

// promise is the required content of a rank's Recv at the end.
func promise(s *Schedule, rank int) (want []cell) {
	for _, part := range s.Promise(rank) {
		var who uint64
		for from := part.From; from < part.From+part.Ranks; from++ {
			if who |= 1 << from; part.Reduced && from < part.From+part.Ranks-1 {
				continue
			}
			for i := range part.Bytes {
				want = append(want, cell{int32(part.At + i), who})
			}
			who = 0
		}
	}
	return want
}

// holds compares a rank's result with its promise.
func (m *machine) holds(rank int) {
	got, want := m.buffers[rank][Recv], promise(m.schedule, rank)
	check.Need(m, slices.Equal(got, want), "%s, %+v: rank %d has %+v, want %+v", m.schedule.Algorithm, m.schedule.Call, rank, got, want)
}

// carryOut proves that a schedule keeps what it promises.
func carryOut(t *testing.T, s *Schedule) {
	m := newMachine(t, s)
	m.run()
	for rank := range m.buffers {
		m.holds(rank)
	}
}

// Every rank ends with the collective's promise, and the shapes, peers and overlaps of all stages agree with their
// messages.
func TestEveryScheduleKeepsItsPromises(t *testing.T) {
	for _, a := range append(All(), patterns...) {
		if a == Readers { // of one sender, which no other stage has
			continue
		}
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			calls(t, a, func(s *Schedule) {
				carryOut(t, s)
				checkSteps(t, s)
				if a.Collective == Barrier {
					checkBarrier(t, s)
				} else {
					checkBeside(t, s)
				}
			})
		})
	}
}

// ofAny is an algorithm or a pattern.
func ofAny(name string) *Algorithm { return named(append(All(), patterns...), name) }

// checkSteps proves that shapes and peers of stages agree with their messages, and that reductions have whole elements.
func checkSteps(t *testing.T, s *Schedule) {
	for n, step := range s.Steps() {
		got := enumerated(step)
		check.Need(t, slices.Equal(got, step.Shape), "%+v, stage %d: shape %v, messages %v", s.Call, n, step.Shape, got)
		pairs, element := make(map[[2]int]bool), max(1, s.Call.Element)
		for m := range step.Messages() {
			pairs[[2]int{m.From, m.To}] = true
			check.Need(t, !m.Reduce || m.Src.Offset%element == 0 && m.Dst.Offset%element == 0 && m.Bytes()%element == 0,
				"%+v, stage %d: %+v cuts an element", s.Call, n, m)
		}
		if step.Peers == nil {
			continue
		}
		rule, want := step.Peers(step.Repetition), make(map[[2]int]bool)
		for i := range rule.Ranks {
			from := (rule.First + i) % s.Call.P
			to := (from + rule.Distance) % s.Call.P
			if rule.Flip {
				to = from ^ rule.Distance
			}
			want[[2]int{from, to}] = true
		}
		check.Need(t, maps.Equal(pairs, want), "%+v, stage %d: %v, want %v", s.Call, n, pairs, want)
	}
}

// A reduction followed by a broadcast is an allreduce.
func TestJoin(t *testing.T) {
	for p := 2; p < 14; p++ {
		parts := lists.Map([]string{"reduce:rabenseifner-halves", "bcast:split-binary"}, func(name string) *Schedule {
			return must.Get(find(name).Schedule(Call{P: p, M: 100, Chunk: 13}))
		})
		parts[1].Blocking = true
		s := Join(find("allreduce:reduce-bcast"), Call{P: p, M: 100}, parts...)
		carryOut(t, s)
		for n, step := range s.Steps() {
			check.Need(t, step.Blocking == (n >= parts[0].Len()), "P = %d: stage %d of %d is blocking: %v", p, n, s.Len(), step.Blocking)
		}
	}
}

// checkBarrier proves that no rank passes before all have arrived: a barrier moves no bytes but
// knowledge of the ranks that have.
func checkBarrier(t *testing.T, s *Schedule) {
	p := s.Call.P
	knows := lists.Map(lists.Indices(p), func(rank int) uint64 { return 1 << rank })
	for _, step := range s.Steps() {
		before := slices.Clone(knows)
		for m := range step.Messages() {
			knows[m.To] |= before[m.From]
		}
	}
	for rank, who := range knows {
		check.Equal(t, who, 1<<p-1, "P = %d: rank %d passes knowing", p, rank)
	}
}

// enumerated is the shape of a step counted message by message.
func enumerated(step Step) []Batch {
	var sizes []int
	last := -1
	for m := range step.Messages() {
		if step.Pattern == Local && m.From == last {
			sizes[len(sizes)-1] += m.Bytes()
		} else {
			sizes = append(sizes, m.Bytes())
		}
		last = m.From
	}
	slices.Sort(sizes)
	var batches []Batch
	for i, bytes := range slices.Backward(sizes) {
		if i == len(sizes)-1 || bytes != sizes[i+1] {
			batches = append(batches, Batch{Bytes: bytes})
		}
		batches[len(batches)-1].Count++
	}
	return batches
}

// checkBeside proves that Beside agrees with the messages.
func checkBeside(t *testing.T, s *Schedule) {
	if s.Call.P > 12 {
		return
	}
	var steps []Step
	for _, step := range s.Steps() {
		steps = append(steps, step)
	}
	ranks := func(at int, of func(Message) int) map[int]bool {
		found := make(map[int]bool)
		if at >= 0 && at < len(steps) && (steps[at].Pattern == OneWay || steps[at].Pattern == Local) {
			for m := range steps[at].Messages() {
				found[of(m)] = true
			}
		}
		return found
	}
	from, to := func(m Message) int { return m.From }, func(m Message) int { return m.To }
	for i, step := range steps {
		if step.Pattern != Local {
			check.Need(t, step.Beside == nil, "%s P=%d: stage %d is not local and beside another", s.Algorithm, s.Call.P, i)
			continue
		}
		copy := ranks(i, from)
		var beside []Batch
		if i > 0 && steps[i-1].Pattern == OneWay && subset(copy, ranks(i-1, from)) {
			beside = steps[i-1].Shape
		}
		if i+1 < len(steps) && steps[i+1].Pattern == OneWay && subset(copy, ranks(i+1, to)) {
			beside = steps[i+1].Shape
		}
		check.Need(t, slices.Equal(beside, step.Beside),
			"%s P=%d root=%d m=%d: stage %d goes on beside %v, and says %v", s.Algorithm, s.Call.P, s.Call.Root, s.Call.M, i, beside, step.Beside)
	}
}

func subset(a, b map[int]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// Ranks copy their message to Recv and send it from there: the bytes that the receiver read in the last run.
func TestCopiedPatternsSendWhatWasCopied(t *testing.T) {
	for _, a := range []*Algorithm{CopiedCouples, CopiedPermutation} {
		for p := 2; p <= 8; p += 2 {
			s := must.Get(a.Schedule(Call{P: p, M: 17, Distance: 1}))
			carryOut(t, s)
			for n, step := range s.Steps() {
				for msg := range step.Messages() {
					own := msg.From == msg.To
					check.True(t, own == (n == 0) && own == (msg.Src.Buffer == Send) && msg.Dst.Buffer == Recv && msg.Bytes() == 17,
						"%s, P = %d, stage %d: %+v", a, p, n, msg)
				}
			}
			check.Equal(t, s.Len(), 2, "%s, P = %d: stages", a, p)
		}
	}
}
