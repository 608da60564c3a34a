package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// A Request says what to verify.
type Request struct {
	Names    []string // of algorithms, or Message; with Patterns, of those
	Patterns bool
	Variants int // of a pattern, the most; 0 for all
	P, M     []int
	Caches   []bool // off cache
	Time     time.Duration
	// Tau are the τ of the parameters. nil: all; for collectives on more than four cores those up
	// to half of the largest P.
	Tau []int
	// Params, if not nil, are the parameters of another session, from the file Source. They are
	// compared with this session's sweep, or with NoSweep replace it.
	Params  *params.File
	Source  string
	NoSweep bool

	Degree, Chunk int // of algorithms that have them, see collective.Call; 0 is the usual

	// Transport is Segmented, or CMA: ranks are processes, messages single copies, and Buffers is
	// the state of send buffers.
	Transport params.Transport
	Buffers   params.Buffers

	whole map[string]bool // names that came with their collective, and are left out where they do not exist
}

// Sizes are the default sizes of messages in bytes, three a decade. They, their halves and their
// remainders after whole segments of 8 KiB lie between the sizes of a sweep.
var Sizes = []int{1200, 2400, 5600, 12000, 24000, 56000, 120000, 240000, 560000, 1200000, 2400000}

// Name reads the names of algorithms, of collectives for all their algorithms, and Message; with
// Patterns those of patterns, to which it adds the permutation, because the others are predicted
// from it. Without names it takes a message and the default algorithm of each collective, or all
// patterns. It fails for unknown names.
func (r *Request) Name(names []string) error {
	if r.whole == nil {
		r.whole = make(map[string]bool)
	}
	add := func(name string) { r.Names = lists.Unique(append(r.Names, name)) }
	switch {
	case r.Patterns && len(names) == 0:
		r.Names = PatternNames()
	case r.Patterns:
		add(Permutation)
	case len(names) == 0:
		add(Message)
		for _, c := range collective.Collectives() {
			add(c.DefaultAlgorithm().String())
		}
	}
	for _, name := range names {
		switch {
		case r.Patterns:
			if _, err := LookupPattern(name); err != nil {
				return err
			}
			add(name)
		case name == Message:
			add(name)
		default:
			found, err := collective.Find(name)
			if err != nil {
				return err
			}
			for _, a := range found {
				if a.String() == name {
					delete(r.whole, name)
				} else if !slices.Contains(r.Names, a.String()) {
					r.whole[a.String()] = true
				}
				add(a.String())
			}
		}
	}
	return nil
}

// An Experiment carries a request out on this machine.
type Experiment struct {
	Request
	Runs
	Warnings []string
	Report   func(engine.Progress) // see engine.Experiment

	machine   *numa.Machine
	here      provenance.Provenance
	schedules schedules
	caches    float64 // of arenas, see setups.NeededCaches
	alone     []Case  // messages that log_nP is measured by
	heldOut   []int   // τ that a sweep would measure, and that parameters may not be of
	lacks     error   // why Params do not predict in the present state
	engine    *engine.Experiment
}

// The sweep's intermediate buffers, and the operator of reductions.
const (
	segments     = 2
	segmentBytes = 8 << 10
	operator     = "SUM_I"
)

// New plans the experiment and its memory. An engine.RefusedError is about the request.
func New(r Request, m *numa.Machine, here provenance.Provenance) (*Experiment, error) {
	e := &Experiment{Request: r, machine: m, here: here, Runs: Runs{Forced: make(map[int]bool)},
		schedules: schedules{Segments: segments, SegmentBytes: segmentBytes, ArenaBytes: make(map[int]int), Operator: operator, Degree: r.Degree, Chunk: r.Chunk,
			Single: r.Transport == model.CMA, Rewritten: r.Buffers == params.Rewritten}}
	if e.schedules.Single {
		if err := cma.Allowed(m); err != nil {
			return nil, engine.Refuse(err)
		}
	}
	cases := e.collectiveCases
	if r.Patterns {
		cases = e.patternCases
	}
	if err := cases(); err != nil {
		return nil, engine.Refuse(err)
	}
	if r.Patterns && r.Params != nil {
		e.NoSweep = true
	}
	e.holdOut()
	if err := e.channel(); err != nil {
		return nil, err
	}
	if !e.NoSweep && !r.Patterns {
		if err := e.messagesAlone(); err != nil {
			return nil, engine.Refuse(err)
		}
	}
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return nil, err
	}
	if err := e.fit(free); err != nil {
		return nil, err
	}
	if err := e.source(free); err != nil {
		return nil, err
	}
	of, set := e.schedules, 0
	for _, of.cases = range [][]Case{e.alone, e.Cases} { // parameters, then what is predicted from them
		all := engine.Experiment{}
		if _, err := survey.Add(&all, Survey, of, m); err != nil {
			return nil, err
		}
		for _, c := range all.Cells {
			c.Set, c.Tier = set, set^1
			e.engine.Cells = append(e.engine.Cells, c)
		}
		set = min(1, len(e.engine.Cells)) // of launches of their own
	}
	if e.engine.Requests == nil {
		e.engine.Requests = make(map[string]any)
	}
	e.engine.Requests[Survey.Name] = e.schedules
	e.engine.Time = r.Time
	return e, nil
}

// Run measures parameters and cases in alternate launches. Samples are kept however it ends.
func (e *Experiment) Run(ctx context.Context) error {
	e.engine.Report = e.Report
	err := e.engine.Run(ctx)
	for _, w := range e.File.Warnings {
		e.Warn(errors.New(w))
	}
	e.Warn(doubt.Unequal(e.File)...) // where CPUs are not there all the time, times say so themselves
	if !e.Patterns {
		return err
	}
	for _, of := range e.states() {
		if len(of.States) > 0 { // rows are means over states
			e.Warn(fmt.Errorf("%d ranks were in several states, a flag took %s: times are means over these states by their shares, and predictions over those that the parameters met",
				of.P, params.StateList(of.States)))
		}
	}
	return err
}

// Warn adds warnings, each once.
func (e *Experiment) Warn(warnings ...error) {
	e.Warnings = lists.Unique(append(e.Warnings, lists.Map(warnings, error.Error)...))
}

// collectiveCases adds the calls to carry out, in the order of the report: messages have
// two ranks, whatever P is.
func (e *Experiment) collectiveCases() error {
	ps, messages := e.P, slices.Contains(e.Names, Message)
	if messages && !slices.Contains(ps, 2) {
		ps = append([]int{2}, ps...)
	}
	for _, p := range ps {
		for _, off := range e.Caches {
			if messages && p == 2 {
				for _, m := range e.M {
					c, err := MessageCase(m, off)
					if err != nil {
						return err
					}
					e.Cases = append(e.Cases, c)
				}
			}
			for _, name := range e.Names {
				if name == Message || !slices.Contains(e.P, p) {
					continue
				}
				if err := e.casesOf(name, p, off); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e *Experiment) casesOf(name string, p int, off bool) error {
	a, err := collective.Lookup(name)
	if err != nil {
		return err
	}
	o, _ := reduce.Lookup(operator) // tests carry it out
	if e.whole[name] && !a.Among.Has(p) {
		e.Warn(fmt.Errorf("among P = %d, %s is left out: it needs %s", p, name, a.Among))
		return nil
	}
	ms := e.M
	if a.Collective.Empty() {
		if ms = []int{0}; off && len(e.Caches) > 1 {
			return nil
		}
	}
	for _, m := range ms {
		c, err := e.schedules.algorithmCase(a, p, m, off, o.Element)
		if err != nil {
			return err
		}
		e.Cases = append(e.Cases, c)
	}
	return nil
}

// patternCases adds the variants to carry out, in the order of the report.
func (e *Experiment) patternCases() error {
	for _, p := range e.P {
		for _, off := range e.Caches {
			for _, name := range e.Names {
				pattern, err := LookupPattern(name)
				if err != nil {
					return err
				}
				of, leftOut, err := pattern.Cases(p, e.M, off, e.Variants)
				if err != nil {
					return err
				}
				if leftOut > 0 {
					e.Warn(fmt.Errorf("among P = %d, %d variants of %s were left out: ask for 0 variants to have all measured", p, leftOut, name))
				}
				e.Cases = append(e.Cases, of...)
			}
		}
	}
	return nil
}

// fit gives each number of ranks its arena, and refuses cases beyond the memory.
func (e *Experiment) fit(free int64) error {
	e.caches = setups.NeededCaches(e.machine, e.Caches)
	all := slices.Concat(e.Cases, e.alone)
	for _, c := range all {
		call := c.Schedule.Call
		if need := c.Bytes(); need > free/4 {
			return engine.RefusedError(fmt.Sprintf("%s among P = %d with m = %d needs %d MB and a quarter of the %d MB that are free does not hold that: take a smaller m or P",
				c.Name, call.P, call.M, need>>20, free>>20))
		}
	}
	ps := lists.Unique(lists.Map(all, func(c Case) int { return c.Schedule.Call.P }))
	for _, p := range ps {
		place, err := e.machine.Place(numa.Local, p)
		if err != nil {
			return err
		}
		e.Forced[p] = place.Oversubscribed
		fit := setups.Fit{ArenaBytes: setups.ArenaOf(e.machine, place, e.caches)}
		// Each rank may have an arena to send from and one to receive into.
		arena := min(fit.ArenaBytes, int(free/4/int64(2*p*len(ps))))
		e.schedules.ArenaBytes[p] = arena
		if partly := fit.Partly(arena); partly != nil && slices.Contains(e.Caches, true) {
			e.Warn(fmt.Errorf("among P = %d, %w", p, partly))
		}
	}
	return nil
}

// channel takes over the segments of Params, if there are any, and warns of other differences.
func (e *Experiment) channel() error {
	if e.Params == nil {
		return nil
	}
	p := e.Params.Plan
	if p.SegmentBytes < 1 || p.Segments < 1 {
		return engine.RefusedError(e.Source + " does not say how it was measured: take a file of taulop sweep")
	}
	was := e.Params.Provenance
	if was.CPUModel != e.here.CPUModel || was.Hostname != e.here.Hostname {
		e.Warn(fmt.Errorf("%s was measured on %s (%s), not here", e.Source, was.Hostname, was.CPUModel))
	}
	if was, is := cmp.Or(was.Reduction, "Go"), cmp.Or(e.here.Reduction, "Go"); was != is && p.Swept() && !p.NoGamma {
		e.Warn(fmt.Errorf("γ of %s is that of loops in %.60s, and here they are in %s", e.Source, was, is))
	}
	if was, is := was.BufferPages, e.here.BufferPages; was != is && was != "" {
		e.Warn(fmt.Errorf("pages of buffers in %s are %.40s, and here %s", e.Source, was, is))
	}
	if was.IdleCores != e.here.IdleCores {
		e.Warn(fmt.Errorf("idle cores were %s while %s was measured, and here they %s", cmp.Or(was.IdleCores, "asleep"), e.Source, cmp.Or(e.here.IdleCores, "sleep")))
	}
	e.schedules.Segments, e.schedules.SegmentBytes = p.Segments, p.SegmentBytes
	return nil
}

// source chooses the source of parameters: a sweep, or Params alone.
func (e *Experiment) source(free int64) (err error) {
	if of := e.schedules; e.Params != nil {
		if n, err := shm.ChannelBytes(of.Segments, of.SegmentBytes, 1); err != nil || int64(n) > free/4/int64(slices.Max(e.P)) {
			return engine.RefusedError(fmt.Sprintf("%s has %d segments of %d bytes, and a quarter of the %d MB that are free does not hold that: take another file", e.Source, of.Segments, of.SegmentBytes, free>>20))
		}
	}
	if e.NoSweep {
		e.File = &params.File{Format: params.Format, Version: params.Version, Provenance: e.here,
			Plan: params.Plan{Segments: e.schedules.Segments, SegmentBytes: e.schedules.SegmentBytes}}
		e.engine = &engine.Experiment{File: e.File}
		return nil
	}
	if e.File, err = e.plan(); err != nil {
		return err
	}
	if e.engine, err = sweep.Experiment(e.File, e.machine, 0); e.schedules.Single {
		e.engine.Probes = nil
		ofSegments := []params.Kind{params.TransferCell, params.NullCell, params.MessageCell, params.ExchangeCell, params.PRTTCell}
		e.engine.Cells = slices.DeleteFunc(e.engine.Cells, func(c engine.Cell) bool {
			return slices.Contains(ofSegments, c.Kind) && c.Transport == params.InSegments
		})
	}
	return err
}

// unmeasured are the cells without samples.
func (e *Experiment) unmeasured() []engine.Cell {
	measured := lists.ToMap(e.File.Cells, func(c params.Cell) (params.Key, bool) { return c.Key, len(c.Samples) > 0 })
	return lists.Filter(e.engine.Cells, func(c engine.Cell) bool { return !measured[c.Key] })
}

// kindOf names a cell's kind in the error of Short.
func kindOf(c engine.Cell) string {
	switch c.Kind {
	case params.CollectiveCell:
		return "calls"
	case params.PatternCell:
		return "messages of patterns"
	}
	return transfers.Names[c.Kind]
}

// Short names the cells that time did not suffice for, and the time that would; nil if none.
func (e *Experiment) Short() error {
	var parts []string
	for _, lacking := range lists.Groups(e.unmeasured(), kindOf) {
		kind := kindOf(lacking[0])
		of := lists.Filter(e.engine.Cells, func(c engine.Cell) bool { return kindOf(c) == kind })
		parts = append(parts, fmt.Sprintf("%d of %d %s", len(lacking), len(of), kind))
	}
	_, few := e.engine.Lacking()
	switch {
	case len(parts) > 0:
		return fmt.Errorf("time did not suffice for %s, and where predictions need them there is a dash: about %s would do", strings.Join(parts, ", "), printable.Duration(e.enough()))
	case few > 0:
		return fmt.Errorf("time did not suffice for intervals of %d of %d cells: about %s would do", few, len(e.engine.Cells), printable.Duration(e.enough()))
	}
	return nil
}

// OutOfTime reports whether a sweep had too little time, see Short.
func (e *Experiment) OutOfTime() bool { return !e.NoSweep && e.Short() != nil }

// enough estimates the time to visit every cell as often as an interval needs, from the visits
// made.
func (e *Experiment) enough() time.Duration {
	seconds := lists.Sum(e.File.Launches, func(l params.Launch) float64 { return l.Seconds })
	visits := lists.Sum(e.File.Cells, func(c params.Cell) int { return len(c.Samples) })
	seconds *= float64(len(e.engine.Cells)*(engine.LeastLaunches+1)) / float64(max(1, visits))
	return time.Duration(math.Ceil(seconds/5)*5) * time.Second
}
