package comm

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Pattern is a built-in communication pattern.
type Pattern struct {
	Name, About string
	Among       string // supported numbers of processes; "": any

	has  func(p int) bool // nil: any
	send func(p int, bytes int64, to func(from, to int, share float64, messages int64))
}

// Patterns are all patterns. The NAS Parallel Benchmarks bt, sp, lu, cg, mg, is, ft and ep communicate as in
// their sources, version 3.4, with sizes relative to the largest message, independent of class and machine.
var Patterns = []Pattern{
	{"grid2d", "halo of a grid in two dimensions, which is not closed", "", nil, func(p int, _ int64, to sends) { grid(dims(p, 2), false, to) }},
	{"grid3d", "halo of a grid in three dimensions, which is not closed", "", nil, func(p int, _ int64, to sends) { grid(dims(p, 3), false, to) }},
	{"ring", "each to its right neighbour, the last to the first", "", nil, ring},
	{"transpose", "process (i,j) of a square to (j,i)", squares, isSquare, transpose},
	{"random", "each to four others of its choice, up to the size given", "", nil, random},
	{"bt", "NAS BT: six neighbours of a multipartition, whose solver sends forward more than back", squares, isSquare,
		func(p int, _ int64, to sends) { multipartition(p, 30, 5, to) }},
	{"sp", "NAS SP: as BT, with less in the solver", squares, isSquare,
		func(p int, _ int64, to sends) { multipartition(p, 22, 10, to) }},
	{"lu", "NAS LU: four neighbours in a grid, many small messages", powers, isPower, lu},
	{"cg", "NAS CG: sums along rows of a grid and an exchange with its transpose", powers, isPower, cg},
	{"mg", "NAS MG: halos of a closed grid in three dimensions, at all its levels", powers, isPower, mg},
	{"is", "NAS IS: all to all, sums of buckets, and the next process", powers, isPower, is},
	{"ft", "NAS FT: all to all, as much each", powers, isPower, func(p int, _ int64, to sends) { all(p, 1, to) }},
	{"ep", "NAS EP: as little from all to all", "", nil, func(p int, bytes int64, to sends) { all(p, 80/float64(max(bytes, 80)), to) }},
}

type sends = func(from, to int, share float64, messages int64)

const (
	squares = "a square number of processes, like 16"
	powers  = "a power of two of processes, like 16"
)

func isSquare(p int) bool { r := root(p); return r*r == p }
func isPower(p int) bool  { return p&(p-1) == 0 }
func root(p int) int      { return int(math.Round(math.Sqrt(float64(p)))) }

// Lookup finds a pattern by its name, or nil.
func Lookup(name string) *Pattern {
	return lists.Find(Patterns, func(p Pattern) bool { return p.Name == strings.ToLower(name) })
}

// Names are the names of all patterns.
func Names() (names []string) { return lists.Map(Patterns, func(p Pattern) string { return p.Name }) }

// Matrix is the pattern for a number of ranks and the bytes of its largest messages. It fails for unsupported
// numbers of ranks.
func (p *Pattern) Matrix(ranks int, bytes int64) (*Matrix, error) {
	m, err := New(ranks)
	switch {
	case err != nil:
		return nil, err
	case p.has != nil && !p.has(ranks):
		return nil, fmt.Errorf("%s is for %s, not %d", p.Name, p.Among, ranks)
	case bytes < 1 || bytes > maxBytes>>20:
		return nil, fmt.Errorf("messages of %d bytes: give 1 to %d", bytes, maxBytes>>20)
	}
	m.Name = p.Name
	p.send(ranks, bytes, func(from, to int, share float64, messages int64) {
		err = m.Add(from, to, max(1, int64(math.Round(share*float64(bytes))))*messages, messages)
	})
	return m, err
}

// dims are n factors of p, falling, as equal as possible.
func dims(p, n int) []int {
	if n == 1 {
		return []int{p}
	}
	best := []int{p}
	for f := int(math.Round(math.Pow(float64(p), 1/float64(n)))) + 1; f >= 1; f-- {
		if p%f != 0 {
			continue
		}
		all := append(dims(p/f, n-1), f)
		slices.SortFunc(all, func(a, b int) int { return b - a })
		if len(best) == 1 || all[0] < best[0] {
			best = all
		}
	}
	return best
}

// grid has each rank send a message to each neighbour.
func grid(dims []int, closed bool, to sends) {
	p := 1
	for _, d := range dims {
		p *= d
	}
	for rank := range p {
		step := p
		for _, d := range dims {
			step /= d
			coordinate := rank / step % d
			for _, by := range []int{-1, 1} {
				next := coordinate + by
				if closed {
					next = (next + d) % d
				}
				if next >= 0 && next < d && next != coordinate {
					to(rank, rank+(next-coordinate)*step, 1, 1)
				}
			}
		}
	}
}

func ring(p int, _ int64, to sends) {
	for rank := range p {
		to(rank, (rank+1)%p, 1, 1)
	}
}

func transpose(p int, _ int64, to sends) {
	side := root(p)
	for rank := range p {
		to(rank, rank%side*side+rank/side, 1, 1)
	}
}

// random is reproducible: its seed is the number of ranks and bytes.
func random(p int, bytes int64, to sends) {
	r := rand.New(rand.NewPCG(uint64(p), uint64(bytes)))
	for rank := range p {
		for range min(4, p-1) {
			other := r.IntN(p - 1)
			if other >= rank {
				other++
			}
			to(rank, other, r.Float64(), 1)
		}
	}
}

func all(p int, share float64, to sends) {
	for from := range p {
		for other := range p {
			to(from, other, share, 1)
		}
	}
}

// multipartition is BT and SP (make_set, copy_faces and the solvers): a process has a diagonal of cells
// of a cube, and for each of three dimensions a successor and a predecessor. Faces of two layers of
// five numbers go to both, and the solver's numbers a point forward to the one and back to the other.
func multipartition(p int, forward, back float64, to sends) {
	const faces = 10
	side := root(p)
	at := func(i, j int) int { return (i+side)%side + side*((j+side)%side) }
	for rank := range p {
		i, j := rank%side, rank/side
		for _, next := range []int{at(i+1, j), at(i, j+1), at(i-1, j+1)} {
			to(rank, next, 1, int64(max(1, side-1)))
		}
		for _, before := range []int{at(i-1, j), at(i, j-1), at(i+1, j-1)} {
			to(rank, before, (faces+back)/(faces+forward), int64(max(1, side-1)))
		}
	}
}

// lu is a grid of 2^⌈k/2⌉ columns (proc_grid): for each plane a message of a line to every neighbour, and once
// a time step the faces of two planes.
func lu(p int, _ int64, to sends) {
	columns := 1 << ((bits.Len(uint(p)) - 1 + 1) / 2)
	grid([]int{p / columns, columns}, false, func(from, other int, _ float64, _ int64) {
		to(from, other, 1.0/32, 64) // lines
		to(from, other, 1, 1)       // faces
	})
}

// cg is setup_proc_info and conj_grad: a row of processes reduces a vector by recursive doubling, then sends it
// to the transposed process; each partner also exchanges three sums of one number.
func cg(p int, bytes int64, to sends) {
	log := bits.Len(uint(p)) - 1
	rows := 1 << (log / 2)
	columns := p / rows
	number := 8 / float64(max(bytes, 8))
	for rank := range p {
		row, column := rank/columns, rank%columns
		for half := 1; half < columns; half *= 2 {
			other := row*columns + (column ^ half)
			to(rank, other, 1, 1)
			to(rank, other, number, 3)
		}
		if columns == rows {
			to(rank, rank%rows*rows+rank/rows, 1, 1)
		} else {
			to(rank, 2*(rank/2%rows*rows+rank/2/rows)+rank%2, 1, 1)
		}
	}
}

// mg is comm3 at every level: each coarser level has faces of a quarter of the size, and on the coarsest
// levels only every second, fourth … process has points.
func mg(p int, _ int64, to sends) {
	sides := dims(p, 3)
	share := 1.0
	for level := range 8 {
		every, shape := 1<<max(0, level-4), slices.Clone(sides) // at level 4 a process has one point in each dimension
		for d := range shape {
			shape[d] = max(1, shape[d]/every)
		}
		grid(shape, true, func(from, other int, _ float64, _ int64) {
			to(spread(from, shape, sides), spread(other, shape, sides), share, 2)
		})
		share /= 4
	}
}

// spread is the rank in the fine grid of a process of a coarse grid.
func spread(rank int, coarse, fine []int) (fineRank int) {
	step, part := 1, 1
	for d := len(coarse) - 1; d >= 0; d-- {
		fineRank += rank / part % coarse[d] * (fine[d] / coarse[d]) * step
		step, part = step*fine[d], part*coarse[d]
	}
	return fineRank
}

// is reduces its buckets by recursive doubling, exchanges keys by all to all, and sends its last key to the
// next process.
func is(p int, bytes int64, to sends) {
	all(p, 1, to)
	for rank := range p {
		for half := 1; half < p; half *= 2 {
			to(rank, rank^half, 0.25, 1)
		}
		if rank+1 < p {
			to(rank, rank+1, 4/float64(max(bytes, 4)), 1)
		}
	}
}
