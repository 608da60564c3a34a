package numa

import (
	"errors"
	"fmt"
	"time"
)

// ErrForbidden is in the chain of every error that says that the kernel has no
// memory policies or does not let this process use them, as in containers with
// a filter on system calls: then pages lie where they are first touched.
var ErrForbidden = errors.New("the kernel does not let this process choose or look up where pages lie")

// Verify asks the kernel for the node of every page of mem, which has been touched, and returns
// an error that names the first page that lies elsewhere; name is the memory's owner.
func Verify(mem []byte, node int, name string) error {
	pages, elsewhere, first, at, nowhere := 0, 0, 0, 0, false
	look := func() error {
		pages, elsewhere, nowhere = 0, 0, false
		return eachPage(mem, func(is int) {
			if is != node {
				if elsewhere == 0 {
					first, at = pages, is
				}
				elsewhere++
			}
			nowhere = nowhere || is < 0
			pages++
		})
	}
	err := look()
	// A page that the kernel is moving lies on no node for a moment.
	for wait := time.Millisecond; err == nil && nowhere && wait < 100*time.Millisecond; wait *= 2 {
		time.Sleep(wait)
		err = look()
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: where its pages lie is unknown: %w", name, err)
	case elsewhere == 0:
		return nil
	case at < 0:
		return fmt.Errorf("%s: page %d of %d should lie on node %d, but lies on none: it was never touched or cannot be looked up (%d such or misplaced in all)",
			name, first, pages, node, elsewhere)
	default:
		return fmt.Errorf("%s: page %d of %d should lie on node %d, but lies on node %d (%d misplaced in all): is node %d full?",
			name, first, pages, node, at, elsewhere, node)
	}
}
