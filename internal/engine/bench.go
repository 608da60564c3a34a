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

// A Bench is shared by the samplers of a launch: the machine, and teams of workers on it.
type Bench struct {
	Machine *numa.Machine
	Conditions
	// Simulation, if not nil, takes the place of the machine's CPUs and memory.
	Simulation *setups.Simulation

	fill  *setups.Fill
	teams []*seat // the last used one is the last
	room  int64   // bytes that all teams may keep mapped
	// Of closed teams:
	warnings []error
	loads    []params.Loads // by placement and τ
}

// A seat is a team and its mapped memory.
type seat struct {
	*setups.Team
	where     string           // identifies the placement
	kept      map[string]int64 // bytes that stay mapped, by purpose
	processes bool             // its workers are processes
}

// NewBench returns the bench of a process. It turns garbage collection off for the rest of the process.
func NewBench(m *numa.Machine) *Bench {
	b := &Bench{Machine: m, Conditions: Conditions{FirstCPU: -1}, room: 1 << 30}
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		b.room = free / 4
		debug.SetMemoryLimit(max(256<<20, free/4)) // beyond it garbage is collected all the same
	}
	debug.SetGCPercent(-1)
	return b
}

// mostThreads bounds the workers of all teams; a single team may have more.
const mostThreads = 256

// Team is the team of a placement. The bench closes it.
func (b *Bench) Team(p numa.Placement) (*setups.Team, error) {
	return b.team(p, fmt.Sprint(p.Workers), setups.NewTeam)
}

// processes is the team of a placement whose workers are processes. There is one such team at a time.
func (b *Bench) processes(p numa.Placement) (*setups.Team, error) {
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

// team is the team with this where, else a new one.
func (b *Bench) team(p numa.Placement, where string, begin func(numa.Placement) (*setups.Team, error)) (*setups.Team, error) {
	if i := slices.IndexFunc(b.teams, func(s *seat) bool { return s.where == where }); i >= 0 {
		s := b.teams[i]
		b.teams = append(slices.Delete(b.teams, i, i+1), s)
		return s.Team, nil
	}
	threads := len(p.Workers) + lists.Sum(b.teams, func(s *seat) int { return s.Tau() })
	for len(b.teams) > 0 && threads > mostThreads {
		threads -= b.teams[0].Tau()
		b.dismiss(b.teams[0])
		b.teams = b.teams[1:]
	}
	// A team restores GOMAXPROCS when it closes, which is right only if teams close in reverse order.
	// They do not, so GOMAXPROCS is raised here.
	procs := len(p.Workers) + 2
	if b.Fill {
		procs += b.Machine.Allowed.Len()
	}
	if runtime.GOMAXPROCS(0) < procs {
		runtime.GOMAXPROCS(procs)
	}
	var t *setups.Team
	var err error
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

// filled is the Fill that keeps idle cores busy, nil if they are to sleep.
func (b *Bench) filled() (*setups.Fill, error) {
	if !b.Fill || b.Simulation != nil || b.fill != nil {
		return b.fill, nil
	}
	cores := lists.Groups(b.Machine.Allowed, func(id int) int { cpu, _ := b.Machine.CPU(id); return cpu.Core })
	var err error
	b.fill, err = setups.NewFill(lists.Map(cores, func(core []int) numa.CPUSet { return core }))
	return b.fill, err
}

// Sample takes a sample of work on a placement's team, of processes for single copies. The work takes `times`
// times as long as the cell.
func (b *Bench) Sample(ctx context.Context, p numa.Placement, work setups.Work, times, hint float64) (Reading, error) {
	team := b.Team
	if c, ok := work.(setups.Collective); ok && c.Single {
		team = b.processes
	}
	t, err := team(p)
	if err != nil {
		return Reading{}, err
	}
	found, err := t.Sample(ctx, work, hint*times)
	found.NS /= times
	return found, err
}

// Look takes a look of the workers on these CPUs, a params.Cycle, see setups.Team.Look; 0: no team has
// such workers.
func (b *Bench) Look(ctx context.Context, cpus []int) (ns, computed float64) {
	for _, s := range b.teams {
		if s.processes || s.Tau() < len(cpus) {
			continue
		}
		ids := lists.Map(s.Placement().Workers[:len(cpus)], func(w numa.Worker) int { return w.ID })
		if !slices.Equal(params.Cycle(ids), cpus) {
			continue
		}
		if ns, computed, err := s.Team.Look(ctx, len(cpus)); err == nil {
			return ns, computed
		}
	}
	return 0, 0
}

// Keep makes room for memory that a placement's team will keep mapped for a purpose: if all teams keep
// too much together, they release it.
func (b *Bench) Keep(p numa.Placement, purpose string, bytes int64) {
	if _, err := b.Team(p); err != nil {
		return // its first sample will report the error
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
	b.warnings = append(b.warnings, s.Warnings()...)
	b.loads = note(b.loads, s.Team.Loads())
	s.Close()
}

// Warnings are the warnings of all teams, each once.
func (b *Bench) Warnings() []error {
	all := slices.Concat(b.warnings, lists.Concat(b.teams, func(s *seat) []error { return s.Warnings() }))
	return lists.Map(lists.Groups(all, error.Error), func(of []error) error { return of[0] })
}

// Loads are the loads of all teams' arenas, by placement and τ.
func (b *Bench) Loads() []params.Loads {
	all := slices.Clone(b.loads)
	for _, s := range b.teams {
		all = note(all, s.Team.Loads())
	}
	return lists.Filter(all, params.Loads.Known)
}

// note adds a team's loads to those of its placement and τ.
func note(all []params.Loads, team params.Loads) []params.Loads {
	i := slices.IndexFunc(all, func(l params.Loads) bool { return l.Placement == team.Placement && l.Tau == team.Tau })
	if i < 0 {
		return append(all, team)
	}
	all[i].Add(team)
	return all
}

// On is a stateless sampler on a bench's workers.
func On(b *Bench, sample func(ctx context.Context, b *Bench, k params.Key, hint float64) (Reading, error)) Sampler {
	return stateless{OnBench{b}, sample}
}

type stateless struct {
	OnBench
	sample func(ctx context.Context, b *Bench, k params.Key, hint float64) (Reading, error)
}

func (s stateless) Sample(ctx context.Context, k params.Key, hint float64) (Reading, error) {
	return s.sample(ctx, s.Bench, k, hint)
}

// OnBench is the common part of samplers on a bench's workers.
type OnBench struct{ *Bench }

// Close leaves the bench open for other samplers.
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
