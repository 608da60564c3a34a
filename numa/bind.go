package numa

import (
	"errors"
	"fmt"
	"time"
)

// ErrForbidden: the kernel has no memory policies, or a filter on system calls, as in containers,
// keeps this process from them. Pages then lie where they are first touched.
var ErrForbidden = errors.New("the kernel does not let this process choose or look up where pages lie")

// Verify asks the kernel for the node of every page of mem, all of which have been touched. Its
// error names the first page on another node; name is the memory's owner.
func Verify(mem []byte, node int, name string) error {
	var pages, misplaced, first, found int
	var moving bool // a page that the kernel is moving lies on no node for a moment
	count := func() error {
		pages, misplaced, moving = 0, 0, false
		return eachPage(mem, func(actual int) {
			if actual != node {
				if misplaced == 0 {
					first, found = pages, actual
				}
				misplaced++
			}
			moving = moving || actual < 0
			pages++
		})
	}
	err := count()
	for wait := time.Millisecond; err == nil && moving && wait < 100*time.Millisecond; wait *= 2 {
		time.Sleep(wait)
		err = count()
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: where its pages lie is unknown: %w", name, err)
	case misplaced == 0:
		return nil
	case found < 0:
		return fmt.Errorf("%s: page %d of %d should lie on node %d, but lies on none: it was never touched or cannot be looked up (%d such or misplaced in all)",
			name, first, pages, node, misplaced)
	default:
		return fmt.Errorf("%s: page %d of %d should lie on node %d, but lies on node %d (%d misplaced in all): is node %d full?",
			name, first, pages, node, found, misplaced, node)
	}
}
