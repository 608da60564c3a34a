package setups

import (
	"bytes"
	"math/rand/v2"
	"sync"
)

// A walk is the path of messages through the workers' user buffers, in step, downwards from the end and
// round again. Downwards, because a program's message does not follow the last one in memory, where the
// processor has prefetched.
type walk struct {
	units int // of a worker's memory that messages walk through
	next  int // unit below which the next message lies
}

// unitBytes is a cache line: no two messages share one.
const unitBytes = 64

// unitsOf is the number of units of n bytes, 1 at least.
func unitsOf(n int) int { return max(1, (n+unitBytes-1)/unitBytes) }

// overwrites reports whether a received message overwrites the sent one.
func (s Setup) overwrites() bool { return !s.alone && !s.separate }

// ground is the number of the kept region that a setup's messages walk through. Setups share a region
// if each can check the bytes that the others leave, and a message reaches the memory used longest ago.
func (s Setup) ground() int {
	switch {
	case s.operator != nil:
		return 3
	case s.shared:
		return 2
	case s.separate:
		return 1
	}
	return 0
}

// room is the part of n bytes of user memory that messages walk through: half of it if the receive
// buffer is separate.
func (s Setup) room(n int) int {
	if s.separate {
		return n / 2 / unitBytes * unitBytes
	}
	return n
}

// userBytes is the user memory for messages of n bytes.
func (s Setup) userBytes(n int) int {
	if s.separate {
		return 2 * unitsOf(n) * unitBytes
	}
	return n
}

func newWalk(units int) *walk { return &walk{units, units} }

// stay keeps messages of that many units at one place.
func (k *walk) stay(units int) { k.units, k.next = units, units }

// begin is the unit at which a message may begin: the next multiple of its units downwards.
func (k *walk) begin(units int) int {
	at, _ := k.after(k.next/units*units, units)
	return at
}

// after is the begin of the message after that at `at`, and whether the walk goes round again there.
func (k *walk) after(at, units int) (next int, again bool) {
	if at -= units; at < 0 {
		return k.last(units), true
	}
	return at, false
}

// last is the begin of the message nearest to the end.
func (k *walk) last(units int) int { return (k.units/units - 1) * units }

// advance moves on by n messages.
func (k *walk) advance(units, n int) {
	at := k.begin(units)
	for range n {
		at, _ = k.after(at, units)
	}
	k.next = at + units
}

// patternBytes is prime, so that no two segments of a message are equal.
const patternBytes = 65521

// pattern is the random bytes that worker w sends repeatedly, different for each worker. All teams
// share it.
func pattern(w int) []byte {
	if p, made := patterns.Load(w); made {
		return p.([]byte)
	}
	p := make([]byte, patternBytes)
	r := rand.NewChaCha8([32]byte{byte(w), byte(w >> 8), byte(w >> 16)})
	r.Read(p)
	patterns.Store(w, p)
	return p
}

var patterns sync.Map // by worker

// lay fills mem, which begins at byte `at` of user memory, with a pattern.
func lay(mem, pattern []byte, at int) {
	for len(mem) > 0 {
		n := copy(mem, pattern[at%len(pattern):])
		mem, at = mem[n:], at+n
	}
}

// differ compares mem, which begins at byte `at` of user memory, with the pattern there, and returns
// the offset of the first difference, or −1.
func differ(mem, pattern []byte, at int) int {
	for done := 0; len(mem) > 0; {
		want := pattern[at%len(pattern):]
		n := min(len(want), len(mem))
		if !bytes.Equal(mem[:n], want[:n]) {
			for i := range n {
				if mem[i] != want[i] {
					return done + i
				}
			}
		}
		mem, at, done = mem[n:], at+n, done+n
	}
	return -1
}
