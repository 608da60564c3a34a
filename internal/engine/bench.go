package engine

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Bench is what the samplers of a launch share: the machine, and teams of workers
// on it.
type Bench struct {
	Machine *numa.Machine
	Conditions
	// Simulation, if not nil, takes the place of the machine's CPUs and memory.
	Simulation *setups.Simulation

	fill  *setups.Fill
	teams []*seat // used last comes last
	room  int64   // bytes that all teams may keep mapped
	told  []error
	loads []params.Loads // of teams that were dismissed, by placement and τ
}

// A seat is a team and its mapped memory.
type seat struct {
	*setups.Team
	where     string // tells placements apart
	kept      map[string]int64
	processes bool // its workers are
}

// NewBench is for the whole of a process: nothing is collected any more while
// teams exist, and every worker will have a processor.
func NewBench(m *numa.Machine) *Bench {
	b := &Bench{Machine: m, Conditions: Conditions{FirstCPU: -1}, room: 1 << 30}
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		b.room = free / 4
		debug.SetMemoryLimit(max(256<<20, free/4)) // a launch that makes more garbage than that collects it
	}
	debug.SetGCPercent(-1)
	return b
}

// mostThreads bounds the workers that wait for work, beyond the team that is needed.
const mostThreads = 256

// Team is the team of a placement, which stays the bench's.
func (b *Bench) Team(p numa.Placement) (*setups.Team, error) {
	return b.team(p, fmt.Sprint(p.Workers), setups.NewTeam)
}

// Processes is the team of a placement whose workers are processes. There is one at a time,
// which has its own memory.
func (b *Bench) Processes(p numa.Placement) (*setups.Team, error) {
	where := fmt.Sprint("processes ", p.Workers)
	b.teams = slices.DeleteFunc(b.teams, func(s *seat) bool {
		other := s.processes && s.where != where
		if other {
			b.dismiss(s)
		}
		return other
	})
	t, err := b.team(p, where, setups.NewProcesses)
	if err == nil {
		b.teams[len(b.teams)-1].processes = true
	}
	return t, err
}

// team is the one that is where, else a new one.
func (b *Bench) team(p numa.Placement, where string, begin func(numa.Placement) (*setups.Team, error)) (*setups.Team, error) {
	if i := slices.IndexFunc(b.teams, func(s *seat) bool { return s.where == where }); i >= 0 {
		s := b.teams[i]
		b.teams = append(slices.Delete(b.teams, i, i+1), s)
		return s.Team, nil
	}
	threads := len(p.Workers)
	for _, s := range b.teams {
		threads += s.Tau()
	}
	for len(b.teams) > 0 && threads > mostThreads {
		threads -= b.teams[0].Tau()
		b.dismiss(b.teams[0])
		b.teams = b.teams[1:]
	}
	// A team restores GOMAXPROCS when it closes, which needs teams to close in reverse order.
	// Here they do not, so it is raised beforehand.
	procs := len(p.Workers) + 2
	if b.Fill {
		procs += b.Machine.Allowed.Len()
	}
	if runtime.GOMAXPROCS(0) < procs {
		runtime.GOMAXPROCS(procs)
	}
	var (
		t   *setups.Team
		err error
	)
	if b.Simulation != nil {
		t = b.Simulation.Team(p)
	} else if t, err = begin(p); err != nil {
		return nil, err
	}
	t.Huge = b.Huge
	if t.Fill, err = b.filled(); err != nil {
		t.Close()
		return nil, err
	}
	b.teams = append(b.teams, &seat{Team: t, where: where, kept: make(map[string]int64)})
	return t, nil
}

// filled is what keeps cores busy that no worker is on, nil where they are to sleep.
func (b *Bench) filled() (*setups.Fill, error) {
	if !b.Fill || b.Simulation != nil || b.fill != nil {
		return b.fill, nil
	}
	var cores []numa.CPUSet
	at := make(map[int]int)
	for _, cpu := range b.Machine.CPUs {
		if !b.Machine.Allowed.Contains(cpu.ID) {
			continue
		}
		i, known := at[cpu.Core]
		if !known {
			i = len(cores)
			at[cpu.Core], cores = i, append(cores, nil)
		}
		cores[i] = append(cores[i], cpu.ID)
	}
	var err error
	b.fill, err = setups.NewFill(cores)
	return b.fill, err
}

// Sample has a placement's team do work that takes `times` times as long as the cell.
func (b *Bench) Sample(ctx context.Context, p numa.Placement, work setups.Work, times, hint float64) (Reading, error) {
	t, err := b.Team(p)
	if err != nil {
		return Reading{}, err
	}
	found, err := t.Sample(ctx, work, hint*times)
	found.NS /= times
	return found, err
}

// Look measures an empty exchange of the workers on these CPUs, a params.Cycle, and what sums take
// them, if a team has them; 0: unknown.
func (b *Bench) Look(ctx context.Context, cpus []int) (ns, computed float64) {
	for _, s := range b.teams {
		if s.processes || s.Tau() < len(cpus) {
			continue
		}
		var of []int
		for _, w := range s.Placement().Workers[:len(cpus)] {
			of = append(of, w.ID)
		}
		if !slices.Equal(params.Cycle(of), cpus) {
			continue
		}
		if ns, computed, err := s.Team.Look(ctx, len(cpus)); err == nil {
			return ns, computed
		}
	}
	return 0, 0
}

// SampleProcesses has the team of a placement whose workers are processes do work.
func (b *Bench) SampleProcesses(ctx context.Context, p numa.Placement, work setups.Work, hint float64) (Reading, error) {
	t, err := b.Processes(p)
	if err != nil {
		return Reading{}, err
	}
	return t.Sample(ctx, work, hint)
}

// Keep makes room for memory that the team of a placement will keep mapped for a
// purpose: where all of it together is too much, others give theirs back.
func (b *Bench) Keep(p numa.Placement, purpose string, bytes int64) {
	if _, err := b.Team(p); err != nil {
		return // which is said where the team has work
	}
	own := b.teams[len(b.teams)-1]
	if own.kept[purpose] >= bytes {
		return
	}
	total := bytes
	for _, s := range b.teams {
		for _, n := range s.kept {
			total += n
		}
	}
	if total > b.room {
		for _, s := range b.teams {
			s.Release()
			clear(s.kept)
		}
	}
	own.kept[purpose] = bytes
}

func (b *Bench) dismiss(s *seat) {
	b.told = append(b.told, s.Warnings()...)
	b.loads = note(b.loads, s.Team.Loads())
	s.Close()
}

// Warnings say what is not known about where memory lies, each once.
func (b *Bench) Warnings() (warnings []error) {
	all := slices.Clone(b.told)
	for _, s := range b.teams {
		all = append(all, s.Warnings()...)
	}
	for _, w := range all {
		if !slices.ContainsFunc(warnings, func(o error) bool { return o.Error() == w.Error() }) {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// Loads are the loads of all teams' arenas, by placement and τ.
func (b *Bench) Loads() []params.Loads {
	all := slices.Clone(b.loads)
	for _, s := range b.teams {
		all = note(all, s.Team.Loads())
	}
	return lists.Filter(all, params.Loads.Known)
}

// note adds a team's loads to the others'.
func note(all []params.Loads, of params.Loads) []params.Loads {
	i := slices.IndexFunc(all, func(l params.Loads) bool { return l.Placement == of.Placement && l.Tau == of.Tau })
	if i < 0 {
		return append(all, of)
	}
	all[i].Add(of)
	return all
}

// On is a sampler on a bench's workers that remembers nothing between samples.
func On(b *Bench, sample func(ctx context.Context, b *Bench, k params.Key, hint float64) (Reading, error)) Sampler {
	return forgetful{OnBench{b}, sample}
}

type forgetful struct {
	OnBench
	sample func(ctx context.Context, b *Bench, k params.Key, hint float64) (Reading, error)
}

func (f forgetful) Sample(ctx context.Context, k params.Key, hint float64) (Reading, error) {
	return f.sample(ctx, f.Bench, k, hint)
}

// OnBench is the common part of samplers on a bench's workers.
type OnBench struct{ *Bench }

// Close leaves the bench to others.
func (OnBench) Close() {}

// Close ends all teams.
func (b *Bench) Close() {
	for _, s := range b.teams {
		b.dismiss(s)
	}
	b.teams = nil
	if b.fill != nil {
		b.fill.Close()
		b.fill = nil
	}
}
