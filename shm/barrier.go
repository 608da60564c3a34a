package shm

// A Barrier is where workers meet. Each raises a flag of its own; worker 0 waits for all flags
// and releases the others.
type Barrier struct {
	arrived []*Flag
	release *Flag
}

// BarrierBytes is the memory that a barrier of n workers takes.
func BarrierBytes(n int) int { return (n + 1) * lineBytes }

// NewBarrier lays a barrier for n workers into mem, zeroed and page-aligned.
func NewBarrier(mem []byte, n int) *Barrier {
	b := &Barrier{release: flagAt(mem, 0)}
	for i := range n {
		b.arrived = append(b.arrived, flagAt(mem, (i+1)*lineBytes))
	}
	return b
}

// Gather is worker 0's part: it waits until all have arrived the round-th
// time, counted from 1. Release lets them go.
func (b *Barrier) Gather(round uint64, w *Waiter) bool {
	b.arrived[0].Set(round)
	for _, f := range b.arrived[1:] {
		if f.Await(round, w) < round {
			return false
		}
	}
	return true
}

// Release lets all workers that arrived go.
func (b *Barrier) Release(round uint64) { b.release.Set(round) }

// Meet is the part of every worker but 0: arrive, and wait for the release.
func (b *Barrier) Meet(worker int, round uint64, w *Waiter) bool {
	b.arrived[worker].Set(round)
	return b.release.Await(round, w) >= round
}

// Arrived is how often a worker has come to the barrier.
func (b *Barrier) Arrived(worker int) uint64 { return b.arrived[worker].Load() }
