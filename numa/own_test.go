package numa

import "testing"

// A core's own cache is the largest that all of its threads and no others have.
func TestOwnCacheBytes(t *testing.T) {
	cpus := []CPU{{ID: 0, Core: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 0, Thread: 1}, {ID: 3, Core: 1, Thread: 1}}
	cache := func(level int, kind string, bytes int, cpus ...int) Cache {
		return Cache{Level: level, Type: kind, Bytes: bytes, CPUs: cpus}
	}
	for _, tt := range []struct {
		name   string
		caches []Cache
		want   int
	}{
		{"none", nil, 0},
		{"L2 of a core, L3 of all", []Cache{cache(1, "Data", 32<<10, 0, 2), cache(2, "Unified", 1<<20, 0, 2), cache(2, "Unified", 1<<20, 1, 3), cache(3, "Unified", 8<<20, 0, 1, 2, 3)}, 1 << 20},
		{"L2 of a cluster", []Cache{cache(1, "Data", 64<<10, 0, 2), cache(1, "Instruction", 128<<10, 0, 2), cache(2, "Unified", 4<<20, 0, 1, 2, 3)}, 64 << 10},
		{"size unknown, and of nobody", []Cache{cache(1, "Data", 0, 0, 2), cache(2, "Unified", 1<<20)}, 0},
	} {
		if got := (&Machine{CPUs: cpus, Caches: tt.caches}).OwnCacheBytes(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
