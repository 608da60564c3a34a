package loaded

import (
	"errors"
	"math/rand/v2"
	"unsafe"

	"github.com/taulop/taulop/setups"
)

// lineBytes is the size of a chain's step and of an injected line.
const lineBytes = 64

// A chain links the lines of an array in random order: a processor must read a line to know the next.
type chain struct {
	order []int32 // all lines in the order of the chain
	next  []int32 // by line
	at    int     // index in order of the last checked line
	steps int     // since then
	line  int32   // reached by the last step
}

// newChain is a chain through an array of this size.
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

// passes are steps along the chain from the last line on: no line repeats before all others were read.
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

// lay writes the links of a part of the array, which begins at byte `at`.
func (c *chain) lay(mem []byte, at int) {
	for i := 0; i+lineBytes <= len(mem); i += lineBytes {
		if line := (at + i) / lineBytes; line < len(c.next) {
			*(*int64)(unsafe.Pointer(&mem[i])) = int64(c.next[line])
		}
	}
}

// walk takes stepsOfPass dependent steps from a line.
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

// check fails if the steps did not reach the chain's line, as after a wrong read.
func (c *chain) check() error {
	c.at, c.steps = (c.at+c.steps)%len(c.order), 0
	if c.line != c.order[c.at] {
		return errors.New("a chain of reads ended at another line than it leads to: this machine's memory cannot be trusted")
	}
	return nil
}
