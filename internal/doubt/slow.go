package doubt

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// oftenLate is the share of batches with start skew above which there is a warning.
const oftenLate = 0.05

// Unequal warns of start skew and of slow CPUs.
func Unequal(f *params.File) (all []error) {
	if s := f.Begun(); s.Forced > 0 || float64(s.Late) > oftenLate*float64(s.Batches) {
		all = append(all, fmt.Errorf("%v: stop what else runs on the workers' CPUs, or use fewer workers", s))
	}
	return append(all, lists.Map(slowCPUs(f), func(s SlowCPU) error { return s })...)
}

// A SlowCPU is a CPU whose worker is mostly the last although workers do not wait for each other. Its
// noise would be taken for contention.
type SlowCPU struct {
	CPU       int
	Placement numa.Policy
	Tau       int
	Last      fit.Estimate // share of a launch's visits in which it was last
	Slower    fit.Estimate // than the median of the others when it was last, 0.1 for 10 %
}

// Limits of a SlowCPU.
const (
	mostlyLast = 0.5   // least share of a launch's visits
	leastSlow  = 0.03  // least slowdown
	chance     = 0.001 // largest probability that some CPU of equal ones is last as often
)

func (s SlowCPU) Error() string {
	return fmt.Sprintf("CPU %d is slower than the others: of τ = %d (placement %s) it was the last in %.0f %% of the visits, and took %.0f %% longer than their median; stop other programs on it, or leave it out",
		s.CPU, s.Tau, s.Placement, 100*s.Last.Center, 100*s.Slower.Center)
}

// slowCPUs are CPUs that are last in more than half of a launch's visits and more than 3 % slower, beyond
// the intervals over launches. Visits are of copies and reductions, whose workers do not wait for each
// other, by placement and τ. A CPU is reported at its largest τ.
func slowCPUs(f *params.File) (slow []SlowCPU) {
	type group struct {
		placement numa.Policy
		tau       int
	}
	visits := make(map[group][]params.Sample)
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Tau < 2 || !(c.Kind == params.CopyCell && c.Setup == "" || c.Kind == params.OwnCell || c.Kind == params.GammaCell) {
			continue
		}
		for _, s := range c.Samples {
			if s.Fastest > 0 && s.Launch >= 0 {
				g := group{c.Placement, c.Tau}
				visits[g] = append(visits[g], s)
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(visits), func(a, b group) int {
		return cmp.Or(b.tau-a.tau, cmp.Compare(a.placement, b.placement))
	})
	for _, g := range order {
		s := mostlyLastOf(visits[g])
		s.Placement, s.Tau = g.placement, g.tau
		n := len(visits[g])
		times := int(math.Round(s.Last.Center * float64(n)))
		known := slices.ContainsFunc(slow, func(o SlowCPU) bool { return o.CPU == s.CPU })
		if !known && s.Last.Lo > mostlyLast && s.Slower.Lo > leastSlow && tail(n, times, 1/float64(g.tau))*float64(g.tau*len(visits)) < chance {
			slow = append(slow, s)
		}
	}
	return slow
}

// mostlyLastOf is the CPU that was last most often, without placement and τ.
func mostlyLastOf(visits []params.Sample) (s SlowCPU) {
	times := lists.Counts(visits, func(v params.Sample) int32 { return v.Last })
	cpu := slices.MaxFunc(slices.Sorted(maps.Keys(times)), func(a, b int32) int { return times[a] - times[b] })
	last, all := make(map[int32][]float64), make(map[int32]int) // by launch
	for _, v := range visits {
		if all[v.Launch]++; v.Last == cpu {
			last[v.Launch] = append(last[v.Launch], 1/float64(v.Typical)-1)
		}
	}
	var shares, slower []float64
	for launch, n := range all {
		shares = append(shares, float64(len(last[launch]))/float64(n))
		if len(last[launch]) > 0 {
			slower = append(slower, fit.Median(last[launch]).Center)
		}
	}
	return SlowCPU{CPU: int(cpu), Last: fit.Median(shares), Slower: fit.Median(slower)}
}

// tail is the probability of k or more successes of n, each of probability p.
func tail(n, k int, p float64) (sum float64) {
	choose := func(k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	for ; k <= n; k++ {
		sum += math.Exp(choose(k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return sum
}
