package setups

import (
	"cmp"
	"math"
	"time"

	"github.com/taulop/taulop/numa"
)

// A Simulation replaces CPUs and memory in tests: its teams copy no bytes, and take the times that it
// gives. Repetitions, counted batches and the comparison of workers are found as on a machine.
type Simulation struct {
	// Cost is the time of one repetition of a work for each of its workers, in ns.
	Cost func(w Work, workers []numa.Worker) []float64
	// Hear, if not nil, is the delay from the barrier's release until each worker sees it.
	Hear func(workers []numa.Worker) []time.Duration
	// Look, if not nil, is the result of a look at this moment, see Team.Look.
	Look func(workers []numa.Worker) (ns, computed float64)
	// Now is its clock, which batches advance.
	Now time.Duration
}

// Team is a simulated team.
func (s *Simulation) Team(p numa.Placement) *Team {
	t := &Team{placement: p, simulation: s}
	for id, place := range p.Workers {
		t.workers = append(t.workers, &worker{id: id, cpu: place.CPU.ID})
	}
	return t
}

func (s *Simulation) repeat(t *Team, w Work, n, batches int) []float64 {
	tau, solo := t.part(w)
	workers := t.placement.Workers[:tau]
	t.last = &clock{solo: solo}
	t.last.set(t.workers[:tau], batches, 1)
	look := func() {
		ns, computed := s.look(workers)
		t.last.sees(ns)
		t.last.computed[0] = max(t.last.computed[0], computed)
	}
	look()
	for b := 0; t.last.goesOn(b); b++ {
		release, heard := s.Now, make([]time.Duration, tau)
		if s.Hear != nil {
			heard = s.Hear(workers)
		}
		at := release + t.last.notice
		t.last.begin(b, at)
		for i, ns := range s.Cost(w, workers) {
			w := t.workers[i]
			w.start[b] = max(at, release+heard[i])
			w.finish[b] = w.start[b] + time.Duration(math.Round(float64(n)*ns))
			s.Now = max(s.Now, w.finish[b])
		}
		look()
	}
	return t.last.times(n)
}

// part is the number of workers that do a work, and whether one of them times it alone.
func (t *Team) part(w Work) (workers int, solo bool) {
	switch w := w.(type) {
	case Trial:
		return cmp.Or(w.Tau, t.Tau()), false
	case Between:
		return cmp.Or(w.Tau, t.Tau()), false
	case Passes:
		return 1, true
	case RoundTrip:
		return 2, true
	case Loaded:
		return t.part(w.Work)
	}
	return t.Tau(), false
}

func (s *Simulation) look(workers []numa.Worker) (ns, computed float64) {
	if s.Look == nil {
		return 0, 0
	}
	return s.Look(workers)
}
