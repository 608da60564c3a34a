package verify

import (
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// ordinary are the τ of a sweep for the largest P.
func (e *Experiment) ordinary() []int {
	return transfers.Taus(min(max(2, slices.Max(e.P)), e.machine.Allowed.Len()))
}

// holdOut chooses the τ of parameters: on more than four cores the larger half is left to the test.
func (e *Experiment) holdOut() {
	if cores := e.machine.Concurrency(); e.Tau == nil && cores > 4 && !e.Patterns {
		half := max(2, slices.Max(e.P)/2)
		e.Tau = slices.DeleteFunc(e.ordinary(), func(tau int) bool { return tau > half })
	}
	if e.Tau != nil {
		e.heldOut = slices.DeleteFunc(e.ordinary(), func(tau int) bool { return slices.Contains(e.Tau, tau) })
	}
}

// needed are the sizes in bytes of the cases' messages and copies, of the calls' messages, and of
// the footprint of the busiest rank.
func (e *Experiment) needed() (sizes []int) {
	for _, c := range e.Cases {
		call := c.Schedule.Call
		sizes = append(sizes, call.M, c.Schedule.Footprint(0), c.Schedule.Footprint(call.P-1))
		for _, b := range c.Schedule.Blocks {
			for _, s := range b.Stages {
				for _, batch := range s.Shape {
					sizes = append(sizes, batch.Bytes, batch.Bytes%e.schedules.SegmentBytes)
				}
			}
		}
	}
	return slices.DeleteFunc(lists.Rising(sizes), func(m int) bool { return m == 0 })
}

// grid are the sizes of a sweep, from below the smallest needed one to above the largest, and a
// segment.
func (e *Experiment) grid() []int {
	sizes := []int{e.schedules.SegmentBytes}
	if needed := e.needed(); len(needed) > 0 {
		all := transfers.Sizes
		from, measured := slices.BinarySearch(all, needed[0])
		if !measured {
			from = max(0, from-1)
		}
		to, _ := slices.BinarySearch(all, needed[len(needed)-1])
		sizes = append(sizes, all[min(from, len(all)-1):min(to+1, len(all))]...)
	}
	return lists.Rising(sizes)
}

// messagesAlone adds the messages for log_nP, at a sweep's sizes.
func (e *Experiment) messagesAlone() error {
	sizes := e.grid()
	if sizes[0] > 1 { // what a message of nothing costs
		sizes = append([]int{1}, sizes...)
	}
	for _, off := range e.Caches {
		for _, m := range sizes {
			c, err := MessageCase(m, off)
			if err != nil {
				return err
			}
			c.Name = messageAlone
			e.alone = append(e.alone, c)
		}
	}
	return nil
}

// plan is a sweep of the transfers in the cases, and no others.
func (e *Experiment) plan() (*params.File, error) {
	p := params.Plan{Policies: []numa.Policy{numa.Local}, Caches: e.Caches, Taus: e.Tau, Sizes: e.grid(),
		Segments: e.schedules.Segments, SegmentBytes: e.schedules.SegmentBytes, ArenaCaches: e.caches, Budget: e.Time.Seconds(), Width: 0.01, Copy: shm.CopyName(), NoGamma: true, Operators: []string{operator}}
	if p.Taus == nil {
		p.Taus = e.ordinary()
	}
	temporary := false
	for _, c := range e.Cases {
		p.NoGamma = p.NoGamma && !c.Schedule.Algorithm.Reduces()
		temporary = temporary || c.Schedule.Algorithm.Reduces() || c.Schedule.Size(c.Schedule.Call.Root, collective.Temp) > 0
	}
	if temporary && !e.Patterns && !slices.Contains(e.Caches, false) { // such buffers are in cache all the same
		p.Caches = []bool{false, true}
	}
	for _, s := range []setups.Setup{setups.Ring, setups.Ping, setups.Sendrecv} {
		needed := !e.Patterns || s.Name != setups.Ring.Name // no pattern is as a ring
		if needed && slices.ContainsFunc(p.Taus, func(tau int) bool { return s.Check(tau) == nil }) {
			p.Setups = append(p.Setups, s.Name)
		}
	}
	if e.Patterns { // what lies between is predicted where lines are tested
		p.Sizes = lists.Filter(e.M, func(m int) bool { return !slices.Contains(FittedSizes(e.M), m) })
		p.Sizes = lists.Rising(append(p.Sizes, p.SegmentBytes, e.M[0], e.M[len(e.M)-1]))
	}
	if e.schedules.Single {
		p.Setups, p.With, p.Sizes = nil, []string{cma.Survey.Name}, cma.Sizes(p.Sizes)
	}
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: e.here, Plan: p}
	if err := transfers.Fit(f, e.machine); err != nil {
		return nil, engine.Refuse(err)
	}
	return f, nil
}
