package doubt

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Drift is what a session's reference probe changed by from its first launch to its
// last.
type Drift struct {
	Session int
	Change  float64 // 0.1: it took 10 % longer at the end
}

// leastDrift is worth a word.
const leastDrift = 0.05

func (d Drift) Error() string {
	than := "longer"
	if d.Change < 0 {
		than = "less"
	}
	return fmt.Sprintf("the reference probe took %.0f %% %s at the end of session %d than at its beginning, from launch to launch: measure again and look whether it goes on",
		100*math.Abs(d.Change), than, d.Session+1)
}

// Drifts are the sessions whose probe rose or fell from launch to launch, by Kendall's test at 1 %,
// by 5 % or more of Theil's line. Workers whose samples are sorted by state are left out: the state
// of their readings is unknown.
func Drifts(f *params.File) (all []error) {
	apart := toldApart(f)
	for session, launches := range bySession(f) {
		if d, sure := drift(session, launches, apart); sure && math.Abs(d.Change) > leastDrift {
			all = append(all, d)
		}
	}
	return all
}

// mostDrifting bounds the launches of a session that are compared in pairs; of more, this many at
// even distances tell as much.
const mostDrifting = 1 << 10

func drift(session int, all []*params.Launch, apart map[workersIn]bool) (d Drift, sure bool) {
	logs := make(map[params.Key][]float64) // by cell of the probe
	tells := func(p *params.ProbeReading) bool { return p.NS > 0 && !apart[workersIn{session, workers(p)}] }
	for _, l := range all {
		for _, p := range l.Probe {
			if tells(&p) {
				logs[p.Key] = append(logs[p.Key], math.Log(p.NS))
			}
		}
	}
	typical := make(map[params.Key]float64)
	for k, of := range logs {
		typical[k] = fit.Median(of).Center
	}
	var launches []float64 // how far from what the cells took in the session
	for _, l := range all {
		var off []float64
		for _, p := range l.Probe {
			if tells(&p) {
				off = append(off, math.Log(p.NS)-typical[p.Key])
			}
		}
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
			switch {
			case b > a:
				rises++
			case b < a:
				rises--
			}
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
