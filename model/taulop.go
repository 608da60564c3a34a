package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
)

// TauLop is the model τ-Lop. A message through an intermediate buffer costs
// o(m) and its transfers, eq. (9), and what happens at once shares the channel,
// eq. (12). The zero value of each option is the paper's choice.
type TauLop struct {
	Parameters Parameters
	Reductions Reductions // may be nil where nothing is reduced
	Operator   string     // of reductions; "" means "sum"
	Transport  Transport
	Segment    int // S in bytes; Whole and SingleCopy ignore it

	// OneWay, if not nil, is L of transfers among ranks that only send or only
	// receive, instead of that of Parameters, where every rank does both alternately
	// and overwrites what it has just sent, which is then at hand in its cache.
	OneWay Parameters

	// Apart, if not nil, is L of transfers in exchanges that receive into memory apart
	// from what they send, such as those of an alltoall or an allgather. What is to be
	// reduced arrives where the last message did, which is at hand like what was sent,
	// unless that lay in the ranks' send buffers, which nothing has touched.
	Apart Parameters

	// Temporary, if not nil, is L of transfers in exchanges among temporary buffers,
	// which are at hand even where user buffers are off cache.
	Temporary Parameters

	// Nodes are the NUMA nodes of the ranks; a stage in which a message goes from one
	// to another has the parameters of Across. Both are nil where nodes make no
	// difference, and ranks beyond those known make none.
	Nodes  []int
	Across *TauLop

	// Packing, if not nil, is p(m,d), in seconds: messages whose elements lie Stride
	// bytes apart are packed before their first transfer and unpacked after their last.
	Packing func(m int) (seconds float64, extrapolated bool)
	Stride  int

	// NoOverhead leaves o(m) out, as the paper's formulas do from eq. (10) on.
	NoOverhead bool
	// Copies, if not nil, is c(m,τ), in seconds, of what ranks copy within themselves,
	// which the paper leaves out. Of a copy beside which a transfer goes on only what
	// takes longer than that counts.
	Copies func(m, tau int) (seconds float64, extrapolated bool)
	// TemporaryCopies, if not nil, is c(m,τ) of copies from or into temporary buffers.
	TemporaryCopies func(m, tau int) (seconds float64, extrapolated bool)
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
)

var transportNames = []string{"segmented", "steady", "whole", "single-copy"}

func (t Transport) String() string {
	if t < 0 || int(t) >= len(transportNames) {
		return fmt.Sprintf("Transport(%d)", int(t))
	}
	return transportNames[t]
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
	symbols := symbolsOf(s, 0)
	switch m.Transport {
	case Segmented, Steady:
		if m.Segment < 1 {
			return Cost{}, fmt.Errorf("transport %v needs a segment of at least one byte, got %d", m.Transport, m.Segment)
		}
		symbols = symbolsOf(s, m.Segment)
	case Whole, SingleCopy:
	default:
		return Cost{}, fmt.Errorf("unknown transport %v", m.Transport)
	}
	return evaluate(s, symbols, m.crossings, m.terms(symbols), m.value)
}

// Message is the cost of one message of so many bytes with the channel to
// itself, T(m) of eqs. (9)–(11) and (22).
func (m TauLop) Message(bytes int) (Cost, error) {
	return m.Cost(&collective.Schedule{
		Call: collective.Call{P: 2, M: bytes},
		Unit: bytes,
		Blocks: []collective.Block{{
			Repeat: 1,
			Stages: []collective.Stage{{Phase: "message", Shape: []collective.Batch{{Count: 1, Bytes: bytes}}}},
		}},
	})
}

func (m TauLop) value(t Term) (seconds float64, extrapolated bool, err error) {
	switch t.Parameter {
	case "L":
		seconds, extrapolated = m.channel(t.channel).L(t.Bytes, t.Tau)
	case "o":
		seconds, extrapolated = m.Parameters.O(t.Bytes)
	case "p":
		seconds, extrapolated = m.Packing(t.Bytes)
	case "c":
		copies := m.Copies
		if t.channel.pattern == temporary {
			copies = m.TemporaryCopies
		}
		seconds, extrapolated = copies(t.Bytes, t.Tau)
		if t.beside != (transfer{}) {
			hidden, beyond := m.channel(t.channel).L(t.beside.bytes, t.beside.tau)
			seconds, extrapolated = max(0, seconds-hidden), extrapolated || beyond
		}
	default:
		return gamma(m.Reductions, m.Operator, t)
	}
	return seconds, extrapolated, nil
}

// A channel is which of a model's parameters a transfer has.
type channel struct {
	pattern pattern
	across  bool // between NUMA nodes
}

type pattern int

const (
	common pattern = iota
	oneWay
	apart
	temporary
)

// String marks the letter of the parameters in formulas, see Marks.
func (c channel) String() string {
	if c.across {
		return c.pattern.String() + "*"
	}
	return c.pattern.String()
}

func (p pattern) String() string { return [...]string{"", "→", "⇄", "°"}[p] }

// Marks says what stands behind the letter L in formulas where a machine's file tells
// transfers apart, and what it means.
var Marks = [][2]string{
	{oneWay.String(), "one-way messages, as ping has them"},
	{apart.String(), "exchanges that receive beside what they send, as sendrecv has them"},
	{temporary.String(), "exchanges of temporary buffers, which are in cache; c°: copies from or into them, half in cache"},
	{"*", "stages in which one goes between NUMA nodes"},
}

func (m TauLop) channel(c channel) Parameters {
	if c.across {
		m = *m.Across
	}
	switch {
	case c.pattern == oneWay && m.OneWay != nil:
		return m.OneWay
	case c.pattern == apart && m.Apart != nil:
		return m.Apart
	case c.pattern == temporary && m.Temporary != nil:
		return m.Temporary
	}
	return m.Parameters
}

// channelOf is that of a stage's messages, common where a model does not tell.
func (m TauLop) channelOf(s *collective.Stage, across bool) channel {
	switch {
	case s.Pattern == collective.OneWay && m.OneWay != nil:
		return channel{oneWay, across}
	case s.Pattern != collective.Exchange:
		return channel{common, across}
	}
	from, to := buffersOf(s)
	switch {
	case m.Temporary != nil && from == collective.Temp && to == collective.Temp:
		return channel{temporary, across}
	case m.Apart != nil && (!s.Reduce || from == collective.Send):
		return channel{apart, across}
	}
	return channel{common, across}
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

func (m TauLop) crossings(s *collective.Schedule, stage *collective.Stage, repeat int) (runs []run) {
	if m.Across == nil || s.Call.P > len(m.Nodes) {
		return nowhere(s, stage, repeat)
	}
	for r := range repeat {
		across := false
		for msg := range (collective.Step{Stage: stage, Repetition: r}).Messages() {
			if across = m.Nodes[msg.From] != m.Nodes[msg.To]; across {
				break
			}
		}
		if n := len(runs); n > 0 && runs[n-1].across == across {
			runs[n-1].repeat++
		} else {
			runs = append(runs, run{r, 1, across})
		}
	}
	return runs
}

// besides is the transfer beside which a local stage goes on, if any.
func (m TauLop) besides(s *collective.Stage) (t transfer) {
	if len(s.Beside) == 0 {
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

func (m TauLop) terms(y Symbols) terms {
	return func(stage *collective.Stage, across bool, add func(Term)) error {
		largest, tau := stage.Shape[0].Bytes, active(stage)
		transfers := func(n Count, bytes, tau int) {
			size := y.size(bytes)
			if bytes == y.S {
				size = "S"
			}
			add(Term{Count: n, Parameter: "L", Bytes: bytes, Size: size, Tau: tau, channel: m.channelOf(stage, across)})
		}
		switch {
		case stage.Pattern == collective.Local:
			if m.Copies == nil {
				return nil
			}
			term := Term{Count: Count{Fixed: 1}, Parameter: "c", Bytes: largest, Size: y.size(largest), Tau: tau}
			if from, to := buffersOf(stage); m.TemporaryCopies != nil && (from == collective.Temp || to == collective.Temp) {
				term.channel.pattern = temporary
			} else {
				term.beside, term.channel = m.besides(stage), m.channelOf(&collective.Stage{Pattern: collective.OneWay}, across)
			}
			add(term)
			return nil
		case stage.Pattern == collective.Transfer && m.Packing != nil:
			return ErrContiguous
		case stage.Pattern == collective.Transfer:
			transfers(Count{Fixed: 1}, largest, tau)
			return nil
		}
		if !m.NoOverhead {
			add(Term{Count: Count{Fixed: 1}, Parameter: "o", Bytes: largest, Size: y.size(largest)})
		}
		if m.Packing != nil && largest > 0 {
			add(Term{Count: Count{Fixed: 2}, Parameter: "p", Bytes: largest, Size: fmt.Sprintf("%s,%d", y.size(largest), m.Stride)})
		}
		switch m.Transport {
		case Whole: // eqs. (11) and (15); with as many transfers at once, eq. (17) for k = 1
			transfers(Count{Fixed: 2}, largest, tau)
		case SingleCopy:
			transfers(Count{Fixed: 1}, largest, tau)
		default:
			m.pipeline(stage, y, transfers)
		}
		if stage.Reduce {
			add(reduction(stage, y, tau))
		}
		return nil
	}
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
	return m.terms(y)(stage, false, add)
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
