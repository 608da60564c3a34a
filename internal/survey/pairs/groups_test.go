package pairs

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// timed is n CPUs of one level, or in known groups of `closer` CPUs. f gives the times of pairs; noise
// is the standard deviation of their logarithm.
func timed(n, closer int, noise float64, random *rand.Rand, f func(a, b int) float64) *params.File {
	return fileOf(n, closer, "SMT siblings", "same node", []int{0}, func(a, b, _ int) float64 {
		return f(a, b) * math.Exp(noise*random.NormFloat64())
	})
}

func found(t *testing.T, f *params.File) (sets []string) {
	t.Helper()
	p := must.Get(f.Pairs())
	for _, g := range FindGroups(p, f.Provenance.Levels) {
		check.Equal(t, g.Level, "same node", "Level")
		sets = append(sets, lists.Map(g.Groups, numa.CPUSet.String)...)
	}
	return sets
}

// Hidden groups are found at a noise of 5 %: four caches of an EPYC on one node (25 and 95 ns), CPUs
// numbered across caches, two caches of unequal size, caches of three cores, times that differ by
// half, cores of two siblings, and cores, caches and packages within each other. None are found in
// known groups, in a mesh, whose times rise with the distance, with slow CPUs, or in two packages of
// which one has the memory, so that times within the other are as long as between them.
func TestFindGroups(t *testing.T) {
	skip.Short(t, "takes long under the race detector, and nothing is shared")
	split := func(near, far float64, of func(cpu int) int) func(a, b int) float64 {
		return func(a, b int) float64 {
			if of(a) == of(b) {
				return near
			}
			return far
		}
	}
	by := func(n int) func(int) int { return func(cpu int) int { return cpu / n } }
	// nested: the time of the smallest group size that contains both.
	nested := func(sizes []int, ns ...float64) func(a, b int) float64 {
		return func(a, b int) float64 {
			level := 0
			for level < len(sizes) && a/sizes[level] != b/sizes[level] {
				level++
			}
			return ns[level]
		}
	}
	try := func(name string, n, closer int, times func(a, b int) float64, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) {
				got := strings.Join(found(t, timed(n, closer, 0.05, rand.New(rand.NewPCG(seed, 1)), times)), " ")
				check.Need(t, got == want, "seed %d: %q, want %q", seed, got, want)
			}
		})
	}
	try("EPYC", 16, 1, split(25, 95, by(4)), "0-3 4-7 8-11 12-15")
	try("64 CPUs", 64, 1, split(25, 95, by(8)), "0-7 8-15 16-23 24-31 32-39 40-47 48-55 56-63")
	try("across", 16, 1, split(25, 95, func(cpu int) int { return cpu % 4 }), "0,4,8,12 1,5,9,13 2,6,10,14 3,7,11,15")
	try("unequal", 12, 1, split(40, 90, func(cpu int) int { return min(cpu/4, 1) }), "0-3 4-11")
	try("three", 6, 1, split(30, 90, by(3)), "0-2 3-5")
	try("half as much again", 16, 1, split(60, 90, by(8)), "0-7 8-15")
	try("siblings", 16, 2, func(a, b int) float64 {
		if a/2 == b/2 {
			return 8
		}
		return split(25, 95, by(8))(a, b)
	}, "0-7 8-15")
	try("cores and caches", 16, 1, nested([]int{2, 8}, 10, 24, 91), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 0-7 8-15")
	try("caches and packages", 32, 1, nested([]int{4, 16}, 40, 110, 260), "0-3 4-7 8-11 12-15 16-19 20-23 24-27 28-31 0-15 16-31")
	try("packages above all", 32, 1, nested([]int{4, 16}, 60, 100, 500), "0-3 4-7 8-11 12-15 16-19 20-23 24-27 28-31 0-15 16-31")
	try("packages of cores that are told", 16, 2, nested([]int{2, 8}, 10, 45, 120), "0-7 8-15")
	try("memory of one package", 32, 1, func(a, b int) float64 {
		if a/4 != b/4 && a >= 16 && b >= 16 {
			return 260
		}
		return nested([]int{4, 16}, 25, 110, 260)(a, b)
	}, "0-3 4-7 8-11 12-15 16-19 20-23 24-27 28-31")

	try("one level", 16, 1, func(int, int) float64 { return 50 }, "")
	try("told", 16, 4, split(25, 95, by(4)), "")
	try("mesh", 28, 1, func(a, b int) float64 {
		x, y := math.Abs(float64(a%7-b%7)), math.Abs(float64(a/7-b/7))
		return 48 + 1.5*(x+y)
	}, "")
	try("one slow CPU", 12, 1, func(a, b int) float64 {
		if a == 5 || b == 5 {
			return 200
		}
		return 50
	}, "")
	try("a slow pair", 12, 1, func(a, b int) float64 {
		if a == 5 && b == 7 {
			return 200
		}
		return 50
	}, "")
	try("four CPUs are too few", 4, 1, split(25, 95, by(2)), "")
}

// Homogeneous noise of any size gives no groups in 2,000 levels.
func TestNoiseIsNoGroup(t *testing.T) {
	alarms, levels := 0, 0
	for _, noise := range []float64{0.02, 0.05, 0.2, 0.5} {
		for _, n := range []int{6, 7, 8, 12, 16} {
			for seed := range uint64(100) {
				random := rand.New(rand.NewPCG(seed, uint64(n)))
				levels++
				if got := found(t, timed(n, 1, noise, random, func(int, int) float64 {
					if random.IntN(20) == 0 { // a tenant of the host disturbs
						return 80
					}
					return 50
				})); got != nil {
					alarms++
					t.Logf("noise %g, %d CPUs, seed %d: %v", noise, n, seed, got)
				}
			}
		}
	}
	check.Equal(t, alarms, 0, "groups in %d homogeneous levels", levels)
}

// moving is a file of pairs on a machine whose host moves CPUs between two states.
func moving(t *testing.T, cpus, launches int, seed uint64) (*params.File, *surveytest.Simulated) {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, cpus, 1), Latency: 60, Far: 1, PerByte: 0.05, Noise: 0.02, Between: 300 * time.Millisecond,
		States: []surveytest.State{{Flag: 60, Times: 1, Lasts: 300 * time.Millisecond}, {Flag: 240, Times: 4, Lasts: 200 * time.Millisecond}}}, seed)
	f := &params.File{Format: params.Format, Version: params.Version}
	f.Provenance.Levels = s.Machine.Levels(s.Machine.Allowed)
	x := &engine.Experiment{File: f, Time: time.Hour, Launches: launches, Start: s.Start(), Seed: 1}
	must.Get(survey.Add(x, Survey, Request{CPUs: s.Machine.CoreCPUs(), Sizes: []int{0, SegmentBytes}}, s.Machine))
	must.Do(x.Run(context.Background()))
	return f, s
}

// If the host moves CPUs, pairs have states, and their times are means by the states' shares.
func TestMoving(t *testing.T) {
	f, s := moving(t, 3, 200, 1)
	p, err := f.Pairs()
	check.Need(t, err == nil && len(p.Pairs) == 3, "%+v, %v", p, err)
	put := s.Shares()
	for _, pair := range p.Pairs {
		check.Need(t, len(pair.States) == 2 && math.Abs(pair.States[0].Share-put[0]) <= 0.1, "%+v, put in shares of %.2f", pair, put)
		mean := 0.
		for i, of := range pair.States {
			want, got := s.Latency*s.States[i].Times, of.Times[0]
			check.True(t, math.Abs(got.Center/want-1) <= 0.03 && got.Known() && math.Abs(of.NS/s.States[i].Flag-1) <= 0.03,
				"%d-%d takes %v in %+v, put in %g", pair.From, pair.To, got, of.State, want)
			mean += of.Share * of.Times[0].Center
		}
		check.Near(t, pair.Times[0].Center/mean, 1, 1e-9, "%v by the mean of %+v", pair.Times[0], pair.States)
	}
	contains.All(t, must.Text(func(w io.Writer) { view.WriteTables(w, Tables(f)) }), "states of pairs, told apart by what a flag takes", " 0-1 ", " 0-2 ", " 1-2 ")
}

// Two states of pairs are no two groups of CPUs, whether or not samples suffice to tell the states.
func TestMovingIsNoGroup(t *testing.T) {
	skip.Short(t, "takes long under the race detector, and nothing is shared")
	for seed := range uint64(20) {
		for _, launches := range []int{engine.LeastLaunches, 60} {
			if launches > engine.LeastLaunches && seed > 1 {
				continue
			}
			f, _ := moving(t, 8, launches, seed)
			check.Empty(t, FindGroups(must.Get(f.Pairs()), f.Provenance.Levels), "seed %d, %d launches", seed, launches)
		}
	}
}

// Hidden siblings are groups even if the host moves cores between caches; CPUs that are close only for
// some time are none.
func TestGroupsOfMovedPairs(t *testing.T) {
	known := numatest.EPYC(1, 1, 1, 8, 1).Levels(numatest.EPYC(1, 1, 1, 8, 1).Allowed)
	p := &params.Pairs{Sizes: []int{0}, Levels: []params.PairLevel{{Name: known[0].Name}}}
	for i := range 8 {
		p.CPUs = append(p.CPUs, i)
		for j := range i {
			of := pair(0, j, i, 28)
			if i/2 != j/2 {
				of = pair(0, j, i, 150)
				of.States = []params.PairState{{State: params.State{NS: 60, Share: 0.5}, Times: pair(0, j, i, 60).Times}, {State: params.State{NS: 240, Share: 0.5}, Times: pair(0, j, i, 240).Times}}
			}
			p.Pairs = append(p.Pairs, of)
		}
	}
	groups := FindGroups(p, known)
	check.True(t, len(groups) == 1 && len(groups[0].Groups) == 4, "siblings: %v", groups)
	for i := range p.Pairs { // the others are as near as those at times
		if of := &p.Pairs[i]; len(of.States) > 0 {
			of.States[0].Times = pair(0, of.From, of.To, 28).Times
		}
	}
	check.Equal(t, len(FindGroups(p, known)), 0, "for a while")
}
