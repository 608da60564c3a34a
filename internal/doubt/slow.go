package doubt

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// oftenLate is the share of batches that did not begin together which is worth a warning.
const oftenLate = 0.05

// Unequal says where workers did not run alike: CPUs that are slow, and late beginnings.
func Unequal(f *params.File) (all []error) {
	if s := f.Begun(); s.Forced > 0 || float64(s.Late) > oftenLate*float64(s.Batches) {
		all = append(all, fmt.Errorf("%v: stop what else runs on the workers' CPUs, or use fewer workers", s))
	}
	for _, s := range SlowCPUs(f) {
		all = append(all, s)
	}
	return all
}

// A SlowCPU is one whose worker is last most of the time, while no worker waits for
// another: its noise would be taken for contention.
type SlowCPU struct {
	CPU       int
	Placement numa.Policy
	Tau       int
	Last      fit.Estimate // share of a launch's visits in which it was last
	Slower    fit.Estimate // than the median of the others, 0.1 for 10 %, where it was last
}

// Limits of what is said of a CPU.
const (
	mostlyLast = 0.5   // of a launch's visits, at the least
	leastSlow  = 0.03  // slower, at the least
	chance     = 0.001 // that some CPU is last so often where all are alike, at the most
)

func (s SlowCPU) Error() string {
	return fmt.Sprintf("CPU %d is slower than the others: of τ = %d (placement %s) it was the last in %.0f %% of the visits, and took %.0f %% longer than their median; look what else runs there, or leave it out",
		s.CPU, s.Tau, s.Placement, 100*s.Last.Center, 100*s.Slower.Center)
}

// SlowCPUs are CPUs that are last in more than half of the visits, in nine launches of ten or so
// (by the intervals over launches), and slower by 3 % or more. It looks at copies and reductions,
// whose workers do the same and do not wait for each other, of each placement and τ, and reports a
// CPU at its largest τ.
func SlowCPUs(f *params.File) (slow []SlowCPU) {
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

// mostlyLastOf is about the CPU that was last most often.
func mostlyLastOf(visits []params.Sample) (s SlowCPU) {
	times := make(map[int32]int)
	for _, v := range visits {
		times[v.Last]++
	}
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

// tail is the chance of k or more of n, each of chance p.
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
