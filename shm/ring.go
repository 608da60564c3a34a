package shm

// A Ring has a flag for each worker, for which its right neighbour waits. The time of its rounds shows the
// distance of the workers.
type Ring struct {
	flags []*Flag
	lead  *Flag // worker 0's: whether there are more rounds
}

// RingBytes is the memory of a ring of n workers.
func RingBytes(n int) int { return (n + 1) * lineBytes }

// NewRing lays a ring of n workers into mem, zeroed and aligned to a pair of lines.
func NewRing(mem []byte, n int) *Ring {
	r := &Ring{lead: flagAt(mem, n*lineBytes)}
	for i := range n {
		r.flags = append(r.flags, flagAt(mem, i*lineBytes))
	}
	return r
}

// Lead is worker 0's n-th announcement, counted from 1, of whether there are more rounds.
func (r *Ring) Lead(n uint64, more bool) {
	v := 2 * n
	if !more {
		v++
	}
	r.lead.Set(v)
}

// Follow waits for the n-th announcement and returns it. Not ok: told to stop meanwhile.
func (r *Ring) Follow(n uint64, w *Waiter) (more, ok bool) {
	v := r.lead.Await(2*n, w)
	return v == 2*n, v >= 2*n
}

// Progress grows with every flag that is raised.
func (r *Ring) Progress() (n uint64) {
	for _, f := range r.flags {
		n += f.Load()
	}
	return n
}

// Pass is a worker's part of n rounds, after `passed` earlier ones. Two workers raise their flags in
// turn: a round is a flag there and one back. More workers raise theirs at once, then wait for their left
// neighbours'. False: told to stop meanwhile.
//
//go:nosplit
func (r *Ring) Pass(worker int, passed, n uint64, w *Waiter) bool {
	own := r.flags[worker]
	left := r.flags[(worker+len(r.flags)-1)%len(r.flags)]
	first := worker == 0 || len(r.flags) > 2
	for i := passed + 1; i <= passed+n; i++ {
		if first {
			own.Set(i)
		}
		if left.Await(i, w) < i {
			return false
		}
		if !first {
			own.Set(i)
		}
	}
	return true
}

// FlagsOf is the number of flags in sequence of some rounds.
func (r *Ring) FlagsOf(rounds int) int {
	if len(r.flags) == 2 {
		return 2 * rounds
	}
	return rounds
}
