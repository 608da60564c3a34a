package heuristic

import (
	"fmt"
	"math/bits"

	"github.com/taulop/taulop/mapping/comm"
)

// MaxSearched is the most processes of which all mappings are compared.
const MaxSearched = 16

// ES compares all mappings (section 4.1) and returns the one with the fewest hop-bytes. The
// cost of a set of processes within a group of cores does not depend on the others, so each set
// is visited once. It fails for more than MaxSearched processes. Where levels overlap, hops are
// between the groups of New.
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
	all := uint32(1<<p - 1)
	s.place(m.root, all, at)
	return at, nil
}

// A search knows what sets of processes cost in groups of cores. A set is a bit for each.
type search struct {
	machine *Machine
	inside  []int64 // bytes within a set
	shapes  map[string]*shape
}

// A shape is groups of cores that are alike.
type shape struct {
	places int
	cost   []int64 // hop-bytes within a set, the least; impossible where it has more processes than places
	// rests is by child what the children from there on cost with a set, and take which
	// processes the child has then.
	children []*shape
	rests    [][]int64
	take     [][]uint32
}

const impossible = int64(1) << 62

func (s *search) shape(g *group) *shape {
	name := g.shape()
	if of, known := s.shapes[name]; known {
		return of
	}
	sets := len(s.inside)
	of := &shape{places: len(g.places), cost: make([]int64, sets)}
	s.shapes[name] = of
	if g.height == 0 {
		for set := range of.cost {
			if bits.OnesCount(uint(set)) > 1 {
				of.cost[set] = impossible
			}
		}
		return of
	}
	hops := int64(Hops(s.machine.heights[g.height-1]))
	for _, child := range g.children {
		of.children = append(of.children, s.shape(child))
	}
	if p := bits.Len(uint(sets - 1)); len(of.children) > p && s.same(of.children) {
		of.children = of.children[:p] // a child for each process; no more have one
	}
	n := len(of.children)
	of.rests, of.take = make([][]int64, n+1), make([][]uint32, n)
	of.rests[n] = make([]int64, sets)
	for set := 1; set < sets; set++ {
		of.rests[n][set] = impossible
	}
	room := 0
	for i := n - 1; i >= 0; i-- {
		child, rest := of.children[i], of.rests[i+1]
		of.rests[i], of.take[i] = make([]int64, sets), make([]uint32, sets)
		alike := i+1 < n && of.children[i+1] == child // then the lowest process may be here
		for set := range uint32(sets) {
			best, of_, count := impossible, uint32(0), bits.OnesCount32(set)
			if count <= room+child.places {
				lowest := uint32(0)
				if alike && s.same(of.children[i:]) {
					lowest = set & -set
				}
				others := set &^ lowest
				for part := others; ; part = (part - 1) & others {
					taken := part | lowest
					if k := bits.OnesCount32(taken); k <= child.places && count-k <= room {
						// Bytes within a child do not go up to here.
						if cost := child.cost[taken] + rest[set&^taken] - hops*s.inside[taken]; cost < best {
							best, of_ = cost, taken
						}
					}
					if part == 0 {
						break
					}
				}
			}
			of.rests[i][set], of.take[i][set] = best, of_
		}
		room += child.places
	}
	for set := range of.cost {
		if of.cost[set] = of.rests[0][set]; of.cost[set] < impossible {
			of.cost[set] += hops * s.inside[set]
		}
	}
	return of
}

func (s *search) same(shapes []*shape) bool {
	for _, of := range shapes {
		if of != shapes[0] {
			return false
		}
	}
	return true
}

// place puts a set in a group as the search found it.
func (s *search) place(g *group, set uint32, at Mapping) {
	if g.height == 0 {
		if set != 0 {
			at[bits.TrailingZeros32(set)] = g.places[0]
		}
		return
	}
	of := s.shape(g)
	for i, take := range of.take {
		taken := take[set]
		s.place(g.children[i], taken, at)
		set &^= taken
	}
}
