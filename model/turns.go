package model

import (
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
)

// A turn is what a rank posts before it waits for all of it: the messages that it sends and
// receives in a stage, and in the next stages as long as it only sends, or only receives.
type turn struct {
	sends, receives []int32 // messages
	open            int     // messages not yet over
	offset          int     // of the bytes of the first send
	distinct        bool    // it sends different bytes
}

// posting is the state of a rank while its messages are put into turns.
type posting struct {
	stage, sends, receives int     // the stage of the last message, and the messages of its turn
	firstReceive           int     // turn; −1: nothing received
	lastSource             int32   // rank of the last message received
	received               [3]bool // whether bytes arrived, by buffer
}

// simulation prepares a schedule, and a second call of it where something is Between. It fails
// for ranks without a core, and for too many messages.
func (h *Hierarchy) simulation(s *collective.Schedule) (*simulation, error) {
	ranks := s.Call.P
	if ranks > mostMessages {
		return nil, ErrTooMany
	}
	nodes, cores, err := h.locate(ranks)
	if err != nil {
		return nil, err
	}
	sim := &simulation{h: h, ranks: make([]rank, ranks), turns: make([][]turn, ranks), last: slices.Repeat([]int32{-1}, ranks)}
	nodeCount, memories := slices.Max(nodes)+1, max(1, lists.Most(h.memoryOf, func(m int) int { return m + 1 }))
	perNode := make([]int, nodeCount)
	for r, node := range nodes {
		sim.ranks[r] = rank{node: node, core: cores[r], turn: -1, waitedFor: -1, posting: posting{stage: -1, firstReceive: -1}}
		perNode[node]++
	}
	sim.ranksPerNode = slices.Max(perNode)
	sim.memories = make([]memory, nodeCount*(memories+1))
	sim.adapters = make([]adapter, nodeCount)
	calls := []*collective.Schedule{s}
	if s.Between != nil {
		calls = append(calls, s.Between, s)
	}
	messages := 0
	for _, call := range calls {
		for stage, repeat := range call.Stages() {
			messages += stage.Count() * repeat
		}
	}
	sim.messages = make([]message, 0, min(messages, mostMessages))
	for _, call := range calls {
		if err := sim.post(call); err != nil {
			return nil, err
		}
		sim.done = append(sim.done, make([]float64, ranks))
		for r := range sim.ranks {
			rank := &sim.ranks[r]
			rank.callEnds = append(rank.callEnds, len(sim.turns[r]))
			rank.posting = posting{stage: -1, sends: 1, receives: 1, firstReceive: -1} // the next call begins a turn
		}
	}
	return sim, nil
}

// post puts the messages of a schedule into turns of its ranks.
func (sim *simulation) post(s *collective.Schedule) error {
	type key struct {
		level, bytes int
		waits        bool
	}
	classes := make(map[key]*messageClass)
	for n, step := range s.Steps() {
		ownTurn := s.Blocking || step.Blocking || step.Pattern == collective.Exchange || step.Pattern == collective.Local
		// Libraries send by MPI_Send what is reduced, and exchange by MPI_Sendrecv.
		waits := ownTurn && (s.Blocking || !s.Posted) || step.Reduce
		first := len(sim.messages)
		for m := range step.Messages() {
			if len(sim.messages) == mostMessages {
				return ErrTooMany
			}
			k := key{sim.level(&sim.ranks[m.From], &sim.ranks[m.To]), m.Bytes(), waits}
			class := classes[k]
			if class == nil {
				class = sim.h.class(k.level, k.bytes, waits, sim.ranksPerNode)
				classes[k] = class
			}
			sim.usesNetwork = sim.usesNetwork || class.level.network
			sim.messages = append(sim.messages, message{messageClass: class, from: int32(m.From), to: int32(m.To),
				waitedFor: -1, arrives: -1, local: m.From == m.To, oneTransfer: step.Pattern == collective.Transfer, reduce: m.Reduce})
			sim.postMessage(&m, n, ownTurn)
		}
		for m := range step.Messages() {
			msg := &sim.messages[first]
			if first++; !msg.local {
				sim.ranks[m.To].note(&m, int(msg.receiveTurn))
			}
		}
	}
	return nil
}

// postMessage puts the last message into the turns of its two ranks.
func (sim *simulation) postMessage(m *collective.Message, stage int, ownTurn bool) {
	id := int32(len(sim.messages) - 1)
	msg := &sim.messages[id]
	if msg.local {
		msg.receiveTurn = sim.add(m.To, stage, id, false, true)
		msg.sendTurn = msg.receiveTurn
		return
	}
	msg.sendTurn = sim.add(m.From, stage, id, true, ownTurn)
	msg.receiveTurn = sim.add(m.To, stage, id, false, ownTurn || m.Reduce)
	msg.together = !ownTurn && !m.Reduce
	if t := &sim.turns[m.From][msg.sendTurn]; t.sends[0] == id {
		t.offset = m.Src.Offset
	} else {
		t.distinct = t.distinct || t.offset != m.Src.Offset
	}
	from := &sim.ranks[m.From]
	if from.firstReceive >= 0 && from.firstReceive < int(msg.sendTurn) && from.lastSource != msg.to { // an answer is as in a ping-pong
		msg.additional = msg.afterReceive
	}
	if m.Bytes() > 0 && from.received[m.Src.Buffer] {
		msg.additional += msg.forwarded
	}
}

// note records a message that arrives in a turn.
func (p *posting) note(m *collective.Message, turn int) {
	if p.firstReceive < 0 {
		p.firstReceive = turn
	}
	p.lastSource = int32(m.From)
	p.received[m.Dst.Buffer] = p.received[m.Dst.Buffer] || m.Bytes() > 0
}

// level is the level of two ranks.
func (sim *simulation) level(a, b *rank) int {
	switch {
	case a.node != b.node:
		return sim.h.network
	case sim.h.levelOf == nil:
		return 0
	}
	return int(sim.h.levelOf[a.core][b.core])
}

// add puts a message into the last turn of a rank, or into a new one. With ownTurn it shares its turn
// with messages of its stage only.
func (sim *simulation) add(on, stage int, id int32, sends, ownTurn bool) int32 {
	r, n := &sim.ranks[on], len(sim.turns[on])
	same := n > 0 && (r.stage == stage || !ownTurn && (sends && r.receives == 0 || !sends && r.sends == 0))
	if !same {
		sim.turns[on] = append(sim.turns[on], turn{})
		n++
		r.sends, r.receives = 0, 0
	}
	r.stage = stage
	t := &sim.turns[on][n-1]
	t.open++
	if sends {
		r.sends++
		t.sends = append(t.sends, id)
	} else {
		r.receives++
		t.receives = append(t.receives, id)
	}
	return int32(n - 1)
}
