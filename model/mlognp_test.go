package model

import (
	"errors"
	"slices"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// twoLevels is a file of a machine of `nodes` NUMA nodes with `each` CPUs: f(0) = 50 ns and f(8K) = 450 ns
// within a node, 100 and 1300 ns across. Ranks fill node after node.
func twoLevels(nodes, each int) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	all := numa.SetOf(lists.Indices(nodes * each)...)
	groups := lists.Map(lists.Indices(nodes), func(n int) numa.CPUSet { return all[n*each : (n+1)*each] })
	workers := lists.Map(all, func(cpu int) numa.Worker { return numa.Worker{CPU: numa.CPU{ID: cpu, Node: cpu / each}} })
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: workers}}
	f.Provenance.Levels = numa.Levels{{Name: "shared L3", Groups: groups}, {Name: "nodes 21 apart", Groups: []numa.CPUSet{all}}}
	for i, a := range all {
		for _, b := range all[i+1:] {
			times := map[int]float64{0: 50, 8192: 450}
			if a/each != b/each {
				times = map[int]float64{0: 100, 8192: 1300}
			}
			for m, ns := range times {
				f.Cells = append(f.Cells, params.Cell{Time: fit.Median([]float64{ns}),
					Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: params.PairOf(a, b, params.UnknownHome)}})
			}
		}
	}
	return f
}

func mlognp(t *testing.T, f *params.File) MLogNP { return must.Get(MLogNPOf(f, "")) }

// Section IV.B of mlognp-2009 with o_mw = 2·450 ns within a node and o'_mw = 2·1300 ns
// across, without strides and networks.
func TestMLogNPBroadcasts(t *testing.T) {
	const o, far = 900.0, 2600.0
	try := func(nodes, each int, name string, p int, want float64) { // want: ns
		t.Helper()
		m := mlognp(t, twoLevels(nodes, each))
		c := expect(t, m, name, collective.Call{P: p, M: 8192}, want, "")
		check.True(t, !c.Extrapolated, "%d × %d, %s, P = %d is extrapolated", nodes, each, name, p)
	}
	try(1, 2, "bcast:linear", 2, o)   // eq. (4), n = 2
	try(2, 1, "bcast:linear", 2, far) // one level, the far one
	try(1, 8, "bcast:linear", 8, 4*o) // log_3P: P·o_mw/2
	try(1, 8, "bcast:binomial", 8, 3*o)
	try(1, 8, "bcast:binomial", 5, 2*o) // the root sends three, of which two hide behind the third
	// 2log: (P/n−1)·o/2 + (P−P/n)·o'/2, and the last reception.
	try(2, 4, "bcast:linear", 8, 3*o/2+4*far/2+far/2)
	try(4, 2, "bcast:linear", 8, o/2+6*far/2+far/2)
	// 0→4 across, then 4→6→7 and 0→2→3 within: one of three across.
	try(2, 4, "bcast:binomial", 8, 2*o+far)
	// 0→4, 4→6 across, 6→7 within.
	try(4, 2, "bcast:binomial", 8, o+2*far)
	try(8, 1, "bcast:binomial", 8, 3*far)
	expect(t, mlognp(t, twoLevels(2, 4)), "bcast:binomial", collective.Call{P: 8, M: 8192}, 2*o+far, "2f[nodes 21 apart](m) + 4f[shared L3](m)")
}

// constant is a curve of ns for all sizes.
func constant(ns float64) *params.Curve {
	return &params.Curve{Sizes: []int{0, 1 << 20}, Times: [][]float64{{ns * 1e-9}, {ns * 1e-9}}}
}

// strided adds messages of 8 KB at a stride of 64 bytes to a file: packing takes 150 ns, and one way between
// two CPUs that share an L3 200 ns more than contiguous.
func strided(f *params.File) *params.File {
	for variant, ns := range map[string]float64{"8K64S": 150, "8K4S": 90, "8K4S-L3": 1000, "8K64S-L3": 1200} {
		f.Cells = append(f.Cells, params.Cell{Time: fit.Median([]float64{ns}),
			Key: params.Key{Kind: params.PackCell, Placement: numa.Local, Tau: 1, Bytes: 8192}.Named(variant)})
	}
	return f
}

// Section IV.B of mlognp-2009 on a cluster of 64 processes on 8 nodes, as in Figs. 3 and 4: with o and l of a node, o',
// l' and o'_net between nodes, and the reception that 2log_{2,3}P leaves out of the linear broadcast.
func TestMLogNPAcrossNodes(t *testing.T) {
	const (
		o, l      = 2 * 450.0, 2 * 100.0  // within an L3
		far, lFar = 2 * 1300.0, 2 * 150.0 // between the two sockets of a node, where no strided message was measured: packing
		oo, ll    = 2 * 2000.0, 2 * 150.0 // o', l'
		net       = 7000.0
	)
	file := strided(twoLevels(2, 4))
	m, stride := mlognp(t, file), must.Get(file.P(64, false))
	m.stride(file, stride, 64, false)
	level := Level{Name: "tcp", Transfer: constant(oo / 2), Stride: stride, Network: constant(net)}
	node, slot := func(r int) int { return r / 8 }, func(r int) int { return r % 8 }
	cluster := m.Across(level, node, slot)
	try := func(name string, m MLogNP, want float64) { // want: ns
		t.Helper()
		expect(t, m, name, collective.Call{P: 64, M: 8192}, want, "")
	}
	// Linear: the root sends 7 messages within its node and 56 beyond; 4 of the 7 to the
	// other socket under mlog_nP. The last waits for the network and its receiver.
	try("bcast:linear", cluster.Reduced(), 7*(o+l)/2+56*(oo+ll)/2+net+(oo+ll)/2)
	try("bcast:linear", cluster, 3*(o+l)/2+4*(far+lFar)/2+56*(oo+ll)/2+net+(oo+ll)/2)
	try("bcast:linear", cluster.One(), 64*(oo+ll)/2+net)
	// Binomial: 3 of the 6 messages to the last leaf are between nodes, 1 between sockets.
	try("bcast:binomial", cluster.Reduced(), 3*(o+l)+3*(oo+ll+net))
	try("bcast:binomial", cluster, 2*(o+l)+far+lFar+3*(oo+ll+net))
	try("bcast:binomial", cluster.One(), 6*(oo+ll+net))
	// The same with n = 2 within a node and n = 3 between: eq. (4).
	for to, want := range map[int]float64{1: o + l, 4: far + lFar} {
		two := m.Across(level, func(int) int { return 0 }, func(r int) int { return r * to })
		expect(t, two, "bcast:linear", collective.Call{P: 2, M: 8192}, want, "")
	}
	one := m.Across(level, func(r int) int { return r }, func(int) int { return 0 })
	expect(t, one, "bcast:linear", collective.Call{P: 2, M: 8192}, oo+ll+net, "o_net[tcp](m) + 2f[tcp](m) + 2l[tcp](m)")
	// More ranks on a node than it has CPUs.
	all := m.Across(level, func(int) int { return 0 }, func(r int) int { return r })
	check.Error(t, must.Err(all.Cost(schedule(t, "bcast:linear", collective.Call{P: 9, M: 8192}))), "9 ranks on 8 CPUs are at levels")
}

// -model mlognp and its reductions, contiguous and strided, of one file: a linear broadcast to 8. On two nodes like
// this one, 4 ranks each, 3 messages are within, 4 between. A network keeps the ends busy for o(m), and for the copies
// that L(m,1) leaves out.
func TestPredictorsOfPairs(t *testing.T) {
	f := strided(twoLevels(2, 4))
	table := &params.Table{Transfers: params.Curve{Sizes: []int{0, 8192}, Taus: []int{1}, Times: [][]float64{{1e-6}, {9e-6}}}, Overheads: []float64{4e-6, 4e-6}}
	tcp := func(copies int) *Cluster {
		return &Cluster{Nodes: 2, Network: &Network{params.Network{Name: "tcp", Kind: "tcp", Copies: copies}, table, nil}}
	}
	try := func(model string, stride int, on *Cluster, want float64) { // want: ns
		t.Helper()
		p := predictorOf(t, f, Choice{Model: model, Stride: stride, Cluster: on})
		expect(t, p, "bcast:linear", collective.Call{P: 8, M: 8192}, want, "")
		err := must.Err(p.Cost(schedule(t, "bcast:sm-tree", collective.Call{P: 8, M: 8192})))
		check.True(t, on == nil || errors.Is(err, ErrOneNode), "a tree of copies between nodes: %v", err)
		check.Error(t, must.Err(p.Cost(schedule(t, "allgather:ring", collective.Call{P: 1024, M: 8192}))), "a million messages were followed")
	}
	try("mlognp", 0, nil, 3*450+4*1300+1300)
	try("2log23p", 0, nil, 8*450)
	try("log3p", 0, nil, 8*1300)
	try("mlognp", 64, nil, 3*(450+100)+5*(1300+150))
	try("2log23p", 64, nil, 8*(450+100))
	try("log3p", 64, nil, 8*(1300+150))
	try("mlognp", 64, tcp(0), 3*(450+100)+5*(2000+150)+9000)
	try("mlognp", 64, tcp(2), 3*(450+100)+5*(2000+450+150)+9000)
	try("2log23p", 64, tcp(0), 3*(450+100)+5*(2000+150)+9000)
	try("log3p", 64, tcp(0), 8*(2000+150)+9000)
}

// A machine of two levels costs at least as much as one of the near level alone, and at most as much as one of the far
// level alone. Costs rise with m, unless an algorithm that chooses others by size, such as MPICH's broadcast, changes.
func TestMLogNPIsBetweenItsLevels(t *testing.T) {
	near, far, both := mlognp(t, twoLevels(1, 16)), mlognp(t, twoLevels(16, 1)), mlognp(t, twoLevels(4, 4))
	near.Reductions, far.Reductions, both.Reductions = flatGamma{}, flatGamma{}, flatGamma{}
	random := randtest.New(t)
	for _, a := range collective.All() {
		for range 20 {
			p := 1 + random.IntN(16)
			for !a.Among.Has(p) {
				p = 1 + random.IntN(16)
			}
			call := collective.Call{P: p, Root: random.IntN(p), M: random.IntN(1 << 16)}
			if a.Collective.Empty() {
				call.M = 0
			}
			low, mid, high := costOf(t, near, a.String(), call), costOf(t, both, a.String(), call), costOf(t, far, a.String(), call)
			const slack = 1 + 1e-9
			check.True(t, mid.Seconds*slack >= low.Seconds && mid.Seconds <= high.Seconds*slack,
				"%s %+v: %g ns, near %g, far %g", a, call, mid.Seconds*1e9, low.Seconds*1e9, high.Seconds*1e9)
			if call.M > 0 {
				more := call
				more.M *= 2
				taken := func(call collective.Call) *collective.Algorithm { return must.Get(a.Schedule(call)).Algorithm }
				c := costOf(t, both, a.String(), more)
				check.True(t, c.Seconds*slack >= mid.Seconds || taken(call) != taken(more),
					"%s %+v: %g ns, of twice as much %g", a, call, mid.Seconds*1e9, c.Seconds*1e9)
			}
			sum := lists.Sum(mid.Terms, func(t Term) float64 { return t.Times * t.Seconds })
			check.Near(t, sum, mid.Seconds, 1e-12, "%s %+v: the terms, s", a, call)
		}
	}
}

type flatGamma struct{}

func (flatGamma) Gamma(string, int, int) (float64, bool, error) { return 1e-7, false, nil }

func TestMLogNPRefuses(t *testing.T) {
	try := func(change func(f *params.File), algorithm, want string) {
		t.Helper()
		f := twoLevels(2, 4)
		change(f)
		m, err := MLogNPOf(f, "")
		if err == nil {
			_, err = m.Cost(schedule(t, algorithm, collective.Call{P: 8, M: 8}))
		}
		contains.Error(t, err, want)
	}
	try(func(f *params.File) { f.Cells = nil }, "bcast:binomial", "taulop pairs")
	try(func(f *params.File) { f.Placements = nil }, "bcast:binomial", "another placement")
	try(func(f *params.File) { f.Placements[0].Workers = f.Placements[0].Workers[:7] }, "bcast:binomial", "7 ranks")
	try(func(f *params.File) { // no pairs across nodes
		f.Cells = slices.DeleteFunc(f.Cells, func(c params.Cell) bool { p, _ := c.Variant.(params.PairKey); return p.From/4 != p.To/4 })
	}, "bcast:binomial", "measure all pairs")
	try(func(*params.File) {}, "reduce:binomial", "γ")
}
