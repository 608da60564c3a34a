package pairs

import (
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey/surveytest"
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
	if len(slow) != 1 || slow[0].From != 3 || slow[0].To != 17 || slow[0].Bytes != 0 || slow[0].Score <= fit.OutlierScore || slow[0].Above != "same node" {
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

// A survey of two CPUs that are here has all cells with their intervals.
func TestSurvey(t *testing.T) {
	m := surveytest.Machine(t, 2)
	cells := surveytest.Run(t, m, Survey, Request{CPUs: m.Allowed[:2], Sizes: []int{0, SegmentBytes}}).Cells
	if len(cells) != 2 || cells[0].Variant != params.PairVariant(m.Allowed[0], m.Allowed[1]) {
		t.Fatalf("%+v", cells)
	}
	by := make(map[int]float64)
	for _, c := range cells {
		by[c.Bytes] = c.Time.Center
	}
	if !(by[0] > 0 && by[SegmentBytes] > by[0]) {
		t.Errorf("8 KB take %g ns and nothing takes %g ns", by[SegmentBytes], by[0])
	}
}

// One CPU makes no pairs, which is said; 4 CPUs make 6.
func TestCells(t *testing.T) {
	if cells, warnings, err := (Request{CPUs: []int{0}, Sizes: []int{0}}).Cells(nil); len(cells) != 0 || len(warnings) != 1 || err != nil {
		t.Errorf("one CPU: %d cells, %v, %v", len(cells), warnings, err)
	}
	cells, _, err := (Request{CPUs: []int{0, 2, 4, 6}, Sizes: []int{0, 64}}).Cells(nil)
	if err != nil || len(cells) != Count(4)*2 || Count(4) != 6 {
		t.Errorf("4 CPUs: %d cells, %v", len(cells), err)
	}
}

// A team can be told where memory lies, but not where its workers are.
func TestRebind(t *testing.T) {
	m := surveytest.Machine(t, 2)
	a, _ := m.PlaceOn([]int{m.Allowed[0], m.Allowed[1]}, 2)
	b, _ := m.PlaceOn([]int{m.Allowed[1], m.Allowed[0]}, 2)
	team, err := setups.NewTeam(a)
	if err != nil {
		t.Fatal(err)
	}
	defer team.Close()
	if team.Rebind(a) != nil || team.Rebind(b) == nil || team.Rebind(numa.Placement{}) == nil {
		t.Error("a placement of other CPUs was taken, or the same refused")
	}
}
