package numa_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

func TestThisMachine(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	if m.Allowed.Len() == 0 || len(m.Allowed.And(m.Online())) != m.Allowed.Len() || len(m.Nodes) == 0 {
		t.Errorf("got %+v", m)
	}
	if n := runtime.NumCPU(); m.Allowed.Len() > n {
		t.Errorf("allowed %v, but the runtime counts %d", m.Allowed, n)
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil || free <= 0 {
		t.Errorf("free memory: %d, %v", free, err)
	}
}

// onThread runs f in a goroutine whose thread ends with it.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

func TestPin(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range m.Allowed {
		onThread(func() {
			if err := numa.Pin(cpu); err != nil {
				t.Error(err)
				return
			}
			var got unix.CPUSet
			if err := unix.SchedGetaffinity(0, &got); err != nil || got.Count() != 1 || !got.IsSet(cpu) {
				t.Errorf("pinned to %d: the kernel says %v, %v", cpu, got, err)
			}
		})
	}
	// Pinned threads are gone: this one may still run anywhere.
	if again, err := numa.Discover("/"); err != nil || again.Allowed.String() != m.Allowed.String() {
		t.Errorf("allowed after pinning: %v (%v), before: %v", again.Allowed, err, m.Allowed)
	}
	for _, cpu := range []int{-1, 1<<13 - 1, 1 << 13} {
		onThread(func() {
			err := numa.Pin(cpu)
			if err == nil || cpu == 1<<13-1 && !errors.Is(err, unix.EINVAL) {
				t.Errorf("CPU %d: got %v", cpu, err)
			}
		})
	}
}

// TestNarrowAffinity runs this test's binary with one CPU allowed.
func TestNarrowAffinity(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	last := m.Allowed[len(m.Allowed)-1]
	if os.Getenv("NUMA_TEST_NARROW") != "" {
		if m.Allowed.Len() != 1 {
			t.Errorf("allowed %v, want one CPU", m.Allowed)
		}
		p, err := m.Place(numa.Spread, 2)
		if err != nil || !p.Oversubscribed || p.Workers[1].ID != last {
			t.Errorf("got %v, %v; want two workers on CPU %d, oversubscribed", p, err, last)
		}
		return
	}
	onThread(func() {
		// A child inherits the affinity of the thread that starts it.
		if err := numa.Pin(last); err != nil {
			t.Error(err)
			return
		}
		child := exec.Command(os.Args[0], "-test.run=^TestNarrowAffinity$")
		child.Env = append(os.Environ(), "NUMA_TEST_NARROW=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// mapped is untouched memory of the given number of pages.
func mapped(t *testing.T, pages int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

func TestBind(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range m.Nodes {
		const pages = 5000 // more than one call of move_pages
		if node.Forbidden || node.FreeBytes < 4*pages*int64(os.Getpagesize()) {
			continue
		}
		mem := mapped(t, pages)
		err := numa.Bind(mem, node.ID)
		if errors.Is(err, numa.ErrForbidden) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = numa.Verify(mem, node.ID, "arena")
		if err == nil || !strings.Contains(err.Error(), "arena: page 0 of 5000") {
			t.Errorf("untouched memory: got %v", err)
		}
		for i := 0; i < len(mem); i += os.Getpagesize() {
			mem[i] = 1
		}
		if err := numa.Verify(mem, node.ID, "arena"); err != nil {
			t.Error(err)
		}
		err = numa.Verify(mem, node.ID+1, "arena")
		if err == nil || !strings.Contains(err.Error(), "5000 misplaced in all") {
			t.Errorf("memory on another node: got %v", err)
		}
	}
	mem := mapped(t, 2)
	for name, err := range map[string]error{
		"no such node":         numa.Bind(mem, 900),
		"negative node":        numa.Bind(mem, -1),
		"not a page's address": numa.Bind(mem[1:], m.Nodes[0].ID),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := numa.Bind(nil, 0); err != nil {
		t.Errorf("no memory: %v", err)
	}
}

// Pages come from the node that is preferred, and move to another.
func TestPreferAndMove(t *testing.T) {
	m, err := numa.Discover("/")
	if err != nil {
		t.Fatal(err)
	}
	const pages = 100
	mem := mapped(t, pages)
	for i, node := range m.Nodes {
		if node.Forbidden || node.FreeBytes < 4*pages*int64(os.Getpagesize()) {
			continue
		}
		own := mapped(t, pages)
		err := numa.Prefer(own, node.ID)
		if errors.Is(err, numa.ErrForbidden) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(own); at += os.Getpagesize() {
			own[at], mem[at] = byte(i), byte(i)
		}
		if err := numa.Verify(own, node.ID, "preferred"); err != nil {
			t.Error(err)
		}
		if err := numa.Move(mem, node.ID); err != nil {
			t.Error(err)
		}
		if err := numa.Verify(mem, node.ID, "moved"); err != nil {
			t.Error(err)
		}
		if mem[0] != byte(i) {
			t.Errorf("moving to node %d changed what was there", node.ID)
		}
	}
}

// Asking where pages lie makes no garbage that grows with them.
func TestVerifyGarbage(t *testing.T) {
	mem, err := unix.Mmap(-1, 0, 64<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(mem)
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	var before, after runtime.MemStats
	for i := range 2 {
		if i == 1 {
			runtime.ReadMemStats(&before)
		}
		if err := numa.Verify(mem, 0, "buffer"); errors.Is(err, numa.ErrForbidden) {
			t.Skip(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d KB of garbage for %d pages", n>>10, len(mem)/os.Getpagesize())
	}
}
