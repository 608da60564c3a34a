package loaded

import (
	"errors"
	"math/rand/v2"
	"unsafe"

	"github.com/taulop/taulop/setups"
)

// lineBytes is what one step of a chain, and one line of injected traffic, brings.
const lineBytes = 64

// A chain is the lines of an array in random order, each of which says which comes
// next: a processor cannot know before it has read it.
type chain struct {
	order []int32 // lines as they follow each other, all of them once
	next  []int32 // by line
	at    int     // place in order, of the line that the next step begins at
	steps int     // of the passes under way, which are not checked yet
	line  int32   // that the last step came to
}

// newChain is a chain through an array of the given size.
func newChain(bytes int) *chain {
	n := bytes / lineBytes
	c := &chain{order: make([]int32, n), next: make([]int32, n)}
	for i := range c.order {
		c.order[i] = int32(i)
	}
	rand.Shuffle(n, func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
	for i, line := range c.order {
		c.next[line] = c.order[(i+1)%n]
	}
	c.line = c.order[0]
	return c
}

// stepsOfPass is large enough to make the call negligible.
const stepsOfPass = 256

// passes are steps along the chain, which go on where the last ones ended: no line
// comes again before all others did.
func (c *chain) passes() setups.Passes {
	bytes := len(c.next) * lineBytes
	return setups.Passes{
		Bytes: bytes, ArenaBytes: bytes, Laid: "chain", Lay: c.lay,
		Pass: func(mem []byte, times int) float64 {
			for range times {
				c.line = walk(mem, c.line)
				c.steps += stepsOfPass
			}
			return 0
		},
		Check: func([]byte, int) error { return c.check() },
	}
}

// lay writes the links of the lines from byte `at` of the array on.
func (c *chain) lay(mem []byte, at int) {
	for i := 0; i+lineBytes <= len(mem); i += lineBytes {
		if line := (at + i) / lineBytes; line < len(c.next) {
			*(*int64)(unsafe.Pointer(&mem[i])) = int64(c.next[line])
		}
	}
}

// walk is stepsOfPass steps from a line on. Each waits for the one before.
func walk(mem []byte, line int32) int32 {
	base, at := unsafe.Pointer(unsafe.SliceData(mem)), int64(line)
	for range stepsOfPass / 8 {
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
		at = *(*int64)(unsafe.Add(base, at*lineBytes))
	}
	return int32(at)
}

// check fails if the steps did not come to where the chain leads: a link that was read
// wrong leads somewhere else.
func (c *chain) check() error {
	c.at, c.steps = (c.at+c.steps)%len(c.order), 0
	if c.line != c.order[c.at] {
		return errors.New("a chain of reads ended at another line than it leads to: this machine's memory cannot be trusted")
	}
	return nil
}
