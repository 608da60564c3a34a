// Package loaded measures latencies while other cores load the memory: of a read, by a chain of
// dependent reads through more memory than the caches hold, and of a pair of cores, a cache line one
// way. Intel's Memory Latency Checker calls the former loaded latency.
//
// Its opinion: an injection level is a share of the launch's greatest injected bandwidth; the actual
// bandwidth is counted in the batches of the latency, which is drawn over it.
package loaded

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is latencies under load.
var Survey = survey.Register(&survey.Survey{
	Name: "loaded", Doc: "latency of a read and of a pair while other cores read memory",
	Decode: survey.Decoder[Request],
	Plan: func(m *numa.Machine, p params.Plan) (survey.Request, error) {
		r, _, err := NewRequest(m, nil, Levels, cmp.Or(p.ArenaCaches, setups.ArenaCaches))
		return r, err
	},
	Command: &survey.Command{Help: help, Time: 15 * time.Second, Carries: true, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
	Drawing: &view.Drawing{
		Kind: params.LoadedCell, Profiles: Profiles,
		Name: "loaded", About: "latency against the bandwidth that other cores use", Example: "taulop plot loaded -o loaded.svg loaded.json",
		Title: "Latency while other cores read memory", What: "latencies under load", Measure: "taulop loaded",
		Order: []string{"read", "pair"},
		Label: "Latency under load",
	},
})

const help = `Loaded measures latencies while other cores read memory, from none of it to all
that they can: of a read of memory, by a chain of reads that each wait for the one
before, and of a cache line one way between two cores.

  taulop loaded [flags]

The first core measures, with the second for the pair; all others inject. A level
is a share of what they inject at the most, and what they really inject is
measured in the same batches.

Examples:
  taulop loaded                                 a core each
  taulop loaded -cpus 0,2,4-7 -o loaded.json    CPU 0 measures, 0 and 2 are the pair
  taulop loaded -levels 0,50,90,100
  taulop plot loaded -o loaded.svg loaded.json
`

// Levels are the default injection levels, in % of full speed.
var Levels = []int{0, 5, 10, 20, 40, 60, 80, 100}

// measuring is the number of measuring cores.
var measuring = map[string]int{params.LoadedRead: 1, params.LoadedPair: 2}

// A Request is injection levels on some CPUs.
type Request struct {
	CPUs       []int `json:"cpus"`   // the first measures, with the second for the pair; others inject
	Levels     []int `json:"levels"` // in %, rising
	ChainBytes int   `json:"chain_bytes"`
	ArenaBytes int   `json:"arena_bytes"` // of each injector
}

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	var cpus, levels []int
	argument.Var(f, &cpus, "cpus", "", "these CPUs alone, one of each core unless given: a `list` like 0,2 or 0-3", numa.ParseOrder)
	argument.Var(f, &levels, "levels", "0,5,10,20,40,60,80,100", "`list` of injected loads, in % of the maximum", argument.Rising(shares))
	return func(m *numa.Machine) (t survey.Task, err error) {
		r, warnings, err := NewRequest(m, cpus, levels, setups.NeededCaches(m, []bool{true}))
		if err != nil {
			return t, err
		}
		place, err := r.place(m)
		return survey.Task{Request: r, Huge: true, Warnings: warnings, Places: []numa.Placement{place},
			Plan: params.Plan{Policies: []numa.Policy{numa.List}, CPUs: r.CPUs, Taus: []int{1}}}, err
	}
}

// NewRequest chooses the memory: a chain of so many times the caches, see setups.ArenaOf, and as much for all
// injectors of a cache together. Without CPUs it takes one CPU of each core.
func NewRequest(m *numa.Machine, cpus, levels []int, caches float64) (r Request, warnings []error, err error) {
	if cpus == nil {
		cpus = m.CoreCPUs()
	}
	r = Request{CPUs: cpus, Levels: levels}
	place, err := r.place(m)
	if err != nil {
		return r, nil, err
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return r, nil, err
	}
	first := place
	first.Workers = place.Workers[:1]
	r.ChainBytes, r.ArenaBytes = setups.ArenaOf(m, first, caches), setups.ArenaOf(m, place, caches)
	most := free / 4
	for _, node := range m.Nodes {
		if node.FreeBytes > 0 && slices.ContainsFunc(place.Workers, func(w numa.Worker) bool { return w.UserNode == node.ID }) {
			most = min(most, node.FreeBytes/2)
		}
	}
	wanted := int64(r.ChainBytes) + int64(r.ArenaBytes)*int64(len(cpus)-1)
	if wanted > most {
		share := float64(most) / float64(wanted)
		r.ChainBytes, r.ArenaBytes = int(share*float64(r.ChainBytes)), int(share*float64(r.ArenaBytes))
		warnings = append(warnings, setups.Partly("reads", int(most), int(wanted)))
	}
	whole := func(n int) int { return max(1, n/setups.ChunkBytes) * setups.ChunkBytes }
	r.ChainBytes, r.ArenaBytes = whole(r.ChainBytes), whole(r.ArenaBytes)
	return r, warnings, nil
}

func (r Request) place(m *numa.Machine) (numa.Placement, error) {
	return m.PlaceOn(r.CPUs, len(r.CPUs))
}

// Cells are the latency and the injected rate at each level.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, what := range []string{params.LoadedPair, params.LoadedRead} {
		n := measuring[what]
		if len(r.CPUs) <= n {
			warnings = append(warnings, fmt.Errorf("the latency of a %s is left out: it takes %d cores or more, because besides those who measure one injects, and here it has %s", what, n+1, printable.Count(len(r.CPUs), "core")))
			continue
		}
		for _, level := range r.Levels {
			load := params.Load{What: what, Level: level}
			group := load.String()
			for _, load.Rate = range []bool{false, true} {
				if load.Rate && level == 0 {
					continue
				}
				key := params.Key{Kind: params.LoadedCell, Placement: numa.List, OffCache: true, Tau: len(r.CPUs), Bytes: lineBytes, Variant: load}
				cells = append(cells, engine.Cell{Cell: params.Cell{Key: key}, Group: group})
			}
		}
	}
	return cells, warnings, nil
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) {
	place, err := r.place(b.Machine)
	if err != nil {
		return nil, err
	}
	if place.Oversubscribed {
		return nil, engine.RefusedError(fmt.Sprintf("%d workers do not have a CPU each: name fewer", len(r.CPUs)))
	}
	return &sampler{Request: r, OnBench: engine.OnBench{Bench: b}, place: place, most: make(map[string]float64), other: make(map[params.Key]engine.Reading)}, nil
}

type sampler struct {
	Request
	engine.OnBench
	place numa.Placement
	chain *chain
	most  map[string]float64 // ns a line at full speed, by latency
	// other holds the second reading of the last measurement, which gives a latency and a rate.
	other map[params.Key]engine.Reading
}

func (s *sampler) Sample(ctx context.Context, k params.Key, hint float64) (engine.Reading, error) {
	if found, measured := s.other[k]; measured {
		delete(s.other, k)
		return found, nil
	}
	l := k.Variant.(params.Load)
	if l.Rate {
		hint = 0 // the hint is a rate
	}
	if s.most[l.What] == 0 {
		if err := s.saturate(ctx, l.What); err != nil {
			return engine.Reading{}, err
		}
	}
	latency, injected, err := s.measure(ctx, l.What, l.Level, hint)
	if err != nil || l.Level == 0 {
		return latency, err
	}
	other := k
	other.Variant = params.Load{What: l.What, Level: l.Level, Rate: !l.Rate}
	if l.Rate {
		s.other[other] = latency
		return injected, nil
	}
	s.other[other] = injected
	return latency, nil
}

// measure measures a latency and the injected rate.
func (s *sampler) measure(ctx context.Context, what string, level int, hint float64) (latency, injected engine.Reading, err error) {
	var load *setups.Load
	if level > 0 {
		load = &setups.Load{ArenaBytes: s.ArenaBytes}
		if level < 100 {
			load.Every = s.every(what, level)
		}
	}
	team, err := s.Team(s.place)
	if err != nil {
		return latency, injected, err
	}
	huge := team.Huge
	team.Huge = true // huge pages avoid page walks
	defer func() { team.Huge = huge }()
	s.Keep(s.place, "loaded", int64(s.ChainBytes)+int64(s.ArenaBytes)*int64(len(s.CPUs)-1))
	work, n := s.work(what)
	latency, err = s.OnBench.Sample(ctx, s.place, setups.Loaded{Work: work, Load: load}, n, hint)
	injected = team.Injected()
	injected.CPUs, injected.Before, injected.After = latency.CPUs, latency.Before, latency.After // the same batches
	return latency, injected, err
}

// Warnings include that the kernel gave too few huge pages.
func (s *sampler) Warnings() []error {
	team, err := s.Team(s.place)
	if err != nil || len(s.most) == 0 || team.HugeShareOfReads() > leastHuge {
		return s.OnBench.Warnings()
	}
	return append(s.OnBench.Warnings(), errors.New("the kernel did not give huge pages for all of the memory that is read: walks through page tables are in latencies under load, unless /sys/kernel/mm/transparent_hugepage/enabled allows huge pages"))
}

// leastHuge is the share of memory in huge pages from which on page walks are few.
const leastHuge = 0.9

// saturate measures the injectors' full speed: the best of three, because other programs may take a
// CPU. It also evicts the arenas from the caches.
func (s *sampler) saturate(ctx context.Context, what string) error {
	best := math.Inf(1)
	for range 3 {
		_, injected, err := s.measure(ctx, what, 100, 0)
		if err != nil {
			return err
		}
		best = min(best, injected.NS)
	}
	s.most[what] = best
	return nil
}

// every is the spacing of chunks at a level: 100/level times the spacing at full speed.
func (s *sampler) every(what string, level int) time.Duration {
	injectors := float64(len(s.CPUs) - measuring[what])
	return time.Duration(s.most[what] * setups.ChunkBytes / lineBytes * injectors * 100 / float64(level))
}

// segments is the number of segments of a pair's message, large enough to make its loop negligible.
const segments = 64

// work is the measuring work and its number of latencies.
func (s *sampler) work(what string) (w setups.Work, n float64) {
	if what == params.LoadedPair {
		tr := setups.Trial{Setup: setups.Isolated, Tau: 2, Segments: 1, SegmentBytes: lineBytes, K: segments, Bytes: segments * lineBytes}
		return tr, float64(segments * tr.Setup.Transfers)
	}
	if s.chain == nil {
		s.chain = newChain(s.ChainBytes)
	}
	return s.chain.passes(), stepsOfPass
}

// shares reads injection levels.
func shares(list string) ([]int, error) {
	return argument.List(list, false, func(text string) (int, error) {
		level, err := strconv.Atoi(text)
		if err != nil || level < 0 || level > 100 {
			err = fmt.Errorf("%q is no level: give whole numbers from 0 to 100, like 0,50,100", text)
		}
		return level, err
	})
}
