package processmap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/heuristic"
)

// swaps makes mappings cheaper by exchanging two processes, or moving one to a free core: first by
// predicted time, then by hop-bytes. It counts each round's messages by node and level, so that the
// time of an exchange depends on the messages of two processes alone.
type swaps struct {
	machine *Machine
	program *program // nil: hop-bytes alone
	at      heuristic.Mapping
	on      []int // process by place; −1: none

	incident [][]int32 // messages by process
	messages []message
	traffic  []roundTraffic
	memo     []map[mapping.Traffic]float64 // seconds, for rounds of one shape
	seconds  float64
	hops     int64
	touched  []int32 // rounds
}

type message struct {
	from, to, round int32
	bytes           int64
}

// A roundTraffic is the messages of a round by node and level.
type roundTraffic struct {
	nodes   []mapping.NodeTraffic
	seconds float64
	memo    int
	touched bool
}

func newSwaps(machine *Machine, x *comm.Matrix, p *program) *swaps {
	s := &swaps{machine: machine, program: p, incident: make([][]int32, x.Ranks())}
	add := func(from, to, round int, bytes int64) {
		i := int32(len(s.messages))
		s.messages = append(s.messages, message{int32(from), int32(to), int32(round), bytes})
		s.incident[from], s.incident[to] = append(s.incident[from], i), append(s.incident[to], i)
	}
	if p == nil || !p.known || p.alike {
		s.program = nil
		for from, e := range x.All() {
			add(from, e.To, 0, e.Bytes)
		}
		return s
	}
	shapes := make(map[string]int)
	for i, r := range p.rounds {
		for _, m := range r.messages {
			add(m[0], m[1], i, x.Entry(m[0], m[1]).Bytes)
		}
		name := fmt.Sprint(r.stage.Shape, r.times, r.stage.Pattern) // equal for rounds of equal cost with equal traffic
		if _, known := shapes[name]; !known {
			shapes[name] = len(s.memo)
			s.memo = append(s.memo, make(map[mapping.Traffic]float64))
		}
		s.traffic = append(s.traffic, roundTraffic{nodes: make([]mapping.NodeTraffic, machine.Nodes), memo: shapes[name]})
	}
	return s
}

// best starts from each of the mappings, the cheapest first, and returns the cheapest found until time
// is up. done reports whether no further exchange gains.
func (s *swaps) best(starts []Mapping, until time.Time) (best heuristic.Mapping, done bool) {
	starts = slices.Clone(starts)
	slices.SortStableFunc(starts, cheaper)
	seconds, hops := math.Inf(1), int64(math.MaxInt64)
	for _, start := range starts {
		s.begin(start.Places)
		ended := s.descend(until)
		if s.seconds < seconds*(1-same) || s.seconds <= seconds*(1+same) && s.hops < hops {
			best, seconds, hops = slices.Clone(s.at), s.seconds, s.hops
		}
		if done = ended; !done {
			break
		}
	}
	return best, done
}

// same is the relative rounding error of equal times.
const same = 1e-12

// begin starts from a mapping.
func (s *swaps) begin(at heuristic.Mapping) {
	s.at, s.on = slices.Clone(at), slices.Repeat([]int{-1}, s.machine.Places())
	for process, place := range at {
		s.on[place] = process
	}
	s.seconds, s.hops = 0, 0
	for i := range s.traffic {
		clear(s.traffic[i].nodes)
		s.traffic[i].seconds = 0
	}
	for i := range s.messages {
		s.count(&s.messages[i], 1)
	}
	s.settle()
}

// descend exchanges processes while that gains, and reports whether it ended before the time.
func (s *swaps) descend(until time.Time) bool {
	random := rand.New(rand.NewPCG(1, uint64(len(s.at))))
	const look = 16 // exchanges between readings of the clock
	tried := 0
	for gained := true; gained; {
		gained = false
		for _, process := range random.Perm(len(s.at)) {
			if len(s.incident[process]) == 0 {
				continue // tried from the other process
			}
			first := random.IntN(len(s.on))
			for i := range s.on {
				place := (first + i) % len(s.on)
				other := s.on[place]
				if other == process || other >= 0 && other < process && len(s.incident[other]) > 0 {
					continue
				}
				if tried++; tried%look == 0 && time.Now().After(until) {
					return false
				}
				if s.try(process, place) {
					gained = true
				}
			}
		}
	}
	return true
}

// try exchanges a process with a place's, if any, and undoes an exchange without gain.
func (s *swaps) try(process, place int) bool {
	seconds, hops, was := s.seconds, s.hops, s.at[process]
	s.exchange(process, place)
	if s.seconds < seconds*(1-same) || s.seconds <= seconds*(1+same) && s.hops < hops {
		return true
	}
	s.exchange(process, was)
	s.seconds, s.hops = seconds, hops // without rounding errors
	return false
}

func (s *swaps) exchange(process, place int) {
	other, was := s.on[place], s.at[process]
	s.countAll(process, other, -1)
	s.at[process], s.on[place], s.on[was] = place, process, other
	if other >= 0 {
		s.at[other] = was
	}
	s.countAll(process, other, 1)
	s.settle()
}

func (s *swaps) countAll(process, other int, by int) {
	for _, i := range s.incident[process] {
		s.count(&s.messages[i], by)
	}
	if other < 0 {
		return
	}
	for _, i := range s.incident[other] {
		if m := &s.messages[i]; int(m.from) != process && int(m.to) != process {
			s.count(m, by)
		}
	}
}

// count adds a message to the traffic, or removes it.
func (s *swaps) count(m *message, by int) {
	from, to := s.at[m.from], s.at[m.to]
	s.hops += int64(by) * m.bytes * int64(heuristic.Hops(s.machine.Level(from, to)))
	if s.program == nil {
		return
	}
	t := &s.traffic[m.round]
	if !t.touched {
		t.touched = true
		s.touched = append(s.touched, m.round)
	}
	a, b := from/s.machine.Cores, to/s.machine.Cores
	if a != b {
		t.nodes[a].Out += by
		t.nodes[b].In += by
		return
	}
	t.nodes[a].Within += by
	t.nodes[a].Levels[s.program.level(from, to)] += by
}

// settle recomputes the times of rounds with changed traffic.
func (s *swaps) settle() {
	for _, round := range s.touched {
		t := &s.traffic[round]
		var traffic mapping.Traffic
		for _, node := range t.nodes {
			traffic.Add(1, node)
		}
		seconds, known := s.memo[t.memo][traffic]
		if !known {
			seconds = s.program.seconds(&s.program.rounds[round], traffic)
			if len(s.memo[t.memo]) < 1<<16 {
				s.memo[t.memo][traffic] = seconds
			}
		}
		s.seconds += seconds - t.seconds
		t.seconds, t.touched = seconds, false
	}
	s.touched = s.touched[:0]
}
