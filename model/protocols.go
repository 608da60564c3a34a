package model

import (
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mpi"
)

// protocols is τ-Lop of an MPI library with several protocols, its Ways, by message size. The largest
// message of a stage decides for all. Formulas have no k, as each protocol has its own segments.
type protocols struct {
	library     *mpi.Library
	ways        []TauLop // by library.Ways
	instruction float64  // seconds; 0: unknown
	overheads   bool     // o(m) is the library's own, and includes the instructions of messages
}

// Cost is the cost of a schedule. It fails as TauLop.Cost does.
func (p protocols) Cost(s *collective.Schedule) (Cost, error) {
	symbols := symbolsOf(s, 0)
	add := func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error {
		if s.ToSelf && p.library.Self > 0 && stage.Pattern == collective.Local {
			return p.toSelf(stage, t, symbols, add)
		}
		return p.stage(stage, t, symbols, add)
	}
	c, err := p.ways[0].cost(s, symbols, add, p.value)
	if err == nil && s.Algorithm != nil {
		p.call(&c)
	}
	return c, err
}

// call adds a rank's instructions in a call besides its messages.
func (p protocols) call(c *Cost) {
	t := p.computing(p.library.Call)
	if p.instruction == 0 || t.Count == (Count{}) {
		return
	}
	t.Times, t.Seconds = t.Count.value(0), p.instruction
	c.Seconds += t.Times * t.Seconds
	if i := slices.IndexFunc(c.Terms, func(known Term) bool { return known.Parameter == t.Parameter }); i >= 0 {
		c.Terms[i].Count, c.Terms[i].Times = c.Terms[i].Count.plus(t.Count), c.Terms[i].Times+t.Times
		return
	}
	c.Terms = append(c.Terms, t)
}

// computing is the term of n instructions of the library.
func (p protocols) computing(n int) Term { return Term{Count: Count{Fixed: n}, Parameter: Instruction} }

// Instruction is the letter of an instruction's time in terms.
const Instruction = "i"

// Line is the letter of the time of fetching a cache line that another rank has written: half of
// y(1), as a flag's line moves to its writer and to its reader.
const Line = "f"

// instructions is the number of the library's instructions for the messages of a stage.
func (p protocols) instructions(stage *collective.Stage, way mpi.Way) (n int) {
	if p.instruction == 0 || p.overheads {
		return 0
	}
	if n = way.Message; stage.Pattern == collective.Exchange {
		n = way.Exchange
	}
	if stage.Reduce {
		n += p.library.Reduction
	}
	return n
}

// stage adds the terms of a stage. In a rendezvous the first bytes go with the request, the rest after
// control messages of y(τ) each.
func (p protocols) stage(stage *collective.Stage, t mapping.Traffic, symbols Symbols, add func(Term)) error {
	i := p.library.Way(stage.Shape[0].Bytes)
	way, m := p.library.Ways[i], p.ways[i]
	y := symbols
	if m.Transport == Segmented {
		y.S = m.Segment
	}
	instructions := p.instructions(stage, way)
	mark := func(term Term) {
		if instructions > 0 && term.Parameter == "o" && stage.Pattern != collective.Exchange {
			return // the overhead of our own code, which the library's instructions replace
		}
		if term.from.way = i; term.Size == "S" {
			term.Size = symbols.size(term.Bytes)
		}
		add(term)
	}
	if stage.Pattern == collective.Local {
		return m.terms(y)(stage, t, mark)
	}
	if t.Between == 0 || t.Inside > 0 {
		if way.Lines > 0 { // in shared memory, whatever carries the data, and for each rank alone
			lines := p.ways[0].flags(way.Lines, &collective.Stage{Pattern: collective.OneWay, Shape: []collective.Batch{{Count: 1}}})
			if instructions > 0 { // which include looking for them
				lines.Parameter, lines.Size = Line, ""
			}
			add(lines)
		}
		add(p.computing(instructions))
	}
	if way.Request == 0 && way.Control == 0 || t.Between > 0 && t.Inside == 0 {
		return m.terms(y)(stage, t, mark)
	}
	m.whole = stage
	ahead, rest := *stage, *stage
	ahead.Shape, rest.Shape = nil, nil
	for _, b := range stage.Shape {
		first := min(b.Bytes, way.Request)
		ahead.Shape = append(ahead.Shape, collective.Batch{Count: b.Count, Bytes: first})
		rest.Shape = append(rest.Shape, collective.Batch{Count: b.Count, Bytes: b.Bytes - first})
	}
	transfersOnly := func(term Term) {
		if term.Parameter == "L" {
			mark(term)
		}
	}
	if err := m.terms(y)(&ahead, t, transfersOnly); err != nil {
		return err
	}
	mark(m.flags(way.Control, stage))
	return m.terms(y)(&rest, t, func(term Term) {
		if term.Parameter == "γ" || term.Parameter == "o" { // of the whole message
			term.Bytes, term.Size = stage.Shape[0].Bytes, symbols.size(stage.Shape[0].Bytes)
		}
		mark(term)
	})
}

// toSelf adds the terms of messages of ranks to themselves: short ones through a buffer, longer ones as
// single copies by the kernel. No cache line moves to another rank.
func (p protocols) toSelf(stage *collective.Stage, t mapping.Traffic, symbols Symbols, add func(Term)) error {
	bytes, ranks := stage.Shape[0].Bytes, stage.Count()
	if t != (mapping.Traffic{}) {
		ranks = t.Inside
	}
	way := 0
	mark := func(term Term) {
		term.from.way, term.Size = way, symbols.size(term.Bytes)
		add(term)
	}
	add(p.computing(p.instructions(&collective.Stage{Pattern: collective.OneWay}, p.library.Of(p.library.Self))))
	if single := slices.IndexFunc(p.library.Ways, func(w mpi.Way) bool { return w.Single }); bytes > p.library.Self && single >= 0 {
		way = single
		message, m := *stage, p.ways[way]
		message.Pattern, message.Shape = collective.OneWay, []collective.Batch{{Count: ranks, Bytes: bytes}}
		m.whole = stage
		return m.terms(symbols)(&message, mapping.Traffic{}, mark)
	}
	mark(Term{Count: Count{Fixed: 1}, Parameter: "o", Bytes: bytes})
	p.ways[way].localTerms(stage, t, symbols, func(term Term) {
		term.Count = Count{Fixed: 2}
		mark(term)
	})
	return nil
}

// flags is the term of n flags in turn for each message of a stage.
func (m TauLop) flags(n int, stage *collective.Stage) Term {
	return Term{Count: Count{Fixed: n}, Parameter: "y", Size: "0", Tau: stage.Count(), from: source{Channel: m.channel(stage, 0)}}
}

// value looks a term's parameter up.
func (p protocols) value(t Term) (seconds float64, extrapolated bool, err error) {
	switch t.Parameter {
	case Instruction:
		return p.instruction, false, nil
	case Line:
		t.Parameter = "y"
		seconds, extrapolated, err = p.ways[t.from.way].value(t)
		return seconds / 2, extrapolated, err
	}
	return p.ways[t.from.way].value(t)
}
