package setups

import (
	"bytes"
	"math/rand/v2"
	"sync"

	"github.com/taulop/taulop/shm"
)

// A walk is the places of messages of one size in a worker's memory, which follow each other downwards
// and round again. Downwards, because a program's message does not follow the last one in memory, where
// the processor has prefetched.
type walk struct {
	end    int // of the highest place, in bytes
	stride int // from place to place
	places int
	first  int // place of the first message; 0 is the highest
}

// newWalk is the walk of messages of `size` bytes through memory of n bytes, one place at least. It
// begins below the bytes at the memory's end that other messages have come down.
func newWalk(n, size, down int) walk {
	stride := unitsOf(size) * unitBytes
	places, first := max(1, n/stride), (down+stride-1)/stride
	if first >= places {
		first = 0
	}
	return walk{max(stride, n/unitBytes*unitBytes), stride, places, first}
}

// at is the offset of message i.
func (k *walk) at(i int) int { return k.end - ((k.first+i)%k.places+1)*k.stride }

// down is how many bytes from the end n messages have come.
func (k *walk) down(n int) int { return ((k.first+n-1)%k.places + 1) * k.stride }

// reach maps the pages of the first n messages.
func (k *walk) reach(mem []byte, size, n int) {
	for i := range min(n, k.places) {
		shm.Reach(mem[k.at(i):][:size])
	}
}

// unitBytes is a cache line: no two messages share one.
const unitBytes = 64

// unitsOf is the number of units of n bytes, 1 at least.
func unitsOf(n int) int { return max(1, (n+unitBytes-1)/unitBytes) }

// overwrites reports whether a received message overwrites the sent one.
func (s Setup) overwrites() bool { return !s.alone && !s.Separate }

// sides are the kept regions that a setup's workers send from and receive into.
func (s Setup) sides() (from, into int) {
	switch {
	case s.shared: // it sends nothing
		return receiving, receiving
	case s.Separate:
		return sending, receiving
	}
	return sending, sending
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
