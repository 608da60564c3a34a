// Aa tests intervals and comparisons with sweeps of one machine, each a session of its own: how often compare and
// benchstat find a difference between two, how often an interval holds the centre over all, and how often they
// find a change made on purpose.
//
//	go run ./bench/aa [-drift 0.15] A1.json A2.json … [-b B1.json B2.json …]
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

var test = compare.Test{Least: compare.DefaultLeast}

func main() {
	flag.Func("drift", "what sessions are taken to differ by: a share, as compare's", func(text string) error {
		share, err := strconv.ParseFloat(text, 64)
		test.Drift = compare.Everywhere(share)
		return err
	})
	flag.Parse()
	paths, changed := flag.Args(), []string(nil)
	if i := slices.Index(paths, "-b"); i >= 0 {
		paths, changed = paths[:i], paths[i+1:]
	}
	if len(paths) < 4 {
		fmt.Fprintln(os.Stderr, "aa: name the files of four sessions or more")
		os.Exit(2)
	}
	same, other := read(paths), read(changed)
	beside(same)
	for _, s := range byState(same) {
		fmt.Printf("%s in %d sessions:\n", s.name(), len(s.files))
		if len(s.files) < 4 || len(centers(s.files)) == 0 {
			fmt.Println("drift and coverage take a cell that four sessions and all others have: give them more time")
			continue
		}
		drift(s.files)
		coverage(s.files)
	}
	if len(other) > 0 {
		ab(same, other)
	}
}

// A state is sessions' files restricted to a state that they have in common.
type state struct {
	params.State
	files []*params.File
}

func (s *state) name() string {
	if s.NS == 0 {
		return "no state known"
	}
	return "flag " + s.Name()
}

// byState are the states of files, those of most files first.
func byState(files []*params.File) (all []*state) {
	for _, f := range files {
		sorting := f.Sort()
		lone := lists.ToMap(f.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, sorting.Workers(&c) == 1 })
		for _, m := range (compare.Machine{File: f}).Each() {
			var is params.State
			if found := m.File.State(); found != nil { // a single worker has states of its own
				m.File.Cells = lists.Filter(m.File.Cells, func(c params.Cell) bool { return !lone[c.Key] })
				is = *found
			} else if w := lists.Find(f.Watches, func(w params.Watch) bool { return len(w.CPUs) == 2 && len(w.States) == 1 }); w != nil {
				is = w.States[0]
			}
			i := slices.IndexFunc(all, func(s *state) bool { return s.Same(is) })
			if i < 0 {
				i = len(all)
				all = append(all, &state{State: is})
			}
			all[i].files = append(all[i].files, m.File)
		}
	}
	slices.SortStableFunc(all, func(a, b *state) int { return len(b.files) - len(a.files) })
	return all
}

func read(paths []string) (files []*params.File) {
	for _, path := range paths {
		f, err := params.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "aa:", err)
			os.Exit(2)
		}
		f.Sort().FindPersistence()
		files = append(files, f)
	}
	return files
}

// compared is a comparison of two files in all sizes that both have.
func compared(a, b *params.File) *compare.Comparison {
	has := lists.ToMap(a.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, true })
	both := lists.Filter(b.Cells, func(c params.Cell) bool { return c.Kind == params.TransferCell && has[c.Key] })
	sizes := lists.Rising(lists.Map(both, func(c params.Cell) int { return c.Bytes }))
	of := func(sizes ...int) (*compare.Comparison, error) {
		return compare.New([]compare.Machine{{Name: "a", File: a}, {Name: "b", File: b}}, compare.Choice{Sizes: sizes, Test: &test})
	}
	c, err := of(sizes...)
	if errors.Is(err, compare.ErrSize) { // a size that both have in different states
		c, err = of(slices.DeleteFunc(sizes, func(m int) bool { _, err := of(m); return err != nil })...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "aa:", err)
		os.Exit(1)
	}
	return c
}

// beside prints a row for each added difference: how often taulop and benchstat, which takes all samples for
// independent, tell two files of randomly drawn sessions apart, and in how many cells the slower file is found.
func beside(files []*params.File) {
	fmt.Println("| sessions a file | slower by | taulop: comparisons | cells | benchstat: comparisons | cells |\n| --: | --: | --: | --: | --: | --: |")
	random := rand.New(rand.NewPCG(5, 6))
	for _, sessions := range []int{1, 3, 5, 10} {
		if 2*sessions > len(files) {
			break
		}
		for _, by := range []float64{0, 0.05, 0.1, 0.2, 0.5, 1} {
			var ours, theirs tally
			for range draws {
				drawn := draw(random, files, 2*sessions)
				a, b := joined(drawn[:sessions]), slower(joined(drawn[sessions:]), by)
				ours.add(calls(compared(a, b)), by)
				theirs.add(benchstat(a, b), by)
			}
			fmt.Printf("| %d | %.0f %% | %v | %v |\n", sessions, 100*by, ours, theirs)
		}
	}
}

// draw draws n elements at random.
func draw[T any](random *rand.Rand, from []T, n int) []T {
	return lists.Map(random.Perm(len(from))[:n], func(i int) T { return from[i] })
}

// slower is a file whose transfers take longer by a share.
func slower(f *params.File, by float64) *params.File {
	f.Cells = slices.Clone(f.Cells)
	for i := range f.Cells {
		c := &f.Cells[i]
		c.Samples, c.Time = slices.Clone(c.Samples), c.Time.Scale(1+by)
		for n := range c.Samples {
			c.Samples[n].NS *= 1 + by
		}
	}
	return f
}

// A call is a verdict on a cell: 1 slower, -1 faster, 0 neither.
type call int

func callOf(differs bool, ratio float64) call {
	if !differs {
		return 0
	}
	return call(cmp.Compare(ratio, 1))
}

// A tally counts comparisons in which a cell differs, and cells: all that differ if no difference was added, else
// the ones called slower.
type tally struct{ comparisons, differ, cells, found int }

func (t *tally) add(calls []call, by float64) {
	t.comparisons++
	found := len(lists.Filter(calls, func(c call) bool { return c == 1 || c != 0 && by == 0 }))
	t.cells, t.found = t.cells+len(calls), t.found+found
	if found > 0 {
		t.differ++
	}
}

func (t tally) String() string {
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	return fmt.Sprintf("%.0f %% | %.1f %%", share(t.differ, t.comparisons), share(t.found, t.cells))
}

// calls are taulop's of transfers, state by state.
func calls(c *compare.Comparison) (all []call) {
	for _, t := range c.Tables {
		for _, row := range t.Rows {
			for _, p := range row.Points {
				if p.Ratio != nil && p.Tau > 1 {
					all = append(all, callOf(p.Ratio.Differs, p.Ratio.Value))
				}
			}
		}
	}
	return all
}

// benchstat calls the same cells by all of their samples, as golang.org/x/perf/cmd/benchstat does.
func benchstat(a, b *params.File) (all []call) {
	before := lists.ToMap(a.Cells, func(c params.Cell) (params.Key, []float64) { return c.Key, c.Values() })
	for _, c := range b.Cells {
		was, is := before[c.Key], c.Values()
		if c.Kind != params.TransferCell || c.Tau < 2 || len(was) == 0 || len(is) == 0 {
			continue
		}
		one, other := benchmath.NewSample(was, &benchmath.DefaultThresholds), benchmath.NewSample(is, &benchmath.DefaultThresholds)
		found := benchmath.AssumeNothing.Compare(one, other)
		all = append(all, callOf(found.P < found.Alpha, fit.Median(is).Center/fit.Median(was).Center))
	}
	return all
}

// centers are the cells' times by session, as logarithms.
func centers(files []*params.File) map[params.Key][]float64 {
	of := make(map[params.Key][]float64)
	for _, f := range files {
		for _, c := range f.Cells {
			if c.Time.Known() && c.Time.Center > 0 {
				of[c.Key] = append(of[c.Key], math.Log(c.Time.Center))
			}
		}
	}
	for k, v := range of {
		if len(v) < len(files) {
			delete(of, k)
		}
	}
	return of
}

// drift prints how much sessions differ, raw and divided by the reference probe.
func drift(files []*params.File) {
	probes := make([]float64, len(files))
	for i, f := range files {
		sum, n := make(map[params.Key]float64), make(map[params.Key]float64)
		for _, l := range f.Launches {
			for _, p := range l.Probe {
				sum[p.Key] += math.Log(p.NS)
				n[p.Key]++
			}
		}
		for k := range sum {
			probes[i] += sum[k] / n[k] / float64(len(sum))
		}
	}
	var raw, probed, within []float64
	for _, logs := range centers(files) {
		divided := slices.Clone(logs)
		for i := range divided {
			divided[i] -= probes[i]
		}
		raw, probed = append(raw, stats.StdDev(logs)), append(probed, stats.StdDev(divided))
	}
	for _, f := range files {
		_, launches, _ := f.Components()
		within = append(within, launches)
	}
	fmt.Printf("drift: sessions of a cell differ by %.1f %% (median standard deviation; 9 of 10 cells below %.1f %%), divided by the probe by %.1f %%; launches by %.1f %%\n",
		100*fit.Median(raw).Center, 100*quantile(raw, 0.9), 100*fit.Median(probed).Center, 100*fit.Median(within).Center)
}

func quantile(values []float64, q float64) float64 {
	return fit.Quantile(slices.Sorted(slices.Values(values)), q)
}

// coverage draws sessions as if they were one file, and prints how often their interval holds the centre
// over all.
func coverage(files []*params.File) {
	of, alone := make(map[params.Key][]fit.Replicates), make(map[params.Key][]fit.Estimate)
	for _, f := range files {
		for i := range f.Cells {
			c := &f.Cells[i]
			of[c.Key], alone[c.Key] = append(of[c.Key], c.Replicates(f)), append(alone[c.Key], c.Time)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, sessions := range []int{1, 3, 5} {
		held, all := 0, 0
		var widths []float64
		for k, logs := range centers(files) {
			center := math.Exp(stats.Mean(logs))
			for range 50 {
				e := draw(random, alone[k], 1)[0]
				if sessions > 1 {
					e = slices.Concat(draw(random, of[k], min(sessions, len(files)))...).Estimate()
				}
				if !e.Known() {
					continue
				}
				if all++; e.Lo <= center && center <= e.Hi {
					held++
				}
				widths = append(widths, e.Width())
			}
		}
		fmt.Printf("coverage: 95 %% intervals of %d sessions hold the centre over all %d in %.0f %% of cells; half-width: median ±%.0f %%\n",
			sessions, len(files), 100*float64(held)/float64(all), 100*fit.Median(widths).Center)
	}
}

// joined is one file of several sessions.
func joined(files []*params.File) *params.File {
	all := *files[0]
	all.Launches, all.Watches, all.Cells = nil, nil, nil
	at := make(map[params.Key]int)
	for session, f := range files {
		first, watched := int32(len(all.Launches)), int32(len(all.Watches))
		for _, w := range f.Watches {
			w.Session = session
			all.Watches = append(all.Watches, w)
		}
		for _, l := range f.Launches {
			l.Session = session
			all.Launches = append(all.Launches, l)
		}
		for _, c := range f.Cells {
			i, known := at[c.Key]
			if !known {
				i = len(all.Cells)
				at[c.Key] = i
				all.Cells = append(all.Cells, c)
				all.Cells[i].Samples = nil
			}
			for _, s := range c.Samples {
				s.Launch += first
				if s.Watch > 0 {
					s.Watch += watched
				}
				all.Cells[i].Samples = append(all.Cells[i].Samples, s)
			}
		}
	}
	for i := range all.Cells {
		c := &all.Cells[i]
		c.Time = c.Replicates(&all).Estimate()
	}
	return &all
}

// ratios are the tested ratios of a comparison, by channel, size and τ.
func ratios(c *compare.Comparison) map[string]*compare.Ratio {
	all := make(map[string]*compare.Ratio)
	for _, t := range c.Tables {
		for _, row := range t.Rows {
			for _, p := range row.Points {
				if p.Ratio != nil && p.Ratio.Tested {
					all[fmt.Sprint(t.Channel, t.Bytes, p.Tau)] = p.Ratio
				}
			}
		}
	}
	return all
}

// draws is the number of comparisons of randomly drawn sessions.
const draws = 200

// ab prints how often files of one, three and five sessions show a change: in comparisons, and in cells whose
// change is at least as large as the comparison can see. All sessions together give the size of a change.
func ab(same, other []*params.File) {
	truth := ratios(compared(joined(same), joined(other)))
	var sizes []float64
	for _, r := range truth {
		sizes = append(sizes, r.Value)
	}
	fmt.Printf("A/B: %d and %d sessions, %d cells; ratios: median %.2f, 9 of 10 between %.2f and %.2f\n",
		len(same), len(other), len(truth), quantile(sizes, 0.5), quantile(sizes, 0.05), quantile(sizes, 0.95))
	random := rand.New(rand.NewPCG(3, 4))
	for _, sessions := range []int{1, 3, 5} {
		if sessions > min(len(same), len(other)) {
			break
		}
		var found, large, seen int
		var visible []float64
		for range draws {
			c := compared(joined(draw(random, same, sessions)), joined(draw(random, other, sessions)))
			if c.Verdict.Differ > 0 {
				found++
			}
			visible = append(visible, c.Verdict.Visible)
			for of, r := range ratios(c) {
				if real := truth[of]; real != nil && math.Abs(math.Log(real.Value)) >= math.Log1p(r.Visible) {
					if large++; r.Differs {
						seen++
					}
				}
			}
		}
		fmt.Printf("A/B: files of %d sessions: %.0f %% of %d comparisons find it; visible: median %.0f %%; of %d cells that differ by as much as that, %.0f %% are found\n",
			sessions, 100*float64(found)/draws, draws, 100*fit.Median(visible).Center, large, 100*float64(seen)/float64(max(1, large)))
	}
}
