package sweep

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Sweep measures the cells of a file's plan on a machine. Cells that the file
// has already are taken over.
type Sweep struct {
	File    *params.File
	Machine *numa.Machine
	// Save is called when the file has changed, not so often that it takes more
	// than a twentieth of the time.
	Save func(*params.File) error
	// Report, if not nil, is called before each visit to a cell.
	Report func(Progress)

	jobs    []*job
	missing map[string]int // of what is measured beside: cells without an interval
	teams   map[site]*setups.Team
	arenas  map[arenas]int64 // bytes, of those that are mapped
	room    int64            // for all of them
	started time.Time
	spent   float64 // seconds of earlier runs
	saved   time.Time
	pause   time.Duration // until the next save, at the least
}

// Progress is where a sweep is.
type Progress struct {
	Done, Cells int // cells with an interval, of all
	Pass        int
	Left        time.Duration
	Cell        params.Key // about to be visited
}

// A job is a cell with its measurement.
type job struct {
	key    params.Key
	cell   *setups.Cell
	factor float64
	at     int // index in the file's cells, −1: not there yet
	site
}

// A site is where workers are placed: a team each.
type site struct {
	policy  numa.Policy
	workers int
}

// arenas are what a team keeps mapped for transfers, or for round trips.
type arenas struct {
	team  *setups.Team
	trips bool
}

// Trials a visit: the first two passes make up an interval.
const (
	trialsPerVisit = setups.LeastTrials / 2
	firstPasses    = 2
)

// Run measures until every cell's interval is as narrow as the plan asks for,
// the budget is used up, or ctx ends; then the file is saved. It returns ctx's
// error, and the first error of measuring or saving.
func (s *Sweep) Run(ctx context.Context) (err error) {
	s.started, s.spent = time.Now(), s.File.Seconds
	s.teams, s.arenas = make(map[site]*setups.Team), make(map[arenas]int64)
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		s.room = free / 4
	}
	if err := s.prepare(); err != nil {
		return err
	}
	s.missing = make(map[string]int)
	for _, name := range s.File.Plan.With {
		s.missing[name] = 1 // until it is known
	}
	defer func() {
		s.note()
		if failed := s.save(); err == nil {
			err = failed
		}
	}()
	if err := s.transfers(ctx); err != nil {
		return err
	}
	return s.beside(ctx)
}

// transfers measures all that is not beside.
func (s *Sweep) transfers(ctx context.Context) error {
	defer func() {
		for _, t := range s.teams {
			t.Close()
		}
	}()
	reserved := s.reserved()
	for pass := 0; ; pass++ {
		todo := s.pass(pass)
		if len(todo) == 0 {
			return nil
		}
		runtime.GC() // nothing is collected while teams exist
		visited := false
		for _, j := range todo {
			left := s.left() - reserved
			if left <= 0 {
				return nil
			}
			if left < s.mapping(j) {
				continue
			}
			visited = true
			if s.Report != nil {
				s.Report(Progress{s.done(), len(s.jobs), pass + 1, s.left(), j.key})
			}
			if err := s.visit(ctx, j); err != nil {
				return err
			}
			if err := s.keep(); err != nil {
				return err
			}
		}
		if !visited {
			return nil
		}
	}
}

// mappingRate is how many bytes a second are mapped and filled at the least.
const mappingRate = 1e9

// mapping is how long it takes to map the arena of a job, if it is not there.
func (s *Sweep) mapping(j *job) time.Duration {
	if _, mapped := s.arenas[arenas{s.teams[j.site], j.cell.Trips != nil}]; mapped || !j.key.OffCache {
		return 0
	}
	return time.Duration(float64(j.arenaBytes()) / mappingRate * float64(time.Second))
}

func (j *job) arenaBytes() int64 { return int64(j.cell.Trial.ArenaBytes) * int64(j.workers) }

// prepare makes the jobs, and hands them the samples that the file has.
func (s *Sweep) prepare() error {
	at := make(map[params.Key]int)
	for i, c := range s.File.Cells {
		at[c.Key] = i
	}
	for _, k := range keys(s.File.Plan, s.Machine.Allowed.Len()) {
		tr, factor, err := trial(s.File.Plan, k)
		if err != nil {
			return err
		}
		where, trip := site{k.Placement, workers(k, tr.Setup)}, trip(s.File.Plan, k)
		if k.OffCache {
			place, err := s.place(where.policy, where.workers)
			if err != nil {
				return err
			}
			tr.ArenaBytes = max(room(s.File.Plan, place, s.Machine).WantedArena(), k.Bytes)
			if trip != nil { // one to send from, and one to receive into
				trip.ArenaBytes = tr.ArenaBytes / 2
			}
		}
		j := &job{key: k, factor: factor, at: -1, site: where,
			cell: &setups.Cell{Trial: tr, Trips: trip, Quick: k.Kind == params.GammaCell || k.Kind == params.OverheadCell}}
		if i, ok := at[k]; ok {
			j.at = i
			for _, sample := range s.File.Cells[i].Samples {
				j.cell.Samples = append(j.cell.Samples, sample/factor)
			}
		}
		s.jobs = append(s.jobs, j)
	}
	return nil
}

func (s *Sweep) budget() time.Duration {
	return time.Duration(s.File.Plan.Budget * float64(time.Second))
}

func (s *Sweep) left() time.Duration { return s.budget() - time.Since(s.started) }

// pass chooses what to visit: at first everything that has no interval yet,
// then what is not narrow enough, the wider half of it. Cells of one arena
// follow each other, because filling it takes longer than a visit; otherwise
// the order is random.
func (s *Sweep) pass(pass int) []*job {
	var todo []*job
	if pass < firstPasses {
		for _, j := range s.jobs {
			if len(j.cell.Samples) < setups.LeastTrials {
				todo = append(todo, j)
			}
		}
		if len(todo) == 0 {
			return s.pass(firstPasses)
		}
	} else {
		transfers := s.widest(func(j *job) bool { return j.key.Kind != params.GammaCell })
		gammas := s.widest(func(j *job) bool { return j.key.Kind == params.GammaCell })
		// There are more operators than transfers, and they take less time.
		todo = append(transfers, gammas[:min(len(gammas), max(200, 2*len(transfers)))]...)
	}
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	turn := make(map[site]float64) // of each arena's cells, anywhere: that of the first comes too soon
	for _, j := range todo {
		if _, ok := turn[j.arena()]; !ok {
			turn[j.arena()] = rand.Float64() * float64(len(todo))
		}
	}
	order := make(map[*job]float64)
	for i, j := range todo {
		order[j] = float64(i)
		if j.key.OffCache {
			order[j] = turn[j.arena()]
		}
	}
	slices.SortStableFunc(todo, func(a, b *job) int { return cmp.Compare(order[a], order[b]) })
	return todo
}

// widest are the cells of a kind that are not narrow enough, the wider half.
func (s *Sweep) widest(of func(*job) bool) []*job {
	var wide []*job
	for _, j := range s.jobs {
		if of(j) && j.width() > s.File.Plan.Width {
			wide = append(wide, j)
		}
	}
	slices.SortFunc(wide, func(a, b *job) int { return cmp.Compare(b.width(), a.width()) })
	return wide[:(len(wide)+1)/2]
}

// arena says which cells share one, filled alike: those of a team and a setup,
// or of round trips.
func (j *job) arena() site {
	if !j.key.OffCache {
		return site{}
	}
	return site{j.policy + numa.Policy(j.key.Setup), j.workers}
}

func (j *job) width() float64 { return j.cell.Message().Width() }

// visit adds trials to a cell, and puts it into the file, also if one fails.
func (s *Sweep) visit(ctx context.Context, j *job) error {
	t, err := s.team(j)
	if err != nil {
		return err
	}
	trials := trialsPerVisit
	if j.cell.Quick {
		trials = 1
	}
	had := len(j.cell.Samples)
	for range trials {
		if err = j.cell.Run(ctx, t); err != nil {
			err = fmt.Errorf("%s, m = %d, τ = %d, placement %s: %w", j.key.Kind, j.key.Bytes, j.key.Tau, j.key.Placement, err)
			break
		}
	}
	if len(j.cell.Samples) == had {
		return err
	}
	cell := params.Cell{Key: j.key, Time: j.cell.Message().Scale(j.factor)}
	if j.key.Kind == params.TransferCell {
		cell.K, cell.Transfers = j.cell.Trial.K, j.cell.Trial.Setup.Transfers
	}
	for _, sample := range j.cell.Samples {
		cell.Samples = append(cell.Samples, sample*j.factor)
	}
	if j.at < 0 {
		j.at = len(s.File.Cells)
		s.File.Cells = append(s.File.Cells, params.Cell{})
	}
	s.File.Cells[j.at] = cell
	return err
}

// team is the team of a job's site. Arenas stay mapped as long as all of them
// have room: mapping one takes seconds.
func (s *Sweep) team(j *job) (*setups.Team, error) {
	t, ok := s.teams[j.site]
	if !ok {
		p, err := s.place(j.policy, j.workers)
		if err != nil {
			return nil, err
		}
		if t, err = setups.NewTeam(p); err != nil {
			return nil, err
		}
		s.teams[j.site] = t
	}
	its := arenas{t, j.cell.Trips != nil}
	if _, mapped := s.arenas[its]; j.key.OffCache && !mapped {
		need := j.arenaBytes()
		total := need
		for _, n := range s.arenas {
			total += n
		}
		if total > s.room {
			for other := range s.arenas {
				other.team.Release()
			}
			clear(s.arenas)
		}
		s.arenas[its] = need
	}
	return t, nil
}

func (s *Sweep) place(policy numa.Policy, workers int) (numa.Placement, error) {
	if policy == numa.List {
		return s.Machine.PlaceOn(s.File.Plan.CPUs, workers)
	}
	return s.Machine.Place(policy, workers)
}

// done counts the cells that have an interval.
func (s *Sweep) done() (n int) {
	for _, j := range s.jobs {
		if len(j.cell.Samples) >= setups.LeastTrials {
			n++
		}
	}
	return n
}

// keep saves the file, unless the last time was too short ago for its cost.
func (s *Sweep) keep() error {
	if time.Since(s.saved) < s.pause {
		return nil
	}
	return s.save()
}

func (s *Sweep) save() error {
	began := time.Now()
	s.File.Complete = s.done() == len(s.jobs)
	for _, missing := range s.missing {
		s.File.Complete = s.File.Complete && missing == 0
	}
	s.File.Seconds = s.spent + time.Since(s.started).Seconds()
	if err := s.Save(s.File); err != nil {
		return err
	}
	s.saved = time.Now()
	s.pause = 20 * s.saved.Sub(began)
	return nil
}

// note writes into the file what its readers must know.
func (s *Sweep) note() {
	var slow, batches int
	for _, j := range s.jobs {
		a, b := j.cell.Slow()
		slow, batches = slow+a, batches+b
	}
	if share := float64(slow) / float64(max(1, batches)); share > 0.05 {
		s.warn("%.0f %% of the batches took more than 1.5 times their median: something else runs on these CPUs", 100*share)
	}
	for _, t := range s.teams {
		for _, w := range t.Warnings() {
			s.warn("%v", w)
		}
		if t.Placement().Oversubscribed {
			s.warn("τ = %d is more than the CPUs allowed: those cells are no measurement of concurrency", t.Tau())
		}
	}
	if missing := len(s.jobs) - s.done(); missing > 0 {
		s.warn("%d of %d cells have too few samples for an interval: go on with -resume, or allow more with -budget", missing, len(s.jobs))
	}
}

func (s *Sweep) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(s.File.Warnings, w) {
		s.File.Warnings = append(s.File.Warnings, w)
	}
}

// Widths are the relative half-widths of a file's cells, ascending.
func Widths(f *params.File) []float64 {
	var ws []float64
	for _, c := range f.Cells {
		ws = append(ws, c.Time.Width())
	}
	slices.Sort(ws)
	return ws
}

// Quantile is the q-quantile of ascending values.
func Quantile(ascending []float64, q float64) float64 {
	if len(ascending) == 0 {
		return math.NaN()
	}
	return ascending[min(len(ascending)-1, int(q*float64(len(ascending))))]
}
