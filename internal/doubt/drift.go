package doubt

import (
	"cmp"
	"fmt"
	"math"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A Drift is the change of a session's reference probe from its first launch to its last.
type Drift struct {
	Session int
	Change  float64 // 0.1: it took 10 % longer at the end
}

// leastDrift is the least change that is reported.
const leastDrift = 0.05

func (d Drift) Error() string {
	than := printable.Either(d.Change < 0, "less", "longer")
	return fmt.Sprintf("the reference probe took %.0f %% %s at the end of session %d than at its beginning, from launch to launch: measure again to see whether it continues",
		100*math.Abs(d.Change), than, d.Session+1)
}

// Drifts are the sessions whose probe rose or fell by more than 5 % by Theil's line, significant by
// Kendall's test at 1 %. Readings of workers with several states are left out: their state is unknown.
func Drifts(f *params.File) (all []error) {
	sorted := sortedByState(f)
	for session, launches := range bySession(f) {
		if d, sure := drift(session, launches, sorted); sure && math.Abs(d.Change) > leastDrift {
			all = append(all, d)
		}
	}
	return all
}

// mostDrifting is the number of launches of a session that are compared in pairs, evenly chosen.
const mostDrifting = 1 << 10

func drift(session int, all []*params.Launch, sorted map[workersIn]bool) (d Drift, sure bool) {
	logs := make(map[params.Key][]float64) // by cell of the probe
	usable := func(p params.ProbeReading) bool { return p.NS > 0 && !sorted[workersIn{session, workers(&p)}] }
	for _, l := range all {
		for _, p := range lists.Filter(l.Probe, usable) {
			logs[p.Key] = append(logs[p.Key], math.Log(p.NS))
		}
	}
	typical := make(map[params.Key]float64)
	for k, values := range logs {
		typical[k] = fit.Median(values).Center
	}
	var launches []float64 // logarithms of times over the session's medians
	for _, l := range all {
		off := lists.Map(lists.Filter(l.Probe, usable), func(p params.ProbeReading) float64 { return math.Log(p.NS) - typical[p.Key] })
		if len(off) > 0 {
			launches = append(launches, fit.Median(off).Center)
		}
	}
	launches = lists.Spread(launches, mostDrifting)
	var slopes []float64
	rises := 0.
	for i, a := range launches {
		for j, b := range launches[i+1:] {
			slopes = append(slopes, (b-a)/float64(j+1))
			rises += float64(cmp.Compare(b, a))
		}
	}
	n := float64(len(launches))
	if n < 6 { // too few for the test
		return Drift{Session: session}, false
	}
	const onePercent = 2.576
	d = Drift{session, math.Expm1((n - 1) * fit.Median(slopes).Center)}
	return d, math.Abs(rises)/math.Sqrt(n*(n-1)*(2*n+5)/18) > onePercent
}
