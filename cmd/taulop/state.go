package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/params"
)

// A stateChoice is -state: the state of the machine whose parameters to use. Zero: means over all
// states by their shares.
type stateChoice struct {
	most  bool
	like  params.State
	among bool // the file is one of several, and may lack the state
}

func (s *stateChoice) add(flags *argument.Set, otherwise string) {
	argument.Var(flags, s, "state", "", "`state` of a virtual machine whose host moves its CPUs, named by the time of a flag between two workers: 64ns, 64ns-slowed while something slows a core, or most, the most frequent (default "+otherwise+")", parseState, "most")
}

// mixture describes the default of most commands.
const mixture = "means over all by their shares"

func parseState(text string) (s stateChoice, err error) {
	if text == "most" {
		return stateChoice{most: true}, nil
	}
	flag, slowed := strings.CutSuffix(text, "slowed")
	s.like.NS, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(flag, "- "), "ns")), 64)
	if err != nil || !(s.like.NS > 0) || math.IsInf(s.like.NS, 0) {
		return s, usagef("%q is no state: give what a flag takes in it, like 64ns, or most", text)
	}
	if slowed {
		s.like.Slow = 1 // any
	}
	return s, nil
}

// of replaces machines by themselves in the state. Machines with one state stay as they are.
func (s stateChoice) of(machines []compare.Machine) error {
	if !s.most && s.like.NS == 0 {
		return nil
	}
	var refused error
	chosen := false
	for i := range machines {
		in, err := machines[i].In(s.like)
		if err != nil && len(machines[i].File.States()) == 0 {
			if refused == nil {
				refused = err
			}
			continue
		}
		if err != nil {
			return usagef("-state: %v", err)
		}
		machines[i], chosen = in, true
	}
	if !chosen && !s.among && refused != nil {
		return usagef("-state: %v", refused)
	}
	return nil
}

// each is machines in the chosen state, or without a choice every machine in each of its states.
func (s stateChoice) each(machines []compare.Machine) (all []compare.Machine, err error) {
	if s.most || s.like.NS > 0 {
		return machines, s.of(machines)
	}
	for _, m := range machines {
		all = append(all, m.Each()...)
	}
	return all, nil
}

// read reads a parameter file in the state; what begins an error.
func (s stateChoice) read(what, path string) (m compare.Machine, err error) {
	if m, err = compare.Read(path); err != nil {
		return m, usagef("%s%v", what, unreadable(err, path))
	}
	return m, s.one(&m)
}

// one is of for a single machine.
func (s stateChoice) one(m *compare.Machine) error {
	all := []compare.Machine{*m}
	err := s.of(all)
	*m = all[0]
	return err
}
