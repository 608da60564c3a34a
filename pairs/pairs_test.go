package pairs

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/compare"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/randtest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// 128 cores within two minutes, as the default says it.
func TestDefaultTime(t *testing.T) {
	if Count(128) != 8128 || DefaultTime(8128) > 2*time.Minute {
		t.Errorf("%d pairs take %v", Count(128), DefaultTime(Count(128)))
	}
	if DefaultTime(1) < time.Second {
		t.Errorf("a pair alone has %v", DefaultTime(1))
	}
}

// Whatever time a visit is given and whatever it lost before, batches fit into what is
// left of it, unless that is less than the least a visit takes; and more time is never
// used for fewer mappings.
func TestShare(t *testing.T) {
	random := randtest.New(t)
	for range 10000 {
		s := &Survey{Sizes: make([]int, 1+random.IntN(5)), overhead: random.ExpFloat64() * 5e6}
		given := time.Duration(random.ExpFloat64() * 20e6)
		n, batch := s.share(given)
		if n < 1 || n > mappings || batch < float64(leastBatch) || batch > float64(mostBatch) {
			t.Fatalf("%v, lost %g: %d mappings, batches of %g ns", given, s.overhead, n, batch)
		}
		takes := s.overhead*float64(n)/mappings + batch*float64(n*len(s.Sizes)*(batches+1))
		if n > 1 && takes > float64(given)*1.000001 {
			t.Errorf("%v, lost %g: takes %g ns", given, s.overhead, takes)
		}
		if more, _ := s.share(given * 2); more < n {
			t.Errorf("%v has %d mappings, twice as much %d", given, n, more)
		}
	}
}

func pair(level, a, b int, ns ...float64) params.Pair {
	p := params.Pair{From: a, To: b, Level: level}
	for _, v := range ns {
		p.Times = append(p.Times, fit.Estimate{Center: v, Lo: v * 0.99, Hi: v * 1.01, N: 6})
	}
	return p
}

// One pair of a level that takes 90 ns where the others take 50 to 52 is slow, and
// nothing else is.
func TestFindSlow(t *testing.T) {
	p := &params.Pairs{Sizes: []int{0, 8192}, Levels: []params.PairLevel{
		{Name: "shared L3", Pairs: 10, Median: []float64{51, 600}}, {Name: "same node", Pairs: 2, Median: []float64{80, 900}}, {Name: "nodes 21 apart", Pairs: 1, Median: []float64{200, 1200}},
	}}
	for i := range 9 {
		p.Pairs = append(p.Pairs, pair(0, i, i+1, 50+float64(i%3), 600+float64(i)))
	}
	p.Pairs = append(p.Pairs, pair(0, 3, 17, 90, 601), pair(1, 0, 30, 80, 900), pair(1, 0, 31, 80, 900), pair(2, 0, 40, 200, 1200))
	slow := FindSlow(p)
	if len(slow) != 1 || slow[0].From != 3 || slow[0].To != 17 || slow[0].Bytes != 0 || slow[0].Score <= compare.OutlierScore || slow[0].Above != "same node" {
		t.Errorf("%+v", slow)
	}
	// Of a level of two, one that is slower than a level farther away.
	p.Pairs[10] = pair(1, 0, 30, 250, 900)
	slow = FindSlow(p)
	if len(slow) != 2 || slow[1].To != 30 || slow[1].Above != "nodes 21 apart" {
		t.Errorf("%+v", slow)
	}
	// Known too badly to say so.
	p.Pairs[9].Times[0].Lo = 40
	p.Pairs[10].Times[0].Lo = 60
	if slow = FindSlow(p); len(slow) != 0 {
		t.Errorf("%+v", slow)
	}
}

// A survey of the CPUs that are here has all cells with their intervals, and stays
// within its time as far as one visit goes.
func TestSurvey(t *testing.T) {
	s := survey(t)
	s.Time, s.Width = 300*time.Millisecond, 1e-9
	visits := 0
	s.Report = func(p Progress) { visits++ }
	cells, _, err := s.Run(context.Background())
	if err != nil || len(cells) != 2 || visits == 0 {
		t.Fatalf("%d cells after %d visits: %v", len(cells), visits, err)
	}
	for _, c := range cells {
		if len(c.Samples) < setups.LeastTrials || !c.Time.Known() || !(c.Time.Center > 0) || c.Variant != params.PairVariant(s.CPUs[0], s.CPUs[1]) {
			t.Errorf("%+v", c)
		}
	}
	if !(cells[1].Time.Center > cells[0].Time.Center) {
		t.Errorf("8 KB take %g ns and nothing takes %g ns", cells[1].Time.Center, cells[0].Time.Center)
	}
	f := &params.File{Format: params.Format, Version: params.Version, Cells: cells}
	if err := f.Validate(); err != nil {
		t.Error(err)
	}
	// Another survey goes on with these samples, and has nothing to do where they will do.
	visits, s.Have, s.Time, s.Width = 0, cells, time.Minute, 1e9
	again, _, err := s.Run(context.Background())
	if err != nil || visits != 0 || !reflect.DeepEqual(again, cells) {
		t.Errorf("resumed with all samples: %d visits, %v, %v", visits, again, err)
	}
	s.Have = slices.Clone(cells)
	s.Have[1].Samples = s.Have[1].Samples[:1]
	if again, _, err = s.Run(context.Background()); err != nil || visits == 0 || len(again[0].Samples) <= len(cells[0].Samples) || again[1].Samples[0] != cells[1].Samples[0] {
		t.Errorf("resumed with too few samples: %d visits, %v, %v", visits, again, err)
	}
}

// Interrupted, it returns what it has; without CPUs it says so; one visit's worth of
// time is not exceeded by a pass.
func TestSurveyEnds(t *testing.T) {
	s := survey(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.Width = 1e-9
	visits := 0
	s.Report = func(Progress) {
		if visits++; visits == 3 {
			cancel()
		}
	}
	cells, _, err := s.Run(ctx)
	if !errors.Is(err, context.Canceled) || len(cells) != 2 {
		t.Errorf("%d cells, %v", len(cells), err)
	}
	s.CPUs = s.CPUs[:1]
	if _, _, err := s.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "two CPUs") {
		t.Errorf("one CPU: %v", err)
	}
	s = survey(t)
	s.Time = 1
	cells, warnings, err := s.Run(context.Background())
	if err != nil || len(cells) > 2 || len(cells) == 0 && len(warnings) == 0 {
		t.Errorf("no time: %d cells, %v, %v", len(cells), warnings, err)
	}
}

// A team can be told where memory lies, but not where its workers are.
func TestRebind(t *testing.T) {
	s := survey(t)
	a, _ := s.Machine.PlaceOn([]int{s.CPUs[0], s.CPUs[1]}, 2)
	b, _ := s.Machine.PlaceOn([]int{s.CPUs[1], s.CPUs[0]}, 2)
	team, err := setups.NewTeam(a)
	if err != nil {
		t.Fatal(err)
	}
	defer team.Close()
	if team.Rebind(a) != nil || team.Rebind(b) == nil || team.Rebind(numa.Placement{}) == nil {
		t.Error("a placement of other CPUs was taken, or the same refused")
	}
}
