package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// carriers is a file of one node: a byte takes τ ns through shared memory in segments of 4 KiB, and 10τ ns
// over CMA; an empty transfer takes 50τ ns.
func carriers() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{params.Ring, params.Ping}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false},
		Sizes: []int{1024, 4096, 1 << 20}, Taus: []int{1, 2, 4}, Segments: 4, SegmentBytes: 4096}}
	for _, setup := range f.Plan.Setups {
		k := params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local}
		measure(f, k, func(m, tau int) float64 { return float64(m * tau) })
		for i, c := range f.Cells {
			if c.Transport == "" {
				f.Cells[i].K = max(1, c.Bytes/4096)
			}
		}
		k.Transport = params.CMA
		measure(f, k, func(m, tau int) float64 { return float64(10 * m * tau) })
		k.Kind, k.Transport = params.NullCell, ""
		for _, k.Tau = range f.Plan.Taus {
			f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: float64(50 * k.Tau)}})
		}
	}
	return f
}

// reducing adds γ of an operator.
func reducing(f *params.File, operator string, nsPerByte float64) {
	for _, m := range []int{4, 1 << 20} {
		key := params.Key{Kind: params.GammaCell, Placement: f.Plan.Policies[0], Tau: 1, Bytes: m, Operator: operator}
		f.Cells = append(f.Cells, params.Cell{Key: key, Time: fit.Estimate{Center: nsPerByte * float64(m)}})
	}
}

func TestPredictorAs(t *testing.T) {
	library := &mpi.Library{Name: "some", Title: "Some MPI", Ways: []mpi.Way{
		{Most: 2048, Segment: 4096, Segments: 1}, {Most: 65536, Segment: 4096, Segments: 4, Request: 1024, Control: 2},
		{Single: true, Lines: 3},
	}}
	try := func(algorithm string, ranks, m int, ns float64, formula string) {
		t.Helper()
		p := predictorOf(t, carriers(), Choice{As: library})
		c := expect(t, p, algorithm, collective.Call{P: ranks, M: m}, ns, formula)
		logNP := predictorOf(t, carriers(), Choice{As: library, Model: "lognp"})
		l := costOf(t, logNP, algorithm, collective.Call{P: ranks, M: m})
		check.True(t, ranks != 2 || math.Abs(l.Seconds-c.Seconds) <= 1e-12, "log_nP, %s, P = %d, m = %d: %g s, want %g", algorithm, ranks, m, l.Seconds, c.Seconds)
	}
	try("bcast:linear", 2, 2048, 2*2048, "o(m) + 2L→(m,1)")
	// 1024 bytes with the request, two control messages, then 8 KiB in two segments.
	try("bcast:linear", 2, 9216, 2*1024+2*50+2*4096+2*4096, "2L→(1024 B,1) + 2y→(1) + o(m) + 2L→(4096 B,1) + L→(4096 B,2)")
	try("bcast:linear", 2, 1<<20, 3*50+10*(1<<20), "3y→(1) + o(m) + L→¹(m,1)")
	try("bcast:binomial", 4, 1<<20, 6*50+10*(1<<20)+20*(1<<20), "6y→(1) + 2o(m) + L→¹(m,1) + L→¹(m,2)")
	// Blocks have the protocol of their own size.
	try("allgather:ring", 4, 1024, 3*2*4*1024, "3o(m) + 6L(m,4)")
	try("allgather:ring", 4, 1<<20, 3*3*50+3*4*10*(1<<20), "9y→(1) + 3o(m) + 3L¹(m,4)")
}

// A message's instructions replace o(m), unless o(m) is the library's own; a call's count once. With
// instructions a line costs half of a flag, whose line moves twice; without, it costs a flag.
func TestInstructions(t *testing.T) {
	library := func(counted string, lines int) *mpi.Library {
		return &mpi.Library{Name: "some", Title: "Some MPI", Call: 100, Reduction: 7, Counted: counted,
			Ways: []mpi.Way{{Most: 2048, Segment: 4096, Segments: 1, Lines: lines, Message: 1000, Exchange: 2000}, {Single: true}}}
	}
	try := func(algorithm string, ranks, lines int, counted string, instruction []float64, imported bool, total float64, formula string) { // instruction: by launch, ns
		t.Helper()
		f := carriers()
		reducing(f, "SUM_I", 0)
		f.Launches = lists.Map(instruction, func(ns float64) params.Launch { return params.Launch{Instruction: ns} })
		if imported {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OverheadCell, Placement: numa.Local, Tau: 1, Bytes: 1}, Time: fit.Estimate{Center: 500}})
		}
		p := predictorOf(t, f, Choice{As: library(counted, lines)})
		all, left := len(instruction) > 0 && counted != "", len(p.Warnings) > 0 && strings.Contains(p.Warnings[len(p.Warnings)-1].Error(), "is left out")
		check.True(t, all != left, "%s: warnings %v", algorithm, p.Warnings)
		expect(t, p, algorithm, collective.Call{P: ranks, M: 1024}, total, formula)
	}
	try("bcast:linear", 2, 0, "there", []float64{2, 4, 3}, false, 2048+3*1100, "1100i + 2L→(m,1)")
	try("bcast:linear", 2, 0, "there", []float64{0, 3, 0}, false, 2048+3*1100, "1100i + 2L→(m,1)")
	try("bcast:binomial", 4, 0, "there", []float64{3}, false, 2048+4096+3*2100, "2100i + 2L→(m,1) + 2L→(m,2)")
	try("allgather:ring", 4, 0, "there", []float64{3}, false, 3*2*4*1024+3*6100, "6100i + 3o(m) + 6L(m,4)")
	try("reduce:binomial", 2, 0, "there", []float64{3}, false, 2048+3*1107, "1107i + 2L→(m,1) + γ(m,1)")
	try("bcast:linear", 2, 0, "there", []float64{3}, true, 500+2048+3*100, "o(m) + 2L→(m,1) + 100i")
	try("bcast:linear", 2, 0, "", []float64{3}, false, 2048, "o(m) + 2L→(m,1)")
	try("bcast:linear", 2, 0, "there", nil, false, 2048, "o(m) + 2L→(m,1)")
	try("bcast:linear", 2, 2, "there", []float64{3}, false, 2048+3*1100+2*25, "2f + 1100i + 2L→(m,1)")
	try("bcast:linear", 2, 2, "there", nil, false, 2048+2*50, "2y→(1) + o(m) + 2L→(m,1)")
}

// Messages of ranks to themselves are copied twice, or once by the kernel.
func TestToSelf(t *testing.T) {
	f := carriers()
	measure(f, params.Key{Kind: params.OwnCell, Placement: numa.Local}, func(m, _ int) float64 { return float64(3 * m) })
	library := &mpi.Library{Name: "some", Title: "Some MPI", Self: 4096, Ways: []mpi.Way{{Most: 8192, Segment: 8192, Segments: 1}, {Single: true}}}
	for _, tt := range []struct{ m, toSelf, copied float64 }{{2048, 2 * 3 * 2048, 3 * 2048}, {8192, 10 * 2 * 8192, 3 * 8192}} {
		var got [2]float64
		for i, toSelf := range []bool{false, true} {
			s := schedule(t, "alltoall:linear", collective.Call{P: 2, M: int(tt.m)})
			s.ToSelf = toSelf
			got[i] = 1e9 * priced(t, predictorOf(t, f, Choice{As: library}), s).Seconds
		}
		check.Near(t, got[1]-got[0], tt.toSelf-tt.copied, 1e-6*got[1], "m = %g: ns to itself more than copied", tt.m)
	}
}

// Single copies of data that their sender wrote in the call cost as after an own copy, less that copy; off
// cache the data are cached, and so is a destination that the receiver has touched.
func TestWritten(t *testing.T) {
	f := carriers()
	f.Plan.Setups, f.Plan.Caches = []string{params.Sendrecv, params.Ping}, []bool{false, true}
	f.Cells = nil
	perByte := func(ns float64) func(m, tau int) float64 { return func(m, _ int) float64 { return ns * float64(m) } }
	for _, off := range f.Plan.Caches {
		slower := map[bool]float64{false: 1, true: 100}[off]
		measure(f, params.Key{Kind: params.OwnCell, Placement: numa.Local, OffCache: off}, perByte(slower))
		for i, setup := range f.Plan.Setups {
			at, k := slower*float64(1+i), params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, OffCache: off, Transport: params.CMA}
			measure(f, k, perByte(10*at))
			k.Buffers = params.Copied
			measure(f, k, perByte(15*at))
		}
	}
	reducing(f, "SUM_I", 0)
	try := func(algorithm string, ranks int, off bool, each float64, formula string) { // each: ns a byte of m
		t.Helper()
		p := predictorOf(t, f, Choice{Transport: CMA, OffCache: off})
		const m = 65536
		expect(t, p, algorithm, collective.Call{P: ranks, M: m}, each*m, formula)
	}
	try("allgather:two-proc", 2, false, 10+1, "o(m) + L⇄¹(m,2) + c(m,2)")
	try("allgather:ring", 2, false, 1+14, "c(m,2) + o(m) + L°⇄¹(m,2)")
	try("allgather:ring", 2, true, 100+1400, "c(m,2) + o(m) + L°⇄¹(m,2)")
	try("allreduce:recursive-doubling", 2, true, 100+14, "c(m,2) + o(m) + L°⇄°¹(m,2) + γ(m,2)")
	try("bcast:binomial", 4, false, 20+29, "2o(m) + L→¹(m,1) + L°→¹(m,2)") // the root sends its input, rank 2 data of the call
	try("bcast:binomial", 4, true, 2000+2900, "2o(m) + L→¹(m,1) + L°→¹(m,2)")
	try("reduce:binomial", 4, true, 100+(2000+20)/2+29, "c(m,2) + 2o(m) + L→°¹(m,2) + γ(m,2) + L°→°¹(m,1) + γ(m,1)")
	try("scatter:binomial", 2, false, 20+1, "o(m) + L→¹(m,1) + c(m,1)") // not overlapping
}

// Off cache an exchange of whole messages takes as long as in cache if the call has touched both ends. If it
// has touched the source it lies between that and both off cache.
func TestWholeMessagesCached(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Whole: true, Setups: []string{params.Sendrecv, params.Ping},
		Policies: []numa.Policy{params.Published}, Caches: []bool{false, true}, Sizes: []int{1024, 65536}, Taus: []int{1, 2}}}
	for _, off := range f.Plan.Caches {
		for _, setup := range f.Plan.Setups {
			perByte := map[bool]float64{false: 1, true: 10}[off]
			measure(f, params.Key{Kind: params.TransferCell, Setup: setup, Placement: params.Published, OffCache: off}, func(m, _ int) float64 { return perByte * float64(m) })
		}
	}
	reducing(f, "SUM_I", 0)
	p := predictorOf(t, f, Choice{OffCache: true})
	const m = 65536
	for name, ns := range map[string]float64{
		"allreduce:recursive-doubling": 2 * m, "allgather:ring": 11 * m, "allgather:two-proc": 20 * m, "allreduce:ring": 2 * m,
	} {
		expect(t, p, name, collective.Call{P: 2, M: m}, ns, "")
	}
}

// The first part of a message does not bring the second one's bytes into a cache.
func TestPartsOfMessages(t *testing.T) {
	s := schedule(t, "alltoall:pairwise", collective.Call{P: 2, M: 8000})
	way := TauLop{Channels: withChannels(plain{}.L, slices.Concat(oneWays, exchanges, copies)...), Segment: 1000, Call: s}
	p := protocols{library: &mpi.Library{Ways: []mpi.Way{{Segment: 1000, Segments: 2, Request: 500, Control: 1}}}, ways: []TauLop{way}}
	formula := priced(t, p, s).Formula()
	check.True(t, !strings.Contains(formula, "°"), "%s: no byte was touched before", formula)
}

// Every byte of a rendezvous is reduced once.
func TestPredictorAsReduces(t *testing.T) {
	f := carriers()
	reducing(f, "SUM_I", 3)
	library := &mpi.Library{Name: "some", Title: "Some MPI", Ways: []mpi.Way{{Segment: 4096, Segments: 4, Request: 1024, Control: 1}}}
	p := predictorOf(t, f, Choice{As: library})
	c := costOf(t, p, "reduce:binomial", collective.Call{P: 2, M: 9216})
	gammas := lists.Filter(c.Terms, func(term Term) bool { return term.Parameter == "γ" })
	check.Near(t, lists.Sum(gammas, func(term Term) float64 { return term.Times * term.Seconds })*1e9, 3*9216, 1e-6, "%s: γ, ns", c.Formula())

	// A library without SIMD reduces one element at a time, if that was measured.
	library.Scalar = "its source"
	reduced := func(algorithm string, m int) float64 {
		t.Helper()
		return 1e9 * costOf(t, predictorOf(t, f, Choice{As: library, Operator: "sum"}), algorithm, collective.Call{P: 2, M: m}).Seconds
	}
	before := reduced("reduce:binomial", 9216)
	reducing(f, "SUM_I_SCALAR", 7)
	check.Near(t, reduced("reduce:binomial", 9216)-before, 4*9216, 1e-6, "ns more of one element at a time than of vectors")
}
