package setups

import (
	"slices"
	"sync/atomic"

	"github.com/taulop/taulop/numa"
)

// A Fill keeps cores without workers busy, so that the clock frequency does not depend on the number
// of workers. Its threads compute in registers, share no memory, and yield to everything else.
type Fill struct{ spinners []*spinner }

// A spinner is a thread on the first CPU of a core.
type spinner struct {
	core numa.CPUSet // its CPUs: with a worker on any of them it needs no filling
	wake chan struct{}
	on   atomic.Bool
	_    [128]byte // keeps other threads' data on other cache lines
}

// NewFill starts a thread for each core, given by its CPUs. They sleep until a team has work.
func NewFill(cores []numa.CPUSet) (*Fill, error) {
	f := &Fill{}
	pinned := make(chan error, len(cores))
	for _, core := range cores {
		s := &spinner{core: core, wake: make(chan struct{}, 1)}
		f.spinners = append(f.spinners, s)
		go s.spin(pinned)
	}
	if err := all(pinned); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends the threads.
func (f *Fill) Close() {
	for _, s := range f.spinners {
		s.on.Store(false)
		close(s.wake)
	}
}

// around keeps all cores without one of these workers busy, until it is called again.
func (f *Fill) around(workers []*worker) {
	if f == nil {
		return
	}
	for _, s := range f.spinners {
		busy := slices.ContainsFunc(workers, func(w *worker) bool { return s.core.Contains(w.cpu) })
		if s.on.Swap(!busy) || busy {
			continue
		}
		select {
		case s.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

func (s *spinner) spin(pinned chan<- error) {
	err := numa.Pin(s.core[0])
	if err == nil {
		err = numa.GiveWay()
	}
	pinned <- err
	x := uint64(1)
	for range s.wake {
		for s.on.Load() {
			x = compute(x)
		}
	}
}

// compute takes some 10 µs. It is not inlined, because the runtime can stop it in its prologue.
//
//go:noinline
func compute(x uint64) uint64 {
	for range 1 << 13 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
