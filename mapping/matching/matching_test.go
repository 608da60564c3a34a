package matching

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// certify proves a result by its duals (complementary slackness): no edge weighs more than the duals of its ends and
// of the blossoms that have both; matched edges weigh exactly that; blossoms that cost something are full; and
// vertices that cost something, or all where the matching is to be perfect, have a partner.
func (s *solver) certify() error {
	blossoms := func(v int32) (all []int32) {
		for b := s.parent[v]; b != none; b = s.parent[b] {
			all = append(all, b)
		}
		return all
	}
	for k, e := range s.edges {
		if e.U == e.V {
			continue
		}
		slack := s.slack(int32(k))
		of := blossoms(int32(e.U))
		for _, b := range blossoms(int32(e.V)) {
			if slices.Contains(of, b) {
				slack += 2 * s.dual[b]
			}
		}
		matched := s.mate[e.U] != none && int(s.mate[e.U]/2) == k
		if slack < 0 || matched && slack != 0 {
			return fmt.Errorf("edge %d of %d and %d, matched %v, has slack %d", k, e.U, e.V, matched, slack)
		}
		if matched && s.at[s.mate[e.V]] != int32(e.U) {
			return fmt.Errorf("edge %d is matched at one end", k)
		}
	}
	for v := range s.n {
		if !s.perfect && (s.dual[v] < 0 || s.mate[v] == none && s.dual[v] != 0) {
			return fmt.Errorf("vertex %d has dual %d and partner %d", v, s.dual[v], s.mate[v])
		}
	}
	for b := int32(s.n); b < int32(2*s.n); b++ {
		if s.base[b] != none && s.dual[b] < 0 {
			return fmt.Errorf("blossom %d has dual %d", b, s.dual[b])
		}
		if s.base[b] != none && s.dual[b] > 0 {
			inside := lists.ToMap(s.leavesOf(b), func(v int32) (int32, bool) { return v, true })
			matched := lists.Filter(s.leavesOf(b), func(v int32) bool { return s.mate[v] != none && inside[s.at[s.mate[v]]] })
			if len(matched) != len(inside)-1 {
				return fmt.Errorf("blossom %d of %d vertices has %d of them matched inside", b, len(inside), len(matched))
			}
		}
	}
	return nil
}

// certified solves a graph, proves the result, and counts the unmatched vertices.
func certified(t *testing.T, n int, edges []Edge, perfect bool) (partners []int, alone int) {
	t.Helper()
	s := must.Get(newSolver(n, edges, perfect))
	s.solve()
	err := s.certify()
	check.Need(t, err == nil, "%d vertices, %.1000v, perfect %v: %v", n, edges, perfect, err)
	partners = s.partners()
	for v, partner := range partners {
		if partner == Alone {
			alone++
			continue
		}
		check.Need(t, partners[partner] == v, "%d vertices, %.1000v: %d has %d, which has %d", n, edges, v, partner, partners[partner])
	}
	return partners, alone
}

// The results of graphs of up to 12 vertices are certified: sparse and dense, with few and with many different
// weights, some of them negative. A perfect matching is found if a matching of maximum cardinality is perfect.
func TestSmallGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	perfects := 0
	const tries = 4000
	for range tries {
		n, density, most := random.IntN(13), random.Float64(), int64(1)<<random.IntN(8)
		var edges, equal []Edge
		for u := range n {
			for v := u + 1; v < n; v++ {
				if random.Float64() < density {
					edges = append(edges, Edge{u, v, random.Int64N(most+1) - most/8})
					equal = append(equal, Edge{v, u, 1})
				}
			}
		}
		random.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
		heaviest, _ := certified(t, n, edges, false)
		got := must.Get(Maximum(n, edges))
		check.Need(t, slices.Equal(got, heaviest), "%d vertices, %v: %v, certified is %v", n, edges, got, heaviest)
		_, least := certified(t, n, equal, false)
		_, alone := certified(t, n, edges, true)
		_, err := Perfect(n, edges)
		check.Need(t, alone == least && (err == nil) == (least == 0), "%d vertices, %v: %d are alone, and %d have to be: %v", n, edges, alone, least, err)
		if least == 0 {
			perfects++
		}
	}
	check.True(t, perfects >= tries/40 && perfects <= tries*39/40, "%d graphs of %d with a perfect matching", perfects, tries)
}

// The results of larger graphs are certified.
func TestLargeGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		n, edges int
		most     int64
	}{
		{100, 300, 3}, {101, 1000, 1 << 40}, {200, 19900, 1000}, {300, 900, 1 << 50}, {400, 40000, 10},
		{999, 5000, 100}, {2000, 6000, 1 << 30}, {2000, 20000, 50},
	} {
		for _, perfect := range []bool{false, true} {
			var edges []Edge
			for range tt.edges {
				u, v := random.IntN(tt.n), random.IntN(tt.n-1)
				if v >= u {
					v++
				}
				edges = append(edges, Edge{u, v, 1 + random.Int64N(tt.most)})
			}
			if perfect { // so that there is one
				for v := range tt.n / 2 {
					edges = append(edges, Edge{2 * v, 2*v + 1, -5})
				}
			}
			_, alone := certified(t, tt.n, edges, perfect)
			check.True(t, !perfect || alone == tt.n%2, "%+v: %d vertices are alone", tt, alone)
		}
	}
}

func TestRefused(t *testing.T) {
	contains.Error(t, must.Err(Maximum(-1, nil)), "give 0 to")
	contains.Error(t, must.Err(Maximum(MaxVertices+1, nil)), "give 0 to")
	contains.Error(t, must.Err(Maximum(2, []Edge{{0, 2, 1}})), "joins vertices 0 and 2")
	contains.Error(t, must.Err(Maximum(2, []Edge{{1, 1, 1}})), "joins vertices 1 and 1")
	contains.Error(t, must.Err(Maximum(2, []Edge{{0, 1, MaxWeight + 1}})), "weighs")
	contains.Error(t, must.Err(Perfect(8, []Edge{{0, 1, MaxWeight/2 + 1}})), "weighs")
	contains.Error(t, must.Err(Perfect(3, []Edge{{0, 1, 1}, {1, 2, 1}})), "no perfect matching")
}
