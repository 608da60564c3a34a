// Package shm is the memory that workers share: mapped regions, flags, barriers, and segmented
// intermediate buffers (channels) with the copies in and out of them.
//
// Its opinion: data of two writers never share a cache line, a flag has one writer, waiting is
// spinning, and code between two flags does not allocate, call through an interface or let the Go
// runtime preempt it.
package shm

import "fmt"

// A Region is mapped memory. Its pages lie on the node of the thread that touches them first, unless
// they were bound before.
type Region struct {
	mem []byte
}

// Map maps n bytes, rounded up to whole pages, to share between workers (MAP_SHARED|MAP_ANONYMOUS).
// It touches none of them. Close unmaps them.
func Map(n int) (*Region, error) { return newRegion(n, true) }

// MapPrivate is Map for the memory of one worker, such as a user buffer: the kernel maps private pages
// several times faster.
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
