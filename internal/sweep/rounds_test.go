package sweep

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// cut is the default plan of two cores on a simulated machine, with copies between levels.
func cut(t *testing.T, f *params.File) *engine.Experiment {
	t.Helper()
	s := surveytest.Simulate(surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, 2, 1), Latency: 100, PerByte: 0.05, Far: 1, Noise: 0.01,
		Cost: func(setups.Work) float64 { return 2000 }}, 1)
	if f.Plan.Setups == nil {
		f.Plan = (&Request{Plan: params.Plan{Setups: []string{params.Ring}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}, With: []string{"copy"}}}).plan(s.Machine)
	}
	f.Provenance.Allowed = s.Machine.Allowed
	x := must.Get(Experiment(f, s.Machine, 0))
	x.Start, x.Seed = s.Start(), 1
	return x
}

// Whenever a launch ends, it has visited a few sizes of every series before more sizes of any, y and
// segments before both, and operators that were not named last.
func TestCoarseFirst(t *testing.T) {
	partly := make(map[int]bool) // by how far a launch came that was cut short
	for limit := 20 * time.Millisecond; limit < 2*time.Second; limit = limit * 5 / 4 {
		f := &params.File{Format: params.Format, Version: params.Version}
		x := cut(t, f)
		x.Time, x.Launches, x.Probes = limit, 1, nil
		must.Do(x.Run(context.Background()))
		reached := lists.ToMap(f.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, true })
		sizes := make(map[params.Key][]int)
		series := func(k params.Key) params.Key { k.Bytes = 0; return k }
		for _, c := range x.Cells {
			sizes[series(c.Key)] = append(sizes[series(c.Key)], c.Bytes)
		}
		shares := []int{32 << 10, 1 << 20, 16 << 20} // of the simulated machine
		rank := func(c engine.Cell) int {
			of := slices.Sorted(slices.Values(sizes[series(c.Key)]))
			at := slices.Index(of, c.Bytes)
			switch {
			case c.Kind == params.NullCell, c.Kind == params.TransferCell && c.Bytes == 8192:
				return 0
			case c.Kind == params.GammaCell && c.Operator != "SUM_I":
				return 3
			case at == len(of)-1, slices.Contains(steps(of, shares), c.Bytes), at%8 == 0 && (c.Bytes < 8192 || len(steps(of, shares)) == 0):
				return 1
			}
			return 2
		}
		most := -1
		for _, c := range x.Cells {
			if reached[c.Key] {
				most = max(most, rank(c))
			}
		}
		left := make(map[string]int)
		for _, c := range x.Cells {
			if rank(c) < most && !reached[c.Key] {
				left[fmt.Sprint(c.Survey, " ", c.Kind)]++
			}
		}
		check.Equal(t, len(left), 0, "%v: number of those left up to rank %d", limit, most)
		partly[most] = partly[most] || len(f.Cells) < len(x.Cells)
	}
	check.True(t, partly[1] && partly[2] && partly[3], "limits cut launches short among %v, want some among the few sizes, all, and other operators", partly)
}

// Coarse sizes are on both sides of a cache's step, if the plan has such sizes.
func TestSteps(t *testing.T) {
	for _, tt := range []struct{ sizes, caches, want []int }{
		{transfers.Sizes, []int{32 << 10, 1 << 20, 16 << 20}, []int{12 << 10, 24 << 10, 384 << 10, 768 << 10, 4 << 20, 16 << 20}},
		{transfers.Sizes, []int{48 << 10}, []int{16 << 10, 32 << 10}},
		{transfers.Sizes, []int{1 << 30}, nil},
		{[]int{1 << 10, 4 << 10}, []int{32 << 10, 1 << 20}, nil},
		{[]int{64 << 10, 1 << 20}, []int{32 << 10, 512 << 10}, []int{64 << 10, 1 << 20}},
		{transfers.Sizes, nil, nil},
	} {
		check.Slices(t, steps(tt.sizes, tt.caches), tt.want, "of caches of %d", tt.caches)
	}
}

// Single copies have rounds like other cells: first y and a few sizes of every setup, in cache before
// off cache.
func TestCoarseSingleCopies(t *testing.T) {
	m := numatest.EPYC(1, 1, 1, 2, 1)
	p := params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Sizes: transfers.Sizes, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192,
		Caches: []bool{false, true}, NoGamma: true}
	x := &engine.Experiment{}
	must.Get(survey.Add(x, transfers.Survey, transfers.Request{Plan: p}, m))
	must.Get(survey.Add(x, cma.Survey, cma.Request{Policies: p.Policies, Sizes: cma.Sizes(p.Sizes), Taus: p.Taus, Caches: p.Caches}, m))
	inRounds(p, m.CacheShares(), x.Cells)
	tiers := func(of *survey.Survey, off bool, sizes ...int) (least, most int) {
		least = math.MaxInt
		for _, c := range x.Cells {
			if c.Survey == of.Name && c.OffCache == off && (c.Kind == params.TransferCell || of == cma.Survey) && c.Bytes != p.SegmentBytes && slices.Contains(sizes, c.Bytes) {
				least, most = min(least, c.Tier), max(most, c.Tier)
			}
		}
		return least, most
	}
	few := []int{0, 512, 256 << 10} // of 512, 1K … 16M
	_, coarse := tiers(cma.Survey, false, few...)
	offCache, _ := tiers(transfers.Survey, true, 1, 3072)
	_, long := tiers(cma.Survey, true, 16<<20)
	fine, _ := tiers(transfers.Survey, false, 64, 1536, 6144)
	more, _ := tiers(cma.Survey, false, 1024, 4096)
	if coarse == 0 || long == 0 || offCache <= coarse || fine <= long || more <= long || more == math.MaxInt || fine == math.MaxInt || offCache == math.MaxInt {
		t.Errorf("single copies of %v are of tiers to %d, long ones off cache to %d, of other sizes from %d; transfers off cache from %d, of other sizes from %d",
			few, coarse, long, more, offCache, fine)
	}
}

// A resumed sweep visits the cells that the last launch did not reach before cells with a sample,
// except y and segments. A few launches reach all cells, and each is visited as often as an interval
// needs, and no more.
func TestGoesOn(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version}
	x := cut(t, f)
	x.Time, x.Launches = 300*time.Millisecond, 1
	must.Do(x.Run(context.Background()))
	before, left := len(f.Cells), x.Left()
	check.Need(t, before != 0 && before != len(x.Cells) && left != 0, "the first launch reached %d of %d cells, and the rest takes %v", before, len(x.Cells), left)
	x = cut(t, f)
	x.Time = time.Hour
	begin, orders := x.Start, 0
	x.Start = func(o engine.Order, journal *os.File) (*engine.Process, error) {
		seen := false
		for _, v := range o.Visits {
			basic := v.Key.Kind == params.NullCell || v.Key.Kind == params.TransferCell && v.Key.Bytes == 8192
			at := slices.IndexFunc(f.Cells, func(c params.Cell) bool { return c.Key == v.Key })
			if orders == 0 && !v.Probe && !basic {
				if seen = seen || at >= 0; seen && at < 0 {
					t.Fatalf("%v has no sample and comes after some that have", v.Key)
				}
			}
		}
		orders++
		return begin(o, journal)
	}
	must.Do(x.Run(context.Background()))
	check.True(t, f.Complete && x.Left() == 0, "%v, %v left", x.Missing(), x.Left())
	for _, c := range f.Cells {
		check.Equal(t, c.InSession(f, 0), engine.LeastLaunches, "launches with samples of %v", c.Key)
	}
}
