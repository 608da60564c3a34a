package numa

import (
	"fmt"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/skip"
)

// replay is the identity of a recorded CPU, EAX to EDX by leaf and subleaf, with another APIC ID.
func replay(apic uint32, recorded map[[2]uint32][4]uint32) identity {
	return identify(func(leaf, sub uint32) (a, b, c, d uint32) {
		r := recorded[[2]uint32{leaf, sub}]
		switch leaf {
		case 1:
			r[1] |= apic << 24
		case 11:
			r[3] = apic
		}
		return r[0], r[1], r[2], r[3]
	})
}

func TestCPUID(t *testing.T) {
	xeon := map[[2]uint32][4]uint32{ // E5-2600, two packages of eight cores with two threads each
		{0, 0}: {0xd, 0x756e6547, 0x6c65746e, 0x49656e69}, {1, 0}: {0x206d7, 0x200800}, {11, 0}: {1, 2, 0x100},
		{4, 0}: {0x3c004121, 0x1c0003f, 0x3f}, {4, 1}: {0x3c004122, 0x1c0003f, 0x3f}, {4, 2}: {0x3c004143, 0x1c0003f, 0x1ff}, {4, 3}: {0x3c07c163, 0x4c0003f, 0x3fff, 6},
	}
	epyc := map[[2]uint32][4]uint32{ // Zen 4, two cores of a KVM guest
		{0, 0}: {0x1c, 0x68747541, 0x444d4163, 0x69746e65}, {0x80000000, 0}: {0x80000021}, {1, 0}: {0xa10f11, 0x20800},
		{0x8000001d, 0}: {0x121, 0x1c0003f, 0x3f}, {0x8000001d, 1}: {0x122, 0x1c0003f, 0x3f}, {0x8000001d, 2}: {0x143, 0x1c0003f, 0x7ff, 2}, {0x8000001d, 3}: {0x4163, 0x3c0003f, 0x7fff, 1},
	}
	turin := map[[2]uint32][4]uint32{ // Zen 5, two cores of a bhyve guest: leaf 0x8000001D is empty
		{0, 0}: {0xd, 0x68747541, 0x444d4163, 0x69746e65}, {0x80000000, 0}: {0x80000021}, {1, 0}: {0xb00f21, 0x10800},
		{0x80000005, 0}: {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140}, {0x80000006, 0}: {0x40802040, 0x60804040, 0x04006140, 0x0fe09140},
	}
	try := func(name string, recorded map[[2]uint32][4]uint32, apics []uint32, want string) { // apics: of CPUs 0, 1, …
		t.Helper()
		ids := make(map[int]identity)
		for cpu, apic := range apics {
			id := replay(apic, recorded)
			id.core = uint32(cpu % 2)
			ids[cpu] = id
		}
		check.Equal(t, fmt.Sprint(cachesOf(ids)), want, "%s", name)
	}
	try("Xeon", xeon, []uint32{0, 2, 32, 1}, "[{1 Data 32768 64 0,3} {1 Instruction 32768 64 0,3} {1 Data 32768 64 1} {1 Instruction 32768 64 1} {1 Data 32768 64 2} {1 Instruction 32768 64 2} "+
		"{2 Unified 262144 64 0,3} {2 Unified 262144 64 1} {2 Unified 262144 64 2} {3 Unified 20971520 64 0-1,3} {3 Unified 20971520 64 2}]")
	try("EPYC", epyc, []uint32{0, 1}, "[{1 Data 32768 64 0} {1 Instruction 32768 64 0} {1 Data 32768 64 1} {1 Instruction 32768 64 1} "+
		"{2 Unified 1048576 64 0} {2 Unified 1048576 64 1} {3 Unified 33554432 64 0-1}]")
	try("Turin", turin, []uint32{0, 1, 2}, "[{1 Data 49152 64 0,2} {1 Instruction 32768 64 0,2} {1 Data 49152 64 1} {1 Instruction 32768 64 1} {2 Unified 1048576 64 0,2} {2 Unified 1048576 64 1}]")
	try("threads that do not stay where they are pinned", epyc, []uint32{0, 0}, "[]")
	try("a hypervisor that hides caches", map[[2]uint32][4]uint32{{0, 0}: {0xd, 0x756e6547, 0x6c65746e, 0x49656e69}}, []uint32{0, 1}, "[]")
	try("no CPUID", nil, []uint32{0, 1}, "[]")
}

// The kernel shows the caches that CPUID names.
func TestCPUIDAgreesWithKernel(t *testing.T) {
	m, err := Discover("/")
	skip.If(t, err != nil || len(m.Caches) == 0, "the kernel shows no caches: %v", err)
	bare := *m
	bare.Caches, bare.Unknown = nil, []string{"caches are unknown because …"}
	bare.readCPUID()
	skip.If(t, len(bare.Caches) == 0, "these CPUs name none")
	text := func(c Cache) string { c.CPUs = c.CPUs.And(m.Allowed); return fmt.Sprint(c) }
	for _, c := range bare.Caches {
		check.True(t, slices.Contains(lists.Map(m.Caches, text), fmt.Sprint(c)), "%+v is not among %+v", c, m.Caches)
	}
	check.Equal(t, len(bare.Unknown), 1, "Unknown")
}
