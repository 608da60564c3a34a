package heuristic

import (
	"cmp"
	"slices"

	"github.com/taulop/taulop/mapping/comm"
)

// DRB halves the machine and the processes, so that the halves of processes send each other as little
// as can be found, and goes on with each half until a core is left (section 4.3; F. Pellegrini, "Static
// mapping by dual recursive bipartitioning", 1994). A half of the machine is half of its parts; cores
// without a process have one that sends nothing. Processes are halved as by B. W. Kernighan and S. Lin,
// "An Efficient Heuristic Procedure for Partitioning Graphs", 1970, from several first halves.
func (m *Machine) DRB(matrix *comm.Matrix) (Mapping, error) {
	if err := m.Fits(matrix.Ranks()); err != nil {
		return nil, err
	}
	d := &drb{volumes: matrix.Volumes(), at: make(Mapping, matrix.Ranks()), side: make([]int8, m.Places()), gain: make([]int64, m.Places())}
	for len(d.volumes) < m.Places() {
		d.volumes = append(d.volumes, nil)
	}
	all := make([]int, m.Places())
	for i := range all {
		all[i] = i
	}
	for i := range d.side {
		d.side[i] = none
	}
	d.split([]*group{m.root}, all)
	return d.at, nil
}

type drb struct {
	volumes [][]comm.Volume // of processes, and nothing of cores without one
	at      Mapping
	side    []int8 // of the processes being halved, none of others
	gain    []int64
}

// split maps processes to groups that have as many places.
func (d *drb) split(groups []*group, processes []int) {
	for len(groups) == 1 {
		if groups[0].height == 0 {
			if p := processes[0]; p < len(d.at) {
				d.at[p] = groups[0].places[0]
			}
			return
		}
		groups = groups[0].children
	}
	half, first := 0, 0
	for count, places := 0, 0; count < len(groups)-1; count++ {
		places += len(groups[count].places)
		if half == 0 || abs(2*places-len(processes)) < abs(2*first-len(processes)) {
			half, first = count+1, places
		}
	}
	left, right := d.halved(processes, first)
	d.split(groups[:half], left)
	d.split(groups[half:], right)
}

func abs(n int) int { return max(n, -n) }

// halved divides processes so that the first part has `first` of them.
func (d *drb) halved(processes []int, first int) (left, right []int) {
	starts := [][]int{processes}
	// Others begin at a process and add the processes that it, and those added, send most: at
	// the one that sends most, and at some, evenly spread.
	heaviest := slices.MaxFunc(processes, func(a, b int) int { return cmp.Compare(d.sum(a), d.sum(b)) })
	seeds := []int{heaviest}
	const most = 6
	for i := range most {
		seeds = append(seeds, processes[i*len(processes)/most])
	}
	for _, seed := range seeds {
		starts = append(starts, d.grown(processes, seed, first))
	}
	best, least := processes, int64(-1)
	for _, start := range starts {
		for i, p := range start {
			d.side[p] = 0
			if i >= first {
				d.side[p] = 1
			}
		}
		for d.improve(processes) {
		}
		if cut := d.cut(processes); least < 0 || cut < least {
			least = cut
			best = slices.Clone(processes)
			slices.SortStableFunc(best, func(a, b int) int { return int(d.side[a]) - int(d.side[b]) })
		}
	}
	for _, p := range processes {
		d.side[p] = none
	}
	left, right = best[:first], best[first:]
	if len(left) == len(right) && right[0] < left[0] {
		left, right = right, left // which costs as much, and looks like the program
	}
	return left, right
}

func (d *drb) sum(process int) (bytes int64) {
	for _, v := range d.volumes[process] {
		bytes += v.Bytes
	}
	return bytes
}

// grown orders processes by how much they send to those before them.
func (d *drb) grown(processes []int, seed, first int) []int {
	for _, p := range processes {
		d.side[p], d.gain[p] = 0, 0
	}
	order := make([]int, 0, len(processes))
	take := func(p int) {
		order = append(order, p)
		d.side[p] = none
		for _, v := range d.volumes[p] {
			d.gain[v.With] += v.Bytes
		}
	}
	for take(seed); len(order) < first; {
		next := none
		for _, p := range processes {
			if d.side[p] == 0 && (next == none || d.gain[p] > d.gain[next]) {
				next = p
			}
		}
		take(next)
	}
	for _, p := range processes {
		if d.side[p] == 0 {
			order = append(order, p)
		}
	}
	return order
}

// cut is what the two sides send each other.
func (d *drb) cut(processes []int) (bytes int64) {
	for _, p := range processes {
		for _, v := range d.volumes[p] {
			if d.side[p] == 0 && d.side[v.With] == 1 {
				bytes += v.Bytes
			}
		}
	}
	return bytes
}

// improve is a pass of Kernighan and Lin: it exchanges two at a time, each once, even where
// that is a loss, and keeps the best beginning of the row. It reports whether that gained.
func (d *drb) improve(processes []int) bool {
	for _, p := range processes {
		d.gain[p] = 0
		for _, v := range d.volumes[p] {
			switch d.side[v.With] {
			case none:
			case d.side[p]:
				d.gain[p] -= v.Bytes
			default:
				d.gain[p] += v.Bytes
			}
		}
	}
	var sides [2][]int
	for _, p := range processes {
		sides[d.side[p]] = append(sides[d.side[p]], p)
	}
	var swaps [][2]int
	sum, best, kept := int64(0), int64(0), 0
	between := make([]int64, len(d.volumes)) // bytes with the first of an exchange
	for len(sides[0]) > 0 && len(sides[1]) > 0 {
		by := func(a, b int) int { return cmp.Compare(d.gain[a], d.gain[b]) }
		a := slices.MaxFunc(sides[0], by)
		for _, v := range d.volumes[a] {
			between[v.With] = v.Bytes
		}
		b := slices.MaxFunc(sides[1], func(p, q int) int {
			return cmp.Compare(d.gain[p]-2*between[p], d.gain[q]-2*between[q])
		})
		sum += d.gain[a] + d.gain[b] - 2*between[b]
		for _, v := range d.volumes[a] {
			between[v.With] = 0
		}
		swaps = append(swaps, [2]int{a, b})
		if sum > best {
			best, kept = sum, len(swaps)
		}
		for side, moved := range []int{a, b} {
			sides[side] = slices.DeleteFunc(sides[side], func(p int) bool { return p == moved })
			for _, v := range d.volumes[moved] {
				switch int(d.side[v.With]) {
				case none:
				case side:
					d.gain[v.With] += 2 * v.Bytes
				default:
					d.gain[v.With] -= 2 * v.Bytes
				}
			}
		}
	}
	for _, swap := range swaps[:kept] {
		d.side[swap[0]], d.side[swap[1]] = 1, 0
	}
	return kept > 0
}
