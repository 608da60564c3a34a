package model

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/params"
)

// TauLop is the model τ-Lop. A message through an intermediate buffer costs
// o(m) and its transfers, eq. (9), and what happens at once shares the channel,
// eq. (12). The zero value of each option is the paper's choice.
type TauLop struct {
	Parameters Parameters
	Reductions Reductions // may be nil where nothing is reduced
	Operator   string     // of reductions; "" means "sum"
	Transport  Transport
	Segment    int // S in bytes; Whole, SingleCopy and CMA ignore it

	// OneWay, if not nil, is L of transfers among ranks that only send or only
	// receive, instead of that of Parameters, where every rank does both alternately
	// and overwrites what it has just sent, which is then at hand in its cache.
	OneWay Parameters
	// Arriving, if not nil, is L of such transfers into temporary buffers, where what is to
	// be reduced arrives: they are at hand even where what is sent is off cache.
	Arriving Parameters

	// Apart, if not nil, is L of transfers in exchanges that receive into memory apart
	// from what they send, such as those of an alltoall or an allgather: in no end of them
	// anybody was in the call before. Where they arrive in temporary buffers, as what is to
	// be reduced does, they are as Parameters has them.
	Apart Parameters

	// Temporary, if not nil, is L of transfers in exchanges of what was written in the same
	// call, to where the call has been, such as temporary buffers: both are at hand even where
	// user buffers are off cache.
	Temporary Parameters

	// Onward, if not nil, is L of transfers in exchanges of what was written in the same call,
	// to where nobody has been in it: what is sent is at hand.
	Onward Parameters

	// Level, if not nil, is how far apart two cores of a node are, see mapping.Map.Core: the
	// places of a placement in their order. Messages of level 1, 2 … have the parameters of
	// Farther[0], Farther[1] … and not those above. Of more cores than Known it is not asked.
	Level   func(a, b int) int
	Known   int
	Farther []TauLop

	Cluster *Cluster // nil: one node

	// Packing, if not nil, is p(m,d), in seconds: messages whose elements lie Stride
	// bytes apart are packed before their first transfer and unpacked after their last.
	Packing func(m int) (seconds float64, extrapolated bool)
	Stride  int

	// Contention, if not nil, is how many times as long single copies take that so many
	// ranks make at once out of one process, whose page tables they all walk (Chakraborty,
	// Subramoni and Panda, "Contention-aware kernel-assisted MPI collectives over
	// multi-/many-core systems", CLUSTER 2017).
	Contention func(m, readers int) float64

	// ExchangeOverhead, if not nil, is o(m) of exchanges, in seconds, in place of that of
	// Parameters, which is of one-way messages.
	ExchangeOverhead func(m int) (seconds float64)

	// Written, if not nil, has L of single copies out of what their senders wrote in the same
	// call, see Call: to write it they took its lines back from the receivers, who read
	// them in the call before, and these fetch changed ones. Off cache such data are at hand,
	// and where they go may be, too: then L is that of its Temporary and Arriving.
	Written *TauLop

	// Call, if not nil, tells which stages send what was written in the same call, and to
	// where their receivers were before in it.
	Call *collective.Schedule
	// Evicted tells that the ranks' own caches do not hold what the call touches: exchanges do
	// not find there what it has written, while copies do in those that cores share.
	Evicted bool

	// NoOverhead leaves o(m) out, as the paper's formulas do from eq. (10) on.
	NoOverhead bool
	// Copies, if not nil, is c(m,τ), in seconds, of what ranks copy within themselves,
	// which the paper leaves out. Of a copy beside which a transfer goes on only what
	// takes longer than that counts.
	Copies func(m, tau int) (seconds float64, extrapolated bool)
	// CopiesIn and CopiesOut, if not nil, are c(m,τ) of copies into and out of temporary
	// buffers, which are at hand even where user buffers are off cache.
	CopiesIn, CopiesOut func(m, tau int) (seconds float64, extrapolated bool)
	// CopiesAtHand, if not nil, is c(m,τ) of copies of what was written in the same call to
	// where the rank was before in it.
	CopiesAtHand func(m, tau int) (seconds float64, extrapolated bool)
}

// ErrContiguous is why strided messages cannot be costed.
var ErrContiguous = errors.New("its ranks copy from each other's buffers, in which messages are contiguous: leave the stride out, or take another algorithm")

// Transport is the way a message takes through memory.
type Transport int

const (
	// Segmented messages go through a buffer segment by segment, and the next
	// is filled while one is emptied: eq. (10), T = 2L(S,1) + (k−1)L(S,2).
	Segmented Transport = iota
	// Steady messages are Segmented ones that follow each other closely:
	// eq. (22), T = kL(S,2).
	Steady
	// Whole messages go through a buffer unsegmented: eq. (11), T = 2L(m,1).
	Whole
	// SingleCopy messages go straight to their place: T = L(m,1).
	SingleCopy
	// CMA messages are SingleCopy ones that the kernel copies from process to process,
	// whose L(m,τ) was measured as such.
	CMA
)

var transportNames = []string{"segmented", "steady", "whole", "single-copy", "cma"}

func (t Transport) String() string {
	if t < 0 || int(t) >= len(transportNames) {
		return fmt.Sprintf("Transport(%d)", int(t))
	}
	return transportNames[t]
}

// Carried is the transport that transfers were measured over.
func (t Transport) Carried() params.Transport {
	if t == CMA {
		return params.CMA
	}
	return params.InSegments
}

// ParseTransport finds a transport by its name.
func ParseTransport(name string) (Transport, error) {
	if i := slices.Index(transportNames, name); i >= 0 {
		return Transport(i), nil
	}
	return 0, fmt.Errorf("unknown transport %q; take one of %v", name, transportNames)
}

// Cost is the cost of a schedule. It fails where a reduction has no γ, and for
// segments of less than a byte.
func (m TauLop) Cost(s *collective.Schedule) (Cost, error) {
	symbols, err := m.symbols(s)
	if err != nil {
		return Cost{}, err
	}
	on, err := m.Cluster.place(s.Call.P)
	if err != nil {
		return Cost{}, err
	}
	if s.Levels > 0 && m.Cluster.several() {
		return Cost{}, fmt.Errorf("%s %w", s.Algorithm, ErrOneNode)
	}
	traffics, err := m.traffics(s, on)
	if err != nil {
		return Cost{}, err
	}
	return evaluate(s, symbols, traffics, m.terms(symbols), m.value)
}

// Stage is what a stage of a schedule costs whose messages are where t says, in seconds. It
// fails as Cost does.
func (m TauLop) Stage(s *collective.Schedule, stage *collective.Stage, t mapping.Traffic) (seconds float64, err error) {
	symbols, err := m.symbols(s)
	if err != nil {
		return 0, err
	}
	var of sum
	if err := m.terms(symbols)(stage, t, of.add); err != nil {
		return 0, err
	}
	return m.seconds(of, symbols)
}

// symbols are those of a schedule's formulas.
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

// traffics counts the messages of channels, if there are several. It fails before it begins
// where these are too many.
func (m TauLop) traffics(s *collective.Schedule, on *mapping.Map) (traffics, error) {
	c := m.counter(s, on)
	switch {
	case c == nil:
		return anywhere, nil
	case c.Work(s) > mapping.Most:
		return nil, fmt.Errorf("%s %w", s.Algorithm, mapping.ErrMany)
	}
	return c.Runs, nil
}

// counter is that of the messages of channels, nil where there is one channel.
func (m TauLop) counter(s *collective.Schedule, on *mapping.Map) *mapping.Counter {
	if on == nil {
		on, _ = mapping.Order{}.Map(s.Call.P, 1) // which has room for all
	}
	c := &mapping.Counter{Map: on}
	if on.Cores() <= m.Known {
		c.Level = m.Level
	}
	if on.Nodes == 1 && c.Level == nil {
		return nil
	}
	return c
}

// Message is the cost of one message of so many bytes with the channel to
// itself, T(m) of eqs. (9)–(11) and (22).
func (m TauLop) Message(bytes int) (Cost, error) {
	return m.Cost(alone(bytes))
}

// alone is one message of so many bytes, as a schedule.
func alone(bytes int) *collective.Schedule {
	return &collective.Schedule{
		Call: collective.Call{P: 2, M: bytes},
		Unit: bytes,
		Blocks: []collective.Block{{
			Repeat: 1,
			Stages: []collective.Stage{{Phase: "message", Shape: []collective.Batch{{Count: 1, Bytes: bytes}}}},
		}},
	}
}

func (m TauLop) value(t Term) (seconds float64, extrapolated bool, err error) {
	switch t.Parameter {
	case "L":
		seconds, extrapolated = m.source(t.from).L(t.Bytes, t.Tau)
		if n := t.from.readers; n > 1 {
			seconds *= m.Contention(t.Bytes, n)
		}
	case "y": // c(0,τ) = 0
		if t.from.setup == arriving { // whatever is in a cache
			t.from.setup = oneWay
		}
		seconds, extrapolated = synchronisation(m.source(t.from), t.Tau)
	case "o":
		if t.from.level > 0 {
			m = m.Farther[t.from.level-1]
		}
		if seconds, extrapolated = m.Parameters.O(t.Bytes); (t.from.setup == apart || t.from.setup == onward) && m.ExchangeOverhead != nil { // a placement may lack it
			seconds = m.ExchangeOverhead(t.Bytes)
		}
	case "L₁":
		seconds, extrapolated = m.Cluster.Network.Table.L(t.Bytes, t.Tau)
	case "o₁":
		seconds, extrapolated = m.Cluster.Network.Table.O(t.Bytes)
	case "p":
		seconds, extrapolated = m.Packing(t.Bytes)
	case "c":
		copies := m.Copies
		switch t.from.setup {
		case copyIn:
			copies = m.CopiesIn
		case copyOut:
			copies = m.CopiesOut
		case temporary:
			copies = m.CopiesAtHand
		}
		seconds, extrapolated = copies(t.Bytes, t.Tau)
		if t.beside != (transfer{}) {
			hidden, beyond := m.source(t.from).L(t.beside.bytes, t.beside.tau)
			seconds, extrapolated = max(0, seconds-hidden), extrapolated || beyond
		}
	default:
		return gamma(m.Reductions, m.Operator, t)
	}
	return seconds, extrapolated, nil
}

// A source is which of a model's parameters a transfer has: those of a setup, at a level
// of the node, and of a library's messages those of a way.
type source struct {
	setup  setup
	level  int
	way    int  // of protocols
	single bool // a copy by the kernel

	written bool // of what its sender wrote in the same call
	sent    bool // of "γ": into what another rank has just copied

	readers int // of one process, where that matters
}

type setup int

const (
	common setup = iota
	oneWay
	apart
	temporary
	onward
	arriving
	copyIn
	copyOut
)

// String marks the letter of the parameters in formulas, see Marks.
func (s source) String() string {
	text := s.setup.String() + strings.Repeat("*", s.level)
	if s.single {
		text += "¹"
	}
	if s.written {
		text += "ʷ"
	}
	if s.readers > 1 {
		text += "ʳ"
	}
	if s.sent {
		text += "ˢ"
	}
	return text
}

func (s setup) String() string {
	return [...]string{"", "→", "⇄", "°", "°⇄", "→°", "→°", "°→"}[s]
}

// A Mark is what may stand behind a letter of formulas where a machine's file tells
// transfers apart.
type Mark struct{ Letters, Mark, Meaning string }

// Marks are those of TauLop.
var Marks = []Mark{
	{"Ly", oneWay.String(), "transfers of one-way messages, as ping has them"},
	{"Ly", arriving.String(), "transfers of one-way messages into temporary buffers, half in cache"},
	{"Ly", apart.String(), "transfers of exchanges that receive beside what they send, as sendrecv has them"},
	{"Ly", temporary.String(), "transfers of exchanges of what the call has written, to where it has been, such as temporary buffers, which are in cache"},
	{"Ly", onward.String(), "transfers of exchanges of what the call has written, which is in cache; where they are received is not"},
	{"c", temporary.String(), "copies of what the call has written, to where it has been, which is in cache"},
	{"c", copyIn.String(), "copies to where the call has been, such as temporary buffers, which are in cache; what they read is not"},
	{"c", copyOut.String(), "copies of what the call has written, such as temporary buffers, which is in cache; what they write is not"},
	{"o", apart.String(), "o(m) of exchanges, what two ranks take to exchange messages alone beyond their transfers; may be below zero"},
	{"Lyo", "*", "of messages between parts of a node, such as its NUMA nodes; each further * is a level farther apart"},
	{"L", "¹", "transfers of single copies by the kernel"},
	{"L", "ʷ", "transfers of single copies of what their senders wrote in the same call"},
	{"L", "ʳ", "transfers of single copies by several ranks at once out of one process"},
	{"γ", "ˢ", "reductions into what another rank has just copied, whose lines its cache has: no less than a transfer"},
	{"L", "₁", "transfers of messages between nodes, through the network; o₁ is its overhead"},
}

// Of are the letters that have the mark in a formula, each with its mark.
func (m Mark) Of(formula string) (marked []string) {
	for _, letter := range m.Letters {
		for _, found := range markedLetter.FindAllStringSubmatch(formula, -1) {
			at := strings.TrimRight(found[2], "*¹ʷʳˢ") // of the setup
			if found[1] == string(letter) && (at == m.Mark || strings.Contains(found[2][len(at):], m.Mark)) {
				marked = append(marked, string(letter)+m.Mark)
				break
			}
		}
	}
	return marked
}

var markedLetter = regexp.MustCompile(`([Lyocγ])([^a-z(\s]*)\(`)

func (m TauLop) source(s source) Parameters {
	if s.written {
		m = *m.Written
	}
	if s.level > 0 {
		m = m.Farther[s.level-1]
	}
	switch {
	case s.setup == oneWay && m.OneWay != nil:
		return m.OneWay
	case s.setup == arriving && m.Arriving != nil:
		return m.Arriving
	case s.setup == apart && m.Apart != nil:
		return m.Apart
	case s.setup == temporary && m.Temporary != nil:
		return m.Temporary
	case s.setup == onward && m.Onward != nil:
		return m.Onward
	}
	return m.Parameters
}

// setupOf is that of a stage's messages, common where a model does not tell.
func (m TauLop) setupOf(s *collective.Stage) setup {
	switch {
	case s.Pattern == collective.OneWay && s.Reduce && m.Arriving != nil:
		return arriving
	case s.Pattern == collective.OneWay && m.OneWay != nil:
		return oneWay
	case s.Pattern != collective.Exchange:
		return common
	}
	from, to := buffersOf(s)
	near, there := from != collective.Send, false
	switch {
	case m.Temporary == nil: // in cache, where all is at hand
		there = s.Reduce && near
	case m.Evicted:
		near, there = false, near && to == collective.Temp
	default:
		there = m.arrivesAtHand(s)
	}
	switch {
	case near && there && m.Temporary != nil:
		return temporary
	case near && !there && m.Onward != nil:
		return onward
	case m.Apart != nil && !there:
		return apart
	}
	return common
}

// from is which parameters the messages of a stage have, at a level of the node.
func (m TauLop) from(stage *collective.Stage, level int) source {
	s := source{setup: m.setupOf(stage), level: level}
	if m.Written == nil || !written(m.Call, stage) {
		return s
	}
	s.written = true
	switch near := m.Written.Temporary != nil && m.arrivesAtHand(stage); {
	case stage.Pattern == collective.Exchange && near:
		s.setup = temporary
	case stage.Pattern == collective.Exchange:
		s.setup = apart
	case near:
		s.setup = arriving
	default:
		s.setup = oneWay
	}
	return s
}

// buffersOf are those that a stage's messages come from and go to, which its first tells.
// What is to be reduced arrives in a temporary one.
func buffersOf(s *collective.Stage) (from, to collective.Buffer) {
	for msg := range (collective.Step{Stage: s}).Messages() {
		from, to = msg.Src.Buffer, msg.Dst.Buffer
		break
	}
	if s.Reduce {
		to = collective.Temp
	}
	return from, to
}

// readers are how many copies of a stage are out of the same rank's memory, the most. Of
// stages of many the first tell.
func readers(s *collective.Stage) (most int) {
	of := make(map[int]int)
	for msg := range firstMessages(s) {
		of[msg.From]++
		most = max(most, of[msg.From])
	}
	return most
}

// besides is the transfer beside which a local stage goes on, if any. A message by the kernel
// is one transfer, which its receiver makes, and its sender waits for.
func (m TauLop) besides(s *collective.Stage) (t transfer) {
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

// terms are those of a stage's slowest channel: ranks that exchange messages within nodes
// do not hold up those that exchange some between nodes, but the next stage waits for all.
// A channel's τ are its messages on the node that has the most of them. Messages between
// parts of a node go through the memory of both, so to those at a level all farther ones
// add; and so do copies of what goes through the network.
func (m TauLop) terms(y Symbols) terms {
	return func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error {
		if stage.Pattern == collective.Local {
			m.localTerms(stage, t, y, add)
			return nil
		}
		arrive := active(stage)
		if t == (mapping.Traffic{}) {
			if err := m.memory(stage, m.from(stage, 0), y, add); err != nil {
				return err
			}
		} else {
			slowest, most := sum{}, -1.0
			take := func(channel sum) error {
				seconds, err := m.seconds(channel, y)
				if seconds > most {
					slowest, most = channel, seconds
				}
				return err
			}
			copied := 0 // messages whose copies share the node's memory
			if t.Between > 0 && m.Cluster.Network.Copies > 0 {
				copied = t.Both - t.Inside
			}
			for level, share := range t.Levels {
				if share.All == 0 {
					continue
				}
				tau := 0
				for _, farther := range t.Levels[level:] {
					tau += farther.Most
				}
				var channel sum
				of := *stage
				of.Shape = largestOf(stage.Shape, min(tau, t.Inside)+copied)
				if err := m.memory(&of, m.from(stage, level), y, channel.add); err != nil {
					return err
				}
				if err := take(channel); err != nil {
					return err
				}
			}
			if t.Between > 0 {
				var channel sum
				m.network(stage, t, y, channel.add)
				if err := take(channel); err != nil {
					return err
				}
			}
			for _, term := range slowest.terms {
				add(term)
			}
			arrive = t.Arrive
		}
		if stage.Reduce {
			add(reduction(stage, y, arrive))
		}
		return nil
	}
}

// seconds is what terms cost.
func (m TauLop) seconds(of sum, y Symbols) (seconds float64, err error) {
	for _, t := range of.terms {
		value, _, err := m.value(t)
		if err != nil {
			return 0, err
		}
		seconds += t.Count.value(float64(y.K)) * value
	}
	return seconds, nil
}

// largestOf are so many of the messages of a stage, the largest.
func largestOf(shape []collective.Batch, messages int) (largest []collective.Batch) {
	last := len(shape) - 1
	for i, b := range shape {
		if b.Count = min(b.Count, messages); i == last {
			b.Count = messages // more than there are: copies of others beside them
		}
		if messages -= b.Count; b.Count > 0 {
			largest = append(largest, b)
		}
	}
	return largest
}

// network adds the terms of messages through the network, of which the largest takes
// longest.
func (m TauLop) network(stage *collective.Stage, t mapping.Traffic, y Symbols, add func(Term)) {
	bytes := stage.Shape[0].Bytes
	size := y.size(bytes)
	if !m.NoOverhead {
		add(Term{Count: Count{Fixed: 1}, Parameter: "o₁", Bytes: bytes, Size: size})
	}
	m.packing(bytes, y, add)
	if n := m.Cluster.Network.Copies; n > 0 {
		add(Term{Count: Count{Fixed: n}, Parameter: "L", Bytes: bytes, Size: size, Tau: t.Both})
	}
	add(Term{Count: Count{Fixed: 1}, Parameter: "L₁", Bytes: bytes, Size: size, Tau: t.Through})
}

// packing adds what packing and unpacking takes, if messages are strided.
func (m TauLop) packing(bytes int, y Symbols, add func(Term)) {
	if m.Packing != nil && bytes > 0 {
		add(Term{Count: Count{Fixed: 2}, Parameter: "p", Bytes: bytes, Size: fmt.Sprintf("%s,%d", y.size(bytes), m.Stride)})
	}
}

// localTerms adds what ranks copy within themselves.
func (m TauLop) localTerms(stage *collective.Stage, t mapping.Traffic, y Symbols, add func(Term)) {
	if m.Copies == nil {
		return
	}
	bytes, tau := stage.Shape[0].Bytes, active(stage)
	if t != (mapping.Traffic{}) {
		tau = t.Inside
	}
	term := Term{Count: Count{Fixed: 1}, Parameter: "c", Bytes: bytes, Size: y.size(bytes), Tau: tau}
	from, _ := buffersOf(stage)
	there := (m.CopiesIn != nil || m.CopiesAtHand != nil) && m.arrivesAtHand(stage)
	switch near := from != collective.Send; {
	case m.CopiesAtHand != nil && near && there:
		term.from.setup = temporary
	case m.CopiesOut != nil && near:
		term.from.setup = copyOut
	case m.CopiesIn != nil && there:
		term.from.setup = copyIn
	default:
		term.beside, term.from.setup = m.besides(stage), m.setupOf(&collective.Stage{Pattern: collective.OneWay})
	}
	add(term)
}

// memory adds the terms of messages through memory.
func (m TauLop) memory(stage *collective.Stage, from source, y Symbols, add func(Term)) error {
	largest, tau := stage.Shape[0].Bytes, active(stage)
	transfers := func(n Count, bytes, tau int) {
		size := y.size(bytes)
		if bytes == y.S {
			size = "S"
		}
		add(Term{Count: n, Parameter: "L", Bytes: bytes, Size: size, Tau: tau, from: from})
	}
	switch {
	case stage.Pattern == collective.Transfer && m.Packing != nil:
		return ErrContiguous
	case stage.Pattern == collective.Transfer:
		if m.Contention != nil {
			from.setup, from.readers = m.setupOf(&collective.Stage{Pattern: collective.OneWay}), readers(stage)
		}
		transfers(Count{Fixed: 1}, largest, tau)
		return nil
	}
	if !m.NoOverhead {
		o := Term{Count: Count{Fixed: 1}, Parameter: "o", Bytes: largest, Size: y.size(largest), from: source{level: from.level}}
		// Of one message alone nothing is exchanged, such as of a root that receives nothing.
		if stage.Pattern == collective.Exchange && tau > 1 && m.ExchangeOverhead != nil {
			o.from.setup = apart
		}
		add(o)
	}
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

// localOf is a machine for the local copies of a baseline model, nil where they do not
// count or were not measured.
func localOf(m TauLop) *TauLop {
	if m.Copies == nil {
		return nil
	}
	return &m
}

// localCopy adds what a local stage costs.
func (m *TauLop) localCopy(stage *collective.Stage, y Symbols, add func(Term)) error {
	if m == nil {
		return nil
	}
	m.localTerms(stage, mapping.Traffic{}, y, add)
	return nil
}

// pipeline is eq. (9) for all messages of a stage at once: it walks through the
// steps in which segments are copied, and adds the transfers that are active in
// each. Steps that are alike are taken together, so the work depends on the
// number of sizes and not on that of segments.
//
// A Segmented message of n segments takes n+1 steps: it fills the buffer with
// segment i in step i and empties it in step i+1, eq. (10). A Steady one fills
// and empties in each of n steps, eq. (22). In an exchange each rank copies in
// and out alternately: n times two steps with one transfer a message, eq. (17).
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
