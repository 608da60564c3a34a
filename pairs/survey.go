// Package pairs measures transfers between every two CPUs of a machine, one pair at
// a time, and finds those that are slower than what the two share lets expect.
//
// Its opinion: pairs that run at once disturb each other, so they take turns; a
// little of every pair comes before much of any; and where memory happens to lie
// shows in the spread over fresh mappings, so no pair is judged by one.
package pairs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// SegmentBytes is S of messages that are longer.
const SegmentBytes = 8 << 10

// A Survey measures L(m,1) of lone transfers between every two of some CPUs.
type Survey struct {
	Machine *numa.Machine
	CPUs    numa.CPUSet
	Sizes   []int // m in bytes, rising; 0 is a null transfer, y
	Time    time.Duration
	Width   float64 // relative half-width of an interval that is narrow enough
	// Have are cells of an earlier survey: their samples count.
	Have []params.Cell
	// Report, if not nil, is called before each visit to a pair.
	Report func(Progress)

	levels   numa.Levels
	started  time.Time
	overhead float64         // ns of a visit that nothing was measured in, as it was lately
	typical  map[kin]float64 // ns a message
	visits   int
	slow     int // batches
	batches  int
	told     []error
}

// Progress is where a survey is.
type Progress struct {
	Done, Pairs int // pairs that have their samples, of all
	Left        time.Duration
	A, B        int // CPUs, about to be measured
}

// kin are messages that take about as long.
type kin struct{ level, bytes int }

// A job is a pair with its samples, ns a transfer, by size.
type job struct {
	a, b, level int
	samples     [][]float64
	node        int // of the two that the next mapping lies on, 0 or 1
}

const visitsPerGC = 64

const (
	// mappings of a visit: what an interval needs.
	mappings = setups.LeastTrials
	batches  = 2 // of a mapping, beside that which warms up
	// A batch is long against the clock and the barrier, and no longer than that of
	// other measurements.
	leastBatch = 20 * time.Microsecond
	mostBatch  = 500 * time.Microsecond
	nullHops   = 64 // segments of a null message, so that its own loop does not count
)

// DefaultTime is for that many pairs: ten seconds, or 13 ms a pair where they are
// many, so that the 8,128 pairs of 128 cores are done within two minutes.
func DefaultTime(pairs int) time.Duration {
	return max(10*time.Second, time.Duration(pairs)*13*time.Millisecond)
}

// Count is the number of pairs among n CPUs.
func Count(n int) int { return n * (n - 1) / 2 }

// Run measures until every interval is narrow enough, or the time is up, or ctx
// ends. It returns the cells that there are, with ctx's error or the first of
// measuring, and what their readers must know.
func (s *Survey) Run(ctx context.Context) (cells []params.Cell, warnings []error, err error) {
	if len(s.CPUs) < 2 {
		return nil, nil, fmt.Errorf("a pair needs two CPUs, and %d may be used", len(s.CPUs))
	}
	s.started, s.levels, s.typical = time.Now(), s.Machine.Levels(s.CPUs), make(map[kin]float64)
	var jobs []*job
	for i, a := range s.CPUs {
		for _, b := range s.CPUs[i+1:] {
			jobs = append(jobs, &job{a: a, b: b, level: s.levels.Of(a, b), samples: make([][]float64, len(s.Sizes))})
		}
	}
	s.resume(jobs)
	lacking := fresh(jobs)
	done, todo := len(jobs)-len(lacking), lacking
	if len(todo) == 0 {
		todo = s.wide(jobs)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see pass
	for ; len(todo) > 0 && err == nil; todo = s.wide(jobs) {
		rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		if todo, err = s.pass(ctx, slices.Clone(todo), len(jobs), &done); len(todo) > 0 {
			break // the time is up
		}
	}
	return s.cells(jobs), s.warnings(jobs), err
}

// resume hands the jobs the samples of an earlier survey.
func (s *Survey) resume(jobs []*job) {
	had := make(map[params.Key][]float64)
	for _, c := range s.Have {
		had[c.Key] = c.Values()
	}
	for _, j := range jobs {
		for row, m := range s.Sizes {
			j.samples[row] = slices.Clone(had[j.key(m)])
		}
	}
}

// fresh are the jobs with a size that has too few samples.
func fresh(jobs []*job) (todo []*job) {
	for _, j := range jobs {
		if j.fresh() {
			todo = append(todo, j)
		}
	}
	return todo
}

func (j *job) fresh() bool {
	return slices.ContainsFunc(j.samples, func(of []float64) bool { return len(of) < setups.LeastTrials })
}

func (j *job) key(m int) params.Key {
	return params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: params.PairVariant(j.a, j.b)}
}

// pass visits jobs and returns those that it has not come to.
func (s *Survey) pass(ctx context.Context, todo []*job, all int, done *int) ([]*job, error) {
	for len(todo) > 0 {
		left := s.Time - time.Since(s.started)
		if left <= 0 {
			return todo, nil
		}
		j := todo[0]
		if s.Report != nil {
			s.Report(Progress{*done, all, left, j.a, j.b})
		}
		fresh := j.fresh()
		if err := s.visit(ctx, j, left/time.Duration(len(todo))); err != nil {
			return todo, fmt.Errorf("CPUs %d and %d: %w", j.a, j.b, err)
		}
		if fresh && !j.fresh() {
			*done++
		}
		todo = todo[1:]
		// A collection takes longer than a team's start and is for all of many.
		if s.visits++; s.visits%visitsPerGC == 0 {
			runtime.GC()
		}
	}
	return nil, nil
}

// wide are the jobs with an interval that is not narrow enough.
func (s *Survey) wide(jobs []*job) (todo []*job) {
	for _, j := range jobs {
		if slices.ContainsFunc(j.samples, func(of []float64) bool { return !(fit.Median(of).Width() <= s.Width) }) {
			todo = append(todo, j)
		}
	}
	return todo
}

// share says how a visit's time is used: so many mappings, so long a batch.
func (s *Survey) share(visit time.Duration) (n int, batch float64) {
	for n = mappings; ; n /= 2 {
		batch = (float64(visit) - s.overhead*float64(n)/mappings) / float64(n*len(s.Sizes)*(batches+1))
		if batch >= float64(leastBatch) || n == 1 {
			return n, min(max(batch, float64(leastBatch)), float64(mostBatch))
		}
	}
}

// visit adds a sample of each size for every mapping that the time allows.
func (s *Survey) visit(ctx context.Context, j *job, given time.Duration) error {
	began := time.Now()
	place, err := s.Machine.PlaceOn([]int{j.a, j.b}, 2)
	if err != nil {
		return err
	}
	on := [2]numa.Placement{place, place}
	if here, there := place.Workers[0].UserNode, place.Workers[1].UserNode; here != there {
		if on[1], err = s.Machine.BindIntermediate(place, there); err != nil {
			return err
		}
	}
	team, err := setups.NewTeam(place)
	if err != nil {
		return err
	}
	defer team.Close()
	n, batch := s.share(given)
	measured := 0.0
	for range n {
		if err := team.Rebind(on[j.node]); err != nil {
			return err
		}
		j.node = 1 - j.node
		for _, row := range rand.Perm(len(s.Sizes)) {
			took, err := s.sample(ctx, team, j, row, batch)
			if err != nil {
				return err
			}
			measured += took
		}
	}
	s.told = append(s.told, team.Warnings()...)
	if len(s.told) > 1 {
		s.told = unique(s.told)
	}
	lost := (float64(time.Since(began)) - measured) * mappings / float64(n)
	if s.overhead == 0 {
		s.overhead = lost
	}
	s.overhead += (min(lost, 2*s.overhead) - s.overhead) / 8 // one that was held up is not how it is
	return nil
}

// sample measures one size in fresh memory and returns the ns that batches took.
func (s *Survey) sample(ctx context.Context, team *setups.Team, j *job, row int, batch float64) (took float64, err error) {
	m := s.Sizes[row]
	tr := setups.Trial{Setup: setups.Lone, Segments: 1, SegmentBytes: min(m, SegmentBytes), K: nullHops, Bytes: m, Batches: batches}
	transfers := float64(nullHops * tr.Setup.Transfers)
	if m > 0 {
		tr.K, transfers = (m+tr.SegmentBytes-1)/tr.SegmentBytes, float64(tr.Setup.Transfers)
	}
	kind := kin{j.level, m}
	if s.typical[kind] == 0 {
		probe := tr
		probe.Messages, probe.Batches = 4, 1
		times, err := team.Run(ctx, probe)
		if err != nil {
			return 0, err
		}
		s.typical[kind] = times[0]
	}
	tr.Messages = max(1, int(math.Round(batch/s.typical[kind])))
	times, err := team.Run(ctx, tr)
	if err != nil {
		return 0, err
	}
	l := fit.Median(times).Center
	s.typical[kind] += (l - s.typical[kind]) / 4
	j.samples[row] = append(j.samples[row], l/transfers)
	for _, t := range times {
		if s.batches++; t > 1.5*s.typical[kind] {
			s.slow++
		}
		took += t * float64(tr.Messages)
	}
	return took * (batches + 1) / batches, nil
}

func (s *Survey) cells(jobs []*job) (cells []params.Cell) {
	for _, j := range jobs {
		for row, m := range s.Sizes {
			if of := j.samples[row]; len(of) > 0 {
				cells = append(cells, params.Cell{Key: j.key(m), Time: fit.Median(of), Samples: params.Samples(of...)})
			}
		}
	}
	return cells
}

// warnings say what is missing, and what was in the way.
func (s *Survey) warnings(jobs []*job) []error {
	warnings := slices.Clone(s.told)
	missing, few := 0, 0
	for _, j := range jobs {
		for _, of := range j.samples {
			if len(of) == 0 {
				missing++
				break
			} else if len(of) < setups.LeastTrials {
				few++
				break
			}
		}
	}
	if missing > 0 {
		warnings = append(warnings, fmt.Errorf("%d of %d pairs were not measured: allow more with -time", missing, len(jobs)))
	}
	if few > 0 {
		warnings = append(warnings, fmt.Errorf("%d of %d pairs have too few samples for an interval: allow more with -time", few, len(jobs)))
	}
	if share := float64(s.slow) / float64(max(1, s.batches)); share > 0.05 {
		warnings = append(warnings, fmt.Errorf("%.0f %% of the batches took more than 1.5 times what is usual: something else runs on these CPUs", 100*share))
	}
	return warnings
}

func unique(errs []error) (once []error) {
	for _, err := range errs {
		if !slices.ContainsFunc(once, func(e error) bool { return e.Error() == err.Error() }) {
			once = append(once, err)
		}
	}
	return once
}
