package model

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mpi"
)

// protocols is τ-Lop of an MPI library that carries messages in several ways, by their
// size. In a stage all go the way of the largest. Formulas have no k: segments differ from
// way to way, and are counted.
type protocols struct {
	library *mpi.Library
	ways    []TauLop // of the library's
}

// Cost is the cost of a schedule. It fails as that of TauLop does.
func (p protocols) Cost(s *collective.Schedule) (Cost, error) {
	m := p.ways[0]
	on, err := m.Cluster.place(s.Call.P)
	if err != nil {
		return Cost{}, err
	}
	if s.Levels > 0 && m.Cluster.several() {
		return Cost{}, fmt.Errorf("%s %w", s.Algorithm, ErrOneNode)
	}
	symbols := symbolsOf(s, 0)
	see := func(stage *collective.Stage, t mapping.Traffic, add func(Term)) error {
		if s.ToSelf && p.library.Self > 0 && stage.Pattern == collective.Local {
			return p.toSelf(stage, t, symbols, add)
		}
		return p.stage(stage, t, symbols, add)
	}
	return evaluate(s, symbols, m.traffics(s, on), see, p.value)
}

// Message is the cost of one message alone.
func (p protocols) Message(bytes int) (Cost, error) { return p.Cost(alone(bytes)) }

// stage adds the terms of a stage. What is sent with a request goes ahead of the rest, and
// between them come messages of control, y(τ) each.
func (p protocols) stage(stage *collective.Stage, t mapping.Traffic, symbols Symbols, add func(Term)) error {
	i := 0
	for most := p.library.Ways[i].Most; most > 0 && stage.Shape[0].Bytes > most; most = p.library.Ways[i].Most {
		i++
	}
	way, m := p.library.Ways[i], p.ways[i]
	y := symbols
	if m.Transport == Segmented {
		y.S = m.Segment
	}
	mark := func(term Term) {
		if term.from.way = i; term.Size == "S" {
			term.Size = symbols.size(term.Bytes)
		}
		term.from.single = way.Single && term.Parameter == "L"
		add(term)
	}
	if stage.Pattern == collective.Local {
		return m.terms(y)(stage, t, mark)
	}
	if within := t.Between == 0 || t.Inside > 0; within && way.Lines > 0 {
		// Through shared memory, whatever way the data go, and for each rank by themselves.
		add(p.ways[0].flags(way.Lines, &collective.Stage{Pattern: collective.OneWay, Shape: []collective.Batch{{Count: 1}}}))
	}
	if way.Request == 0 && way.Control == 0 || t.Between > 0 && t.Inside == 0 {
		return m.terms(y)(stage, t, mark)
	}
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
		if term.Parameter == "γ" || term.Parameter == "o" { // of all of the message
			term.Bytes, term.Size = stage.Shape[0].Bytes, symbols.size(stage.Shape[0].Bytes)
		}
		mark(term)
	})
}

// toSelf adds the terms of messages of ranks to themselves: short ones are copied into a buffer
// and out of it, longer ones once, by the kernel. No cache line moves to another rank.
func (p protocols) toSelf(stage *collective.Stage, t mapping.Traffic, symbols Symbols, add func(Term)) error {
	bytes, ranks := stage.Shape[0].Bytes, active(stage)
	if t != (mapping.Traffic{}) {
		ranks = t.Inside
	}
	way := 0
	mark := func(term Term) {
		term.from.way, term.Size = way, symbols.size(term.Bytes)
		term.from.single = term.Parameter == "L"
		add(term)
	}
	if single := slices.IndexFunc(p.library.Ways, func(w mpi.Way) bool { return w.Single }); bytes > p.library.Self && single >= 0 {
		way = single
		message := *stage
		message.Pattern, message.Shape = collective.OneWay, []collective.Batch{{Count: ranks, Bytes: bytes}}
		return p.ways[way].terms(symbols)(&message, mapping.Traffic{}, mark)
	}
	m := p.ways[way]
	if !m.NoOverhead {
		mark(Term{Count: Count{Fixed: 1}, Parameter: "o", Bytes: bytes})
	}
	m.localTerms(stage, t, symbols, func(term Term) {
		term.Count = Count{Fixed: 2}
		mark(term)
	})
	return nil
}

// flags are n lines that move from rank to rank, one after the other, for each message.
func (m TauLop) flags(n int, stage *collective.Stage) Term {
	return Term{Count: Count{Fixed: n}, Parameter: "y", Size: "0", Tau: active(stage), from: source{setup: m.setupOf(stage)}}
}

func (p protocols) value(t Term) (seconds float64, extrapolated bool, err error) {
	return p.ways[t.from.way].value(t)
}
