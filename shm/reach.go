package shm

import (
	"os"
	"sync"
	"time"
	"unsafe"
)

// Shadowed reports whether the hypervisor keeps page tables of its own beside the kernel's (shadow
// paging). The first access to a mapped page then takes microseconds, and so does a later one after other
// memory was unmapped. Without shadow paging both are TLB misses.
func Shadowed() bool { return shadowed() }

var shadowed = sync.OnceValue(func() bool { // a test has another
	const pages, exit = 256, time.Microsecond
	page := os.Getpagesize()
	for range 3 { // an interruption, or memory that the host must first provide, slows one try
		r, err := MapPrivate(pages * page)
		if err != nil {
			return false
		}
		_ = r.Pages(false) // with huge pages it would be no slower
		Populate(r.mem)
		began := time.Now()
		for at := 0; at < len(r.mem); at += page {
			load(&r.mem[at])
		}
		took := time.Since(began)
		r.Close()
		if took < pages*exit {
			return false
		}
	}
	return true
})

// Reach makes a hypervisor with shadow paging enter the pages of mem into its tables, and leaves no line
// of mem cached by that. Without shadow paging it does nothing.
func Reach(mem []byte) {
	if len(mem) == 0 || !Shadowed() {
		return
	}
	page := os.Getpagesize()
	for at := 0; at < len(mem)+page-1; at += page {
		byte := &mem[min(at, len(mem)-1)]
		load(byte)
		flushLine(unsafe.Pointer(byte))
	}
	flushed()
}

//go:noinline
func load(p *byte) byte { return *p }
