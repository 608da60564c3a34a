package shm

// A Ring is one flag a worker, which its right neighbour waits for. Its rounds tell how far
// apart the workers are.
type Ring struct {
	flags []*Flag
	lead  *Flag // worker 0's: whether there are more rounds
}

// RingBytes is the memory that a ring of n workers takes.
func RingBytes(n int) int { return (n + 1) * lineBytes }

// NewRing lays a ring of n workers into mem, zeroed and aligned to a pair of lines.
func NewRing(mem []byte, n int) *Ring {
	r := &Ring{lead: flagAt(mem, n*lineBytes)}
	for i := range n {
		r.flags = append(r.flags, flagAt(mem, i*lineBytes))
	}
	return r
}

// Lead is how worker 0 says for the n-th time, counted from 1, whether there are more rounds.
func (r *Ring) Lead(n uint64, more bool) {
	v := 2 * n
	if !more {
		v++
	}
	r.lead.Set(v)
}

// Follow waits for Lead and returns what it says. Not ok: told to stop meanwhile.
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

// Pass is a worker's part of n rounds after the first `passed`: two workers raise their flags
// in turn, so that a round is a flag there and one back; more raise theirs at once, and then
// wait for their left neighbours'. False: told to stop meanwhile.
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

// FlagsOf is how many flags a round waits for one after the other.
func (r *Ring) FlagsOf(rounds int) int {
	if len(r.flags) == 2 {
		return 2 * rounds
	}
	return rounds
}
