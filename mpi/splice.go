package mpi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
)

// A splicer puts rules of a collective into the tree that MPICH chooses by, so that a call finds
// its algorithm in few steps. When a communicator is made, MPICH follows what the tree asks of the
// communicator up to the first other condition (prune_tree in csel.c): these come first,
// and with each call only the rest is asked.
type splicer struct {
	collective *collective.Collective
	seen       int // conditions yet, of which a tree may have too many
}

// spliced are the rules in front of what was chosen without them.
func (s *splicer) spliced(rules []Rule, own []branch) (all []branch) {
	factor := func(int) int { return 1 }
	if s.measure() == "total_msg_size" {
		factor = func(p int) int { return p }
	}
	sizes := bySize(s.collective, rules, factor)
	for i, at := range sizes {
		key, known := "comm_size=any", facts{}.within("comm_size", at.p, math.MaxInt)
		if i+1 < len(sizes) {
			most := sizes[i+1].p - 1
			key, known = fmt.Sprintf("comm_size<=%d", most), facts{}.within("comm_size", at.p, most)
		}
		// Messages of no bytes take the choice of one byte: any algorithm is right for them, and a
		// condition of their own would cost all other calls.
		known = known.within(s.measure(), 1, math.MaxInt)
		below := s.simplified(own, known)
		if len(at.steps) > 1 || !at.steps[0].setting.Own() {
			below = s.simplified(s.overlaid(at.steps, below, known), known)
		}
		all = append(all, branch{key, legal(below)})
	}
	return all
}

// measure is what tells sizes apart: of allgather MPICH has no average.
func (s *splicer) measure() string {
	if s.collective.Name == "allgather" {
		return "total_msg_size"
	}
	return "avg_msg_size"
}

// overlaid are steps in front of what is chosen without them, behind what is asked of the communicator.
func (s *splicer) overlaid(steps []step, own []branch, known facts) (all []branch) {
	if len(own) > 0 && own[0].ofCommunicator() {
		first := branch{own[0].key, s.overlaid(steps, own[0].below, known)}
		return append([]branch{first}, s.overlaid(steps, own[1:], known)...)
	}
	steps = s.joined(steps, own, known)
	for i, step := range steps {
		key := s.measure() + "=any"
		if i+1 < len(steps) {
			key = fmt.Sprintf("%s<=%d", s.measure(), steps[i+1].from-1)
		}
		all = append(all, branch{key, s.chosen(step.setting, own)})
	}
	if s.collective.Name == "alltoall" { // whose algorithms have no MPI_IN_PLACE
		all = append([]branch{{"is_sendbuf_inplace=yes", own}}, all...)
	}
	return all
}

// joined are steps in which a rule goes on where the next one, or the one before, is the library's own
// choice of the same algorithm: one condition then tells what took several.
func (s *splicer) joined(steps []step, own []branch, known facts) []step {
	steps = slices.Clone(steps)
	for i := range steps {
		if !steps[i].setting.Own() {
			continue
		}
		most := math.MaxInt
		if i+1 < len(steps) {
			most = steps[i+1].from - 1
		}
		there := known.within(s.measure(), steps[i].from, most).usual()
		if s.measure() == "avg_msg_size" {
			least, most, _ := there.of(s.measure())
			there = there.within("count", least/8, most/8)
		}
		takes := s.simplified(own, there)
		if len(takes) != 1 {
			continue
		}
		for _, next := range []int{i + 1, i - 1} {
			if next < 0 || next >= len(steps) || steps[next].setting.Own() {
				continue
			}
			if takes[0].algorithm() == mpichPrefix(s.collective.Name)+steps[next].setting.Name {
				steps[i].setting = steps[next].setting
				break
			}
		}
	}
	return slices.CompactFunc(steps, func(a, b step) bool { return a.setting == b.setting })
}

// chosen is what stands below the condition of a rule. Algorithms that scatter a reduction
// need as many elements as ranks, and an operator of MPI's; circ_graph needs a commutative one.
func (s *splicer) chosen(of Setting, own []branch) []branch {
	if of.Own() {
		return own
	}
	leaf := []branch{{"algorithm=" + mpichPrefix(s.collective.Name) + of.Name, nil}}
	if strings.HasPrefix(of.Name, "reduce_scatter") {
		return []branch{{"is_op_built_in=no", own}, {"count<pow2", own}, {"count=any", leaf}}
	}
	if s.collective.Reduces && of.Name == "circ_graph" {
		return []branch{{"is_commutative=no", own}, {"count=any", leaf}}
	}
	return leaf
}

// ofCommunicator tells whether a condition is one that MPICH follows when a communicator is made.
func (b branch) ofCommunicator() bool {
	return strings.HasPrefix(b.condition(), "comm_") || strings.HasPrefix(b.condition(), "is_node_consecutive")
}

// any tells whether a condition always holds.
func (b branch) any() bool {
	key := b.condition()
	return key == "any" || strings.HasSuffix(key, "=any") || key == "comm_type=intra"
}

// facts are what is known where a condition stands: from those that held above it, and those before
// it that did not.
type facts struct {
	ranges map[string][2]int // of measures, the least and the most
	holds  map[string]bool   // of other conditions
}

// within are facts with one more.
func (f facts) within(measure string, least, most int) facts {
	if was, there := f.ranges[measure]; there {
		least, most = max(least, was[0]), min(most, was[1])
	}
	f.ranges = maps.Clone(f.ranges)
	if f.ranges == nil {
		f.ranges = make(map[string][2]int)
	}
	f.ranges[measure] = [2]int{least, most}
	return f
}

// usual are facts with most calls' values: contiguous data of eight-byte elements, and an operator
// of MPI's.
func (f facts) usual() facts {
	for _, key := range []string{"is_multi_threaded=no", "is_commutative=yes", "is_sendbuf_inplace=no", "is_op_built_in=yes", "is_block_regular=yes"} {
		f = f.after(branch{key: key}, true)
	}
	return f
}

// of is the range of a measure.
func (f facts) of(measure string) (least, most int, known bool) {
	of, known := f.ranges[measure]
	if !known {
		return 0, math.MaxInt, false
	}
	return of[0], of[1], true
}

// after are facts where a condition holds, or does not.
func (f facts) after(b branch, holds bool) facts {
	key := b.condition()
	if measure, most, ok := compared(key); ok {
		if holds {
			return f.within(measure, 0, most)
		}
		return f.within(measure, most+1, math.MaxInt)
	}
	f.holds = maps.Clone(f.holds)
	if f.holds == nil {
		f.holds = make(map[string]bool)
	}
	f.holds[key] = holds
	if what, no := strings.CutSuffix(key, "=no"); no {
		f.holds[what+"=yes"] = !holds
	} else if what, yes := strings.CutSuffix(key, "=yes"); yes {
		f.holds[what+"=no"] = !holds
	}
	return f
}

// decided tells whether a condition holds, if facts say so.
func (f facts) decided(b branch) (holds, known bool) {
	key := b.condition()
	if b.any() {
		return true, true
	}
	if measure, limit, ok := compared(key); ok {
		least, most, _ := f.of(measure)
		return most <= limit, most <= limit || least > limit
	}
	if fewest, ranks, known := f.of("comm_size"); known && fewest > 0 {
		switch least, most, _ := f.of("count"); {
		case key == "comm_size=pow2" && fewest == ranks:
			return plain[key](call{p: ranks}), true
		case key == "count<pow2" && most < powerOfTwo(fewest):
			return true, true
		case key == "count<pow2" && least >= powerOfTwo(ranks):
			return false, true
		}
	}
	holds, known = f.holds[key]
	return holds, known
}

// simplified are branches without the conditions that need not be asked: those that are decided, and
// those that change nothing. An algorithm stands for a condition that always holds.
func (s *splicer) simplified(of []branch, known facts) (all []branch) {
	for _, b := range of {
		if s.seen++; s.seen > maxRules {
			return nil
		}
		if b.algorithm() != "" {
			all = append(all, b)
			break
		}
		holds, decided := known.decided(b)
		if decided && !holds {
			continue
		}
		if decided {
			all = append(all, s.simplified(b.below, known)...)
			break
		}
		all = append(all, flat(branch{b.key, s.simplified(b.below, known.after(b, true))})...)
		known = known.after(b, false)
	}
	for i := len(all) - 2; i >= 0; i-- {
		next := all[i+1]
		same := equal(all[i].below, all[i+1:])
		if a, _, ok := compared(all[i].condition()); ok && !same { // a range that the next goes on with
			b, _, ok := compared(next.condition())
			same = ok && a == b && equal(all[i].below, next.below)
		}
		if same {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}

// flat is a condition of a measure with such conditions below it as one row of them, in which neighbours
// may be alike.
func flat(b branch) []branch {
	measure, _, ok := compared(b.condition())
	if !ok || len(b.below) < 2 {
		return []branch{b}
	}
	row := slices.Clone(b.below)
	for i, one := range row {
		if of, _, ok := compared(one.condition()); i+1 < len(row) && (!ok || of != measure) {
			return []branch{b}
		}
	}
	last := &row[len(row)-1]
	*last = branch{b.key, []branch{*last}}
	return row
}

func equal(a, b []branch) bool {
	return slices.EqualFunc(a, b, func(x, y branch) bool { return x.condition() == y.condition() && equal(x.below, y.below) })
}

// legal are branches in which an algorithm stands alone below a condition, as csel.c has it.
func legal(of []branch) []branch {
	all := slices.Clone(of)
	for i, b := range all {
		if b.algorithm() != "" && i > 0 {
			all[i] = branch{"comm_size=any", []branch{b}}
			return all[:i+1]
		} else if b.algorithm() == "" {
			all[i].below = legal(b.below)
		}
	}
	return all
}
