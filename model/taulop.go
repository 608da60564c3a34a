package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// TauLop is the model τ-Lop. A message through an intermediate buffer costs o(m) and its transfers,
// eq. (9), and concurrent messages share the channel, eq. (12). The zero value of each option is the
// paper's choice.
type TauLop struct {
	Channels   *Channels  // L(m,τ), y(τ), o(m) and c(m,τ), by channel; see Uniform
	Reductions Reductions // may be nil without reductions
	Operator   string     // of reductions; "" means "sum"
	Transport  params.Transport
	Segment    int // S in bytes; Whole, SingleCopy and CMA ignore it

	// Level, if not nil, is the level of two cores of a node, see mapping.Map.Core: the places of a
	// placement in their order. It is not called for nodes of more than Known cores.
	Level func(a, b int) int
	Known int

	Cluster *Cluster // nil: one node

	// Packing, if not nil, is p(m,d), in seconds: messages whose elements lie Stride
	// bytes apart are packed before their first transfer and unpacked after their last.
	Packing func(m int) (seconds float64, extrapolated bool)
	Stride  int

	// Call, if not nil, tells which stages send data that were written in the same call, and receive
	// into buffers that the call has touched.
	Call *collective.Schedule

	whole *collective.Stage // of Call, of whose messages the evaluated stages have parts; nil: of all
}

// ErrContiguous is why strided messages cannot be costed.
var ErrContiguous = errors.New("its ranks copy from each other's buffers, in which messages are contiguous: leave the stride out, or take another algorithm")

// Transports of messages between ranks of a node.
const (
	// Segmented messages go through a buffer segment by segment; the next one is filled while one is
	// emptied: eq. (10), T = 2L(S,1) + (k−1)L(S,2).
	Segmented = params.InSegments
	// Steady messages are Segmented ones that follow each other closely: eq. (22), T = kL(S,2).
	Steady params.Transport = "steady"
	// Whole messages go through a buffer unsegmented: eq. (11), T = 2L(m,1).
	Whole params.Transport = "whole"
	// SingleCopy messages are copied once, without a buffer: T = L(m,1).
	SingleCopy params.Transport = "single-copy"
	// CMA messages are single copies by the kernel from process to process, with an L(m,τ) of their own.
	CMA = params.CMA
)

// Transports are all.
var Transports = []params.Transport{Segmented, Steady, Whole, SingleCopy, CMA}

// measuredOver is the transport whose measured transfers represent those over t.
func measuredOver(t params.Transport) params.Transport {
	if t == CMA {
		return CMA
	}
	return params.InSegments
}

// ParseTransport finds a transport by its name.
func ParseTransport(name string) (params.Transport, error) {
	for _, t := range Transports {
		if t.String() == name {
			return t, nil
		}
	}
	return "", fmt.Errorf("unknown transport %q; take one of %v", name, Transports)
}

// Cost is the cost of a schedule. It fails where a reduction has no γ, and for
// segments of less than a byte.
func (m TauLop) Cost(s *collective.Schedule) (Cost, error) {
	symbols, err := m.symbols(s)
	if err != nil {
		return Cost{}, err
	}
	return m.cost(s, symbols, m.terms(symbols), m.value)
}

// cost adds up terms of stages, with the messages of each channel counted if there are several
// channels. It fails at once where there are too many messages.
func (m TauLop) cost(s *collective.Schedule, symbols Symbols, add terms, value values) (Cost, error) {
	c, err := m.counter(s)
	if err == nil && c != nil && c.Work(s) > mapping.Most {
		err = fmt.Errorf("%s %w", s.Algorithm, mapping.ErrMany)
	}
	if err != nil {
		return Cost{}, err
	}
	return evaluate(s, symbols, c, add, value)
}

// Stage is the cost of a stage of a schedule, in seconds, with messages in the channels of t. It fails
// as Cost does.
func (m TauLop) Stage(s *collective.Schedule, stage *collective.Stage, t mapping.Traffic) (seconds float64, err error) {
	symbols, err := m.symbols(s)
	if err != nil {
		return 0, err
	}
	var all sum
	if err := m.terms(symbols)(stage, t, all.add); err != nil {
		return 0, err
	}
	return m.seconds(all, symbols)
}

// symbols are the symbols of a schedule's formulas.
func (m TauLop) symbols(s *collective.Schedule) (Symbols, error) {
	switch m.Transport {
	case Segmented, Steady:
		if m.Segment < 1 {
			return Symbols{}, fmt.Errorf("transport %v needs a segment of at least one byte, got %d", m.Transport, m.Segment)
		}
		return symbolsOf(s, m.Segment), nil
	case Whole, SingleCopy, CMA:
		return symbolsOf(s, 0), nil
	}
	return Symbols{}, fmt.Errorf("unknown transport %v", m.Transport)
}

// counter counts the messages of channels; nil where there is one channel.
func (m TauLop) counter(s *collective.Schedule) (*mapping.Counter, error) {
	on, err := m.Cluster.ranks(s)
	if err != nil {
		return nil, err
	}
	if on == nil {
		on, _ = mapping.Order{}.Map(s.Call.P, 1) // has room for all
	}
	c := &mapping.Counter{Map: on}
	if on.Cores() <= m.Known {
		c.Level = m.Level
	}
	if on.Nodes == 1 && c.Level == nil {
		return nil, nil
	}
	return c, nil
}

// alone is a schedule of one message, with the channel to itself: T(m) of eqs. (9)–(11) and (22).
func alone(bytes int) *collective.Schedule {
	return &collective.Schedule{Call: collective.Call{P: 2, M: bytes}, Unit: bytes, Blocks: inTurn(1, "message", bytes)}
}

// inTurn are lone messages one after another.
func inTurn(repeat int, phase string, bytes int) []collective.Block {
	stage := collective.Stage{Phase: phase, Pattern: collective.OneWay, Shape: []collective.Batch{{Count: 1, Bytes: bytes}}}
	return []collective.Block{{Repeat: repeat, Stages: []collective.Stage{stage}}}
}

// value looks a term's parameter up.
func (m TauLop) value(t Term) (seconds float64, extrapolated bool, err error) {
	switch t.Parameter {
	case "L":
		seconds, extrapolated = m.Channels.Transfers(t.from.Channel).l(t.Bytes, t.Tau)
	case "y": // c(0,τ) = 0
		seconds, extrapolated = m.Channels.Transfers(t.from.Channel).flag(t.Tau)
	case "o":
		seconds, extrapolated = m.Channels.overheads[t.from.Channel](t.Bytes)
	case "L₁":
		seconds, extrapolated = m.Cluster.Network.Table.L(t.Bytes, t.Tau)
	case "o₁":
		seconds, extrapolated = m.Cluster.Network.Table.O(t.Bytes)
	case "p":
		seconds, extrapolated = m.Packing(t.Bytes)
	case "c":
		seconds, extrapolated = m.Channels.Transfers(t.from.Channel).l(t.Bytes, t.Tau)
		if t.beside != (transfer{}) {
			hidden, beyond := m.Channels.Transfers(Channel{Transport: measuredOver(m.Transport), Way: OneWay}).l(t.beside.bytes, t.beside.tau)
			seconds, extrapolated = max(0, seconds-hidden), extrapolated || beyond
		}
	default:
		return gamma(m.Reductions, m.Operator, t)
	}
	return seconds, extrapolated, nil
}

// A source is where a term's parameter comes from.
type source struct {
	Channel
	way int // index of protocols.ways
}

// beside is the transfer concurrent with a stage of local copies, zero if there is none. A message
// over CMA is one transfer by its receiver, for which its sender waits.
func (m TauLop) beside(s *collective.Stage) (t transfer) {
	if len(s.Beside) == 0 || m.Transport == CMA {
		return transfer{}
	}
	for _, b := range s.Beside {
		t.tau += b.Count
		t.bytes = max(t.bytes, b.Bytes)
	}
	if m.Segment > 0 && (m.Transport == Segmented || m.Transport == Steady) {
		t.bytes = min(t.bytes, m.Segment)
	}
	return t
}

// terms are the terms of a stage's slowest channel, and of its reduction.
func (m TauLop) terms(y Symbols) terms {
	return func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error {
		if stage.Pattern == collective.Local {
			m.localTerms(stage, t, y, add)
			return nil
		}
		arrive := stage.Count()
		if t == (mapping.Traffic{}) {
			if err := m.memory(stage, m.channel(stage, 0), y, add); err != nil {
				return err
			}
		} else {
			slowest, err := m.slowest(stage, t, y)
			if err != nil {
				return err
			}
			for _, term := range slowest.terms {
				add(term)
			}
			arrive = t.Arrive
		}
		if stage.Reduce {
			add(y.one("γ", stage.Shape[0].Bytes, arrive))
		}
		return nil
	}
}

// slowest is the terms of a stage's slowest channel: channels do not delay each other, but the next
// stage waits for all. A channel's τ is the messages on its busiest node. Messages between parts of a
// node go through the memory of both, so messages of all farther levels add to a level's, and so do
// copies of messages between nodes.
func (m TauLop) slowest(stage *collective.Stage, t mapping.Traffic, y Symbols) (slowest sum, err error) {
	longest := -1.0
	take := func(channel sum) error {
		seconds, err := m.seconds(channel, y)
		if seconds > longest {
			slowest, longest = channel, seconds
		}
		return err
	}
	copied := 0 // messages between nodes whose copies share the node's memory
	if t.Between > 0 && m.Cluster.Network.Copies > 0 {
		copied = t.Both - t.Inside
	}
	for level, messages := range t.Levels {
		if messages.All == 0 {
			continue
		}
		tau := 0
		for _, farther := range t.Levels[level:] {
			tau += farther.Most
		}
		var channel sum
		concurrent := *stage
		concurrent.Shape = largestOf(stage.Shape, min(tau, t.Inside)+copied)
		if err := m.memory(&concurrent, m.channel(stage, level), y, channel.add); err != nil {
			return sum{}, err
		}
		if err := take(channel); err != nil {
			return sum{}, err
		}
	}
	if t.Between > 0 {
		var channel sum
		m.network(stage, t, y, channel.add)
		err = take(channel)
	}
	return slowest, err
}

// seconds is the cost of terms.
func (m TauLop) seconds(all sum, y Symbols) (seconds float64, err error) {
	for _, t := range all.terms {
		value, _, err := m.value(t)
		if err != nil {
			return 0, err
		}
		seconds += t.Count.value(float64(y.K)) * value
	}
	return seconds, nil
}

// largestOf are the given number of a stage's largest messages.
func largestOf(shape []collective.Batch, messages int) (largest []collective.Batch) {
	last := len(shape) - 1
	for i, b := range shape {
		if b.Count = min(b.Count, messages); i == last {
			b.Count = messages // also copies of messages between nodes
		}
		if messages -= b.Count; b.Count > 0 {
			largest = append(largest, b)
		}
	}
	return largest
}

// network adds the terms of the largest message through the network.
func (m TauLop) network(stage *collective.Stage, t mapping.Traffic, y Symbols, add func(Term)) {
	bytes := stage.Shape[0].Bytes
	add(y.one("o₁", bytes, 0))
	m.packing(bytes, y, add)
	copies := y.one("L", bytes, t.Both)
	copies.Count.Fixed = m.Cluster.Network.Copies
	add(copies)
	add(y.one("L₁", bytes, t.Through))
}

// packing adds packing and unpacking of strided messages.
func (m TauLop) packing(bytes int, y Symbols, add func(Term)) {
	if m.Packing != nil && bytes > 0 {
		add(Term{Count: Count{Fixed: 2}, Parameter: "p", Bytes: bytes, Size: fmt.Sprintf("%s,%d", y.size(bytes), m.Stride)})
	}
}

// localTerms adds local copies; of one concurrent with a transfer only the time not hidden by that.
func (m TauLop) localTerms(stage *collective.Stage, t mapping.Traffic, y Symbols, add func(Term)) {
	if !m.Channels.has(Channel{Way: Alone}) {
		return
	}
	bytes, tau := stage.Shape[0].Bytes, stage.Count()
	if t != (mapping.Traffic{}) {
		tau = t.Inside
	}
	term := y.one("c", bytes, tau)
	if term.from.Channel = m.localChannel(stage); term.from.Channel == (Channel{Way: Alone}) {
		term.beside = m.beside(stage)
	}
	add(term)
}

// memory adds the terms of messages through memory.
func (m TauLop) memory(stage *collective.Stage, channel Channel, y Symbols, add func(Term)) error {
	largest, tau := stage.Shape[0].Bytes, stage.Count()
	transfers := func(n Count, bytes, tau int) {
		size := y.size(bytes)
		if bytes == y.S {
			size = "S"
		}
		add(Term{Count: n, Parameter: "L", Bytes: bytes, Size: size, Tau: tau, from: source{Channel: channel}})
	}
	if stage.Pattern == collective.Transfer {
		if m.Packing != nil {
			return ErrContiguous
		}
		transfers(Count{Fixed: 1}, largest, tau)
		return nil
	}
	// A lone message, such as of a root that receives nothing, is no exchange.
	o := y.one("o", largest, 0)
	o.from.Channel = m.Channels.overheadOf(channel.Level, stage.Pattern == collective.Exchange && tau > 1)
	add(o)
	m.packing(largest, y, add)
	switch m.Transport {
	case Whole: // eqs. (11) and (15); with as many transfers at once, eq. (17) for k = 1
		transfers(Count{Fixed: 2}, largest, tau)
	case SingleCopy, CMA:
		transfers(Count{Fixed: 1}, largest, tau)
	default:
		m.pipeline(stage, y, transfers)
	}
	return nil
}

// pipeline is eq. (9) for all messages of a stage at once: in each step segments are copied, and the
// active transfers add up. Equal steps are evaluated together, so the work depends on the number of
// sizes, not of segments.
//
// A Segmented message of n segments takes n+1 steps: segment i enters the buffer in step i and leaves
// it in step i+1, eq. (10). A Steady one enters and leaves in each of n steps, eq. (22). In an exchange
// each rank copies in and out alternately: n times two steps with one transfer a message, eq. (17).
func (m TauLop) pipeline(stage *collective.Stage, y Symbols, transfers func(n Count, bytes, tau int)) {
	type message struct {
		collective.Batch
		segments int
		last     int // bytes of the last segment
	}
	type cut struct {
		step   int
		symbol Count
	}
	var messages []message
	cuts := []cut{{0, Count{}}, {1, Count{Fixed: 1}}}
	for _, b := range stage.Shape {
		n := max(1, (b.Bytes+y.S-1)/y.S)
		messages = append(messages, message{b, n, b.Bytes - (n-1)*y.S})
		symbol := Count{Fixed: n}
		if y.K > 0 && b.Bytes%y.unit == 0 {
			symbol = Count{PerK: b.Bytes / y.unit}
		}
		for d := -1; d <= 1; d++ {
			cuts = append(cuts, cut{n + d, symbol.plus(Count{Fixed: d})})
		}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.step - b.step })
	cuts = slices.CompactFunc(cuts, func(a, b cut) bool { return a.step == b.step })

	for i := range len(cuts) - 1 {
		step := cuts[i].step
		tau, bytes := 0, 0
		copies := func(msg message, segment int) {
			if segment < 0 || segment >= msg.segments {
				return
			}
			tau += msg.Count
			if segment == msg.segments-1 {
				bytes = max(bytes, msg.last)
			} else {
				bytes = max(bytes, y.S)
			}
		}
		for _, msg := range messages {
			copies(msg, step)
			switch {
			case stage.Pattern == collective.Exchange:
			case m.Transport == Steady:
				copies(msg, step)
			default:
				copies(msg, step-1)
			}
		}
		if tau == 0 {
			continue
		}
		n := cuts[i+1].symbol.minus(cuts[i].symbol)
		if stage.Pattern == collective.Exchange {
			n = n.times(2)
		}
		transfers(n, bytes, tau)
	}
}
