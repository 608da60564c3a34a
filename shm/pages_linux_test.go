package shm

import (
	"encoding/binary"
	"os"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/internal/test/skip"
)

// active counts pages of mem that the kernel has on a list of active ones, as /proc/kpageflags tells root.
func active(t *testing.T, mem []byte) (pages int) {
	t.Helper()
	const present, frame, onActive = 1 << 63, 1<<55 - 1, 1 << 6 // KPF_ACTIVE
	word := func(name string, i uint64) uint64 {
		f, err := os.Open(name)
		skip.If(t, err != nil, "only root sees what pages are: %v", err)
		defer f.Close()
		var b [8]byte
		_, err = f.ReadAt(b[:], int64(i)*8)
		skip.If(t, err != nil, "the kernel does not say what page %d is: %v", i, err)
		return binary.NativeEndian.Uint64(b[:])
	}
	page := os.Getpagesize()
	for i := 0; i < len(mem); i += page {
		entry := word("/proc/self/pagemap", uint64(uintptr(unsafe.Pointer(&mem[i])))/uint64(page))
		skip.If(t, entry&present == 0 || entry&frame == 0, "only root sees where pages are")
		if word("/proc/kpageflags", entry&frame)&onActive != 0 {
			pages++
		}
	}
	return pages
}

func TestActivate(t *testing.T) {
	const pages = 3000 // more than a call takes, and no multiple
	r := must.Get(MapPrivate(pages * os.Getpagesize()))
	defer r.Close()
	must.Do(r.Pages(false))
	mem := r.Bytes()
	for i := range mem {
		mem[i] = byte(i / 7)
	}
	Activate(nil)
	before := active(t, mem)
	skip.If(t, before > pages/2, "%d of %d pages are active from the beginning: this kernel needs none of it", before, pages)
	// A byte more than whole pages: the last one counts.
	Activate(mem[:len(mem)-os.Getpagesize()+1])
	for i, b := range mem {
		check.Need(t, b == byte(i/7), "byte %d is %d after it, %d before", i, b, byte(i/7))
	}
	err := Fetch(unix.Getpid(), make([]byte, 1), uintptr(unsafe.Pointer(&mem[0]))) // from the process itself
	skip.If(t, err != nil, "fetching is forbidden: %v", err)
	// The kernel gathers some before it moves them.
	check.AtLeast(t, active(t, mem), pages-64, "active pages of %d", pages)
}

// Reach leaves memory as it is, wherever it begins and ends, with a hypervisor's page tables and without.
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
		check.Need(t, mem[i] == byte(i%251), "byte %d is another", i)
	}
}

func TestSharedSaysWhatToAllow(t *testing.T) {
	sandbox.Without(t, unix.SYS_MEMFD_CREATE, unix.EPERM, func() {
		contains.Error(t, must.Err(NewShared()), "a seccomp profile that has memfd_create")
	})
}
