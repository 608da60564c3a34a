package surveytest

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Simulated machine has invented CPUs, caches and nodes, and times by the law of its fields. Workers
// that exchange segments wait for the slowest one; those that copy or reduce alone do not.
type Simulated struct {
	*numa.Machine
	Latency      float64 // of a segment between CPUs, ns: its y
	Far          float64 // factor of Latency between nodes
	PerByte      float64 // of a copy, ns
	Sigma, Kappa float64 // of concurrent transfers
	Noise        float64 // of batches: standard deviation of logarithms
	Drift        float64 // of logarithms, per second of the machine's clock
	SlowCPU      int     // with Slower
	Slower       float64 // factor of SlowCPU's times; 0: none
	Late         float64 // share of starts at which a worker is LateBy after the others
	LateBy       time.Duration
	// Cost, if not nil, is the time of works other than transfers, copies, reductions and round trips,
	// in ns.
	Cost func(setups.Work) float64
	// States are the random consecutive states in which the host puts the CPUs; nil: one state.
	States []State
	// Between is the time between launches on the machine's clock.
	Between time.Duration

	rand  *rand.Rand
	state int
	until time.Duration // end of the state
	spent []time.Duration
	sim   setups.Simulation
}

// A State of a machine whose host moves its CPUs.
type State struct {
	Flag   float64       // between two CPUs, ns
	Slowed float64       // factor of the time of sums on two CPUs; 0: unknown
	Times  float64       // factor of the times of workers with partners
	Lasts  time.Duration // mean
}

// Simulate prepares a machine for measurements.
func Simulate(law Simulated, seed uint64) *Simulated {
	s := &law
	s.rand = rand.New(rand.NewPCG(seed, 1))
	s.sim = setups.Simulation{Cost: s.cost, Hear: s.hear, Look: s.look}
	s.spent = make([]time.Duration, len(s.States))
	return s
}

// now is the current state.
func (s *Simulated) now() State {
	for s.sim.Now >= s.until {
		if s.until > 0 {
			s.state = (s.state + 1 + s.rand.IntN(len(s.States)-1)) % len(s.States)
		} else {
			s.state = s.rand.IntN(len(s.States))
		}
		lasts := time.Duration(s.rand.ExpFloat64() * float64(s.States[s.state].Lasts))
		s.spent[s.state] += lasts
		s.until += lasts
	}
	return s.States[s.state]
}

// Shares are the states' shares of the time.
func (s *Simulated) Shares() []float64 {
	return lists.Map(s.spent, func(spent time.Duration) float64 { return float64(spent) / float64(s.until) })
}

// look is the time of an empty round of workers, or of one worker's instruction, and of sums on two.
func (s *Simulated) look(workers []numa.Worker) (ns, computed float64) {
	now := State{Flag: s.Latency / 2}
	if len(s.States) > 0 {
		now = s.now()
	}
	if ns = now.Flag; len(workers) == 1 {
		ns = 0.1
	}
	if len(workers) == 2 && now.Slowed > 0 {
		const sums = 8.3 // cycles
		computed = sums * now.Slowed * math.Exp(0.01*s.rand.NormFloat64())
	}
	return ns * math.Exp(0.03*s.rand.NormFloat64()), computed
}

// Measure adds a session to a file, like Run.
func (s *Simulated) Measure(t *testing.T, f *params.File, measured *survey.Survey, r survey.Request) {
	t.Helper()
	session(t, f, s.Machine, &s.sim, measured, r, engine.LeastLaunches, s.Between)
}

// Start begins launches of an experiment on the machine.
func (s *Simulated) Start() func(engine.Order, *os.File) (*engine.Process, error) {
	return start(s.Machine, &s.sim, s.Between, new([]*engine.Bench))
}

// Drifted is the drift so far, in logarithms.
func (s *Simulated) Drifted() float64 { return s.Drift * s.sim.Now.Seconds() }

// L is L(m,τ) by the law in ns, for m up to a segment.
func (s *Simulated) L(m, tau int) float64 {
	t := float64(tau)
	return (s.Latency + s.PerByte*float64(m)) * (1 + s.Sigma*(t-1) + s.Kappa*t*(t-1))
}

func (s *Simulated) hear(workers []numa.Worker) []time.Duration {
	heard := make([]time.Duration, len(workers))
	for i := range heard {
		if s.rand.Float64() < s.Late {
			heard[i] = s.LateBy
		}
	}
	return heard
}

func (s *Simulated) cost(w setups.Work, workers []numa.Worker) []float64 {
	ns := make([]float64, len(workers))
	all := math.Exp(s.Drift*s.sim.Now.Seconds() + s.Noise*s.rand.NormFloat64())
	base, together := s.base(w, workers)
	slowest := 1.
	for i, w := range workers {
		factor := 1 + s.Noise/10*s.rand.Float64()
		if w.ID == s.SlowCPU && s.Slower > 0 {
			factor *= s.Slower
		}
		slowest = max(slowest, factor)
		ns[i] = all * base * factor
	}
	if together {
		if len(s.States) > 0 && len(workers) > 1 {
			slowest *= s.now().Times
		}
		for i := range ns {
			ns[i] = all * base * slowest
		}
	}
	return ns
}

// base is the time of a work without noise and drift, and whether workers wait for each other.
func (s *Simulated) base(w setups.Work, workers []numa.Worker) (ns float64, together bool) {
	switch w := w.(type) {
	case setups.Trial:
		transfers := float64(w.K * w.Setup.Transfers)
		size := min(w.Bytes, w.SegmentBytes)
		switch w.Setup.Name {
		case setups.Isolated.Name: // waits after each message: half of y more than the law
			far := 1.
			if workers[0].Node != workers[1].Node {
				far = s.Far
			}
			if size == 0 {
				return transfers * s.Latency * far, true
			}
			return transfers * (s.L(size, 1) + s.Latency*(far-0.5)), true
		case setups.Ring.Name, setups.Sendrecv.Name, setups.Bcast.Name, setups.Ping.Name:
			return transfers * s.L(size, len(workers)), true
		}
		return float64(w.Setup.Transfers) * s.PerByte * float64(max(w.Bytes, 8)), false
	case setups.RoundTrip:
		if w.Receiver {
			return s.Latency/4 + s.PerByte*float64(w.Bytes), true
		}
		return float64(w.N)*(s.Latency+s.PerByte*float64(w.Bytes)) + s.Latency + float64(w.N-1)*float64(w.Delay), true
	}
	return s.Cost(w), true
}
