package collective

import (
	"maps"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// sizes are the message sizes of the property tests: 0, fewer bytes than ranks, a number that few P divide, and
// one with several segments.
var sizes = []int{0, 3, 17, 40}

// roots are the roots of the property tests: all among few ranks, some among many.
func roots(c *Collective, p int) []int { return from(0, c.Rooted, p) }

// distances are those of the property tests, likewise; none among one rank if the collective has distances.
func distances(c *Collective, p int) []int {
	if !c.Shifted {
		return []int{0}
	}
	return from(1, true, p)
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
					if t.Failed() {
						t.Fatalf("with %+v", s.Call)
					}
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

// touch notes in which stage, counted from 1, a byte was last read and written,
// and by which of its messages.
type touch struct {
	readIn, reader   int
	writtenIn, write int
}

// transmission identifies a message by its ranks and spans, and the first cell of its data.
type transmission struct {
	Message
	first cell
}

func newMachine(t *testing.T, s *Schedule) *machine {
	m := &machine{
		T: t, schedule: s,
		buffers: make([][3][]cell, s.Call.P),
		touched: make([][3][]touch, s.Call.P),
		seen:    map[transmission]int{},
	}
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
		if msg.Reduce != step.Reduce {
			m.Errorf("stage %d: %+v reduces, its stage says %v", n, msg, step.Reduce)
		}
		if step.Pattern == Local != (msg.From == msg.To) && step.Pattern != Transfer {
			m.Errorf("stage %d, %v: message from %d to %d", n, step.Pattern, msg.From, msg.To)
		}
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
	if before, again := m.seen[key]; again {
		m.Errorf("stage %d: %+v was sent in stage %d already", n, msg, before)
	}
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
	if s.Offset < 0 || s.Bytes < 0 || s.Offset+s.Bytes > len(buffer) {
		m.Fatalf("stage %d: rank %d has no %+v; the buffer has %d bytes", n, rank, s, len(buffer))
	}
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
	if got, want := m.buffers[rank][Recv], promise(m.schedule, rank); !slices.Equal(got, want) {
		m.Fatalf("%s, %+v: rank %d has %+v, want %+v", m.schedule.Algorithm, m.schedule.Call, rank, got, want)
	}
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

// checkSteps proves that shapes and peers of stages agree with their messages, and that reductions have whole
// elements.
func checkSteps(t *testing.T, s *Schedule) {
	for n, step := range s.Steps() {
		if got := enumerated(step); !slices.Equal(got, step.Shape) {
			t.Fatalf("%+v, stage %d: shape %v, messages %v", s.Call, n, step.Shape, got)
		}
		pairs, element := make(map[[2]int]bool), max(1, s.Call.Element)
		for m := range step.Messages() {
			pairs[[2]int{m.From, m.To}] = true
			if m.Reduce && (m.Src.Offset%element != 0 || m.Dst.Offset%element != 0 || m.Bytes()%element != 0) {
				t.Fatalf("%+v, stage %d: %+v cuts an element", s.Call, n, m)
			}
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
		if !maps.Equal(pairs, want) {
			t.Fatalf("%+v, stage %d: %v, want %v", s.Call, n, pairs, want)
		}
	}
}

// A reduction followed by a broadcast is an allreduce.
func TestJoin(t *testing.T) {
	for p := 2; p < 14; p++ {
		var parts []*Schedule
		for _, name := range []string{"reduce:rabenseifner-halves", "bcast:split-binary"} {
			a := must.Get(Lookup(name))
			s := must.Get(a.Schedule(Call{P: p, M: 100, Chunk: 13}))
			parts = append(parts, s)
		}
		parts[1].Blocking = true
		s := Join(find("allreduce:reduce-bcast"), Call{P: p, M: 100}, parts...)
		carryOut(t, s)
		for n, step := range s.Steps() {
			if step.Blocking != (n >= parts[0].Len()) {
				t.Fatalf("P = %d: stage %d of %d is blocking: %v", p, n, s.Len(), step.Blocking)
			}
		}
	}
}

// checkBarrier proves that no rank passes before all have arrived: a barrier moves no bytes but
// knowledge of the ranks that have.
func checkBarrier(t *testing.T, s *Schedule) {
	p := s.Call.P
	knows := make([]uint64, p)
	for rank := range knows {
		knows[rank] = 1 << rank
	}
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
	steps := make([]Step, 0, s.Len())
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
			if step.Beside != nil {
				t.Fatalf("%s P=%d: stage %d is not local and beside another", s.Algorithm, s.Call.P, i)
			}
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
		if !slices.Equal(beside, step.Beside) {
			t.Fatalf("%s P=%d root=%d m=%d: stage %d goes on beside %v, and says %v", s.Algorithm, s.Call.P, s.Call.Root, s.Call.M, i, beside, step.Beside)
		}
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

// The numbers of stages that the algorithms' sources state; MPICH's depend on radix, chunk and root.
func TestStages(t *testing.T) {
	for _, tt := range []struct {
		name  string
		call  Call
		local int // stages of copies within a rank
		want  int // stages of messages
	}{
		{"bcast:linear", Call{P: 13, M: 1000}, 0, 12},
		{"bcast:circulant", Call{P: 13, M: 1000}, 0, 4},
		{"reduce:circulant", Call{P: 13, M: 1000}, 1, 4},
		{"allgather:circulant", Call{P: 13, M: 1000}, 1, 12},
		{"bcast:binomial", Call{P: 13, M: 1000}, 0, 4},
		{"bcast:binomial", Call{P: 16, M: 1000}, 0, 4},
		{"bcast:scatter-recursive-doubling", Call{P: 16, M: 1000}, 0, 4 + 4},
		{"bcast:scatter-ring", Call{P: 13, M: 1000}, 0, 4 + 12},
		{"scatter:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"gather:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"gather:linear", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:recursive-doubling", Call{P: 16, M: 1000}, 1, 4},
		{"allgather:ring", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:bruck", Call{P: 13, M: 1000}, 2, 4},
		{"alltoall:pairwise", Call{P: 13, M: 1000}, 1, 12},
		{"alltoall:linear", Call{P: 16, M: 1000}, 1, 15},
		{"reduce:linear", Call{P: 13, M: 1000}, 1, 12},
		{"reduce:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"allreduce:recursive-doubling", Call{P: 16, M: 1000}, 1, 4},
		{"allreduce:recursive-doubling", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"allreduce:ring", Call{P: 13, M: 1000}, 1, 24},
		{"allreduce:rabenseifner", Call{P: 16, M: 1000}, 1, 8},
		{"allreduce:rabenseifner", Call{P: 13, M: 1000}, 1, 6 + 2},
		{"allreduce:rabenseifner-halves", Call{P: 13, M: 1000}, 1, 6 + 3},
		{"allreduce:reduce-bcast", Call{P: 13, M: 1000}, 1, 8},
		{"barrier:dissemination", Call{P: 13, M: 1000}, 0, 4},
		{"barrier:linear", Call{P: 13, M: 1000}, 0, 24},
		{"barrier:double-ring", Call{P: 13, M: 1000}, 0, 26},
		{"barrier:recursive-doubling", Call{P: 13, M: 1000}, 0, 3 + 3},
		{"barrier:tree", Call{P: 13, M: 1000}, 0, 8},
		{"barrier:recexch", Call{P: 13, M: 1000}, 0, 3 + 2},
		{"allgather:linear", Call{P: 13, M: 1000}, 1, 24},
		{"allgather:k-bruck", Call{P: 13, M: 1000}, 2, 4},
		{"allgather:neighbor-exchange", Call{P: 14, M: 1000}, 1, 7},
		{"allgather:sparbit", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:recexch", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"allreduce:linear", Call{P: 13, M: 1000}, 1, 24},
		{"allreduce:recexch", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"alltoall:bruck", Call{P: 13, M: 1000}, 2 + 2*4, 4},
		{"gather:linear-sync", Call{P: 13, M: 1000}, 1, 24}, // one chunk: no rest
		{"reduce:rabenseifner", Call{P: 13, M: 1000}, 1, 1 + 6},
		{"reduce:rabenseifner-halves", Call{P: 13, M: 1000}, 1, 2 + 6},
		{"bcast:split-binary", Call{P: 15, M: 1000}, 0, 6 + 1},
		{"bcast:binomial-doubling", Call{P: 13, M: 1000}, 0, 4},
		{"barrier:k-dissemination", Call{P: 16, Degree: 4}, 0, 3 + 3},
		{"barrier:k-dissemination", Call{P: 5, Degree: 4}, 0, 3 + 3}, // at distance 4, 8 and 12
		{"barrier:k-dissemination", Call{P: 6, Degree: 4}, 0, 3 + 2}, // 12 is the rank itself
		{"barrier:k-dissemination", Call{P: 3, Degree: 4}, 0, 2},
		{"allreduce:kary", Call{P: 7, M: 1000, Chunk: 1000}, 1, 2 * 4},
		{"allreduce:kary", Call{P: 7, M: 1000, Chunk: 300}, 1, 4 * 2 * 4}, // chunk after chunk
		{"allreduce:kary", Call{P: 7}, 0, 0},
		{"reduce:rabenseifner", Call{P: 13, M: 1000, Root: 2}, 1, 1 + 3 + 3},
		{"reduce:rabenseifner", Call{P: 13, M: 1000, Root: 3}, 1, 1 + 3 + 1 + 3}, // rank 0 stands in for the root
		{"permutation:shift", Call{P: 13, M: 1000, Distance: 5}, 0, 1},
		{"permutation:shift", Call{P: 13, Distance: 5}, 0, 0}, // an empty message is not sent
		{"ping-pong:pair", Call{P: 13, M: 1000, Distance: 5, Root: 9}, 0, 2},
		{"dealing:linear", Call{P: 13, M: 1000}, 0, 12},
	} {
		check.Equal(t, must.Get(ofAny(tt.name).Schedule(tt.call)).Len(), tt.local+tt.want, "%s, %+v: stages", tt.name, tt.call)
	}
	for name, want := range map[string]int{"reduce:rabenseifner": 1, "allreduce:rabenseifner": 0} {
		for _, step := range must.Get(find(name).Schedule(Call{P: 3, M: 1000})).Steps() {
			for m := range step.Messages() {
				if step.Phase == "fold in" && m.From != want {
					t.Errorf("%s: rank %d folds in, want %d", name, m.From, want)
				}
			}
		}
	}
}

// A message of k chunks takes h + g(k−1) stages down a tree in which the last rank gets the
// first one in stage h, and no rank has more than g children; and as many up.
func TestPipelineStages(t *testing.T) {
	for _, tt := range []struct {
		name         string
		p, k, degree int
		want         int
	}{
		{"pipeline", 8, 1, 0, 7},
		{"chain", 13, 1, 2, 2 + 5},
		{"pipeline", 8, 10, 0, 7 + 9},
		{"pipeline", 1000, 3, 0, 999 + 2},
		{"pipeline", 3, 500, 0, 2 + 499},
		{"chain", 9, 10, 4, 4 + 1 + 4*9},
		{"binary", 15, 10, 0, 6 + 2*9},
		{"binary", 8, 10, 0, 4 + 2*9},
		{"kary", 13, 10, 3, 6 + 3*9},
		{"knomial", 16, 10, 2, 4 + 4*9},
		{"knomial", 16, 10, 4, 6 + 6*9},
	} {
		for _, of := range []string{"bcast:", "reduce:"} {
			s := must.Get(find(of + tt.name).Schedule(Call{P: tt.p, M: tt.k * 64, Chunk: 64, Degree: tt.degree}))
			got := s.Len()
			if of == "reduce:" {
				got-- // own vector
			}
			check.Equal(t, got, tt.want, "%s%s, P = %d, k = %d: stages", of, tt.name, tt.p, tt.k)
		}
	}
}

// Of n chunks every rank but the root receives each in n−1+⌈log2 P⌉ rounds (Träff 2025).
func TestCirculantBroadcast(t *testing.T) {
	for _, p := range slices.Concat(ranks()[1:], []int{31, 32, 33}) {
		for n := 1; n < 34; n++ {
			const chunk = 8
			s := must.Get(find("bcast:circulant").Schedule(Call{P: p, M: n*chunk - n%chunk, Chunk: chunk, Root: n % p}))
			carryOut(t, s)
			messages := 0
			for _, step := range s.Steps() {
				messages += step.Count()
			}
			if want := n - 1 + bits.Len(uint(p-1)); s.Len() != want || messages != n*(p-1) {
				t.Errorf("P = %d, %d chunks: %d rounds with %d messages, want %d with %d", p, n, s.Len(), messages, want, n*(p-1))
			}
		}
	}
}

// The table of MPICH's circ_graph.c, of 17 ranks.
func TestCirculantIsThatOfMPICH(t *testing.T) {
	g := circulantOf(17)
	check.Slices(t, g.skip, []int{1, 2, 3, 5, 9, 17}, "skips")
	for k, want := range [][]int8{
		{-4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5},
		{-5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2},
		{-2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3},
		{-1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1},
		{-3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1},
	} {
		for r := range want {
			check.Equal(t, g.block[r][k], want[r], "round %d, rank %d: block", k, r)
		}
	}
}

// Open MPI's comment in coll_base_topo.c draws the trees of radix 2, 3 and 4 of ten ranks, and
// its in-order tree has every left subtree above every right one.
func TestTreesAreThoseOfTheLibraries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tree    tree
		parents []int // of ranks 1, 2 …
	}{
		{"knomial 2", knomial(10, 2), []int{0, 0, 2, 0, 4, 4, 6, 0, 8}},
		{"knomial 3", knomial(10, 3), []int{0, 0, 0, 3, 3, 0, 6, 6, 0}},
		{"knomial 4", knomial(10, 4), []int{0, 0, 0, 0, 4, 4, 4, 0, 8}},
		{"binary", kary(10, 2, false), []int{0, 0, 1, 2, 1, 2, 3, 4, 5}},
		{"kary 2", kary(10, 2, true), []int{0, 0, 1, 1, 2, 2, 3, 3, 4}},
		{"kary 3", kary(10, 3, true), []int{0, 0, 0, 1, 1, 1, 2, 2, 2}},
		{"doubling", doubling(10), []int{0, 0, 1, 0, 1, 2, 3, 0, 1}},
		{"in order", inOrder(7), []int{0, 1, 1, 0, 4, 4}},
		{"chains", chains(10, 4), []int{0, 1, 2, 0, 4, 0, 6, 0, 8}},
	} {
		for i, want := range tt.parents {
			check.Equal(t, tt.tree.place(i+1).parent, want, "%s: parent of %d", tt.name, i+1)
		}
	}
}

// τ-Lop, Fig. 14: P = 8, g = 2, k = 4.
func TestTreeTransfersPerStage(t *testing.T) {
	s := must.Get(find("bcast:sm-tree").Schedule(Call{P: 8, M: 4 * 8192}))
	var got []int
	for _, step := range s.Steps() {
		got = append(got, step.Shape[0].Count)
	}
	check.Slices(t, got, []int{1, 2, 4, 7, 4, 7, 4, 7, 3, 5}, "transfers per stage")
}

// The decisions of τ-Lop, section 4.1.
func TestMPICHChooses(t *testing.T) {
	for _, tt := range []struct {
		p, m int
		want string
	}{
		{64, 12<<10 - 1, "bcast:binomial"},
		{7, 1 << 20, "bcast:binomial"},
		{8, 12 << 10, "bcast:scatter-recursive-doubling"},
		{8, 512<<10 - 1, "bcast:scatter-recursive-doubling"},
		{8, 512 << 10, "bcast:scatter-ring"},
		{9, 12 << 10, "bcast:scatter-ring"},
	} {
		s := must.Get(find("bcast:mpich").Schedule(Call{P: tt.p, M: tt.m}))
		check.Equal(t, s.Algorithm.String(), tt.want, "P = %d, m = %d", tt.p, tt.m)
	}
}

func TestCallsWithoutSchedule(t *testing.T) {
	for _, tt := range []struct {
		name string
		call Call
		says string
	}{
		{"bcast:binomial", Call{P: 0}, "at least one rank, got P = 0"},
		{"bcast:binomial", Call{P: 1 << 40}, "at most"},
		{"bcast:binomial", Call{P: 4, M: -1}, "0 bytes or more, got m = -1"},
		{"allgather:ring", Call{P: 1 << 30, M: 1 << 40}, "take a smaller m or P"},
		{"gather:linear", Call{P: 4, Root: 4}, "root from 0 to 3, got 4"},
		{"reduce:binomial", Call{P: 4, Root: -1}, "root from 0 to 3, got -1"},
		{"allgather:recursive-doubling", Call{P: 6}, "power of two of ranks, got P = 6; the nearest are 4 and 8"},
		{"allgather:recursive-doubling", Call{P: 12}, "the nearest are 8 and 16"},
		{"allreduce:ring", Call{P: 4, M: 10, Element: 4}, "no whole number of elements of 4 bytes"},
		{"allreduce:ring", Call{P: 4, M: 10, Element: -4}, "elements of at least one byte, got -4"},
		{"bcast:sm-tree", Call{P: 4, M: 10, Degree: 1}, "degree 2 or more, got 1"},
		{"bcast:sm-tree", Call{P: 4, M: 10, Segment: -1}, "segments of at least one byte, got -1"},
		{"bcast:chain", Call{P: 4, M: 10, Chunk: -1}, "chunks of at least one byte, got -1"},
		{"bcast:chain", Call{P: 4, M: 1 << 30, Chunk: 1}, "take larger chunks"},
		{"bcast:knomial", Call{P: 4, M: 10, Degree: 5000}, "degree of at most 1024, got 5000"},
		{"allgather:neighbor-exchange", Call{P: 7}, "even number of ranks, got P = 7; the nearest are 6 and 8"},
		{"allgather:neighbor-exchange", Call{P: 1}, "even number of ranks, got P = 1; take P = 2"},
		{"bcast:circulant", Call{P: 1 << 17}, "at most 65536 ranks, got P = 131072; take P = 65536"},
		{"barrier:two-proc", Call{P: 4}, "two ranks, got P = 4; take P = 2"},
		{"permutation:shift", Call{P: 1, Distance: 1}, "two ranks"},
		{"permutation:shift", Call{P: 4}, "distance from 1 to 3"},
		{"permutation:shift", Call{P: 4, Distance: 4}, "distance from 1 to 3"},
		{"ping-pong:pair", Call{P: 4, Distance: -1}, "distance from 1 to 3"},
		{"ping-pong:pair", Call{P: 4, Distance: 1, Root: 4}, "root"},
		{"dealing:linear", Call{P: 4, Root: -1}, "root"},
	} {
		contains.Error(t, must.Err(ofAny(tt.name).Schedule(tt.call)), tt.says, tt.name)
	}
}

// A million ranks need no more blocks than a logarithm of them, apart from the stages that
// fill and empty a pipeline.
func TestSchedulesStayCompact(t *testing.T) {
	for _, a := range All() {
		for _, c := range []Call{{P: 1 << 20, M: 1 << 30}, {P: 999_999, M: 1 << 30, Root: 77_777}, {P: 1 << 20, M: 1000}} {
			c.Chunk = 1 << 28 // each of which fills a pipeline by a stage
			if !a.Among.Has(c.P) {
				continue
			}
			s := must.Get(a.Schedule(c))
			stages := 0
			for stage := range s.Stages() {
				if stages++; len(stage.Shape) > 3 {
					t.Errorf("%s, P = %d: a stage of %d sizes", a, c.P, len(stage.Shape))
				}
			}
			check.AtMost(t, stages, 90, "%s, P = %d: stages in memory", a, c.P)
		}
	}
}

// The first messages of every stage are found among more ranks than can be visited, most of which send nothing.
func TestFirstMessages(t *testing.T) {
	for _, a := range All() {
		for _, p := range []int{100_000_000, 1 << 26} {
			if !a.Among.Has(p) {
				continue
			}
			s := must.Get(a.Schedule(Call{P: p, M: 8 << 10}))
			for stage := range s.Stages() {
				want, got := min(4096, stage.Count()), 0
				for m := range (Step{Stage: stage}).Messages() {
					if m.From < 0 || m.From >= p || m.To < 0 || m.To >= p || m.Bytes() > stage.Shape[0].Bytes {
						t.Fatalf("%s, %s: %+v", a, stage.Phase, m)
					}
					if got++; got == want {
						break
					}
				}
				check.Equal(t, got, want, "%s among %d, %s: messages", a, p, stage.Phase)
			}
		}
	}
}
