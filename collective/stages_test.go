package collective

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// The numbers of stages that the algorithms' sources state; MPICH's depend on radix, chunk and root.
func TestStages(t *testing.T) {
	try := func(name string, call Call, local, want int) { // local: stages of copies within a rank; want: stages of messages
		t.Helper()
		check.Equal(t, must.Get(ofAny(name).Schedule(call)).Len(), local+want, "%s, %+v: stages", name, call)
	}
	for name, stages := range map[string][2]int{
		"bcast:linear": {0, 12}, "bcast:circulant": {0, 4}, "bcast:binomial": {0, 4}, "bcast:scatter-ring": {0, 4 + 12}, "bcast:binomial-doubling": {0, 4},
		"scatter:binomial": {1, 4}, "gather:binomial": {1, 4}, "gather:linear": {1, 12}, "gather:linear-sync": {1, 24}, // one chunk: no rest
		"allgather:circulant": {1, 12}, "allgather:ring": {1, 12}, "allgather:bruck": {2, 4}, "allgather:linear": {1, 24}, "allgather:k-bruck": {2, 4},
		"allgather:sparbit": {1, 12}, "allgather:recexch": {1, 3 + 2}, "alltoall:pairwise": {1, 12}, "alltoall:bruck": {2 + 2*4, 4},
		"reduce:circulant": {1, 4}, "reduce:linear": {1, 12}, "reduce:binomial": {1, 4}, "reduce:rabenseifner": {1, 1 + 6}, "reduce:rabenseifner-halves": {1, 2 + 6},
		"allreduce:recursive-doubling": {1, 3 + 2}, "allreduce:ring": {1, 24}, "allreduce:rabenseifner": {1, 6 + 2}, "allreduce:rabenseifner-halves": {1, 6 + 3},
		"allreduce:reduce-bcast": {1, 8}, "allreduce:linear": {1, 24}, "allreduce:recexch": {1, 3 + 2},
		"barrier:dissemination": {0, 4}, "barrier:linear": {0, 24}, "barrier:double-ring": {0, 26}, "barrier:recursive-doubling": {0, 3 + 3},
		"barrier:tree": {0, 8}, "barrier:recexch": {0, 3 + 2}, "dealing:linear": {0, 12},
	} {
		try(name, Call{P: 13, M: 1000}, stages[0], stages[1])
	}
	try("bcast:binomial", Call{P: 16, M: 1000}, 0, 4)
	try("bcast:scatter-recursive-doubling", Call{P: 16, M: 1000}, 0, 4+4)
	try("allgather:recursive-doubling", Call{P: 16, M: 1000}, 1, 4)
	try("alltoall:linear", Call{P: 16, M: 1000}, 1, 15)
	try("allreduce:recursive-doubling", Call{P: 16, M: 1000}, 1, 4)
	try("allreduce:rabenseifner", Call{P: 16, M: 1000}, 1, 8)
	try("allgather:neighbor-exchange", Call{P: 14, M: 1000}, 1, 7)
	try("bcast:split-binary", Call{P: 15, M: 1000}, 0, 6+1)
	try("barrier:k-dissemination", Call{P: 16, Degree: 4}, 0, 3+3)
	try("barrier:k-dissemination", Call{P: 5, Degree: 4}, 0, 3+3) // at distance 4, 8 and 12
	try("barrier:k-dissemination", Call{P: 6, Degree: 4}, 0, 3+2) // 12 is the rank itself
	try("barrier:k-dissemination", Call{P: 3, Degree: 4}, 0, 2)
	try("allreduce:kary", Call{P: 7, M: 1000, Chunk: 1000}, 1, 2*4)
	try("allreduce:kary", Call{P: 7, M: 1000, Chunk: 300}, 1, 4*2*4) // chunk after chunk
	try("allreduce:kary", Call{P: 7}, 0, 0)
	try("reduce:rabenseifner", Call{P: 13, M: 1000, Root: 2}, 1, 1+3+3)
	try("reduce:rabenseifner", Call{P: 13, M: 1000, Root: 3}, 1, 1+3+1+3) // rank 0 stands in for the root
	try("permutation:shift", Call{P: 13, M: 1000, Distance: 5}, 0, 1)
	try("permutation:shift", Call{P: 13, Distance: 5}, 0, 0) // an empty message is not sent
	try("ping-pong:pair", Call{P: 13, M: 1000, Distance: 5, Root: 9}, 0, 2)
	for name, want := range map[string]int{"reduce:rabenseifner": 1, "allreduce:rabenseifner": 0} {
		for _, step := range must.Get(find(name).Schedule(Call{P: 3, M: 1000})).Steps() {
			for m := range step.Messages() {
				check.True(t, step.Phase != "fold in" || m.From == want, "%s: rank %d folds in, want %d", name, m.From, want)
			}
		}
	}
}

// A message of k chunks takes h + g(k−1) stages down a tree in which the last rank gets the
// first one in stage h, and no rank has more than g children; and as many up.
func TestPipelineStages(t *testing.T) {
	try := func(name string, p, k, degree, want int) {
		t.Helper()
		for _, of := range []string{"bcast:", "reduce:"} {
			s := must.Get(find(of + name).Schedule(Call{P: p, M: k * 64, Chunk: 64, Degree: degree}))
			own := map[string]int{"reduce:": 1}[of] // vector
			check.Equal(t, s.Len()-own, want, "%s%s, P = %d, k = %d: stages", of, name, p, k)
		}
	}
	try("pipeline", 8, 1, 0, 7)
	try("chain", 13, 1, 2, 2+5)
	try("pipeline", 8, 10, 0, 7+9)
	try("pipeline", 1000, 3, 0, 999+2)
	try("pipeline", 3, 500, 0, 2+499)
	try("chain", 9, 10, 4, 4+1+4*9)
	try("binary", 15, 10, 0, 6+2*9)
	try("binary", 8, 10, 0, 4+2*9)
	try("kary", 13, 10, 3, 6+3*9)
	try("knomial", 16, 10, 2, 4+4*9)
	try("knomial", 16, 10, 4, 6+6*9)
}

// Of n chunks every rank but the root receives each in n−1+⌈log2 P⌉ rounds (Träff 2025).
func TestCirculantBroadcast(t *testing.T) {
	for _, p := range slices.Concat(ranks()[1:], []int{31, 32, 33}) {
		for n := 1; n < 34; n++ {
			const chunk = 8
			s := must.Get(find("bcast:circulant").Schedule(Call{P: p, M: n*chunk - n%chunk, Chunk: chunk, Root: n % p}))
			carryOut(t, s)
			messages := 0
			for _, step := range s.Steps() {
				messages += step.Count()
			}
			check.Equal(t, [2]int{s.Len(), messages}, [2]int{n - 1 + bits.Len(uint(p-1)), n * (p - 1)}, "P = %d, %d chunks: rounds and messages", p, n)
		}
	}
}

// The table of MPICH's circ_graph.c, of 17 ranks.
func TestCirculantIsThatOfMPICH(t *testing.T) {
	g := circulantOf(17)
	check.Slices(t, g.skip, []int{1, 2, 3, 5, 9, 17}, "skips")
	for k, want := range [][]int8{
		{-4, 0, -5, -4, -3, -5, -2, -5, -4, -3, -1, -5, -4, -3, -5, -2, -5},
		{-5, -4, 1, -5, -4, -3, -3, -2, -5, -4, -3, -1, -5, -4, -3, -3, -2},
		{-2, -2, -2, 2, 0, -4, -4, -3, -2, -2, -4, -3, -1, -1, -4, -4, -3},
		{-1, -3, -3, -2, -2, 3, 0, 1, 2, -5, -2, -2, -2, -2, -1, -1, -1},
		{-3, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1},
	} {
		for r := range want {
			check.Equal(t, g.block[r][k], want[r], "round %d, rank %d: block", k, r)
		}
	}
}

// Open MPI's comment in coll_base_topo.c draws the trees of radix 2, 3 and 4 of ten ranks, and
// its in-order tree has every left subtree above every right one.
func TestTreesAreThoseOfTheLibraries(t *testing.T) {
	try := func(name string, tree tree, parents []int) { // parents: of ranks 1, 2 …
		t.Helper()
		for i, want := range parents {
			check.Equal(t, tree.place(i+1).parent, want, "%s: parent of %d", name, i+1)
		}
	}
	try("knomial 2", knomial(10, 2), []int{0, 0, 2, 0, 4, 4, 6, 0, 8})
	try("knomial 3", knomial(10, 3), []int{0, 0, 0, 3, 3, 0, 6, 6, 0})
	try("knomial 4", knomial(10, 4), []int{0, 0, 0, 0, 4, 4, 4, 0, 8})
	try("binary", kary(10, 2, false), []int{0, 0, 1, 2, 1, 2, 3, 4, 5})
	try("kary 2", kary(10, 2, true), []int{0, 0, 1, 1, 2, 2, 3, 3, 4})
	try("kary 3", kary(10, 3, true), []int{0, 0, 0, 1, 1, 1, 2, 2, 2})
	try("doubling", doubling(10), []int{0, 0, 1, 0, 1, 2, 3, 0, 1})
	try("in order", inOrder(7), []int{0, 1, 1, 0, 4, 4})
	try("chains", chains(10, 4), []int{0, 1, 2, 0, 4, 0, 6, 0, 8})
}

// τ-Lop, Fig. 14: P = 8, g = 2, k = 4.
func TestTreeTransfersPerStage(t *testing.T) {
	s := must.Get(find("bcast:sm-tree").Schedule(Call{P: 8, M: 4 * 8192}))
	var got []int
	for _, step := range s.Steps() {
		got = append(got, step.Shape[0].Count)
	}
	check.Slices(t, got, []int{1, 2, 4, 7, 4, 7, 4, 7, 3, 5}, "transfers per stage")
}

// The decisions of τ-Lop, section 4.1.
func TestMPICHChooses(t *testing.T) {
	try := func(p, m int, want string) {
		t.Helper()
		check.Equal(t, must.Get(find("bcast:mpich").Schedule(Call{P: p, M: m})).Algorithm.String(), want, "P = %d, m = %d", p, m)
	}
	try(64, 12<<10-1, "bcast:binomial")
	try(7, 1<<20, "bcast:binomial")
	try(8, 12<<10, "bcast:scatter-recursive-doubling")
	try(8, 512<<10-1, "bcast:scatter-recursive-doubling")
	try(8, 512<<10, "bcast:scatter-ring")
	try(9, 12<<10, "bcast:scatter-ring")
}

func TestCallsWithoutSchedule(t *testing.T) {
	try := func(name string, call Call, says string) {
		t.Helper()
		contains.Error(t, must.Err(ofAny(name).Schedule(call)), says, name)
	}
	try("bcast:binomial", Call{P: 0}, "at least one rank, got P = 0")
	try("bcast:binomial", Call{P: 1 << 40}, "at most")
	try("bcast:binomial", Call{P: 4, M: -1}, "0 bytes or more, got m = -1")
	try("allgather:ring", Call{P: 1 << 30, M: 1 << 40}, "take a smaller m or P")
	try("gather:linear", Call{P: 4, Root: 4}, "root from 0 to 3, got 4")
	try("reduce:binomial", Call{P: 4, Root: -1}, "root from 0 to 3, got -1")
	try("allgather:recursive-doubling", Call{P: 6}, "power of two of ranks, got P = 6; the nearest are 4 and 8")
	try("allgather:recursive-doubling", Call{P: 12}, "the nearest are 8 and 16")
	try("allreduce:ring", Call{P: 4, M: 10, Element: 4}, "no whole number of elements of 4 bytes")
	try("allreduce:ring", Call{P: 4, M: 10, Element: -4}, "elements of at least one byte, got -4")
	try("bcast:sm-tree", Call{P: 4, M: 10, Degree: 1}, "degree 2 or more, got 1")
	try("bcast:sm-tree", Call{P: 4, M: 10, Segment: -1}, "segments of at least one byte, got -1")
	try("bcast:chain", Call{P: 4, M: 10, Chunk: -1}, "chunks of at least one byte, got -1")
	try("bcast:chain", Call{P: 4, M: 1 << 30, Chunk: 1}, "take larger chunks")
	try("bcast:knomial", Call{P: 4, M: 10, Degree: 5000}, "degree of at most 1024, got 5000")
	try("allgather:neighbor-exchange", Call{P: 7}, "even number of ranks, got P = 7; the nearest are 6 and 8")
	try("allgather:neighbor-exchange", Call{P: 1}, "even number of ranks, got P = 1; take P = 2")
	try("bcast:circulant", Call{P: 1 << 17}, "at most 65536 ranks, got P = 131072; take P = 65536")
	try("barrier:two-proc", Call{P: 4}, "two ranks, got P = 4; take P = 2")
	try("permutation:shift", Call{P: 1, Distance: 1}, "two ranks")
	try("permutation:shift", Call{P: 4}, "distance from 1 to 3")
	try("permutation:shift", Call{P: 4, Distance: 4}, "distance from 1 to 3")
	try("ping-pong:pair", Call{P: 4, Distance: -1}, "distance from 1 to 3")
	try("ping-pong:pair", Call{P: 4, Distance: 1, Root: 4}, "root")
	try("dealing:linear", Call{P: 4, Root: -1}, "root")
}

// A million ranks need no more blocks than a logarithm of them, apart from the stages that fill and empty a pipeline.
func TestSchedulesStayCompact(t *testing.T) {
	for _, a := range All() {
		for _, c := range []Call{{P: 1 << 20, M: 1 << 30}, {P: 999_999, M: 1 << 30, Root: 77_777}, {P: 1 << 20, M: 1000}} {
			c.Chunk = 1 << 28 // each of which fills a pipeline by a stage
			if !a.Among.Has(c.P) {
				continue
			}
			s := must.Get(a.Schedule(c))
			stages := 0
			for stage := range s.Stages() {
				stages++
				check.AtMost(t, len(stage.Shape), 3, "%s, P = %d: sizes in a stage", a, c.P)
			}
			check.AtMost(t, stages, 90, "%s, P = %d: stages in memory", a, c.P)
		}
	}
}

// The first messages of every stage are found among more ranks than can be visited, most of which send nothing.
func TestFirstMessages(t *testing.T) {
	for _, a := range All() {
		for _, p := range []int{100_000_000, 1 << 26} {
			if !a.Among.Has(p) {
				continue
			}
			s := must.Get(a.Schedule(Call{P: p, M: 8 << 10}))
			for stage := range s.Stages() {
				want, got := min(4096, stage.Count()), 0
				for m := range (Step{Stage: stage}).Messages() {
					check.Need(t, m.From >= 0 && m.From < p && m.To >= 0 && m.To < p && m.Bytes() <= stage.Shape[0].Bytes,
						"%s, %s: %+v", a, stage.Phase, m)
					if got++; got == want {
						break
					}
				}
				check.Equal(t, got, want, "%s among %d, %s: messages", a, p, stage.Phase)
			}
		}
	}
}
