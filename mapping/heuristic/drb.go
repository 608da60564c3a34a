package heuristic

import (
	"cmp"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping/comm"
)

// DRB bisects the machine and the processes recursively down to single cores, each time minimising the
// volume between the halves (section 4.3; F. Pellegrini, "Static mapping by dual recursive
// bipartitioning", 1994). The machine is bisected between its groups of cores; free cores get a process
// without messages. Processes are bisected as by B. W. Kernighan and S. Lin, "An Efficient Heuristic
// Procedure for Partitioning Graphs", 1970, from several initial partitions.
func (m *Machine) DRB(matrix *comm.Matrix) (Mapping, error) {
	if err := m.Fits(matrix.Ranks()); err != nil {
		return nil, err
	}
	places, ranks := m.Places(), matrix.Ranks()
	volumes := append(matrix.Volumes(), make([][]comm.Volume, places-ranks)...)
	d := &drb{volumes: volumes, at: make(Mapping, ranks), side: slices.Repeat([]int8{none}, places), gain: make([]int64, places)}
	d.split([]*group{m.root}, lists.Indices(places))
	return d.at, nil
}

type drb struct {
	volumes [][]comm.Volume // of processes; none for free cores
	at      Mapping
	side    []int8 // of the processes being bisected; none for others
	gain    []int64
}

// split maps processes to groups with the same number of cores in all.
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

// halved bisects processes; the left side has `first` of them.
func (d *drb) halved(processes []int, first int) (left, right []int) {
	starts := [][]int{processes}
	// Further initial partitions grow from a seed: from the process with the largest volume, and from
	// some others, evenly spread.
	heaviest := slices.MaxFunc(processes, func(a, b int) int { return cmp.Compare(d.sum(a), d.sum(b)) })
	seeds := []int{heaviest}
	const most = 6
	for i := range most {
		seeds = append(seeds, processes[i*len(processes)/most])
	}
	starts = append(starts, lists.Map(seeds, func(seed int) []int { return d.grown(processes, seed, first) })...)
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
		left, right = right, left // equal cost, and closer to the order of ranks
	}
	return left, right
}

func (d *drb) sum(process int) int64 { return bytesOf(d.volumes[process]) }

func bytesOf(volumes []comm.Volume) int64 {
	return lists.Sum(volumes, func(v comm.Volume) int64 { return v.Bytes })
}

// grown orders `first` processes from a seed on, each the one with the largest volume with those before it.
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

// cut is the volume between the two sides.
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

// improve is a pass of Kernighan and Lin: it swaps pairs, each process once, even at a loss, and keeps the best
// prefix of the swaps. It reports whether the cut shrank.
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
	between := make([]int64, len(d.volumes)) // volume with the first of a swap
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
