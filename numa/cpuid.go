package numa

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// An answer is what a CPU says of itself by CPUID: its APIC ID, and its caches, each with the number
// of low bits in which the APIC IDs of CPUs that share it may differ.
type answer struct {
	apic   uint32
	caches []Cache
	shifts []int
}

// answered is what the CPU says that is asked: leaf 4 is Intel's, 0x8000001D AMD's.
func answered(ask func(leaf, sub uint32) (a, b, c, d uint32)) (said answer) {
	most, b, c, d := ask(0, 0)
	leaf, last := uint32(4), most
	if vendor := [3]uint32{b, d, c}; vendor == [3]uint32{0x68747541, 0x69746e65, 0x444d4163} || vendor == [3]uint32{0x6f677948, 0x6e65476e, 0x656e6975} { // AuthenticAMD, HygonGenuine
		leaf = 0x8000001d
		last, _, _, _ = ask(0x80000000, 0)
	}
	if last < leaf {
		return said
	}
	_, b, _, _ = ask(1, 0)
	said.apic = b >> 24
	if most >= 11 {
		if _, b, _, d := ask(11, 0); b != 0 {
			said.apic = d
		}
	}
	for sub := range uint32(16) {
		a, b, c, _ := ask(leaf, sub)
		kind := a & 31
		if kind < 1 || kind > 3 {
			break
		}
		line := int(b&0xfff) + 1
		said.caches = append(said.caches, Cache{Level: int(a >> 5 & 7), Type: [...]string{1: "Data", "Instruction", "Unified"}[kind],
			Bytes: line * (int(b>>12&0x3ff) + 1) * (int(b>>22) + 1) * (int(c) + 1), LineBytes: line})
		said.shifts = append(said.shifts, bits.Len32(a>>14&0xfff))
	}
	return said
}

// joined are the caches of CPUs, sorted as a machine's. There are none where two CPUs have one APIC
// ID: pinned threads were not where they should have been.
func joined(all map[int]answer) (caches []Cache) {
	type group struct {
		level int
		kind  string
		of    uint32
	}
	at, ids := make(map[group]int), make(map[uint32]bool)
	for _, cpu := range SetOf(slices.Collect(maps.Keys(all))...) {
		said := all[cpu]
		if ids[said.apic] {
			return nil
		}
		ids[said.apic] = true
		for i, cache := range said.caches {
			of := group{cache.Level, cache.Type, said.apic >> said.shifts[i]}
			if _, there := at[of]; !there {
				at[of] = len(caches)
				caches = append(caches, cache)
			}
			caches[at[of]].CPUs = append(caches[at[of]].CPUs, cpu)
		}
	}
	sortCaches(caches)
	return caches
}

// askCPUs has the CPUs that may be used name their caches, where the kernel shows none.
func (m *Machine) askCPUs() {
	all := make(map[int]answer)
	for _, cpu := range m.Allowed {
		done := make(chan error)
		go func() { // its thread ends with it
			err := Pin(cpu)
			if err == nil {
				all[cpu] = answered(cpuid)
			}
			done <- err
		}()
		if <-done != nil {
			return
		}
	}
	if m.Caches = joined(all); len(m.Caches) > 0 {
		m.Unknown = slices.DeleteFunc(m.Unknown, func(s string) bool { return strings.HasPrefix(s, "caches are unknown") })
		m.unknown("caches are as the CPUs %v name them (CPUID), for the kernel shows none", m.Allowed)
	}
}
