package pairs

import (
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const help = `Pairs measures transfers between every two cores of this machine, one pair at a
time: a null transfer one way, which is the latency, and one of 8 KB with its
bandwidth. It finds the levels that pairs differ by (SMT siblings, shared cache,
package, node), pairs that are slower than their level says, and groups of cores that
the machine's description does not tell. With several nodes the memory between two
cores lies on the writer's node, the reader's and a third one in turn.

  taulop pairs [flags]

Examples:
  taulop pairs                          a matrix
  taulop pairs -smt -o pairs.json       all CPUs, into a parameter file
  taulop pairs -cpus 0-3 -m 64,8K,64K   four CPUs and more sizes
  taulop pairs -addresses 16            medians over 16 pages of memory a sample
  taulop plot pairs -o pairs.svg pairs.json
  taulop predict -model mlognp -params pairs.json -P 8 bcast:linear bcast:binomial
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	smt := f.Bool("smt", false, "all CPUs, not one of each core")
	var cpus []int
	argument.Var(f, &cpus, "cpus", "", "these CPUs alone: a `list` like 0,2 or 0-3", numa.ParseOrder)
	var r Request
	f.IntVar(&r.Addresses, "addresses", 1, "number of `pages` that the pairs of a sample use in turn, 1 to 64: where a node has several slices of memory or cache, the time depends on the page")
	argument.Var(f, &r.Sizes, "m", "8K", "message sizes besides 0, a `list` in bytes or with a unit, with doubling ranges: 64,8K or 1K:64K", argument.Rising(sizes))
	return func(m *numa.Machine) (t survey.Task, err error) {
		if *smt && cpus != nil {
			return t, errors.New("-smt and -cpus cannot be used together: choose one")
		}
		if r.Addresses < 1 || r.Addresses > mostAddresses {
			return t, fmt.Errorf("-addresses is %d: give 1 to %d", r.Addresses, mostAddresses)
		}
		r.Sizes = slices.DeleteFunc(r.Sizes, func(m int) bool { return m == 0 })
		t.Plan = params.Plan{
			Policies: []numa.Policy{numa.Local}, Sizes: slices.Clone(r.Sizes), Taus: []int{1}, Segments: 1, SegmentBytes: SegmentBytes, Caches: []bool{false},
		}
		r.Sizes = append([]int{0}, r.Sizes...)
		if r.CPUs, err = chosen(m, cpus, *smt); err != nil {
			return t, err
		}
		if m.Count().Nodes > 1 {
			t.Plan.Policies = append(t.Plan.Policies, numa.Spread)
		}
		for _, policy := range t.Plan.Policies { // for models that place ranks
			p, err := m.Place(policy, m.Allowed.Len())
			if err != nil {
				return t, err
			}
			t.Places = append(t.Places, p)
		}
		t.Request, t.Time, t.Document = r, r.Time(m), NewDocument
		return t, nil
	}
}

const mostAddresses = 64

func sizes(list string) ([]int, error) {
	const most = 64 << 20
	return argument.List(list, false, func(text string) (int, error) {
		m, err := argument.Bytes(text)
		if err == nil && m > most {
			err = fmt.Errorf("a message of %s is too large: give up to %s", text, view.Bytes(most))
		}
		return m, err
	})
}

func chosen(m *numa.Machine, given []int, smt bool) (numa.CPUSet, error) {
	cpus := m.CoreCPUs()
	switch {
	case given != nil:
		if _, err := m.PlaceOn(given, len(given)); err != nil {
			return nil, fmt.Errorf("-cpus: %w", err)
		}
		cpus = numa.SetOf(given...)
	case smt:
		cpus = m.Allowed
	}
	if len(cpus) >= 2 {
		return cpus, nil
	}
	if given == nil && len(m.Allowed) > 1 {
		return nil, fmt.Errorf("a pair needs two cores, and this process may use CPUs %v of one core: take its SMT siblings with -smt", m.Allowed)
	}
	return nil, fmt.Errorf("a pair needs two CPUs, and there is CPU %v alone: allow this process more, or name two with -cpus", cpus)
}
