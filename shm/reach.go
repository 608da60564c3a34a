package shm

import (
	"os"
	"sync"
	"time"
	"unsafe"
)

// Shadowed reports whether a hypervisor keeps page tables of its own beside the kernel's (shadow
// paging): the first access to a page that the kernel has mapped then takes microseconds, and so
// does a later one if other memory was unmapped in between. Else it is a miss of the TLB.
func Shadowed() bool { return shadowed() }

var shadowed = sync.OnceValue(func() bool { // a test has another
	const pages, exit = 256, time.Microsecond
	page := os.Getpagesize()
	for range 3 { // an interruption is in one of them, and so is memory that the host has to find
		r, err := MapPrivate(pages * page)
		if err != nil {
			return false
		}
		_ = r.Pages(false) // what the kernel then does takes no longer
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

// Reach has a hypervisor with page tables of its own enter the pages of mem there, and leaves no
// line of mem in a cache for that. Elsewhere it does nothing.
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
