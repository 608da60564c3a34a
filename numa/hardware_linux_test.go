package numa_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
)

// onThread runs f in a goroutine whose thread ends with it.
func onThread(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); runtime.LockOSThread(); f() }()
	<-done
}

func TestPin(t *testing.T) {
	m := must.Get(numa.Discover("/"))
	for _, cpu := range m.Allowed {
		onThread(func() {
			var got unix.CPUSet
			err := errors.Join(numa.Pin(cpu), unix.SchedGetaffinity(0, &got))
			check.True(t, err == nil && got.Count() == 1 && got.IsSet(cpu), "pinned to %d: the kernel says %v, %v", cpu, got, err)
		})
	}
	// Pinned threads are gone: this one may still run anywhere.
	check.Equal(t, must.Get(numa.Discover("/")).Allowed.String(), m.Allowed.String(), "allowed after pinning")
	for _, cpu := range []int{-1, 1<<13 - 1, 1 << 13} {
		onThread(func() {
			err := numa.Pin(cpu)
			check.True(t, err != nil && (cpu != 1<<13-1 || errors.Is(err, unix.EINVAL)), "CPU %d: got %v", cpu, err)
		})
	}
}

// TestNarrowAffinity runs this test's binary with one CPU allowed.
func TestNarrowAffinity(t *testing.T) {
	m := must.Get(numa.Discover("/"))
	last := m.Allowed[len(m.Allowed)-1]
	if os.Getenv("NUMA_TEST_NARROW") != "" {
		check.Equal(t, m.Allowed.Len(), 1, "allowed")
		p := must.Get(m.Place(numa.Spread, 2))
		check.True(t, p.Oversubscribed && p.Workers[1].ID == last, "got %v; want two workers on CPU %d, oversubscribed", p, last)
		return
	}
	onThread(func() {
		// A child inherits the affinity of the thread that starts it.
		must.Do(numa.Pin(last))
		child := exec.Command(os.Args[0], "-test.run=^TestNarrowAffinity$")
		child.Env = append(os.Environ(), "NUMA_TEST_NARROW=1")
		out, err := child.CombinedOutput()
		check.NoError(t, err, "%s", out)
	})
}

// mapped is untouched memory.
func mapped(t *testing.T, pages int) []byte {
	t.Helper()
	mem := must.Get(unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS))
	t.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

// Pages come from the node to which they are bound or which they prefer, and keep their content when
// they move. Verify's garbage does not grow with the pages.
func TestMemory(t *testing.T) {
	m := must.Get(numa.Discover("/"))
	const pages = 5000 // more than one call of move_pages
	moved := mapped(t, pages)
	for i, node := range m.Nodes {
		if node.Forbidden || node.FreeBytes < 8*pages*int64(os.Getpagesize()) {
			continue
		}
		for _, place := range []func([]byte, int) error{numa.Bind, numa.Prefer} {
			mem := mapped(t, pages)
			err := place(mem, node.ID)
			skip.If(t, errors.Is(err, numa.ErrForbidden), "%v", err)
			must.Do(err)
			contains.Error(t, numa.Verify(mem, node.ID, "arena"), "arena: page 0 of 5000")
			for at := 0; at < len(mem); at += os.Getpagesize() {
				mem[at], moved[at] = 1, byte(i)
			}
			contains.Error(t, numa.Verify(mem, node.ID+1, "arena"), "5000 misplaced in all")
			garbage := check.Allocated(func() { check.NoError(t, numa.Verify(mem, node.ID, "arena"), "Verify") })
			check.AtMost(t, garbage, 16<<10, "bytes of garbage for %d pages", pages)
		}
		err := errors.Join(numa.Move(moved, node.ID), numa.Verify(moved, node.ID, "moved"))
		check.True(t, err == nil && moved[0] == byte(i), "moving to node %d: %v, and it has %d", node.ID, err, moved[0])
	}
	contains.Error(t, numa.Bind(moved, 900), "node 900")
	contains.Error(t, numa.Bind(moved, -1), "no such node")
	contains.Error(t, numa.Bind(moved[1:], m.Nodes[0].ID), "mbind")
	check.NoError(t, numa.Bind(nil, 0), "no memory")
}
