package shm

import (
	"fmt"
	"os"
	"unsafe"
)

// A Shared is the memory of several processes: a file in memory (memfd). Each process maps
// pieces one after the other; processes that map the same sizes in the same order share them.
type Shared struct {
	file       *os.File
	own        bool // made by this process, which extends it
	base, next int64
}

// NewShared makes a Shared, whose file other processes inherit.
func NewShared() (*Shared, error) {
	file, err := memoryFile("taulop")
	if err != nil {
		return nil, fmt.Errorf("memory that processes share: %w", err)
	}
	return &Shared{file: file, own: true}, nil
}

// OpenShared opens the file that this process inherited from the parent's Shared.
func OpenShared(file *os.File) *Shared { return &Shared{file: file} }

// File is what other processes inherit.
func (s *Shared) File() *os.File { return s.file }

// Map maps the next n bytes, rounded up to whole pages.
func (s *Shared) Map(n int) (*Region, error) {
	page := int64(os.Getpagesize())
	size := (int64(max(n, 1)) + page - 1) / page * page
	if s.own {
		if err := s.file.Truncate(s.next + size); err != nil {
			return nil, fmt.Errorf("memory that processes share: %w", err)
		}
	}
	mem, err := mmapFile(s.file, s.next, int(size))
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of memory that processes share: %w", n, err)
	}
	s.next += size
	return &Region{mem}, nil
}

// Keep has what was mapped so far outlive Rewind.
func (s *Shared) Keep() { s.base = s.next }

// Rewind has pieces begin anew where Keep was called. In the process that made the memory
// they have new pages, which are zero; others must not be in there meanwhile.
func (s *Shared) Rewind() error {
	s.next = s.base
	if s.own {
		if err := s.file.Truncate(s.base); err != nil {
			return fmt.Errorf("memory that processes share: %w", err)
		}
	}
	return nil
}

// Close gives the file back; what is mapped stays.
func (s *Shared) Close() error { return s.file.Close() }

// At is a value at offset off of mapped memory, which is a multiple of its alignment.
func At[T any](mem []byte, off int) *T {
	var v T
	return (*T)(unsafe.Pointer(&mem[off : off+int(unsafe.Sizeof(v))][0]))
}

// Values are n values of type T in mem, from byte off on; it panics where mem is shorter.
func Values[T any](mem []byte, off, n int) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[off : off+n*int(unsafe.Sizeof(v))][0])), n)
}

// Address is where memory begins in this process, for others to Fetch from.
func Address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
