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
	for _, tt := range []struct {
		name  string
		call  Call
		local int // stages of copies within a rank
		want  int // stages of messages
	}{
		{"bcast:linear", Call{P: 13, M: 1000}, 0, 12},
		{"bcast:circulant", Call{P: 13, M: 1000}, 0, 4},
		{"reduce:circulant", Call{P: 13, M: 1000}, 1, 4},
		{"allgather:circulant", Call{P: 13, M: 1000}, 1, 12},
		{"bcast:binomial", Call{P: 13, M: 1000}, 0, 4},
		{"bcast:binomial", Call{P: 16, M: 1000}, 0, 4},
		{"bcast:scatter-recursive-doubling", Call{P: 16, M: 1000}, 0, 4 + 4},
		{"bcast:scatter-ring", Call{P: 13, M: 1000}, 0, 4 + 12},
		{"scatter:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"gather:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"gather:linear", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:recursive-doubling", Call{P: 16, M: 1000}, 1, 4},
		{"allgather:ring", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:bruck", Call{P: 13, M: 1000}, 2, 4},
		{"alltoall:pairwise", Call{P: 13, M: 1000}, 1, 12},
		{"alltoall:linear", Call{P: 16, M: 1000}, 1, 15},
		{"reduce:linear", Call{P: 13, M: 1000}, 1, 12},
		{"reduce:binomial", Call{P: 13, M: 1000}, 1, 4},
		{"allreduce:recursive-doubling", Call{P: 16, M: 1000}, 1, 4},
		{"allreduce:recursive-doubling", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"allreduce:ring", Call{P: 13, M: 1000}, 1, 24},
		{"allreduce:rabenseifner", Call{P: 16, M: 1000}, 1, 8},
		{"allreduce:rabenseifner", Call{P: 13, M: 1000}, 1, 6 + 2},
		{"allreduce:rabenseifner-halves", Call{P: 13, M: 1000}, 1, 6 + 3},
		{"allreduce:reduce-bcast", Call{P: 13, M: 1000}, 1, 8},
		{"barrier:dissemination", Call{P: 13, M: 1000}, 0, 4},
		{"barrier:linear", Call{P: 13, M: 1000}, 0, 24},
		{"barrier:double-ring", Call{P: 13, M: 1000}, 0, 26},
		{"barrier:recursive-doubling", Call{P: 13, M: 1000}, 0, 3 + 3},
		{"barrier:tree", Call{P: 13, M: 1000}, 0, 8},
		{"barrier:recexch", Call{P: 13, M: 1000}, 0, 3 + 2},
		{"allgather:linear", Call{P: 13, M: 1000}, 1, 24},
		{"allgather:k-bruck", Call{P: 13, M: 1000}, 2, 4},
		{"allgather:neighbor-exchange", Call{P: 14, M: 1000}, 1, 7},
		{"allgather:sparbit", Call{P: 13, M: 1000}, 1, 12},
		{"allgather:recexch", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"allreduce:linear", Call{P: 13, M: 1000}, 1, 24},
		{"allreduce:recexch", Call{P: 13, M: 1000}, 1, 3 + 2},
		{"alltoall:bruck", Call{P: 13, M: 1000}, 2 + 2*4, 4},
		{"gather:linear-sync", Call{P: 13, M: 1000}, 1, 24}, // one chunk: no rest
		{"reduce:rabenseifner", Call{P: 13, M: 1000}, 1, 1 + 6},
		{"reduce:rabenseifner-halves", Call{P: 13, M: 1000}, 1, 2 + 6},
		{"bcast:split-binary", Call{P: 15, M: 1000}, 0, 6 + 1},
		{"bcast:binomial-doubling", Call{P: 13, M: 1000}, 0, 4},
		{"barrier:k-dissemination", Call{P: 16, Degree: 4}, 0, 3 + 3},
		{"barrier:k-dissemination", Call{P: 5, Degree: 4}, 0, 3 + 3}, // at distance 4, 8 and 12
		{"barrier:k-dissemination", Call{P: 6, Degree: 4}, 0, 3 + 2}, // 12 is the rank itself
		{"barrier:k-dissemination", Call{P: 3, Degree: 4}, 0, 2},
		{"allreduce:kary", Call{P: 7, M: 1000, Chunk: 1000}, 1, 2 * 4},
		{"allreduce:kary", Call{P: 7, M: 1000, Chunk: 300}, 1, 4 * 2 * 4}, // chunk after chunk
		{"allreduce:kary", Call{P: 7}, 0, 0},
		{"reduce:rabenseifner", Call{P: 13, M: 1000, Root: 2}, 1, 1 + 3 + 3},
		{"reduce:rabenseifner", Call{P: 13, M: 1000, Root: 3}, 1, 1 + 3 + 1 + 3}, // rank 0 stands in for the root
		{"permutation:shift", Call{P: 13, M: 1000, Distance: 5}, 0, 1},
		{"permutation:shift", Call{P: 13, Distance: 5}, 0, 0}, // an empty message is not sent
		{"ping-pong:pair", Call{P: 13, M: 1000, Distance: 5, Root: 9}, 0, 2},
		{"dealing:linear", Call{P: 13, M: 1000}, 0, 12},
	} {
		check.Equal(t, must.Get(ofAny(tt.name).Schedule(tt.call)).Len(), tt.local+tt.want, "%s, %+v: stages", tt.name, tt.call)
	}
	for name, want := range map[string]int{"reduce:rabenseifner": 1, "allreduce:rabenseifner": 0} {
		for _, step := range must.Get(find(name).Schedule(Call{P: 3, M: 1000})).Steps() {
			for m := range step.Messages() {
				if step.Phase == "fold in" && m.From != want {
					t.Errorf("%s: rank %d folds in, want %d", name, m.From, want)
				}
			}
		}
	}
}

// A message of k chunks takes h + g(k−1) stages down a tree in which the last rank gets the
// first one in stage h, and no rank has more than g children; and as many up.
func TestPipelineStages(t *testing.T) {
	for _, tt := range []struct {
		name         string
		p, k, degree int
		want         int
	}{
		{"pipeline", 8, 1, 0, 7},
		{"chain", 13, 1, 2, 2 + 5},
		{"pipeline", 8, 10, 0, 7 + 9},
		{"pipeline", 1000, 3, 0, 999 + 2},
		{"pipeline", 3, 500, 0, 2 + 499},
		{"chain", 9, 10, 4, 4 + 1 + 4*9},
		{"binary", 15, 10, 0, 6 + 2*9},
		{"binary", 8, 10, 0, 4 + 2*9},
		{"kary", 13, 10, 3, 6 + 3*9},
		{"knomial", 16, 10, 2, 4 + 4*9},
		{"knomial", 16, 10, 4, 6 + 6*9},
	} {
		for _, of := range []string{"bcast:", "reduce:"} {
			s := must.Get(find(of + tt.name).Schedule(Call{P: tt.p, M: tt.k * 64, Chunk: 64, Degree: tt.degree}))
			got := s.Len()
			if of == "reduce:" {
				got-- // own vector
			}
			check.Equal(t, got, tt.want, "%s%s, P = %d, k = %d: stages", of, tt.name, tt.p, tt.k)
		}
	}
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
			if want := n - 1 + bits.Len(uint(p-1)); s.Len() != want || messages != n*(p-1) {
				t.Errorf("P = %d, %d chunks: %d rounds with %d messages, want %d with %d", p, n, s.Len(), messages, want, n*(p-1))
			}
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
	for _, tt := range []struct {
		name    string
		tree    tree
		parents []int // of ranks 1, 2 …
	}{
		{"knomial 2", knomial(10, 2), []int{0, 0, 2, 0, 4, 4, 6, 0, 8}},
		{"knomial 3", knomial(10, 3), []int{0, 0, 0, 3, 3, 0, 6, 6, 0}},
		{"knomial 4", knomial(10, 4), []int{0, 0, 0, 0, 4, 4, 4, 0, 8}},
		{"binary", kary(10, 2, false), []int{0, 0, 1, 2, 1, 2, 3, 4, 5}},
		{"kary 2", kary(10, 2, true), []int{0, 0, 1, 1, 2, 2, 3, 3, 4}},
		{"kary 3", kary(10, 3, true), []int{0, 0, 0, 1, 1, 1, 2, 2, 2}},
		{"doubling", doubling(10), []int{0, 0, 1, 0, 1, 2, 3, 0, 1}},
		{"in order", inOrder(7), []int{0, 1, 1, 0, 4, 4}},
		{"chains", chains(10, 4), []int{0, 1, 2, 0, 4, 0, 6, 0, 8}},
	} {
		for i, want := range tt.parents {
			check.Equal(t, tt.tree.place(i+1).parent, want, "%s: parent of %d", tt.name, i+1)
		}
	}
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
	for _, tt := range []struct {
		p, m int
		want string
	}{
		{64, 12<<10 - 1, "bcast:binomial"},
		{7, 1 << 20, "bcast:binomial"},
		{8, 12 << 10, "bcast:scatter-recursive-doubling"},
		{8, 512<<10 - 1, "bcast:scatter-recursive-doubling"},
		{8, 512 << 10, "bcast:scatter-ring"},
		{9, 12 << 10, "bcast:scatter-ring"},
	} {
		s := must.Get(find("bcast:mpich").Schedule(Call{P: tt.p, M: tt.m}))
		check.Equal(t, s.Algorithm.String(), tt.want, "P = %d, m = %d", tt.p, tt.m)
	}
}

func TestCallsWithoutSchedule(t *testing.T) {
	for _, tt := range []struct {
		name string
		call Call
		says string
	}{
		{"bcast:binomial", Call{P: 0}, "at least one rank, got P = 0"},
		{"bcast:binomial", Call{P: 1 << 40}, "at most"},
		{"bcast:binomial", Call{P: 4, M: -1}, "0 bytes or more, got m = -1"},
		{"allgather:ring", Call{P: 1 << 30, M: 1 << 40}, "take a smaller m or P"},
		{"gather:linear", Call{P: 4, Root: 4}, "root from 0 to 3, got 4"},
		{"reduce:binomial", Call{P: 4, Root: -1}, "root from 0 to 3, got -1"},
		{"allgather:recursive-doubling", Call{P: 6}, "power of two of ranks, got P = 6; the nearest are 4 and 8"},
		{"allgather:recursive-doubling", Call{P: 12}, "the nearest are 8 and 16"},
		{"allreduce:ring", Call{P: 4, M: 10, Element: 4}, "no whole number of elements of 4 bytes"},
		{"allreduce:ring", Call{P: 4, M: 10, Element: -4}, "elements of at least one byte, got -4"},
		{"bcast:sm-tree", Call{P: 4, M: 10, Degree: 1}, "degree 2 or more, got 1"},
		{"bcast:sm-tree", Call{P: 4, M: 10, Segment: -1}, "segments of at least one byte, got -1"},
		{"bcast:chain", Call{P: 4, M: 10, Chunk: -1}, "chunks of at least one byte, got -1"},
		{"bcast:chain", Call{P: 4, M: 1 << 30, Chunk: 1}, "take larger chunks"},
		{"bcast:knomial", Call{P: 4, M: 10, Degree: 5000}, "degree of at most 1024, got 5000"},
		{"allgather:neighbor-exchange", Call{P: 7}, "even number of ranks, got P = 7; the nearest are 6 and 8"},
		{"allgather:neighbor-exchange", Call{P: 1}, "even number of ranks, got P = 1; take P = 2"},
		{"bcast:circulant", Call{P: 1 << 17}, "at most 65536 ranks, got P = 131072; take P = 65536"},
		{"barrier:two-proc", Call{P: 4}, "two ranks, got P = 4; take P = 2"},
		{"permutation:shift", Call{P: 1, Distance: 1}, "two ranks"},
		{"permutation:shift", Call{P: 4}, "distance from 1 to 3"},
		{"permutation:shift", Call{P: 4, Distance: 4}, "distance from 1 to 3"},
		{"ping-pong:pair", Call{P: 4, Distance: -1}, "distance from 1 to 3"},
		{"ping-pong:pair", Call{P: 4, Distance: 1, Root: 4}, "root"},
		{"dealing:linear", Call{P: 4, Root: -1}, "root"},
	} {
		contains.Error(t, must.Err(ofAny(tt.name).Schedule(tt.call)), tt.says, tt.name)
	}
}

// A million ranks need no more blocks than a logarithm of them, apart from the stages that
// fill and empty a pipeline.
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
					if m.From < 0 || m.From >= p || m.To < 0 || m.To >= p || m.Bytes() > stage.Shape[0].Bytes {
						t.Fatalf("%s, %s: %+v", a, stage.Phase, m)
					}
					if got++; got == want {
						break
					}
				}
				check.Equal(t, got, want, "%s among %d, %s: messages", a, p, stage.Phase)
			}
		}
	}
}
