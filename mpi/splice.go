package mpi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/printable"
)

// A splicer puts rules of a collective into MPICH's selection tree so that a call evaluates few
// conditions. When a communicator is created, MPICH prunes the tree by the conditions on the
// communicator in front of the first other one (prune_tree in csel.c): so these come first, and each
// call searches only the rest.
type splicer struct {
	collective *collective.Collective
	seen       int // conditions visited, at most maxRules
}

// spliced are the rules in front of the library's own choice.
func (s *splicer) spliced(rules []Rule, own []branch) []branch {
	factor := func(int) int { return 1 }
	if s.measure() == "total_msg_size" {
		factor = func(p int) int { return p }
	}
	return ladder("comm_size", bySize(s.collective, rules, factor), func(size step[settings], most int) []branch {
		// Empty messages get the choice of one byte: any algorithm is correct for them, and a condition
		// for them would slow down all other calls.
		known := facts{make(map[string][2]int), make(map[string]bool)}.within("comm_size", size.from, most).within(s.measure(), 1, math.MaxInt)
		below := s.simplified(own, known)
		if !size.is.own() {
			below = s.simplified(s.overlaid(size.is, below, known), known)
		}
		return legal(below)
	})
}

// ladder are conditions on the values of a measure from each step up to the next, the last for all others.
func ladder[T any](measure string, steps []step[T], below func(step step[T], most int) []branch) (all []branch) {
	for i, step := range steps {
		key, most := measure+"=any", math.MaxInt
		if i+1 < len(steps) {
			most = steps[i+1].from - 1
			key = fmt.Sprintf("%s<=%d", measure, most)
		}
		all = append(all, branch{key, below(step, most)})
	}
	return all
}

// measure is the size in conditions: MPICH has no average for allgather.
func (s *splicer) measure() string {
	return printable.Either(s.collective.Name == "allgather", "total_msg_size", "avg_msg_size")
}

// overlaid are steps in front of the own choice, below its conditions on the communicator.
func (s *splicer) overlaid(steps settings, own []branch, known facts) (all []branch) {
	if len(own) > 0 && own[0].ofCommunicator() {
		first := branch{own[0].key, s.overlaid(steps, own[0].below, known)}
		return append([]branch{first}, s.overlaid(steps, own[1:], known)...)
	}
	all = ladder(s.measure(), s.joined(steps, own, known), func(step step[Setting], _ int) []branch { return s.chosen(step.is, own) })
	if s.collective.Name == "alltoall" { // its algorithms do not support MPI_IN_PLACE
		all = append([]branch{{"is_sendbuf_inplace=yes", own}}, all...)
	}
	return all
}

// joined extends rules over neighbouring steps in which the library's own choice is the same algorithm, to
// save conditions.
func (s *splicer) joined(steps settings, own []branch, known facts) settings {
	steps = slices.Clone(steps)
	for i := range steps {
		if !steps[i].is.Own() {
			continue
		}
		most := math.MaxInt
		if i+1 < len(steps) {
			most = steps[i+1].from - 1
		}
		inStep := known.within(s.measure(), steps[i].from, most).typical()
		if s.measure() == "avg_msg_size" {
			least, most, _ := inStep.rangeOf(s.measure())
			inStep = inStep.within("count", least/8, most/8)
		}
		choice := s.simplified(own, inStep)
		if len(choice) != 1 {
			continue
		}
		for _, next := range []int{i + 1, i - 1} {
			if next < 0 || next >= len(steps) || steps[next].is.Own() {
				continue
			}
			if choice[0].algorithm() == mpichPrefix(s.collective.Name)+steps[next].is.Name {
				steps[i].is = steps[next].is
				break
			}
		}
	}
	return slices.CompactFunc(steps, func(a, b step[Setting]) bool { return a.is == b.is })
}

// chosen is the subtree of a setting. Algorithms that begin with a reduce-scatter need one element a
// rank and a built-in operator; circ_graph needs a commutative one.
func (s *splicer) chosen(setting Setting, own []branch) []branch {
	if setting.Own() {
		return own
	}
	leaf := []branch{{"algorithm=" + mpichPrefix(s.collective.Name) + setting.Name, nil}}
	if strings.HasPrefix(setting.Name, "reduce_scatter") {
		return []branch{{"is_op_built_in=no", own}, {"count<pow2", own}, {"count=any", leaf}}
	}
	if s.collective.Reduces && setting.Name == "circ_graph" {
		return []branch{{"is_commutative=no", own}, {"count=any", leaf}}
	}
	return leaf
}

// ofCommunicator reports whether MPICH evaluates the condition when a communicator is created.
func (b branch) ofCommunicator() bool {
	return strings.HasPrefix(b.condition(), "comm_") || strings.HasPrefix(b.condition(), "is_node_consecutive")
}

// facts are what is known at a place in the tree: the conditions above it hold, and those in front of it
// do not.
type facts struct {
	ranges map[string][2]int // minimum and maximum of a measure
	holds  map[string]bool   // other conditions
}

// within narrows the range of a measure.
func (f facts) within(measure string, least, most int) facts {
	if known, ok := f.ranges[measure]; ok {
		least, most = max(least, known[0]), min(most, known[1])
	}
	f.ranges = maps.Clone(f.ranges)
	f.ranges[measure] = [2]int{least, most}
	return f
}

// typical adds the facts of typical calls: contiguous data and a built-in operator.
func (f facts) typical() facts {
	for _, key := range []string{"is_multi_threaded=no", "is_commutative=yes", "is_sendbuf_inplace=no", "is_op_built_in=yes", "is_block_regular=yes"} {
		f = f.after(branch{key: key}, true)
	}
	return f
}

func (f facts) rangeOf(measure string) (least, most int, known bool) {
	bounds, known := f.ranges[measure]
	if !known {
		return 0, math.MaxInt, false
	}
	return bounds[0], bounds[1], true
}

// after adds that a condition holds, or that it does not.
func (f facts) after(b branch, holds bool) facts {
	key := b.condition()
	if measure, most, ok := compared(key); ok {
		if holds {
			return f.within(measure, 0, most)
		}
		return f.within(measure, most+1, math.MaxInt)
	}
	f.holds = maps.Clone(f.holds)
	f.holds[key] = holds
	if property, no := strings.CutSuffix(key, "=no"); no {
		f.holds[property+"=yes"] = !holds
	} else if property, yes := strings.CutSuffix(key, "=yes"); yes {
		f.holds[property+"=no"] = !holds
	}
	return f
}

// decided reports whether a condition holds, and whether the facts decide it.
func (f facts) decided(b branch) (holds, known bool) {
	key := b.condition()
	if isAny(key) || key == "comm_type=intra" {
		return true, true
	}
	if measure, limit, ok := compared(key); ok {
		least, most, _ := f.rangeOf(measure)
		return most <= limit, most <= limit || least > limit
	}
	if fewest, ranks, known := f.rangeOf("comm_size"); known && fewest > 0 {
		switch least, most, _ := f.rangeOf("count"); {
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

// simplified removes conditions that the facts decide, and conditions that make no difference. An
// algorithm takes the place of a condition that always holds.
func (s *splicer) simplified(branches []branch, known facts) (all []branch) {
	for _, b := range branches {
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
		if a, _, ok := compared(all[i].condition()); ok && !same { // the next condition continues the range
			b, _, ok := compared(next.condition())
			same = ok && a == b && equal(all[i].below, next.below)
		}
		if same {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}

// flat merges a comparison with comparisons of the same measure below it into one row, in which neighbours
// may be equal.
func flat(b branch) []branch {
	measure, _, ok := compared(b.condition())
	if !ok || len(b.below) < 2 {
		return []branch{b}
	}
	row := slices.Clone(b.below)
	for i, entry := range row {
		if other, _, ok := compared(entry.condition()); i+1 < len(row) && (!ok || other != measure) {
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

// legal moves algorithms below conditions of their own, as csel.c requires.
func legal(branches []branch) []branch {
	all := slices.Clone(branches)
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
