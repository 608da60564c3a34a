package numa

import (
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// An identity is a CPU's APIC ID and its caches by CPUID. CPUs share a cache if their APIC IDs
// differ in its shift's number of low bits alone, or with the shift ofCore if they are on one core.
type identity struct {
	apic, core uint32
	caches     []Cache
	shifts     []int
}

const ofCore = -1

// identify reads the identity of the CPU that ask runs on. Caches are in leaf 4 on Intel, in
// 0x8000001D on AMD, whose older leaves 0x80000005 and 6 name the first-level and second-level caches
// (AMD64 Architecture Programmer's Manual, volume 3, E.4.4).
func identify(ask func(leaf, sub uint32) (a, b, c, d uint32)) (id identity) {
	most, b, c, d := ask(0, 0)
	leaf, last, amd := uint32(4), most, false
	if vendor := [3]uint32{b, d, c}; vendor == [3]uint32{0x68747541, 0x69746e65, 0x444d4163} || vendor == [3]uint32{0x6f677948, 0x6e65476e, 0x656e6975} { // AuthenticAMD, HygonGenuine
		leaf, amd = 0x8000001d, true
		last, _, _, _ = ask(0x80000000, 0)
	}
	_, b, _, _ = ask(1, 0)
	id.apic = b >> 24
	if most >= 11 {
		if _, b, _, d := ask(11, 0); b != 0 {
			id.apic = d
		}
	}
	for sub := uint32(0); sub < 16 && leaf <= last; sub++ {
		a, b, c, _ := ask(leaf, sub)
		kind := a & 31
		if kind < 1 || kind > 3 {
			break
		}
		line := int(b&0xfff) + 1
		id.caches = append(id.caches, Cache{Level: int(a >> 5 & 7), Type: [...]string{1: "Data", "Instruction", "Unified"}[kind],
			Bytes: line * (int(b>>12&0x3ff) + 1) * (int(b>>22) + 1) * (int(c) + 1), LineBytes: line})
		id.shifts = append(id.shifts, bits.Len32(a>>14&0xfff))
	}
	if amd && len(id.caches) == 0 && last >= 0x80000006 {
		_, _, data, instructions := ask(0x80000005, 0)
		_, _, second, _ := ask(0x80000006, 0)
		for _, cache := range []Cache{
			{Level: 1, Type: "Data", Bytes: int(data>>24) << 10, LineBytes: int(data & 0xff)},
			{Level: 1, Type: "Instruction", Bytes: int(instructions>>24) << 10, LineBytes: int(instructions & 0xff)},
			{Level: 2, Type: "Unified", Bytes: int(second>>16) << 10, LineBytes: int(second & 0xff)},
		} {
			if cache.Bytes > 0 {
				id.caches, id.shifts = append(id.caches, cache), append(id.shifts, ofCore)
			}
		}
	}
	return id
}

// cachesOf merges the caches of CPUs, sorted as in Machine. It returns none where two CPUs have one
// APIC ID: then threads did not run where they were pinned.
func cachesOf(cpus map[int]identity) (caches []Cache) {
	type key struct {
		level int
		kind  string
		apic  uint32 // without the low bits, or the core
	}
	index, seen := make(map[key]int), make(map[uint32]bool)
	for _, cpu := range slices.Sorted(maps.Keys(cpus)) {
		id := cpus[cpu]
		if seen[id.apic] {
			return nil
		}
		seen[id.apic] = true
		for i, cache := range id.caches {
			k := key{cache.Level, cache.Type, id.core}
			if shift := id.shifts[i]; shift != ofCore {
				k.apic = id.apic >> shift
			}
			if _, known := index[k]; !known {
				index[k] = len(caches)
				caches = append(caches, cache)
			}
			caches[index[k]].CPUs = append(caches[index[k]].CPUs, cpu)
		}
	}
	sortCaches(caches)
	return caches
}

// readCPUID reads the caches of the allowed CPUs by CPUID, for kernels that show none.
func (m *Machine) readCPUID() {
	ids := make(map[int]identity)
	for _, cpu := range m.Allowed {
		done := make(chan error)
		go func() { // its thread ends with it
			err := Pin(cpu)
			if err == nil {
				id := identify(cpuid)
				c, _ := m.CPU(cpu)
				id.core = uint32(c.Core)
				ids[cpu] = id
			}
			done <- err
		}()
		if <-done != nil {
			return
		}
	}
	if m.Caches = cachesOf(ids); len(m.Caches) > 0 {
		m.Unknown = slices.DeleteFunc(m.Unknown, func(s string) bool { return strings.HasPrefix(s, "caches are unknown") })
		beyond := printable.If(slices.Contains(ids[m.Allowed[0]].shifts, ofCore), "; whether there is a third-level cache is unknown")
		m.unknown("caches are as the CPUs %v name them (CPUID), for the kernel shows none%s", m.Allowed, beyond)
	}
}
