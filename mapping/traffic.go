package mapping

import (
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
)

// Traffic counts the messages of a step, or the copying ranks of a local stage.
type Traffic struct {
	Within, Between int // messages within nodes, and between nodes, in all
	Inside          int // maximum within one node
	Through         int // maximum that leaves, or enters, one node
	Both            int // maximum of one node, within it and through
	Arrive          int // maximum received on one node, from within and from other nodes

	Levels [Levels]Share // messages within nodes by level, see Counter.Level
}

// Levels is the maximum number of levels within a node.
const Levels = 8

// A Share is the messages of a level in all, and their maximum within one node.
type Share struct{ All, Most int }

// A Run is a sequence of repetitions of a stage with equal traffic.
type Run struct {
	From, Repeat int
	Traffic
}

// Most limits the messages of a schedule that are visited one by one, to one or two seconds. A message in a
// tree, and a repetition, costs as much as steep others. most is the limit for a stage of several
// levels, maxRuns that of the runs of a stage.
const (
	Most    = 1 << 25
	steep   = 16
	most    = 1 << 26
	maxRuns = 1 << 12
)

// ErrMany: the messages would take too long to count.
var ErrMany = fmt.Errorf("has more than %d messages or repetitions that must be looked at one by one: take fewer ranks, another algorithm, or as many ranks on each node, of which both are powers of two if the ranks are", Most)

// A Counter counts the messages of stages.
type Counter struct {
	*Map
	// Level, if not nil, is the level of messages between two cores of a node, from 0 to
	// Levels−1. If there are too many messages to visit, all have level 0.
	Level func(a, b int) int

	on      []int32 // node of each rank, once messages are visited
	nodes   []NodeTraffic
	touched []int32 // nodes with messages
}

// A NodeTraffic is one node's messages: within it, in all and by level, out of it, and into it.
type NodeTraffic struct {
	Within, Out, In int
	Levels          [Levels]int
}

// Runs are the traffic of a stage's repetitions. With a rule for senders and receivers the time does not
// depend on the number of ranks; else each message is visited, see Work. Above 4096 runs, neighbours
// are merged with the maxima of both.
func (c *Counter) Runs(stage *collective.Stage, repeat int) (runs []Run) {
	traffic := c.rule(stage, repeat)
	if traffic == nil {
		traffic = c.remembered(stage)
	}
	if stage.Same {
		return []Run{{0, repeat, traffic(0)}}
	}
	for r := range repeat {
		t := traffic(r)
		if n := len(runs); n > 0 && runs[n-1].Traffic == t {
			runs[n-1].Repeat++
			continue
		}
		if len(runs) == 2*maxRuns {
			runs = halve(runs)
		}
		runs = append(runs, Run{r, 1, t})
	}
	for len(runs) > maxRuns {
		runs = halve(runs)
	}
	return runs
}

// remembered visits each message, once for repetitions with the same peers.
func (c *Counter) remembered(stage *collective.Stage) func(repetition int) Traffic {
	visit := func(repetition int) Traffic {
		return c.enumerate(collective.Step{Stage: stage, Repetition: repetition})
	}
	if stage.Peers == nil {
		return visit
	}
	return memoized(visit, func(repetition int) collective.Peers {
		p := stage.Peers(repetition)
		if p.Ranks == c.Ranks {
			p.First = 0
		}
		return p
	})
}

// memoized counts once for repetitions with equal keys, of which it remembers up to maxRuns.
func memoized(count func(repetition int) Traffic, key func(repetition int) collective.Peers) func(repetition int) Traffic {
	memo := make(map[collective.Peers]Traffic)
	return func(repetition int) Traffic {
		k := key(repetition)
		t, known := memo[k]
		if !known {
			if t = count(repetition); len(memo) < maxRuns {
				memo[k] = t
			}
		}
		return t
	}
}

// Work is the number of messages and repetitions of a schedule that Runs visits, with a share for tables of
// ranks and nodes. It visits none of them; above Most it may be too low.
func (c *Counter) Work(s *collective.Schedule) (work int) {
	tables := 0
	for stage, repeat := range s.Stages() {
		each := steep
		if c.rule(stage, repeat) == nil {
			if each = max(each, stage.Count()); stage.Steep {
				each = steep * stage.Count()
			}
			tables = c.Ranks/8 + 16*c.Nodes
		}
		if stage.Same {
			repeat = 1
		}
		if each > Most/repeat {
			return Most + 1
		}
		if work += each * repeat; work+tables > Most {
			return work + tables
		}
	}
	return work + tables
}

// halve merges each two neighbours, with the maxima of both.
func halve(runs []Run) []Run {
	half := runs[:0]
	for i := 0; i < len(runs); i += 2 {
		a := runs[i]
		if i+1 < len(runs) {
			b := runs[i+1]
			a.Repeat += b.Repeat
			t, o := &a.Traffic, b.Traffic
			t.Within, t.Between, t.Inside, t.Through = max(t.Within, o.Within), max(t.Between, o.Between), max(t.Inside, o.Inside), max(t.Through, o.Through)
			t.Both, t.Arrive = max(t.Both, o.Both), max(t.Arrive, o.Arrive)
			for i := range t.Levels {
				l := &t.Levels[i]
				l.All, l.Most = max(l.All, o.Levels[i].All), max(l.Most, o.Levels[i].Most)
			}
		}
		half = append(half, a)
	}
	return half
}

// Add adds a number of nodes with equal traffic.
func (t *Traffic) Add(nodes int, c NodeTraffic) {
	t.Within += nodes * c.Within
	t.Between += nodes * c.Out
	t.Inside = max(t.Inside, c.Within)
	t.Through = max(t.Through, c.Out, c.In)
	t.Both = max(t.Both, c.Within+max(c.Out, c.In))
	t.Arrive = max(t.Arrive, c.Within+c.In)
	for i, n := range c.Levels {
		l := &t.Levels[i]
		l.All, l.Most = l.All+nodes*n, max(l.Most, n)
	}
}

// enumerate visits each message.
func (c *Counter) enumerate(step collective.Step) (t Traffic) {
	if c.nodes == nil {
		c.nodes, c.on = make([]NodeTraffic, c.Nodes), make([]int32, c.Ranks)
		for rank := range c.on {
			c.on[rank] = int32(c.Node(rank))
		}
	}
	local, last := step.Pattern == collective.Local, -1
	for msg := range step.Messages() {
		if local && msg.From == last { // a further copy of the same rank
			continue
		}
		last = msg.From
		from, to := c.on[msg.From], c.on[msg.To]
		if from != to {
			c.touch(from).Out++
			c.touch(to).In++
			continue
		}
		n, level := c.touch(from), 0
		if c.Level != nil {
			level = c.Level(c.Core(msg.From), c.Core(msg.To))
		}
		n.Within++
		n.Levels[level]++
	}
	for _, node := range c.touched {
		t.Add(1, c.nodes[node])
		c.nodes[node] = NodeTraffic{}
	}
	c.touched = c.touched[:0]
	return t
}

// touch is a node's counts, which it marks as used.
func (c *Counter) touch(node int32) *NodeTraffic {
	n := &c.nodes[node]
	if n.Within|n.Out|n.In == 0 {
		c.touched = append(c.touched, node)
	}
	return n
}

// rule counts by the stage's rule; nil if it has none, or none that can be counted.
func (c *Counter) rule(stage *collective.Stage, repeat int) func(repetition int) Traffic {
	if stage.Pattern == collective.Local && len(stage.Shape) == 1 && stage.Shape[0].Count == c.Ranks {
		most := c.Largest() // all ranks copy equally much
		all := Traffic{Within: c.Ranks, Inside: most, Both: most, Arrive: most}
		all.Levels[0] = Share{c.Ranks, most}
		return func(int) Traffic { return all }
	}
	if stage.Peers == nil || c.list != nil || c.Level != nil && stage.Pattern != collective.Local && repeat*c.Ranks <= most {
		return nil
	}
	switch peers := stage.Peers(0); {
	case !peers.Flip:
		return memoized(func(repetition int) Traffic { return c.shift(stage.Peers(repetition)) },
			func(repetition int) collective.Peers { return c.canonical(stage.Peers(repetition)) })
	case c.aligned() && peers.Ranks == c.Ranks:
		each := c.Ranks / c.Nodes
		return func(repetition int) (t Traffic) {
			if stage.Peers(repetition).Distance/c.plane%c.Nodes == 0 {
				t.Add(c.Nodes, NodeTraffic{Within: each, Levels: [Levels]int{each}})
			} else {
				t.Add(c.Nodes, NodeTraffic{Out: each, In: each})
			}
			return t
		}
	}
	return nil
}

// even reports whether each node has the same number of planes: ranks shifted by a plane are on the next node.
func (c *Counter) even() bool { return c.plane > 0 && c.Ranks%(c.plane*c.Nodes) == 0 }

// aligned reports whether a node's number is a bit field of its ranks' numbers.
func (c *Counter) aligned() bool {
	return c.even() && c.plane&(c.plane-1) == 0 && c.Nodes&(c.Nodes-1) == 0 && c.Ranks&(c.Ranks-1) == 0
}

// canonical is equal for shifts with the same traffic.
func (c *Counter) canonical(p collective.Peers) collective.Peers {
	if !c.even() {
		return p
	}
	if p.Ranks == c.Ranks {
		p.First = 0
		round := c.plane * c.Nodes
		if p.Distance %= round; p.Distance >= c.plane && p.Distance <= round-c.plane {
			p.Distance = c.plane // no message stays on its node
		}
	}
	p.First %= c.plane
	return p
}

// A stretch is the ranks begin … end−1, which send to the rank `by` farther, without wrap-around.
type stretch struct{ begin, end, by int }

// shift counts the messages of a cyclic shift. Only nodes with a rank at which a stretch, or its receivers,
// begins or ends are special; all nodes between two such have equal traffic.
func (c *Counter) shift(p collective.Peers) (t Traffic) {
	var stretches []stretch
	add := func(begin, end int) {
		wrap := c.Ranks - p.Distance
		if middle := min(end, wrap); begin < middle {
			stretches = append(stretches, stretch{begin, middle, p.Distance})
		}
		if middle := max(begin, wrap); middle < end {
			stretches = append(stretches, stretch{middle, end, p.Distance - c.Ranks})
		}
	}
	end := p.First + p.Ranks
	add(p.First, min(end, c.Ranks))
	add(0, max(0, end-c.Ranks))

	special := make([]int, 0, 20)
	for _, s := range stretches {
		for _, rank := range [...]int{s.begin, s.end, s.begin + s.by, s.end + s.by} {
			special = append(special, c.nodeAt(rank))
		}
	}
	if c.plane == 0 {
		special = append(special, c.Ranks%c.Nodes) // from here on nodes have one rank less
	}
	next := 0
	for _, node := range lists.Rising(special) {
		if node >= c.Nodes {
			break
		}
		if next < node {
			t.Add(node-next, c.nodeTraffic(next, stretches))
		}
		t.Add(1, c.nodeTraffic(node, stretches))
		next = node + 1
	}
	if next < c.Nodes {
		t.Add(c.Nodes-next, c.nodeTraffic(next, stretches))
	}
	return t
}

// nodeAt is the node of a rank, also of ranks beyond the last.
func (c *Counter) nodeAt(rank int) int {
	if c.plane == 0 && rank >= c.Ranks {
		return c.Nodes
	}
	return c.Node(rank)
}

// nodeTraffic counts the messages of a node.
func (c *Counter) nodeTraffic(node int, stretches []stretch) (n NodeTraffic) {
	for _, s := range stretches {
		stay := c.staying(node, s.end, s.by) - c.staying(node, s.begin, s.by)
		n.Within += stay
		n.Out += c.below(node, s.end) - c.below(node, s.begin) - stay
		n.In += c.below(node, s.end+s.by) - c.below(node, s.begin+s.by) - stay
	}
	n.Levels[0] = n.Within
	return n
}

// below is the number of a node's ranks below a rank.
func (c *Counter) below(node, rank int) int {
	if c.plane == 0 {
		first, end := c.first(node), c.first(node+1)
		return min(max(rank, first), end) - first
	}
	round := c.plane * c.Nodes
	return rank/round*c.plane + min(max(rank%round-node*c.plane, 0), c.plane)
}

// staying is the number of a node's ranks below a rank that send to the same node.
func (c *Counter) staying(node, rank, by int) int {
	if c.plane == 0 {
		first, end := c.first(node), c.first(node+1)
		return max(0, min(rank, end, end-by)-max(first, first-by))
	}
	round := c.plane * c.Nodes
	if by %= round; by < 0 {
		by += round
	}
	from, to := 0, 0 // of a plane
	switch {
	case c.Nodes == 1:
		to = c.plane
	case by < c.plane:
		to = c.plane - by
	case by > round-c.plane:
		from, to = round-by, c.plane
	}
	rest := rank%round - node*c.plane
	return rank/round*(to-from) + min(max(rest-from, 0), to-from)
}
