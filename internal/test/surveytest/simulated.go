package surveytest

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Simulated machine has CPUs, caches and nodes that are not here, and takes what the
// law of its fields says. Workers that exchange segments wait for the slowest of them;
// those that copy or reduce by themselves do not.
type Simulated struct {
	*numa.Machine
	Latency      float64 // of a segment between CPUs, ns: its y
	Far          float64 // times as much between nodes
	PerByte      float64 // of a copy, ns
	Sigma, Kappa float64 // of transfers at once
	Noise        float64 // of batches: standard deviation of logarithms
	Drift        float64 // of logarithms, in a second by the machine's clock
	SlowCPU      int     // with Slower
	Slower       float64 // it takes so many times as long; 0: it is as the others
	Late         float64 // share of starts at which a worker is LateBy after the others
	LateBy       time.Duration
	// Cost, if not nil, is what other works than transfers, copies, reductions and round
	// trips take, in ns.
	Cost func(setups.Work) float64
	// States are where the host puts the CPUs, one after the other, at random; none: they stay.
	States []State
	// Between launches so much time goes by on the machine's clock.
	Between time.Duration

	rand  *rand.Rand
	state int
	until time.Duration // the state lasts
	spent []time.Duration
	sim   setups.Simulation
}

// A State of a machine whose host moves its CPUs.
type State struct {
	Flag   float64       // between two of them, ns
	Slowed float64       // what sums take two of them, as a multiple of what they take undisturbed; 0: unknown
	Times  float64       // what workers with partners take, as a multiple of the law
	Lasts  time.Duration // in the mean
}

// Simulate makes a machine with a law ready to be measured.
func Simulate(of Simulated, seed uint64) *Simulated {
	s := &of
	s.rand = rand.New(rand.NewPCG(seed, 1))
	s.sim = setups.Simulation{Cost: s.cost, Hear: s.hear, Look: s.look}
	s.spent = make([]time.Duration, len(s.States))
	return s
}

// now is the state at this moment.
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

// Shares are those that the states had of the time.
func (s *Simulated) Shares() (of []float64) {
	for _, spent := range s.spent {
		of = append(of, float64(spent)/float64(s.until))
	}
	return of
}

// look is what workers take for nothing, more of them a round and one an instruction, and what two take
// for sums.
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

// Measure adds a session to a file, as Run measures.
func (s *Simulated) Measure(t *testing.T, f *params.File, of *survey.Survey, r survey.Request) {
	t.Helper()
	session(t, f, s.Machine, &s.sim, of, r, engine.LeastLaunches, s.Between)
}

// Start begins launches of an experiment that measures it.
func (s *Simulated) Start() func(engine.Order, *os.File) (*engine.Process, error) {
	begin := start(s.Machine, &s.sim, new([]*engine.Bench))
	return func(o engine.Order, journal *os.File) (*engine.Process, error) {
		s.sim.Now += s.Between
		return begin(o, journal)
	}
}

// Drifted is how far it has drifted by now, in logarithms.
func (s *Simulated) Drifted() float64 { return s.Drift * s.sim.Now.Seconds() }

// L is L(m,τ) by the law, ns, of m bytes up to a segment.
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
	for i, at := range workers {
		of := 1 + s.Noise/10*s.rand.Float64()
		if at.ID == s.SlowCPU && s.Slower > 0 {
			of *= s.Slower
		}
		slowest = max(slowest, of)
		ns[i] = all * base * of
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

// base is what a work takes a worker that is as others, and whether they wait for each other.
func (s *Simulated) base(w setups.Work, workers []numa.Worker) (ns float64, together bool) {
	switch w := w.(type) {
	case setups.Brief:
		return s.base(w.Trial, workers)
	case setups.Trial:
		transfers := float64(w.K * w.Setup.Transfers)
		size := min(w.Bytes, w.SegmentBytes)
		switch w.Setup.Name {
		case setups.Isolated.Name: // which waits each time, half of y more than law says
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
