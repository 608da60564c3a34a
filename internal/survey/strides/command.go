package strides

import (
	"flag"
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/strided"
)

const help = `Pack measures strided messages: p(m,d), what it takes to pack
or unpack m bytes of elements d bytes apart, and for each level of the machine one
way between two CPUs: o_mw contiguous, and l_mw, what the stride adds.

  taulop pack [flags] [MESSAGE ...]

A message is written as in the papers on log_nP: 4K8S are 4 KB at a stride of 8
bytes, of elements of 4 bytes. Each size is measured contiguous too. Without
messages it takes all sizes of -m at all strides of -d.

Examples:
  taulop pack                          1K8S to 64K512S, in ten seconds
  taulop pack -cpus 0,3 4K8S 16K512S   two messages, between two CPUs
  taulop pack -element 8 -d 8,4096 -array 64M -m 64K
  taulop pack -o pack.json             a parameter file
`

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	var sizes, distances []int
	r := Request{Segments: 2, SegmentBytes: 8 << 10}
	argument.Var(f, &sizes, "m", "1K,4K,16K,64K", "bytes of data, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Sizes)
	argument.Var(f, &distances, "d", "8,64,512", "strides in bytes, from element to element, a `list`", argument.Sizes)
	var element, array int
	argument.Var(f, &element, "element", "4", "`size` of an element", argument.Some)
	argument.Var(f, &array, "array", "16M", "`size` of the array that messages lie in", argument.Some)
	var cpus []int
	argument.Var(f, &cpus, "cpus", "", "between these two CPUs alone, a `list` like 0,2 (default a pair of each level)", numa.ParseOrder)
	argument.Var(f, &r.Caches, "cache", "in", "user buffers in cache or off cache, a `list`: in,off", argument.Caches)
	return func(m *numa.Machine) (t survey.Task, err error) {
		f.Visit(func(g *flag.Flag) {
			if f.NArg() > 0 && strings.Contains(" m d element ", " "+g.Name+" ") {
				err = fmt.Errorf("-%s is for messages without a name, and %s says it: leave one of them out", g.Name, f.Arg(0))
			}
		})
		if err != nil {
			return t, err
		}
		if err := argument.FitsMemory("-array", f.Lookup("array").Value.String()); err != nil {
			return t, err
		}
		r.Pairs = Pairs(m)
		if r.Messages, err = messages(f.Args(), sizes, distances, element, array); err != nil {
			return t, err
		}
		if cpus != nil {
			if len(cpus) != 2 || cpus[0] == cpus[1] {
				return t, fmt.Errorf("-cpus %v: name two different CPUs, like 0,2", f.Lookup("cpus").Value)
			}
			if _, err := m.PlaceOn(cpus, 2); err != nil {
				return t, fmt.Errorf("-cpus: %w", err)
			}
			r.Pairs = []Pair{between(m.Levels(m.Allowed), cpus[0], cpus[1])}
		}
		r.ArenaCaches = setups.NeededCaches(m, r.Caches)
		if r, err = NewRequest(r); err != nil {
			return t, err
		}
		t.Request, t.Plan = r, params.Plan{Policies: []numa.Policy{numa.Local}, Taus: []int{1}, Segments: r.Segments, SegmentBytes: r.SegmentBytes, Caches: r.Caches}
		t.Plan.Sizes = lists.Rising(lists.Map(r.Messages, func(m strided.Message) int { return m.Bytes }))
		return t, nil
	}
}

// messages are the named messages and their contiguous ones, or all of the lists.
func messages(words []string, sizes, distances []int, element, array int) (all []strided.Message, err error) {
	if len(words) == 0 {
		return Messages(sizes, distances, element, array)
	}
	for _, word := range words {
		m, err := strided.Parse(word)
		if err != nil {
			return nil, err
		}
		messages, err := Messages([]int{m.Bytes}, []int{m.Stride}, m.Element, array)
		if err != nil {
			return nil, err
		}
		all = append(all, messages...)
	}
	return lists.Unique(all), nil
}
