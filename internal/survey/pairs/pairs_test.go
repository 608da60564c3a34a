package pairs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
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

func pair(level, a, b int, ns ...float64) params.Pair {
	times := lists.Map(ns, func(v float64) fit.Estimate { return fit.Estimate{Center: v, Lo: v * 0.99, Hi: v * 1.01, N: 6} })
	return params.Pair{From: a, To: b, Level: level, Times: times}
}

// Only the pair with 90 ns is slow where the others of its level take 50 to 52 ns.
func TestFindSlow(t *testing.T) {
	p := &params.Pairs{Sizes: []int{0, 8192}, Levels: []params.PairLevel{
		{Name: "shared L3", Pairs: 10, Median: []float64{51, 600}}, {Name: "same node", Pairs: 2, Median: []float64{80, 900}}, {Name: "nodes 21 apart", Pairs: 1, Median: []float64{200, 1200}},
	}}
	for i := range 9 {
		p.Pairs = append(p.Pairs, pair(0, i, i+1, 50+float64(i%3), 600+float64(i)))
	}
	p.Pairs = append(p.Pairs, pair(0, 3, 17, 90, 601), pair(1, 0, 30, 80, 900), pair(1, 0, 31, 80, 900), pair(2, 0, 40, 200, 1200))
	slow := FindSlow(p)
	check.True(t, len(slow) == 1 && slow[0].From == 3 && slow[0].To == 17 && slow[0].Bytes == 0 && slow[0].Score > fit.OutlierScore && slow[0].Above == "same node",
		"%+v", slow)
	// A pair in a level of two that is slower than a farther level.
	p.Pairs[10] = pair(1, 0, 30, 250, 900)
	slow = FindSlow(p)
	check.True(t, len(slow) == 2 && slow[1].To == 30 && slow[1].Above == "nodes 21 apart", "%+v", slow)
	// Wide intervals.
	p.Pairs[9].Times[0].Lo = 40
	p.Pairs[10].Times[0].Lo = 60
	check.Empty(t, FindSlow(p), "slow pairs")
	p.Pairs[9].Times[0] = fit.Median([]float64{90, 90})
	check.Empty(t, FindSlow(p), "slow pairs of two launches")
	// 64 CPUs that differ by chance.
	random, times := rand.New(rand.NewPCG(1, 2)), make([]float64, 6)
	p.Pairs = nil
	for a := range 64 {
		for b := range a {
			for i := range times {
				times[i] = 50 * math.Exp(0.03*random.ExpFloat64())
			}
			p.Pairs = append(p.Pairs, params.Pair{From: b, To: a, Times: []fit.Estimate{fit.Median(times), fit.Median(times)}})
		}
	}
	check.Empty(t, FindSlow(p), "slow pairs by chance")
}

// A survey of two CPUs has all cells with intervals. Samples are medians over three pages.
func TestSurvey(t *testing.T) {
	m := surveytest.Machine(t, 2)
	r := Request{CPUs: m.Allowed[:2], Sizes: []int{0, SegmentBytes}, Addresses: 3}
	check.Equal(t, r.visit(), 3*(Request{}).visit(), "a sample on three pages")
	p, err := surveytest.Run(t, m, Survey, r).Pairs()
	check.Need(t, err == nil && len(p.Each()) == len(homes(m, m.Allowed[0], m.Allowed[1])), "%+v, %v", p, err)
	for _, of := range p.Each() {
		times := of.Pairs[0].Times
		check.True(t, len(of.Pairs) == 1 && times[0].Center > 0 && times[1].Center > 0, "%s: %+v", of.Home, of.Pairs)
	}
	try := func(times []float64, want, spread float64) {
		t.Helper()
		got := median(lists.Map(times, func(ns float64) engine.Reading { return engine.Reading{Sample: params.Sample{NS: ns}} }))
		check.Equal(t, got.NS, want, "median of %v", times)
		check.Near(t, float64(got.Spread), spread, spread/20, "spread of %v", times)
	}
	try([]float64{60}, 60, 0)
	try([]float64{60, 90, 61, 62, 60.5}, 61, 0.21)
	try([]float64{60, 60, 60}, 60, 0)
}

// One CPU makes no pairs, with a warning; 4 CPUs of one node make 6 without a home.
func TestCells(t *testing.T) {
	cells, warnings, err := (Request{CPUs: []int{0}, Sizes: []int{0}}).Cells(nil)
	check.True(t, len(cells) == 0 && len(warnings) == 1 && err == nil, "one CPU: %d cells, %v, %v", len(cells), warnings, err)
	cells, _, err = (Request{CPUs: []int{0, 2, 4, 6}, Sizes: []int{0, 64}}).Cells(machine(1, 8))
	check.True(t, err == nil && len(cells) == 6*2 && cells[0].VariantName() == "0-2" && !cells[0].Once, "4 CPUs: %d cells, %v, %v", len(cells), cells[0], err)
}

// The errors for one allowed CPU, and for two of one core, have a remedy.
func TestChosen(t *testing.T) {
	one := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Core: 1}}, Allowed: numa.SetOf(1)}
	siblings := &numa.Machine{CPUs: []numa.CPU{{ID: 0}, {ID: 1, Thread: 1}}, Allowed: numa.SetOf(0, 1)}
	for _, tt := range []struct {
		m    *numa.Machine
		smt  bool
		want string // in the error, else the CPUs
	}{{one, false, "CPU 1 alone"}, {one, true, "CPU 1 alone"}, {siblings, false, "-smt"}, {siblings, true, "0-1 <nil>"}} {
		contains.All(t, fmt.Sprint(chosen(tt.m, nil, tt.smt)), tt.want)
	}
}

// Two CPUs of one node have memory on their node or another one; CPUs of two nodes on the writer's,
// the reader's, or a third one, the farthest from both. A node without memory is no home.
func TestHomes(t *testing.T) {
	two, four, bare := machine(2, 2), machine(4, 2), machine(3, 2)
	bare.Nodes[2].MemoryBytes = 0
	for _, tt := range []struct {
		m    *numa.Machine
		a, b int
		want string // home and node
	}{
		{machine(1, 4), 0, 1, "=0"},
		{two, 0, 1, "writer=0 third=1"}, {two, 1, 2, "writer=0 reader=1"},
		{four, 2, 3, "writer=1 third=3"}, {four, 2, 4, "writer=1 reader=2 third=0"}, {four, 0, 7, "writer=0 reader=3 third=1"},
		{bare, 0, 2, "writer=0 reader=1"}, {bare, 0, 4, "writer=0 reader=1"},
	} {
		var got []string
		for _, home := range homes(tt.m, tt.a, tt.b) {
			p := must.Get(placed(tt.m, params.PairOf(tt.a, tt.b, home)))
			check.True(t, p.Workers[0].ID == tt.a && p.Workers[1].ID == tt.b && (p.Workers[0].IntermediateNode == p.Workers[1].IntermediateNode || home == params.UnknownHome),
				"%v", p)
			got = append(got, fmt.Sprintf("%s=%d", home, p.Workers[0].IntermediateNode))
		}
		check.Equal(t, strings.Join(got, " "), tt.want, "CPUs %d and %d of %d nodes", tt.a, tt.b, len(tt.m.Nodes))
	}
}

// machine has nodes in a row with `cpus` CPUs each.
func machine(nodes, cpus int) *numa.Machine {
	m := numatest.Shape{Packages: nodes, Nodes: nodes, Cores: nodes * cpus, Threads: 1, L2: 1 << 20, Memory: int64(nodes) << 30}.Machine()
	for _, n := range m.Nodes {
		for to := range m.Nodes {
			if to != n.ID {
				n.Distances[to] = 15 + 5*max(to-n.ID, n.ID-to)
			}
		}
	}
	return m
}

// simulated is a computed machine of 8 nodes of 16 CPUs, in groups of 8 that share a cache unknown to
// the topology. Between nodes, memory on the reader's node costs 111 ns and on the writer's 176 ns, as
// on a Xeon Platinum 8269CY. Samples have 5 % of noise.
type simulated struct {
	random *rand.Rand
	visits int
	bare   int // visits without a hint
}

func (s *simulated) Sample(_ context.Context, k params.Key, hint float64) (engine.Reading, error) {
	s.visits++
	if hint == 0 {
		s.bare++
	}
	p := k.Variant.(params.PairKey)
	return engine.Reading{Sample: params.Sample{NS: simulatedTime(p.From, p.To, p.Home, k.Bytes) * math.Exp(0.05*s.random.NormFloat64())}}, nil
}

func simulatedTime(from, to int, home params.Home, bytes int) float64 {
	ns := map[params.Home]float64{params.WriterHome: 176, params.ReaderHome: 111, params.ThirdHome: 240}[home]
	switch {
	case from/16 == to/16 && home == params.ThirdHome:
		ns = 150
	case from/8 == to/8:
		ns = 30
	case from/16 == to/16:
		ns = 70
	}
	if from == 3 && to == 77 {
		ns *= 2
	}
	return ns + float64(bytes)/16
}

func (*simulated) Close() {}

// 128 cores take at most two minutes of visitTime each visit. That is enough to find the simulated
// times, the slow pair and no other, and the hidden caches.
func TestManyCores(t *testing.T) {
	skip.Short(t, "takes long under the race detector, and nothing is shared")
	m := machine(8, 16)
	r := request(m)
	budget := r.Time(m)
	one := request(machine(1, 128)).Time(machine(1, 128))
	check.True(t, budget <= 2*time.Minute && one <= 2*time.Minute && one > shortTime, "128 cores take %v, those of one node %v", budget, one)
	f := &params.File{Format: params.Format, Version: params.Version}
	f.Provenance.Levels = m.Levels(m.Allowed)
	x := &engine.Experiment{File: f, Time: budget, Seed: 1}
	must.Get(survey.Add(x, Survey, r, m))
	s := &simulated{random: rand.New(rand.NewPCG(1, 1))}
	x.Start = engine.Within(nil, func(string, json.RawMessage, engine.Conditions) (engine.Sampler, error) { return s, nil })
	must.Do(x.Run(context.Background()))
	check.NoError(t, f.Validate(), "Validate")
	took := time.Duration(s.visits) * visitTime
	t.Logf("%d cells, %d visits, %d launches: %v", len(x.Cells), s.visits, len(f.Launches), took)
	check.True(t, took <= 2*time.Minute && x.Missing() == nil && f.Complete, "%v for %d visits; %v", took, s.visits, x.Missing())
	check.AtMost(t, s.bare, len(x.Cells)/20, "of %d visits, those without a hint", s.visits)
	p, err := f.Pairs()
	check.Need(t, err == nil && len(p.Pairs) == 128*127/2 && len(p.Others) == 2, "%d pairs, %d other homes, %v", len(p.Pairs), len(p.Others), err)
	for _, home := range p.Each() {
		for l, level := range home.Levels {
			if level.Name == "same node" || level.Name == "same package" {
				continue // its pairs have two times
			}
			for row, bytes := range home.Sizes {
				want := simulatedTime(0, 127, home.Home, bytes)
				check.Near(t, home.Levels[l].Median[row]/want, 1, 0.05, "%s, %q, m = %d: ns by those put in", home.Home, level.Name, bytes)
			}
		}
	}
	slow := FindSlow(p)
	check.True(t, len(slow) == 1 && slow[0].From == 3 && slow[0].To == 77, "%d slow pairs: %.3v", len(slow), slow)
	groups := FindGroups(p, f.Provenance.Levels)
	check.True(t, len(groups) == 8 && groups[3].Groups[1].String() == "56-63" && math.Abs(groups[3].Within/30-1) <= 0.05 && math.Abs(groups[3].Between/70-1) <= 0.05,
		"%d: %v", len(groups), groups)
}

// fileOf is a file of n CPUs of one level, or also in groups of `closer` CPUs of another level. ns gives the
// times of pairs.
func fileOf(n, closer int, near, far string, sizes []int, ns func(a, b, m int) float64) *params.File {
	f, all := &params.File{Format: params.Format, Version: params.Version}, numa.CPUSet(lists.Indices(n))
	if closer > 1 {
		f.Provenance.Levels = numa.Levels{{Name: near, Groups: slices.Collect(slices.Chunk(all, closer))}}
	}
	f.Provenance.Levels = append(f.Provenance.Levels, numa.Level{Name: far, Groups: []numa.CPUSet{all}})
	surveytest.Pairs(f, n, sizes, 0.02, ns)
	return f
}

// pairsOf is a file of n CPUs, four of which share a cache; CPUs 0 and 2 are slow.
func pairsOf(n int) *params.File {
	f := fileOf(n, 4, "shared L3", "nodes 21 apart", []int{0, 8192}, func(a, b, m int) float64 {
		switch {
		case a == 0 && b == 2 && m == 0:
			return 120
		case a/4 == b/4:
			return map[int]float64{0: 50, 8192: 500}[m]
		}
		return map[int]float64{0: 200, 8192: 1600}[m]
	})
	f.Plan.Copy = "memcpy"
	return f
}

// Columns are aligned, bandwidths are 8192/500 = 16.4 and 8192/1600 = 5.12 GB/s, and the slow pair's
// score is (120 − 50)/(1 % of 50) = 140.
func TestPairsText(t *testing.T) {
	check.Golden(t, saidOf(pairsOf(8)), "pairs.txt")
	contains.All(t, string(must.Get(json.Marshal(NewDocument(pairsOf(8))))), `"z":140`)
}

// Each home has a matrix and a line in the table, and a slow pair is listed with its home.
func TestPairsOfHomes(t *testing.T) {
	f := pairsOf(8)
	for i := range f.Cells {
		c := &f.Cells[i]
		p := c.Variant.(params.PairKey)
		from, to := p.From, p.To
		c.Variant = params.PairOf(from, to, params.WriterHome)
		if from/4 != to/4 {
			far := *c
			far.Variant = params.PairOf(from, to, params.ReaderHome)
			far.Time = fit.Estimate{Center: 111, Lo: 110, Hi: 112, N: 6}
			if from == 1 && to == 6 {
				far.Time = fit.Estimate{Center: 250, Lo: 249, Hi: 251, N: 6}
			}
			f.Cells = append(f.Cells, far)
		}
	}
	check.Golden(t, saidOf(f), "homes.txt")
	contains.All(t, string(must.Get(json.Marshal(NewDocument(f)))), `"other_homes":[{"home":"reader"`)
	all, err := Matrices(f)
	ends := view.Ends(all)
	check.True(t, err == nil && len(ends) == 4 && ends[1].Name == "null transfer via the reader's node, one way" && ends[1].Groups[1].Median == 111,
		"%v: %d matrices", err, len(ends))
}

// Beyond 16 CPUs there is no matrix, only the summary.
func TestPairsOfMany(t *testing.T) {
	for _, n := range []int{view.MatrixNames, view.MatrixNames + 1, 64} {
		text, small := saidOf(pairsOf(n)), n <= view.MatrixNames
		check.True(t, strings.Contains(text, "bandwidth of") == small && (small || strings.Count(text, "\n") <= 20), "%d CPUs:\n%s", n, text)
	}
}

// saidOf is the survey's text of a file.
func saidOf(f *params.File) string {
	var d document.Document
	Survey.Say(&d, f)
	return must.Text(d.WriteText)
}
