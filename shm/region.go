// Package shm is the memory that workers share: mapped regions, flags and a
// barrier to meet at, and the segmented intermediate buffer through which a
// message travels, with the copy in and out of it.
//
// Its opinion: what two workers write never shares a cache line, a flag has
// one writer, waiting is spinning, and nothing between two flags allocates,
// calls through an interface or can be preempted by the Go runtime.
package shm

import "fmt"

// A Region is mapped memory. Its pages lie where the thread that touches them
// first runs, unless bound before.
type Region struct {
	mem []byte
}

// Map maps n bytes, rounded up to whole pages, for sharing between workers
// (MAP_SHARED|MAP_ANONYMOUS), none of them touched. Close unmaps them.
func Map(n int) (*Region, error) { return newRegion(n, true) }

// MapPrivate is Map for memory that one worker uses alone, as an application's
// user buffers are: the kernel lays private pages several times faster.
func MapPrivate(n int) (*Region, error) { return newRegion(n, false) }

func newRegion(n int, shared bool) (*Region, error) {
	if n < 0 {
		return nil, fmt.Errorf("mapping %d bytes: the size must not be negative", n)
	}
	mem, err := mmap(max(n, 1), shared)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of memory: %w", n, err)
	}
	return &Region{mem}, nil
}

// Bytes is the memory, valid until Close.
func (r *Region) Bytes() []byte { return r.mem }

// Close unmaps the region; a second Close does nothing.
func (r *Region) Close() error {
	if r == nil || r.mem == nil {
		return nil
	}
	mem := r.mem
	r.mem = nil
	return munmap(mem)
}
