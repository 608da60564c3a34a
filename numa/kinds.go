package numa

import (
	"fmt"
	"maps"
	"path"
	"slices"
)

// A Kind is allowed CPUs whose cores are alike, as the kernel names them or by their highest
// clock.
type Kind struct {
	Name string
	CPUs CPUSet
}

// kinds are the kinds of the allowed CPUs, fastest first, nil if all are alike.
func (t tree) kinds(cpus CPUSet) []Kind {
	var kinds []Kind
	for _, name := range []string{"core", "atom", "lowpower"} {
		set, _ := ParseList(t.Text("sys/devices/cpu_" + name + "/cpus"))
		if set = set.And(cpus); len(set) > 0 {
			kinds = append(kinds, Kind{name, set})
		}
	}
	for _, measure := range []struct {
		file, name string
		unit       int
	}{
		{"cpu_capacity", "capacity %d of 1024", 1},
		{"cpufreq/cpuinfo_max_freq", "up to %d MHz", 1000},
	} {
		if len(kinds) > 0 {
			break
		}
		values := make(map[int]CPUSet)
		for _, cpu := range cpus {
			if value, known := t.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), measure.file)); known {
				values[value] = append(values[value], cpu)
			}
		}
		// Cores of one kind also differ by a few percent, where turbo favours some.
		top := 0
		for _, value := range slices.Backward(slices.Sorted(maps.Keys(values))) {
			if top == 0 || float64(top) > 1.1*float64(value) {
				kinds = append(kinds, Kind{Name: fmt.Sprintf(measure.name, value/measure.unit)})
			}
			top = value
			last := &kinds[len(kinds)-1]
			last.CPUs = SetOf(append(last.CPUs, values[value]...)...)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	return kinds
}

// rank says by CPU when it is the turn of its kind: workers are on cores of one kind as
// long as it has some, the fastest kind of which there are two cores or more.
func (m *Machine) rank() map[int]int {
	rank := make(map[int]int)
	first := slices.IndexFunc(m.Kinds, func(k Kind) bool { return m.cores(k.CPUs) > 1 })
	for i, kind := range m.Kinds {
		for _, cpu := range kind.CPUs {
			if rank[cpu] = i + 1; i == max(first, 0) {
				rank[cpu] = 0
			}
		}
	}
	return rank
}

// cores is the number of cores that the CPUs belong to.
func (m *Machine) cores(of CPUSet) int {
	cores := make(map[int]bool)
	for _, cpu := range m.CPUs {
		if of.Contains(cpu.ID) {
			cores[cpu.Core] = true
		}
	}
	return len(cores)
}

// Concurrency is the default number of workers: one on each core that this process may use, of
// the kind that Place takes first, and no more than its quota of CPU time lets run at once.
func (m *Machine) Concurrency() int {
	rank := m.rank()
	first := slices.DeleteFunc(slices.Clone(m.Allowed), func(cpu int) bool { return rank[cpu] > 0 })
	n := m.cores(first)
	if m.Quota > 0 {
		n = min(n, int(m.Quota))
	}
	return max(n, 1)
}
