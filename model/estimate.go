package model

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Timing is what a schedule took in seconds: its slowest rank, or the mean over ranks.
type Timing struct {
	Schedule *collective.Schedule
	Seconds  float64
	Mean     bool
}

// An Estimate is a parameter of a level that timed collectives say something of.
type Estimate struct {
	Level     string
	Parameter string // params.ChannelFanout: what each further message at once adds to L(m,τ); params.ChannelRelay
	Bytes     int
	Seconds   float64
	Error     float64 // standard error, seconds
	// Determined is false where the times leave it open: then it is what it would be without.
	Determined bool
}

// Estimates are estimated parameters of a file.
type Estimates struct {
	All     []Estimate
	Skipped int // timings of schedules whose messages differ in size, or of which there are too few
	levels  []channel
	single  int
}

// A trial is parameters of a level and a size while they are looked for.
type trial struct{ share, relay float64 }

// leastTimings of a size say something of parameters.
const leastTimings = 4

// EstimateLevels estimates, for each size of messages and level by level, L(m,τ) = L(m,1) +
// (τ−1)·share and the additional time of forwarding from timed schedules of that size, as Nuriyev
// and Lastovetsky, "Efficient and Accurate Selection of Optimal Collective Communication Algorithms
// Using Analytical Performance Modeling", IEEE Access 2021, do: a cost is a sum of parameters.
// Which messages ranks wait for depends on the parameters, so the sums are worked out again, with
// the slopes of costs, until the fit no longer improves. Shares keep the bounds of eq. (8), 0 …
// L(m,1), see fit.Bounded; levels with a measured fan-out keep theirs. It fails for a file without
// messages by levels, and for a schedule that cannot be costed.
func EstimateLevels(f *params.File, cluster *Cluster, timings []Timing) (*Estimates, error) {
	h, _, err := HierarchyOf(f, cluster)
	if err != nil {
		return nil, err
	}
	e := &Estimates{levels: h.levels, single: h.SingleCopy}
	measured := make(map[string]bool)
	for _, l := range f.LevelTimes() {
		measured[l.Name] = l.Fanout != nil
	}
	bySize := make(map[int][]Timing)
	for _, t := range timings {
		if bytes, one := messageBytes(t.Schedule); one && t.Seconds > 0 {
			bySize[bytes] = append(bySize[bytes], t)
		} else {
			e.Skipped++
		}
	}
	for _, bytes := range slices.Sorted(maps.Keys(bySize)) {
		of := bySize[bytes]
		if len(of) < leastTimings {
			e.Skipped += len(of)
			continue
		}
		if err := e.estimate(h, bytes, of, measured); err != nil {
			return nil, err
		}
	}
	if len(e.All) == 0 {
		return nil, fmt.Errorf("no size of messages has %d timings of schedules whose messages are all as long: %w", leastTimings, errNoTimings)
	}
	return e, nil
}

// errNoTimings says what to do where nothing can be estimated.
var errNoTimings = errors.New("give more timings, of algorithms that send whole messages such as linear and chain broadcasts")

// messageBytes is the size of all messages of a schedule, if they have one.
func messageBytes(s *collective.Schedule) (bytes int, one bool) {
	bytes = -1
	for _, b := range s.Blocks {
		for _, st := range b.Stages {
			if st.Pattern == collective.Local || st.Pattern == collective.Transfer || st.Reduce {
				return 0, false
			}
			for _, batch := range st.Shape {
				if bytes >= 0 && batch.Bytes != bytes {
					return 0, false
				}
				bytes = batch.Bytes
			}
		}
	}
	return bytes, bytes >= 0
}

// A search looks for the parameters of a size.
type search struct {
	h        *Hierarchy
	bytes    int
	timings  []Timing
	measured map[string]bool // levels whose fan-out is not looked for
	trials   []trial         // of each level, what it is without
	unknowns []unknown
	x        []float64 // the unknowns, in seconds
	most     []float64 // their bounds
	step     []float64 // for slopes
}

type unknown struct {
	level int
	relay bool
}

// estimate is EstimateLevels for one size.
func (e *Estimates) estimate(h *Hierarchy, bytes int, timings []Timing, measured map[string]bool) error {
	s := search{h: h, bytes: bytes, timings: timings, measured: measured, trials: make([]trial, len(h.levels))}
	s.begin()
	before := slices.Clone(s.x)
	found, err := s.run()
	if err != nil {
		return err
	}
	for i, u := range s.unknowns {
		one := Estimate{Level: h.levels[u.level].name, Parameter: params.ChannelFanout, Bytes: bytes, Seconds: s.x[i],
			Error: found[i].Error, Determined: found[i].Determined}
		if u.relay {
			one.Parameter = params.ChannelRelay
		}
		if !one.Determined {
			one.Seconds = before[i]
		}
		e.All = append(e.All, one)
	}
	return nil
}

// begin takes for the unknowns what the model does without them.
func (s *search) begin() {
	s.h.trial = nil
	add := func(u unknown, seconds, most, alone float64) {
		s.unknowns = append(s.unknowns, u)
		s.x, s.most, s.step = append(s.x, seconds), append(s.most, most), append(s.step, alone/50)
	}
	for level := range s.h.levels {
		c := s.h.class(level, s.bytes, false)
		t := &s.trials[level]
		t.relay = c.waited + c.anew
		const many = 16
		bound := c.alone
		if t.share = c.gap(); c.copied {
			bound -= c.latency
			t.share = (c.share(many) - bound) / (many - 1)
		}
		if !s.measured[s.h.levels[level].name] {
			add(unknown{level, false}, min(t.share, bound), bound, c.alone)
		}
		add(unknown{level, true}, t.relay, 8*c.alone, c.alone)
	}
}

// costs are what the timed schedules cost with unknowns as given.
func (s *search) costs(x []float64) ([]float64, error) {
	now := slices.Clone(s.trials)
	for i, u := range s.unknowns {
		if u.relay {
			now[u.level].relay = x[i]
		} else {
			now[u.level].share = x[i]
		}
	}
	s.h.trial = make(map[[2]int]trial)
	defer func() { s.h.trial = nil }()
	for level, t := range now {
		if s.measured[s.h.levels[level].name] {
			t.share = math.NaN() // as measured
		}
		s.h.trial[[2]int{level, s.bytes}] = t
	}
	all := make([]float64, len(s.timings))
	for i, t := range s.timings {
		c, err := s.h.Cost(t.Schedule)
		if err != nil {
			return nil, err
		}
		if all[i] = c.Seconds; t.Mean {
			all[i] = c.Mean
		}
	}
	return all, nil
}

// run improves the unknowns until costs fit no better: by the least squares of costs as they
// change with each, and where these lead too far, by a part of the way.
func (s *search) run() (found []fit.Unknown, err error) {
	scale := lists.Map(s.timings, func(t Timing) float64 { return t.Seconds })
	squares := func(costs []float64) (sum float64) {
		for i, c := range costs {
			sum += (c/scale[i] - 1) * (c/scale[i] - 1)
		}
		return sum
	}
	at, err := s.costs(s.x)
	if err != nil {
		return nil, err
	}
	for range 8 {
		slopes, target, err := s.slopes(at, scale)
		if err != nil {
			return nil, err
		}
		if found, err = fit.Bounded(slopes, target, scale, s.x, s.most); err != nil {
			return nil, err
		}
		better := false
		for part := 1.0; part > 0.02 && !better; part /= 2 {
			next := slices.Clone(s.x)
			for j := range next {
				next[j] += part * (found[j].Value - s.x[j])
			}
			there, err := s.costs(next)
			if err != nil {
				return nil, err
			}
			if better = squares(there) < squares(at); better {
				s.x, at = next, there
			}
		}
		if !better {
			break
		}
	}
	return found, nil
}

// slopes are how costs change with each unknown, and what the sum of slopes and unknowns is to be
// for costs to be as measured.
func (s *search) slopes(at, measured []float64) (slopes [][]float64, target []float64, err error) {
	slopes, target = make([][]float64, len(at)), make([]float64, len(at))
	for i := range at {
		slopes[i], target[i] = make([]float64, len(s.x)), measured[i]-at[i]
	}
	for j := range s.x {
		moved := slices.Clone(s.x)
		moved[j] += s.step[j]
		there, err := s.costs(moved)
		if err != nil {
			return nil, nil, err
		}
		for i := range there {
			slopes[i][j] = (there[i] - at[i]) / s.step[j]
			target[i] += slopes[i][j] * s.x[j]
		}
	}
	return slopes, target, nil
}

// Cells are the estimates as cells of a file: of relays those that are determined, and
// of levels with a share that is, a fan-out of all sizes.
func (e *Estimates) Cells() (cells []params.Cell) {
	shares := make(map[string]bool)
	for _, one := range e.All {
		if one.Determined && one.Parameter == params.ChannelFanout {
			shares[one.Level] = true
		}
	}
	add := func(one Estimate, tau int, seconds, spread float64) {
		ns, off := seconds*1e9, 2*spread*1e9
		time := fit.Estimate{Center: ns, Lo: max(0, ns-off), Hi: ns + off}
		if one.Error == 0 {
			time.Lo, time.Hi = math.Inf(-1), math.Inf(1)
		}
		cells = append(cells, params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: tau, Bytes: one.Bytes,
			Variant: params.Parameter{Of: one.Level, Name: one.Parameter}}, Time: time})
	}
	for _, one := range e.All {
		switch {
		case one.Parameter == params.ChannelRelay && one.Determined:
			add(one, 1, one.Seconds, one.Error)
		case one.Parameter == params.ChannelFanout && shares[one.Level]:
			i := slices.IndexFunc(e.levels, func(c channel) bool { return c.name == one.Level })
			curve := e.levels[i].message
			if one.Bytes >= e.single {
				curve = e.levels[i].single
			}
			alone, _ := curve.At(one.Bytes, 1)
			for _, tau := range []int{1, 2, 16} {
				add(one, tau, alone+float64(tau-1)*one.Seconds, float64(tau-1)*one.Error)
			}
		}
	}
	return cells
}
