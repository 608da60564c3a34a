package numa

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Bind has the pages of mem, which begins on a page boundary, come from the node and from no
// other (MPOL_BIND). Pages touched before stay where they are. The kernel kills a process that
// touches a page bound to a node without free memory, so untouched memory calls for Prefer.
func Bind(mem []byte, node int) error { return place(mem, unix.MPOL_BIND, node, 0) }

// Prefer has the pages of mem come from the node while it has free memory (MPOL_PREFERRED), then
// from others, which Verify reports.
func Prefer(mem []byte, node int) error { return place(mem, unix.MPOL_PREFERRED, node, 0) }

// Move is Bind, and moves pages from other nodes, which stops all CPUs of the machine for a
// moment. The node's page cache makes room for them. Pages without room stay where they are, which
// Verify reports.
func Move(mem []byte, node int) error {
	err := place(mem, unix.MPOL_BIND, node, unix.MPOL_MF_MOVE)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ENOMEM) {
		return nil
	}
	return err
}

func place(mem []byte, policy, node, flags int) error {
	if len(mem) == 0 {
		return nil
	}
	if node < 0 || node > maxCPU {
		return fmt.Errorf("cannot bind memory to node %d: there is no such node", node)
	}
	mask := make([]uint64, node/64+1)
	mask[node/64] = 1 << (node % 64)
	err := mbind(mem, policy, mask, flags)
	switch {
	case err == nil:
		return nil
	case err == unix.EINVAL:
		return fmt.Errorf("cannot bind memory to node %d: mbind: %w; does it have memory, and is it in this process's cpuset (Mems_allowed in /proc/self/status)?", node, err)
	default:
		return fmt.Errorf("cannot bind memory to node %d: mbind: %w", node, refusal(err))
	}
}

// pagesPerCall bounds the tables for the kernel, which are reused to make no garbage.
const pagesPerCall = 1024

type pageTable struct {
	pages  [pagesPerCall]uintptr
	status [pagesPerCall]int32 // node, or a negative errno
}

var pageTables = sync.Pool{New: func() any { return new(pageTable) }}

// eachPage tells the node of each page of mem, or -1 for a page that does not exist yet or cannot be
// looked up.
func eachPage(mem []byte, tell func(node int)) error {
	table := pageTables.Get().(*pageTable)
	defer pageTables.Put(table)
	for size := os.Getpagesize(); len(mem) > 0; {
		part := mem[:min(len(mem), pagesPerCall*size)]
		mem = mem[len(part):]
		n, err := table.ask(part, size)
		if err != nil {
			return fmt.Errorf("move_pages: %w", refusal(err))
		}
		for _, s := range table.status[:n] {
			tell(max(-1, int(s)))
		}
	}
	return nil
}

// refusal adds ErrForbidden to errors of a system call that is missing or filtered.
func refusal(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}
