package heuristic

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping/comm"
)

// MaxSearched is the maximum number of processes for an exhaustive search.
const MaxSearched = 16

// ES is an exhaustive search (section 4.1) for the mapping with the fewest hop-bytes. The cost of a set of
// processes within a group of cores does not depend on the others, so each set is visited once. It fails
// for more than MaxSearched processes. If levels overlap, hops count by the groups of New.
func (m *Machine) ES(matrix *comm.Matrix) (Mapping, error) {
	p := matrix.Ranks()
	if err := m.Fits(p); err != nil {
		return nil, err
	}
	if p > MaxSearched {
		return nil, fmt.Errorf("%d processes have too many mappings to compare all: %d are searched at the most", p, MaxSearched)
	}
	s := &search{machine: m, inside: make([]int64, 1<<p), shapes: make(map[string]*shape)}
	volumes := matrix.Volumes()
	for set := 1; set < 1<<p; set++ {
		first := bits.TrailingZeros(uint(set))
		rest := set &^ (1 << first)
		s.inside[set] = s.inside[rest]
		for _, v := range volumes[first] {
			if rest>>v.With&1 == 1 {
				s.inside[set] += v.Bytes
			}
		}
	}
	at := make(Mapping, p)
	s.place(m.root, 1<<p-1, at)
	return at, nil
}

// A search has the costs of sets of processes in groups of cores. A set is a bit mask.
type search struct {
	machine *Machine
	inside  []int64 // bytes within a set
	shapes  map[string]*shape
}

// A shape is the structure of a group of cores; groups of equal shape share it.
type shape struct {
	places int
	cost   []int64 // minimum of hop-bytes within a set; impossible if it has more processes than places
	// rests is, by child and set, the cost of the children from there on; take are the processes of the
	// set that the child has then.
	children []*shape
	rests    [][]int64
	take     [][]uint32
}

const impossible = int64(1) << 62

func (s *search) shape(g *group) *shape {
	name := g.shape()
	if known := s.shapes[name]; known != nil {
		return known
	}
	sets := len(s.inside)
	result := &shape{places: len(g.places), cost: make([]int64, sets)}
	s.shapes[name] = result
	if g.height == 0 {
		for set := range result.cost {
			if bits.OnesCount(uint(set)) > 1 {
				result.cost[set] = impossible
			}
		}
		return result
	}
	hops := int64(Hops(s.machine.heights[g.height-1]))
	result.children = lists.Map(g.children, s.shape)
	if p := bits.Len(uint(sets - 1)); len(result.children) > p && same(result.children) {
		result.children = result.children[:p] // no more children than processes are used
	}
	n := len(result.children)
	result.rests, result.take = make([][]int64, n+1), make([][]uint32, n)
	result.rests[n] = make([]int64, sets)
	for set := 1; set < sets; set++ {
		result.rests[n][set] = impossible
	}
	room := 0
	for i := n - 1; i >= 0; i-- {
		child, rest := result.children[i], result.rests[i+1]
		result.rests[i], result.take[i] = make([]int64, sets), make([]uint32, sets)
		equal := i+1 < n && result.children[i+1] == child // by symmetry the lowest process is here
		for set := range uint32(sets) {
			best, bestPart, count := impossible, uint32(0), bits.OnesCount32(set)
			if count <= room+child.places {
				lowest := uint32(0)
				if equal && same(result.children[i:]) {
					lowest = set & -set
				}
				others := set &^ lowest
				for part := others; ; part = (part - 1) & others {
					taken := part | lowest
					if k := bits.OnesCount32(taken); k <= child.places && count-k <= room {
						// Bytes within a child make no hops at this height.
						if cost := child.cost[taken] + rest[set&^taken] - hops*s.inside[taken]; cost < best {
							best, bestPart = cost, taken
						}
					}
					if part == 0 {
						break
					}
				}
			}
			result.rests[i][set], result.take[i][set] = best, bestPart
		}
		room += child.places
	}
	for set := range result.cost {
		if result.cost[set] = result.rests[0][set]; result.cost[set] < impossible {
			result.cost[set] += hops * s.inside[set]
		}
	}
	return result
}

// same reports whether all shapes are the same.
func same(shapes []*shape) bool {
	return !slices.ContainsFunc(shapes, func(other *shape) bool { return other != shapes[0] })
}

// place maps a set to a group's cores by the minimum found.
func (s *search) place(g *group, set uint32, at Mapping) {
	if g.height == 0 {
		if set != 0 {
			at[bits.TrailingZeros32(set)] = g.places[0]
		}
		return
	}
	for i, take := range s.shape(g).take {
		taken := take[set]
		s.place(g.children[i], taken, at)
		set &^= taken
	}
}
