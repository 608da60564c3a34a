package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const pairsHelp = `Pairs measures transfers between every two cores of this machine, one pair at a
time: a null transfer one way, which is the latency, and one of 8 KB with its
bandwidth. It finds the levels that pairs differ by (SMT siblings, shared cache,
package, node), and pairs that are slower than their level says.

  taulop pairs [flags]

Examples:
  taulop pairs                          a matrix
  taulop pairs -smt -o pairs.json       all CPUs, into a parameter file
  taulop pairs -cpus 0-3 -m 64,8K,64K   four CPUs and more sizes
  taulop plot pairs -o pairs.svg pairs.json
  taulop predict -model mlognp -params pairs.json -P 8 bcast:linear bcast:binomial

Flags:
`

func pairsCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req        = surveyRequest{name: "pairs"}
		flags      = req.flags(0, " (default 10s, or 13 ms a pair where there are many)")
		smt        bool
		cpus, list string
	)
	flags.BoolVar(&smt, "smt", false, "all CPUs, not one of each core")
	flags.StringVar(&cpus, "cpus", "", "these CPUs alone: a `list` like 0,2 or 0-3")
	flags.StringVar(&list, "m", "8K", "message sizes besides 0, a `list` in bytes or with a unit, with doubling ranges: 64,8K or 1K:64K")
	machine, err := req.parse(flags, out, args, pairsHelp)
	if err != nil {
		return err
	}
	if smt && cpus != "" {
		return usagef("-smt and -cpus cannot be used together: choose one")
	}
	var r pairs.Request
	if r.Sizes, err = pairSizes(list); err != nil {
		return err
	}
	if r.CPUs, err = pairCPUs(machine, cpus, smt); err != nil {
		return err
	}
	if req.time == 0 {
		req.time = pairs.DefaultTime(pairs.Count(len(r.CPUs)))
	}
	plan := params.Plan{
		Policies: []numa.Policy{numa.Local}, Sizes: slices.DeleteFunc(slices.Clone(r.Sizes), func(m int) bool { return m == 0 }),
		Taus: []int{1}, Segments: 1, SegmentBytes: pairs.SegmentBytes, Caches: []bool{false},
	}
	if machine.Count().Nodes > 1 {
		plan.Policies = append(plan.Policies, numa.Spread)
	}
	var places []numa.Placement
	for _, policy := range plan.Policies { // for models that place ranks
		p, err := machine.Place(policy, machine.Allowed.Len())
		if err != nil {
			return err
		}
		places = append(places, p)
	}
	return req.measure(ctx, out, errOut, machine, pairs.Survey, survey.Task{Request: r, Plan: plan, Places: places},
		func(f *params.File) (document, error) { return report.NewPairs(f) })
}

// pairSizes are the sizes of a list, and 0.
func pairSizes(list string) ([]int, error) {
	const most = 64 << 20
	sizes, err := argument.List(list, false, func(text string) (int, error) {
		m, err := argument.Bytes(text)
		if err == nil && m > most {
			err = fmt.Errorf("a message of %s is too large: give up to %s", text, view.Bytes(most))
		}
		return m, err
	})
	if err != nil {
		return nil, usagef("-m: %v", err)
	}
	sizes = append(sizes, 0)
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// pairCPUs finds the CPUs to measure.
func pairCPUs(m *numa.Machine, given string, smt bool) (numa.CPUSet, error) {
	cpus := m.CoreCPUs()
	switch {
	case given != "":
		list, err := numa.ParseOrder(given)
		if err != nil {
			return nil, usagef("-cpus: %v", err)
		}
		if _, err := m.PlaceOn(list, len(list)); err != nil {
			return nil, usagef("-cpus: %v", err)
		}
		cpus = numa.SetOf(list...)
	case smt:
		cpus = m.Allowed
	}
	if len(cpus) >= 2 {
		return cpus, nil
	}
	if given == "" && len(m.Allowed) > 1 {
		return nil, usagef("a pair needs two cores, and this process may use CPUs %v of one core: take its SMT siblings with -smt", m.Allowed)
	}
	return nil, usagef("a pair needs two CPUs, and there is CPU %v alone: allow this process more, or name two with -cpus", cpus)
}
