package setups

import (
	"bytes"
	"math/rand/v2"
	"sync"
)

// A walk is the path of messages through the workers' user buffers, all in step, down from the
// end and round again. A program's message does not follow the last one in memory, where the
// processor has prefetched already: so each lies before the last. The walk counts, so that
// every byte's origin can be told afterwards.
type walk struct {
	units  int      // of unitBytes, of a worker's user memory
	next   int      // unit below which the next message lies
	visits []uint32 // by unit: messages that brought something new since the buffers were filled
	moved  Setup    // what brought it
}

// unitBytes is a cache line: no two messages share one.
const unitBytes = 64

// unitsOf is how many units n bytes take, 1 at least.
func unitsOf(n int) int { return max(1, (n+unitBytes-1)/unitBytes) }

// overwrites reports whether a worker receives over what it sent.
func (s Setup) overwrites() bool { return !s.alone && !s.apart }

// room is how much of n bytes of user memory messages walk through: half of it if
// they are received apart.
func (s Setup) room(n int) int {
	if s.apart {
		return n / 2 / unitBytes * unitBytes
	}
	return n
}

// userBytes is what user memory takes for messages of n bytes.
func (s Setup) userBytes(n int) int {
	if s.apart {
		return 2 * unitsOf(n) * unitBytes
	}
	return n
}

func newWalk(s Setup, room int, visits []uint32) *walk {
	k := &walk{units: unitsOf(room), moved: s}
	k.next = k.units
	if k.visits = visits; cap(visits) < k.units {
		k.visits = make([]uint32, k.units)
	}
	k.visits = k.visits[:k.units]
	clear(k.visits)
	return k
}

// takes reports whether messages of a setup and that many units may go on where the last ones
// ended, on the buffers as they are. Bare copies leave everything as it is; after other setups,
// and after setups that belong to no worker, only the same setup may go on.
func (k *walk) takes(s Setup, units int) bool {
	if k == nil || k.units < units { // what lies apart walks through half of the memory
		return false
	}
	if s.together || k.moved.together {
		return k.moved.Name == s.Name
	}
	if k.moved.alone && !k.moved.apart && !s.apart {
		k.moved = s
	}
	return s.alone && !s.apart || k.moved.Name == s.Name
}

// begin is where a message of that many units may begin, at the next place down
// that is a multiple of its size.
func (k *walk) begin(units int) int {
	at, _ := k.after(k.next/units*units, units)
	return at
}

// after is where a message after that at `at` begins, and whether the walk goes round
// again there.
func (k *walk) after(at, units int) (next int, again bool) {
	if at -= units; at < 0 {
		return k.last(units), true
	}
	return at, false
}

// last is where the message nearest to the end begins.
func (k *walk) last(units int) int { return (k.units/units - 1) * units }

// advance counts n messages of a setup and moves on.
func (k *walk) advance(s Setup, units, n int) {
	at := k.begin(units)
	if next, _ := k.after(at, units); next == at && s.overwrites() {
		for u := range units {
			k.visits[at+u] += uint32(n)
		}
		return
	}
	for range n {
		if s.overwrites() {
			for u := range units {
				k.visits[at+u]++
			}
		}
		at, _ = k.after(at, units)
	}
	k.next = at + units
}

// patternBytes is prime, so that no two segments of a message are equal.
const patternBytes = 65521

// pattern is what worker w sends, over and over: random, and different for
// each worker. Teams share it.
func pattern(w int) []byte {
	if p, made := sent.Load(w); made {
		return p.([]byte)
	}
	p := make([]byte, patternBytes)
	r := rand.NewChaCha8([32]byte{byte(w), byte(w >> 8), byte(w >> 16)})
	r.Read(p)
	sent.Store(w, p)
	return p
}

var sent sync.Map // patterns by worker

// lay fills mem, which begins at byte `at` of user memory, with a pattern.
func lay(mem, pattern []byte, at int) {
	for len(mem) > 0 {
		n := copy(mem, pattern[at%len(pattern):])
		mem, at = mem[n:], at+n
	}
}

// differ compares mem, which begins at byte `at` of user memory, with what lay
// writes there and returns the offset of the first difference, or −1.
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
