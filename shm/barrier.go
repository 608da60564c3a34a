package shm

// A Barrier synchronises workers. Each raises a flag of its own; worker 0 waits for all flags and
// releases the others.
type Barrier struct {
	arrived []*Flag
	release *Flag
}

// BarrierBytes is the memory of a barrier of n workers.
func BarrierBytes(n int) int { return (n + 1) * lineBytes }

// NewBarrier lays a barrier for n workers into mem, zeroed and page-aligned.
func NewBarrier(mem []byte, n int) *Barrier {
	b := &Barrier{release: flagAt(mem, 0)}
	for i := range n {
		b.arrived = append(b.arrived, flagAt(mem, (i+1)*lineBytes))
	}
	return b
}

// Gather is worker 0's part: it waits until all workers have arrived for that round, counted from 1.
// Release then lets them go. False: told to stop meanwhile.
func (b *Barrier) Gather(round uint64, w *Waiter) bool {
	b.arrived[0].Set(round)
	for _, f := range b.arrived[1:] {
		if f.Await(round, w) < round {
			return false
		}
	}
	return true
}

// Release lets all workers of a round go.
func (b *Barrier) Release(round uint64) { b.release.Set(round) }

// Meet is the part of every other worker: it arrives, and waits for the release. False: told to stop
// meanwhile.
func (b *Barrier) Meet(worker int, round uint64, w *Waiter) bool {
	b.arrived[worker].Set(round)
	return b.release.Await(round, w) >= round
}

// Arrived is the number of a worker's arrivals.
func (b *Barrier) Arrived(worker int) uint64 { return b.arrived[worker].Load() }
