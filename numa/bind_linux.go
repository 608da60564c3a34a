package numa

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Bind has the pages of mem come from the node and from no other (MPOL_BIND).
// Pages that were touched before stay where they are. Where the node has no
// memory left, the kernel kills the process that touches a page bound to it:
// Prefer is for memory not touched yet. mem begins on a page boundary, as
// mapped memory does.
func Bind(mem []byte, node int) error { return place(mem, unix.MPOL_BIND, node, 0) }

// Prefer has the pages of mem come from the node while it has any
// (MPOL_PREFERRED), else from another one, which Verify finds.
func Prefer(mem []byte, node int) error { return place(mem, unix.MPOL_PREFERRED, node, 0) }

// Move is Bind, and moves pages that lie elsewhere, which stops all CPUs of the
// machine for a moment. The node's page cache makes room for them. Pages that it
// has no room for stay where they are, for Verify to find.
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

// pagesOfCall are asked for at a time, to keep the tables for the kernel small, which are
// used again and again: what arenas of many workers take would be much garbage.
const pagesOfCall = 1024

type pageTable struct {
	pages  [pagesOfCall]uintptr
	status [pagesOfCall]int32 // node, or a negative errno
}

var pageTables = sync.Pool{New: func() any { return new(pageTable) }}

// eachPage tells the node of each page of mem, -1 of one that does not exist yet or that the
// kernel cannot look up.
func eachPage(mem []byte, tell func(node int)) error {
	table := pageTables.Get().(*pageTable)
	defer pageTables.Put(table)
	for size := os.Getpagesize(); len(mem) > 0; {
		part := mem[:min(len(mem), pagesOfCall*size)]
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

// refusal marks the kernel's ways of saying that it does not do this at all.
func refusal(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}
