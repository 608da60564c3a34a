package numa

import (
	"fmt"
	"maps"
	"path"
	"slices"
)

// A Kind is the allowed CPUs with one kind of core, told apart by the kernel's name, by capacity or
// by the highest clock.
type Kind struct {
	Name string `json:"kind"`
	CPUs CPUSet `json:"cpus"`
}

// kinds lists the kinds of the allowed CPUs, fastest first; nil if there is only one. CPUs
// whose kind the kernel does not report are the last kind, so that workers take known cores first.
func (t tree) kinds(cpus CPUSet) []Kind {
	var kinds []Kind
	for _, name := range []string{"core", "atom", "lowpower"} {
		set := t.list("sys/devices/cpu_" + name + "/cpus")
		if set = set.And(cpus); len(set) > 0 {
			kinds = append(kinds, Kind{name, set})
		}
	}
	named := len(kinds) > 0
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
			if value, known := t.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), measure.file)); known && value > 0 {
				values[value] = append(values[value], cpu)
			}
		}
		// Within a kind turbo frequencies differ by a few percent.
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
	unknown := slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool {
		return slices.ContainsFunc(kinds, func(k Kind) bool { return k.CPUs.Contains(cpu) })
	})
	if len(unknown) > 0 && (named || len(kinds) > 1) {
		kinds = append(kinds, Kind{"unknown", unknown})
	}
	if len(kinds) < 2 {
		return nil
	}
	return kinds
}

// rank gives the order in which workers take kinds of cores, by CPU: 0 is the fastest kind with at
// least two cores.
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

// cores is the number of distinct cores of the CPUs that are online.
func (m *Machine) cores(cpus CPUSet) int {
	cores := make(map[int]bool)
	for _, id := range cpus {
		if cpu, online := m.CPU(id); online {
			cores[cpu.Core] = true
		}
	}
	return len(cores)
}

// Concurrency is the default number of workers: one on each allowed core of the kind that Place
// takes first, within the quota of CPU time.
func (m *Machine) Concurrency() int {
	rank := m.rank()
	n := m.cores(slices.DeleteFunc(slices.Clone(m.Allowed), func(cpu int) bool { return rank[cpu] > 0 }))
	if m.Quota > 0 {
		n = min(n, int(m.Quota))
	}
	return max(n, 1)
}
