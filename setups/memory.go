package setups

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// A walk is the path of messages through the workers' user buffers, in step, downwards from the end and
// round again. Downwards, because a program's message does not follow the last one in memory, where the
// processor has prefetched. The walk records whose bytes each unit holds, so that check knows every
// byte's origin, whichever setups took turns.
type walk struct {
	units   int                // of a worker's memory that messages walk through
	next    int                // unit below which the next message lies
	holds   []uint32           // by unit: an index of origins
	origins [][]int            // by worker, whose bytes it has; the first: its own
	known   map[string]uint32  // index of origins by their text
	brought map[arrival]uint32 // index of origins after an arrival
}

// An arrival is n messages of a setup among tau workers to a unit that holds origins[held].
type arrival struct {
	held   uint32
	setup  string
	tau, n int
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

// newWalk begins a walk through units that hold each worker's own bytes. It reuses the memory of holds
// if that suffices.
func newWalk(workers, units int, holds []uint32) *walk {
	own := make([]int, workers)
	for w := range own {
		own[w] = w
	}
	k := &walk{units: units, next: units, holds: holds, origins: [][]int{own}, known: map[string]uint32{fmt.Sprint(own): 0}, brought: make(map[arrival]uint32)}
	if cap(holds) < units {
		k.holds = make([]uint32, units)
	}
	k.holds = k.holds[:units]
	clear(k.holds)
	return k
}

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

// advance records n messages of a setup among tau workers, and moves on.
func (k *walk) advance(s Setup, tau, units, n int) {
	at := k.begin(units)
	if next, _ := k.after(at, units); next == at {
		k.bring(s, tau, at, units, n)
		return
	}
	for range n {
		k.bring(s, tau, at, units, 1)
		at, _ = k.after(at, units)
	}
	k.next = at + units
}

// bring records n messages in sequence to the units from `at` on.
func (k *walk) bring(s Setup, tau, at, units, n int) {
	if !s.overwrites() {
		return
	}
	var from, to uint32
	for u := range units {
		if held := k.holds[at+u]; u == 0 || held != from {
			from, to = held, k.onward(arrival{held, s.Name, tau, n}, s)
		}
		k.holds[at+u] = to
	}
}

// onward is the index of the origins in a unit after an arrival.
func (k *walk) onward(a arrival, s Setup) uint32 {
	if to, known := k.brought[a]; known {
		return to
	}
	held := k.origins[a.held]
	origins := slices.Clone(held)
	for w := range a.tau {
		origins[w] = held[s.origin(w, a.tau, a.n)]
	}
	name := fmt.Sprint(origins)
	to, known := k.known[name]
	if !known {
		to = uint32(len(k.origins))
		k.origins, k.known[name] = append(k.origins, origins), to
	}
	k.brought[a] = to
	return to
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
