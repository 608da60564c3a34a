package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// levelled is a file of nodes with 16 cores, four on each NUMA node: T(m) of a level is its latency and
// m times its ns a byte. In a fan-out each receiver but the first adds a third of T(m) to an eager
// message, and 80 % of the bytes' time to a single copy.
func levelled(fanout bool) *params.File {
	f := &params.File{}
	groups := func(of int) []numa.CPUSet {
		return lists.Map(lists.Indices(16/of), func(i int) numa.CPUSet { return lists.Indices(16)[i*of : (i+1)*of] })
	}
	f.Provenance.Levels = numa.Levels{{Name: "same_numa", Groups: groups(4)}, {Name: "same_node", Groups: groups(16)}, {Name: "other_node"}}
	for i, l := range f.Provenance.Levels {
		latency, perByte := []float64{200, 400, 2000}[i], []float64{0.5, 0.25, 0.1}[i]
		for m := 1; m <= 1<<20; m *= 2 {
			cell := func(parameter string, tau int, ns float64) {
				f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: tau, Bytes: m,
					Variant: params.Parameter{Of: l.Name, Name: parameter}}, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
			}
			moved := perByte * float64(m)
			cell(params.ChannelMessage, 1, latency+moved)
			for tau := 1; fanout && tau <= 15; tau++ {
				ns := latency + moved + float64(tau-1)*(latency+moved)/3
				if m >= usualSingleCopy {
					ns = latency + moved + float64(tau-1)*0.8*moved
				}
				cell(params.ChannelFanout, tau, ns)
			}
		}
	}
	return f
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(a, b) }

// Times of empty messages alone give bytes no time.
func TestHierarchyOfEmptyMessages(t *testing.T) {
	f := levelled(true)
	for i := range f.Cells {
		f.Cells[i].Bytes = 0
	}
	check.ErrorIs(t, must.Err(NewPredictor(f, Choice{})), errNoLevels, "file of empty messages")
}

// Without a cluster ranks fill nodes, and in these one NUMA node after another, even if the system numbers cores
// of nodes round-robin.
func TestHierarchyNodes(t *testing.T) {
	p := predictorOf(t, levelled(true), Choice{})
	for ranks, want := range map[int]int{1: 1, 16: 1, 17: 2, 33: 3} {
		nodes, cores := p.Nodes(ranks)
		check.True(t, nodes == want && cores == 16, "%d ranks are on %d nodes of %d cores, want %d of 16", ranks, nodes, cores, want)
	}
	p = predictorOf(t, levelled(true), Choice{Cluster: &Cluster{Nodes: 2}})
	nodes, _ := p.Nodes(4)
	check.Equal(t, nodes, 2, "nodes of 4 ranks in blocks")
	f := levelled(true)
	for node := range 4 {
		f.Provenance.Levels[0].Groups[node] = numa.CPUSet{node, node + 4, node + 8, node + 12}
	}
	for ranks := 2; ranks <= 16; ranks++ {
		call := collective.Call{P: ranks, M: 1 << 20, Chunk: 1 << 20}
		expect(t, predictorOf(t, f, Choice{}), "bcast:binary", call, 1e9*costOf(t, predictorOf(t, levelled(true), Choice{}), "bcast:binary", call).Seconds, "")
	}
}

// A broadcast to one rank is a message of the measured library, whichever library's schedules it carries; to all
// ranks of a level it is the fan-out.
func TestHierarchyOfMessages(t *testing.T) {
	for _, fanout := range []bool{false, true} {
		p := predictorOf(t, levelled(fanout), Choice{})
		expect(t, predictorOf(t, levelled(fanout), Choice{As: must.Get(mpi.Named("openmpi4-none"))}), "bcast:linear", collective.Call{P: 2, M: 1000}, 700, "")
		for m := 1; m <= 1<<20; m *= 2 {
			want := 200 + 0.5*float64(m)
			for _, name := range []string{"bcast:linear", "bcast:binomial", "bcast:chain"} {
				got := costOf(t, p, name, collective.Call{P: 2, M: m, Chunk: m})
				check.True(t, near(got.Seconds*1e9, want) && (near(got.Mean*1e9, want) || m < usualSingleCopy),
					"%s of %d bytes, fan-out %v: %g and on average %g ns, want %g", name, m, fanout, got.Seconds*1e9, got.Mean*1e9, want)
			}
		}
	}
	one := levelled(true)
	one.Provenance.Levels[0].Groups = one.Provenance.Levels[1].Groups
	p := predictorOf(t, one, Choice{})
	for _, ranks := range []int{9, 16} {
		for m := 1; m <= 1<<20; m *= 2 {
			tau, alone, moved := float64(ranks-1), 200+0.5*float64(m), 0.5*float64(m)
			want := alone + (tau-1)*alone/3
			if m >= usualSingleCopy {
				want = alone + (tau-1)*0.8*moved
			}
			expect(t, p, "bcast:linear", collective.Call{P: ranks, M: m}, want, "")
		}
	}
}

// L(m,τ) of single copies is within the bounds of eq. (8).
func TestHierarchyBounds(t *testing.T) {
	for _, fanout := range []bool{false, true} {
		h := predictorOf(t, levelled(fanout), Choice{}).levels
		for level := range h.levels {
			for m := usualSingleCopy; m <= 1<<20; m *= 2 {
				c := h.class(level, m, false, 1)
				one := c.transfer(1)
				for tau := 1; tau < 40; tau++ {
					l := c.transfer(tau)
					check.True(t, l >= one && l <= float64(tau)*one*(1+1e-9) && l >= c.transfer(max(1, tau-1)),
						"level %d, %d bytes: L(m,%d) = %g, L(m,1) = %g", level, m, tau, l, one)
				}
			}
		}
	}
}

// Every algorithm costs at least any of its messages alone, rises with m, and is the sum of its terms.
func TestHierarchyOfAll(t *testing.T) {
	for _, fanout := range []bool{false, true} {
		p := predictorOf(t, levelled(fanout), Choice{})
		h := p.In(nil).(*Hierarchy)
		for _, a := range collective.All() {
			for _, ranks := range []int{2, 3, 8, 16, 21, 32} {
				before := 0.0
				for _, m := range []int{0, 1, 100, 4096, 12 << 10, 20000, 64 << 10, 1 << 20} {
					call := collective.Call{P: ranks, M: m, Element: 1, Chunk: max(1, m/4), Distance: 1}
					s, err := a.Schedule(call)
					if err != nil {
						continue
					}
					c := priced(t, p, s)
					sum := lists.Sum(c.Terms, func(t Term) float64 { return t.Times * t.Seconds })
					check.True(t, near(sum, c.Seconds) && c.Seconds >= 0 && !math.IsInf(c.Seconds, 0) && (c.Mean <= c.Seconds*(1+1e-9) || a.Collective == collective.Barrier),
						"%v, P = %d, m = %d: %g s, on average %g, and its terms are %g", a, ranks, m, c.Seconds, c.Mean, sum)
					// The order of messages at a receiver may change with m.
					check.True(t, c.Seconds >= before*0.98 || m >= usualSingleCopy && m <= 4*usualSingleCopy*ranks,
						"%v, P = %d, m = %d: %g s, and a smaller message takes %g", a, ranks, m, c.Seconds, before)
					before = c.Seconds
					for _, step := range s.Steps() {
						if step.Pattern != collective.OneWay && step.Pattern != collective.Exchange {
							continue
						}
						for msg := range step.Messages() {
							level := 2
							if msg.From/16 == msg.To/16 {
								level = int(h.levelOf[msg.From%16][msg.To%16])
							}
							alone := h.class(level, msg.Bytes(), false, 1).alone
							check.Need(t, c.Seconds >= alone*(1-1e-9),
								"%v, P = %d, m = %d: %g s, and a message of %d bytes alone is %g", a, ranks, m, c.Seconds, msg.Bytes(), alone)
						}
					}
				}
			}
		}
	}
}

// Messages through an adapter do not slow single copies within the node.
func TestHierarchyGatherOfTwoNodes(t *testing.T) {
	order := must.Get(mapping.List([]int32{0, 0, 1, 1}, []int32{0, 1, 0, 1}, 2))
	p := predictorOf(t, levelled(true), Choice{Cluster: &Cluster{Nodes: 2, Order: order}})
	const m = 1 << 20
	s := schedule(t, "gather:linear", collective.Call{P: 4, M: m})
	for _, msg := range must.Get(p.levels.simulate(s, math.Inf(1))).messages {
		check.True(t, msg.from != 1 || near((msg.ended-msg.began)*1e9, 200+0.5*m),
			"a copy within the node takes %g ns beside those of the network, want %g", (msg.ended-msg.began)*1e9, 200+0.5*m)
	}
}

// An adapter handles messages in both directions in turn, and moves the bytes of each direction by themselves.
func TestAdapters(t *testing.T) {
	var a, b adapter
	m := &messageClass{handling: 1, adapterTime: 3}
	try := func(from, to *adapter, start, want float64) {
		t.Helper()
		got := from.pass(to, m, start)
		check.True(t, got == want, "a message of %g begins at %g, want %g", start, got, want)
	}
	try(&a, &b, 0, 0)
	try(&b, &a, 0, 1)
	try(&a, &b, 0, 4)
	try(&a, &b, 9, 9)
	m.handling = 0 // streams were measured
	try(&b, &a, 0, 5)
}

// A queue takes one message after another, each for a quarter of its level's o.
func TestHierarchyOfQueues(t *testing.T) {
	h := predictorOf(t, levelled(true), Choice{}).levels
	for level, want := range []float64{h.levels[0].latency() / 4, h.levels[1].latency() / 4, 0} {
		got := h.class(level, 64, false, 1).queueTime
		check.True(t, near(got, want) || got == want, "level %d: a message is in the queue for %g s, want %g", level, got, want)
	}
	s := schedule(t, "gather:linear", collective.Call{P: 12, M: 64})
	entered := must.Get(h.simulate(s, math.Inf(1))).ranks[0].queueFree
	least := 11 * h.levels[0].latency() / 4
	check.True(t, entered >= least*(1-1e-9), "11 messages are through the root's queue after %g s, want %g at least", entered, least)
}

// Exchanges of eager messages in one memory are bound by the bandwidth of the largest fan-out; without a
// fan-out they do not contend. Messages with unknown contention, eager ones and single copies of a node without
// levels, take the geometric mean of both bounds.
func TestHierarchyOfRings(t *testing.T) {
	const kib, latency, alone = 1 << 10, 200.5, 200 + 0.5*8*(1<<10)
	unknown := levelled(false)
	unknown.Provenance.Levels = unknown.Provenance.Levels[2:]
	try := func(file *params.File, p, m int, least, and float64) { // least, and: ns, of all stages and beside them
		t.Helper()
		got := 1e9 * costOf(t, predictorOf(t, file, Choice{}), "allgather:ring", collective.Call{P: p, M: m}).Seconds
		check.True(t, got >= 0.99*least && got <= 1.05*least+and, "a ring of %d ranks and %d bytes takes %g ns, want %g and at most %g more", p, m, got, least, and)
	}
	try(levelled(true), 4, 8*kib, 3*4*(alone+14*alone/3-latency)/15, 3*latency+alone) // to 15 receivers
	try(levelled(false), 4, 8*kib, 3*alone, 3*latency+alone)
	try(unknown, 16, 8*kib, 15*4*0.1*8*kib, 1.05*15*2000) // of 15 stages of 16 messages
	try(unknown, 16, 64*kib, 15*4*0.1*64*kib, 1.05*15*2000)
}

// A message between nodes keeps its sender busy as one within the node, not for half of T(m).
func TestHierarchyOfNetworkSenders(t *testing.T) {
	h := predictorOf(t, levelled(false), Choice{}).levels
	for _, m := range []int{0, 1 << 10} {
		within, between := h.class(1, m, false, 1).senderTime, h.class(2, m, false, 1).senderTime
		check.True(t, within == between && within > 0, "%d bytes: a sender is busy for %g s within its node, and for %g s to another one", m, within, between)
	}
}

// Copies of different bytes contend at most with τ = 4, the cores of a memory; TestHierarchyCosts has copies
// without a fan-out.
func TestHierarchyOfDifferentBytes(t *testing.T) {
	h := predictorOf(t, levelled(true), Choice{}).levels
	for _, bytes := range []int{usualSingleCopy, 1 << 20} {
		c := h.class(0, bytes, false, 1)
		got, want := h.distinctTransfer(c, 12), c.transfer(4)
		check.True(t, near(got, want), "12 copies of %d different bytes take %g s each, want %g", bytes, got, want)
	}
}

// A limit rejects costs above it, and does not change others.
func TestCostWithin(t *testing.T) {
	p := predictorOf(t, levelled(true), Choice{})
	for _, name := range []string{"bcast:chain", "alltoall:linear", "barrier:tree"} {
		s := schedule(t, name, collective.Call{P: 12, M: 4096})
		want := priced(t, p, s)
		c, within, err := p.CostWithin(s, want.Seconds)
		check.True(t, err == nil && within && c.Seconds == want.Seconds && c.Mean == want.Mean, "%s: %g s within %g: %v, %v", name, c.Seconds, want.Seconds, within, err)
		_, within, err = p.CostWithin(s, 0.9*want.Seconds)
		check.True(t, err == nil && !within, "%s is within nine tenths of its cost (%v)", name, err)
	}
}

// late is levelled without a fan-out: below 256 KiB messages of a level are two transfers, as in a library
// whose rendezvous begins there.
func late(level string, latency float64) *params.File {
	f := levelled(false)
	for i, c := range f.Cells {
		if c.Bytes < 256<<10 && c.Variant == (params.Parameter{Of: level, Name: params.ChannelMessage}) {
			f.Cells[i].Time.Center = 2*c.Time.Center - latency
		}
	}
	return f
}

// Messages of senders that wait are buffered up to the size where ping-pongs become single copies, between nodes, too.
func TestHierarchyOfRendezvous(t *testing.T) {
	h := predictorOf(t, late("same_numa", 200), Choice{}).levels
	check.Equal(t, h.Rendezvous, 256<<10, "rendezvous")
	check.Equal(t, h.SingleCopy, usualSingleCopy, "single copy")
	for waits, least := range map[bool]int{true: 256 << 10, false: usualSingleCopy} {
		check.True(t, !h.class(h.network, least/2, waits, 1).singleCopy && h.class(h.network, least, waits, 1).singleCopy,
			"waits %t: no single copies from %d bytes on", waits, least)
	}
}

// Ranks send chunks as they send whole messages: one more does not make a call cheaper.
func TestHierarchyOfChunks(t *testing.T) {
	p := predictorOf(t, late("same_node", 400), Choice{})
	one := costOf(t, p, "bcast:pipeline", collective.Call{P: 16, M: 64 << 10, Chunk: 64 << 10}).Seconds
	two := costOf(t, p, "bcast:pipeline", collective.Call{P: 16, M: 65 << 10, Chunk: 64 << 10}).Seconds
	check.True(t, two >= one, "65 KiB take %g s, and 64 KiB %g", two, one)
}

// Costs of calls in ns, where T(0) is a byte's.
func TestHierarchyCosts(t *testing.T) {
	apart, network, rendezvous := levelled(false), levelled(false), late("same_node", 400)
	// Each core in a NUMA node of its own.
	apart.Provenance.Levels[0].Groups = lists.Map(lists.Indices(16), func(core int) numa.CPUSet { return numa.CPUSet{core} })
	network.Provenance.Levels = network.Provenance.Levels[2:]
	const (
		kib, mib       = 1 << 10, 1 << 20
		latency, moved = 400.25, 0.25 * (kib - 1) // of an eager message to another NUMA node
		copied         = 0.5 * (mib - 1)          // of a single copy within one
		waits          = 400.5 + 0.5*(64*kib-1)   // of a message whose sender waits
		own            = 0.5 * (64*kib - 1) / 2   // copy of a rank's own block
	)
	try := func(what string, file *params.File, cores []int32, algorithm string, p, m int, blocking bool, want float64) { // cores: of the ranks; nil: in order
		t.Helper()
		var on *Cluster
		if cores != nil {
			on = &Cluster{Nodes: 1, Order: must.Get(mapping.List(make([]int32, len(cores)), cores, 1))}
		}
		s := schedule(t, algorithm, collective.Call{P: p, M: m, Chunk: max(1, m)})
		s.Blocking = blocking
		c := priced(t, predictorOf(t, file, Choice{Cluster: on}), s)
		check.True(t, near(c.Seconds*1e9, want), "%s: %g ns, on average %g, want %g", what, c.Seconds*1e9, c.Mean*1e9, want)
	}
	// The queue has each for a quarter of o, and the root copies in turn; half of o is paid once for all.
	try("eager messages enter the queue in turn", levelled(false), nil, "gather:linear", 4, kib, false, 712+2*(712-200.5)/2)
	try("copies of different bytes contend with √τ", levelled(false), nil, "scatter:linear", 4, mib, false, 200.5+math.Sqrt(3)*copied+copied/2)
	try("forwarding takes L(m,1) longer", levelled(false), nil, "bcast:pipeline", 3, 64*kib, false, 2*(200+0.5*64*kib)+0.5*(64*kib-1))
	try("an eager message keeps its sender busy for half of its time", apart, nil, "bcast:linear", 4, kib, false, 2*(latency+moved))
	try("the second chain begins half a message later", apart, nil, "bcast:chain", 3, kib, false, 1.5*(latency+moved))
	try("forwarding takes o longer", apart, nil, "bcast:pipeline", 3, kib, false, 3*latency+2*moved)
	try("an answer takes as long as in a ping-pong", levelled(false), nil, "barrier:linear", 2, 0, false, 2*200.5)
	try("a message between nodes stands in", network, nil, "bcast:linear", 2, 1000, false, 2100)
	try("listed cores of a NUMA node", levelled(true), []int32{0, 1}, "bcast:linear", 2, kib, false, 200+512)
	try("listed cores of two", levelled(true), []int32{0, 4}, "bcast:linear", 2, kib, false, 400+256)
	try("listed cores of two", levelled(true), []int32{9, 2}, "bcast:linear", 2, kib, false, 400+256)
	try("a receiver copies in turn", levelled(false), nil, "gather:linear", 4, mib, false, 200.5+3*copied)
	try("a receiver copies in turn", levelled(true), nil, "gather:linear", 4, mib, false, 200.5+3*copied)
	try("blocking sends, then the own block", levelled(false), nil, "scatter:linear", 4, mib, true, 3*(200.5+copied)+copied/2)
	try("blocking sends, then the own block", levelled(true), nil, "scatter:linear", 4, mib, true, 3*(200.5+copied)+copied/2)
	try("no sender waits", rendezvous, []int32{0, 4}, "bcast:linear", 2, 64*kib, false, 400+0.25*64*kib) // on the line from 256 KiB on
	try("MPI_Send waits", rendezvous, []int32{0, 4}, "bcast:linear", 2, 64*kib, true, waits)
	try("a sender that waits copies four pieces in four of five steps", rendezvous, []int32{0, 4, 8, 12}, "scatter:linear", 4, 64*kib, true, own+2*(200.25+0.8*(waits-400.5))+waits)
	try("ranks wait", rendezvous, []int32{0, 4}, "allgather:ring", 2, 64*kib, false, own+waits)
	try("ranks wait", rendezvous, []int32{0, 4}, "allgather:recursive-doubling", 2, 64*kib, false, own+waits)
	network.Provenance.Levels = levelled(false).Provenance.Levels[:2]
	_, err := predictorOf(t, network, Choice{}).Cost(schedule(t, "bcast:linear", collective.Call{P: 17, M: 1}))
	check.Error(t, err, "17 ranks on 16 cores, without messages between nodes")
}
