package verify

import (
	"fmt"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// RankStates are the states of a number of ranks; none if they cannot be told apart.
type RankStates struct {
	P      int            `json:"P"`
	States []params.State `json:"states"`
}

// states are the states of each number of ranks, in the order of the cases; nil if the machine was
// in one state.
func (e *Experiment) states() (all []RankStates) {
	sorting, several := e.File.Sort(), false
	for _, p := range lists.Unique(lists.Map(e.Cases, func(c Case) int { return c.Schedule.Call.P })) {
		of := RankStates{p, append([]params.State{}, sorting.States(p)...)}
		several = several || len(of.States) > 0
		all = append(all, of)
	}
	if !several {
		return nil
	}
	return all
}

// A stay is an experiment restricted to one state, with the cases of its number of ranks; or in all
// states.
type stay struct {
	*Experiment
	state  params.State // zero: all
	models []Model
}

// stays are the experiment in each settled state, for cases whose ranks were in several states, and
// the whole experiment for the other cases.
func (e *Experiment) stays() (all []stay) {
	of := e.states()
	if len(of) == 0 {
		return []stay{{e, params.State{}, e.models()}}
	}
	var mixed []Model
	for _, ranks := range of {
		cases := lists.Filter(e.Cases, func(c Case) bool { return c.Schedule.Call.P == ranks.P })
		if len(ranks.States) == 0 {
			if mixed == nil {
				mixed = e.models()
			}
			one := *e
			one.Cases = cases
			all = append(all, stay{&one, params.State{}, mixed})
		}
		for _, state := range ranks.States {
			if state.Share < params.Settled {
				continue
			}
			if in, err := e.in(ranks.P, state); err != nil {
				e.Warn(err)
			} else {
				in.Cases = cases
				all = append(all, stay{in, state, in.models()})
				e.Warnings = in.Warnings
			}
		}
	}
	return all
}

// in restricts the experiment to a state of p ranks.
func (e *Experiment) in(p int, state params.State) (*Experiment, error) {
	in := *e
	var err error
	if in.File, err = e.File.InState(p, state); err != nil || e.Params == nil {
		return &in, err
	}
	other, err := inState(e.Params, p, state)
	if err != nil {
		in.lacks = noState{err}
		in.Warn(fmt.Errorf("nothing is predicted from %s for %d ranks whose flag takes %s: %w", e.Source, p, state.Name(), err))
		return &in, nil
	}
	in.Request.Params = other
	return &in, nil
}

// noState says why another session's file does not predict.
type noState struct{ error }

// inState is another session's file in its state of p ranks that is nearest to the given one; of
// fewer ranks if it has no states of p.
func inState(f *params.File, p int, like params.State) (*params.File, error) {
	sorting := f.Sort()
	for n := p; n > 1; n-- {
		if len(sorting.States(n)) > 0 {
			return f.InState(n, like)
		}
	}
	was := params.Watch{}
	for _, w := range f.Watches {
		if n := len(w.CPUs); n > 1 && n <= p && n > len(was.CPUs) && len(w.States) > 0 {
			was = w
		}
	}
	switch {
	case len(was.CPUs) == 0:
		return nil, fmt.Errorf("it does not say what a flag took: sweep anew")
	case !was.States[0].Same(like):
		return nil, fmt.Errorf("it has one state, in which a flag takes %s", was.States[0].Name())
	}
	return f, nil
}

// logGP are the parameters of LogGP in a stay.
func (s *stay) logGP() (all []LogGP) {
	for _, m := range s.models {
		for _, off := range s.Caches {
			p, _ := m.in[off].(*model.Predictor)
			if p == nil || p.Model != "loggp" {
				continue
			}
			is := p.In(nil).(model.LogGP)
			of := LogGP{State: s.state, OffCache: off, Latency: is.Latency, Overhead: is.Overhead, Gap: is.Gap, GapPerByte: is.GapPerByte}
			if ns := is.Measured.Scale(1e9); ns.N > 0 {
				of.Measured = &ns
			}
			all = append(all, of)
		}
	}
	return all
}
