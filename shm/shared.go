package shm

import (
	"fmt"
	"os"
	"unsafe"
)

// A Shared is memory that several processes share: a file in memory (memfd). Each process maps pieces in
// sequence; processes that map the same sizes in the same order share the pieces.
type Shared struct {
	file       *os.File
	own        bool  // this process made it, and extends it
	base, next int64 // offsets of the first piece after Rewind, and of the next piece
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

// File is the file for other processes to inherit.
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

// Keep protects the pieces mapped so far from Rewind.
func (s *Shared) Keep() { s.base = s.next }

// Rewind returns to the point of the last Keep. In the process that made the memory the following pieces
// get new pages, which are zero; other processes must not use them meanwhile.
func (s *Shared) Rewind() error {
	s.next = s.base
	if s.own {
		if err := s.file.Truncate(s.base); err != nil {
			return fmt.Errorf("memory that processes share: %w", err)
		}
	}
	return nil
}

// Close closes the file; mapped pieces stay.
func (s *Shared) Close() error { return s.file.Close() }

// At is the value of type T at offset off of mapped memory, a multiple of T's alignment.
func At[T any](mem []byte, off int) *T { return &Values[T](mem, off, 1)[0] }

// Values are n values of type T in mem, from byte off on. It panics if mem is shorter.
func Values[T any](mem []byte, off, n int) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[off : off+n*int(unsafe.Sizeof(v))][0])), n)
}

// Address is the address of mem in this process, for other processes to Fetch from.
func Address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
