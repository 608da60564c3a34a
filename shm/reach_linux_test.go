package shm

import (
	"sync"
	"testing"
)

// Reach leaves memory as it is, wherever it begins and ends, with a hypervisor's page tables and
// without.
func TestReach(t *testing.T) {
	defer func(was func() bool) { shadowed = was }(shadowed)
	mem := region(t, 5*4096)
	for i := range mem {
		mem[i] = byte(i % 251)
	}
	for _, has := range []bool{true, false} {
		shadowed = sync.OnceValue(func() bool { return has })
		for _, r := range [][2]int{{0, 0}, {0, 1}, {4095, 4097}, {100, 4096 + 100}, {1, len(mem)}, {len(mem) - 1, len(mem)}} {
			Reach(mem[r[0]:r[1]])
		}
	}
	for i := range mem {
		if mem[i] != byte(i%251) {
			t.Fatalf("byte %d is another", i)
		}
	}
}
