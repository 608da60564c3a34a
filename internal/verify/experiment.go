package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/sweep"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// A Request is what is to be verified.
type Request struct {
	Names    []string // of algorithms, or Message; with Patterns, of those
	Patterns bool
	Variants int // of a pattern, the most; 0 for all
	P, M     []int
	Caches   []bool // off cache
	Time     time.Duration
	// Params are what to predict from, and Source is what they are called; nil has what
	// is needed swept too.
	Params *params.File
	Source string
}

// Name reads names: of algorithms, of collectives for all of their algorithms, and
// Message; with Patterns, of patterns, among which the permutation always is, for the
// others are predicted from it. None is a message and the default algorithm of each
// collective, or all patterns. It fails for a name that is not known.
func (r *Request) Name(names []string) error {
	add := func(name string) {
		if !slices.Contains(r.Names, name) {
			r.Names = append(r.Names, name)
		}
	}
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
	engine    *engine.Experiment
}

// The channels of a sweep of what is needed, and what reductions compute.
const (
	segments     = 2
	segmentBytes = 8 << 10
	operator     = "SUM_I"
)

// New settles what is carried out, and how much memory it takes. An engine.RefusedError
// is about the request.
func New(r Request, m *numa.Machine, here provenance.Provenance) (*Experiment, error) {
	e := &Experiment{Request: r, machine: m, here: here, Runs: Runs{Forced: make(map[int]bool)},
		schedules: schedules{Segments: segments, SegmentBytes: segmentBytes, ArenaBytes: make(map[int]int), Operator: operator}}
	cases := e.collectiveCases
	if r.Patterns {
		cases = e.patternCases
	}
	if err := cases(); err != nil {
		return nil, engine.Refuse(err)
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
	all := engine.Experiment{}
	e.schedules.cases = e.Cases
	if _, err := survey.Add(&all, Survey, e.schedules, m); err != nil {
		return nil, err
	}
	set := min(1, len(e.engine.Cells)) // of launches of their own
	for _, c := range all.Cells {
		c.Set = set
		e.engine.Cells = append(e.engine.Cells, c)
	}
	if e.engine.Requests == nil {
		e.engine.Requests = make(map[string]any)
	}
	e.engine.Requests[Survey.Name] = e.schedules
	e.engine.Time = r.Time
	return e, nil
}

// Run measures both sides, each by launches of its own that take turns. Whatever ends
// it, what was measured is there.
func (e *Experiment) Run(ctx context.Context) error {
	e.engine.Report = e.Report
	err := e.engine.Run(ctx)
	for _, w := range e.File.Warnings {
		e.Warn(errors.New(w))
	}
	return err
}

// Warn adds warnings, each once.
func (e *Experiment) Warn(warnings ...error) {
	for _, w := range warnings {
		if text := w.Error(); !slices.Contains(e.Warnings, text) {
			e.Warnings = append(e.Warnings, text)
		}
	}
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
	o, err := reduce.Lookup(operator)
	if err != nil {
		return err
	}
	ms := e.M
	if a.Collective.Empty() {
		if ms = []int{0}; off && len(e.Caches) > 1 {
			return nil
		}
	}
	for _, m := range ms {
		c, err := algorithmCase(a, p, m, off, o.Element)
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

// fit gives each number of ranks its arena, and refuses what memory does not hold.
func (e *Experiment) fit(free int64) error {
	ps := make(map[int]bool)
	for _, c := range e.Cases {
		call := c.Schedule.Call
		if need := c.Bytes(); need > free/4 {
			return engine.RefusedError(fmt.Sprintf("%s among P = %d with m = %d needs %d MB and a quarter of the %d MB that are free does not hold that: take a smaller m or P",
				c.Name, call.P, call.M, need>>20, free>>20))
		}
		ps[call.P] = true
	}
	for p := range ps {
		place, err := e.machine.Place(numa.Local, p)
		if err != nil {
			return err
		}
		e.Forced[p] = place.Oversubscribed
		fit := setups.Fit{CacheBytes: e.machine.LastLevelCacheBytes(), Sharers: e.machine.Sharers(place)}
		// An arena to send from and one to receive into, for each rank.
		arena := min(fit.WantedArena(), int(free/4/int64(2*p*len(ps))))
		e.schedules.ArenaBytes[p] = arena
		if partly := fit.Partly(arena); partly != nil && slices.Contains(e.Caches, true) {
			e.Warn(fmt.Errorf("among P = %d, %w", p, partly))
		}
	}
	return nil
}

// source settles where parameters come from: Params, or a sweep.
func (e *Experiment) source(free int64) (err error) {
	if e.Params == nil {
		if e.File, err = e.plan(); err == nil {
			e.engine, err = sweep.Experiment(e.File, e.machine, 0)
		}
		return err
	}
	p := e.Params.Plan
	if p.SegmentBytes < 1 || p.Segments < 1 {
		return engine.RefusedError(e.Source + " does not say how it was measured: take a file of taulop sweep")
	}
	if n, err := shm.ChannelBytes(p.Segments, p.SegmentBytes, 1); err != nil || int64(n) > free/4/int64(slices.Max(e.P)) {
		return engine.RefusedError(fmt.Sprintf("%s has %d segments of %d bytes, and a quarter of the %d MB that are free does not hold that: take another file", e.Source, p.Segments, p.SegmentBytes, free>>20))
	}
	was := e.Params.Provenance
	if was.CPUModel != e.here.CPUModel || was.Hostname != e.here.Hostname {
		e.Warn(fmt.Errorf("%s was measured on %s (%s), not here", e.Source, was.Hostname, was.CPUModel))
	}
	if was, is := cmp.Or(was.Reduction, "Go"), cmp.Or(e.here.Reduction, "Go"); was != is && e.Params.Plan.Swept() && !e.Params.Plan.NoGamma {
		e.Warn(fmt.Errorf("γ of %s is that of loops in %.60q, and here they are in %s", e.Source, was, is))
	}
	if was, is := was.Pages(), e.here.Pages(); was != is && was != "" {
		e.Warn(fmt.Errorf("pages of buffers in %s are %.40s, and here %s", e.Source, was, is))
	}
	e.schedules.Segments, e.schedules.SegmentBytes = p.Segments, p.SegmentBytes
	e.File = &params.File{Format: params.Format, Version: params.Version, Provenance: e.here, Plan: params.Plan{Segments: p.Segments, SegmentBytes: p.SegmentBytes}}
	e.engine = &engine.Experiment{File: e.File}
	return nil
}

// plan is a sweep of the transfers that occur in the cases, and no others.
func (e *Experiment) plan() (*params.File, error) {
	p := params.Plan{Setups: []string{setups.Ring.Name, setups.Ping.Name, setups.Sendrecv.Name}, Policies: []numa.Policy{numa.Local}, Caches: e.Caches,
		Segments: segments, SegmentBytes: segmentBytes, Budget: e.Time.Seconds(), Width: 0.01, Copy: shm.CopyName(), NoGamma: true, Operators: []string{operator}}
	sizes := map[int]bool{segmentBytes: true}
	for _, m := range e.M {
		sizes[m] = true
	}
	for _, c := range e.Cases {
		p.NoGamma = p.NoGamma && !c.Schedule.Algorithm.Reduces()
		for _, b := range c.Schedule.Blocks {
			for _, s := range b.Stages {
				for _, batch := range s.Shape {
					sizes[batch.Bytes] = true
				}
			}
		}
	}
	if e.Patterns { // none is as a ring, and what lies between is predicted where lines are tested
		p.Setups = []string{setups.Ping.Name, setups.Sendrecv.Name}
		for _, m := range FittedSizes(e.M) {
			delete(sizes, m)
		}
		sizes[segmentBytes], sizes[e.M[0]], sizes[e.M[len(e.M)-1]] = true, true, true
	}
	delete(sizes, 0)
	p.Sizes = slices.Sorted(maps.Keys(sizes))
	p.Taus = transfers.Taus(min(slices.Max(e.P), e.machine.Allowed.Len()))
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: e.here, Plan: p}
	if err := transfers.Fit(f, e.machine); err != nil {
		return nil, engine.Refuse(err)
	}
	return f, nil
}

// models are those of the parameters, by whether user data are off cache. Where
// parameters lack there are none, and lacking says why.
func (e *Experiment) models(names ...string) (by map[bool][]model.Coster, lacking error) {
	by = make(map[bool][]model.Coster)
	for _, off := range e.Caches {
		models, err := predictors(cmp.Or(e.Params, e.File), model.Choice{OffCache: off, Operator: operator}, names...)
		if err != nil {
			lacking = cmp.Or(lacking, err)
			continue
		}
		by[off] = models
		for _, m := range models {
			for _, w := range m.(*model.Predictor).Warnings {
				if e.Params != nil {
					w = fmt.Errorf("%s: %w", e.Source, w)
				}
				e.Warn(w)
			}
		}
	}
	return by, lacking
}

// lack warns of rows without predictions.
func (e *Experiment) lack(why error) error {
	if why != nil {
		e.Warn(fmt.Errorf("parameters are missing for the rows without predictions: %w", why))
	}
	return why
}

// A Setting is what was measured on and with.
type Setting struct {
	Provenance   provenance.Provenance `json:"provenance"`
	Parameters   string                `json:"params"` // the file, or that they were measured in between
	Segments     int                   `json:"segments"`
	SegmentBytes int                   `json:"segment_bytes"`
	ArenaBytes   int                   `json:"arena_bytes,omitempty"` // off cache, of a rank of the fewest, for each direction
	Rounds       int                   `json:"rounds"`                // samples of each case
}

func (e *Experiment) setting() Setting {
	s := Setting{Provenance: e.here, Parameters: e.Source, Segments: e.schedules.Segments, SegmentBytes: e.schedules.SegmentBytes, Rounds: e.Launches()}
	if e.Params == nil {
		s.Parameters = "swept by launches between those of the collectives"
		if e.Patterns {
			s.Parameters = "swept by launches between those of the patterns"
		}
	}
	if slices.Contains(e.Caches, true) {
		s.ArenaBytes = e.schedules.ArenaBytes[slices.Min(slices.Collect(maps.Keys(e.schedules.ArenaBytes)))]
	}
	return s
}

// A Result is measured collectives with what the models say of them.
type Result struct {
	Setting
	LogGP    []LogGP  `json:"loggp"`
	Rows     []Row    `json:"rows"`
	Means    []Mean   `json:"means"`
	Warnings []string `json:"warnings"`
}

// LogGP is the parameters of LogGP as measured, in s and s a byte.
type LogGP struct {
	OffCache   bool    `json:"off_cache"`
	Latency    float64 `json:"L_s"`
	Overhead   float64 `json:"o_s"`
	Gap        float64 `json:"g_s"`
	GapPerByte float64 `json:"G_s_per_byte"`
}

// Collectives puts beside what was measured what the models say of it. Where they
// cannot, lacking is why.
func (e *Experiment) Collectives() (doc *Result, lacking error) {
	models, lacking := e.models("taulop", "lognp", "loggp")
	doc = &Result{Setting: e.setting()}
	for _, off := range e.Caches {
		if by := models[off]; by != nil {
			m := by[2].(*model.Predictor).In(nil).(model.LogGP)
			doc.LogGP = append(doc.LogGP, LogGP{off, m.Latency, m.Overhead, m.Gap, m.GapPerByte})
		}
	}
	rows, failed := e.Rows(models)
	lacking = e.lack(cmp.Or(lacking, failed))
	doc.Rows, doc.Means, doc.Warnings = rows, Means(rows), e.Warnings
	return doc, lacking
}

// A PatternResult is measured message patterns with what predicts them.
type PatternResult struct {
	Setting
	Patterns    []Pattern    `json:"patterns"`
	FittedSizes []int        `json:"fitted_m"` // that lines go through
	Fits        []PatternFit `json:"fits"`
	Rows        []PatternRow `json:"rows"`
	Means       []Mean       `json:"means"`
	Warnings    []string     `json:"warnings"`
}

// PatternResult puts beside each pattern what is predicted. Where parameters do not
// suffice lacking is why, where lines cannot be fitted unfitted.
func (e *Experiment) PatternResult() (doc *PatternResult, lacking, unfitted error) {
	doc = &PatternResult{Setting: e.setting(), FittedSizes: FittedSizes(e.M)}
	for _, name := range e.Names {
		pattern, _ := LookupPattern(name) // cases were made of it
		doc.Patterns = append(doc.Patterns, pattern)
	}
	if doc.Fits, unfitted = e.PatternFits(); unfitted != nil {
		e.Warn(unfitted)
	}
	models, lacking := e.models("taulop")
	rows, failed := e.PatternRows(models, doc.Fits)
	lacking = e.lack(cmp.Or(lacking, failed))
	doc.Rows, doc.Means, doc.Warnings = rows, PatternMeans(rows), e.Warnings
	return doc, lacking, unfitted
}

// PatternFile is a parameter file of what was swept and of the patterns, nil if none was
// measured.
func (e *Experiment) PatternFile() *params.File {
	if !slices.ContainsFunc(e.File.Cells, func(c params.Cell) bool { return c.Kind == params.PatternCell }) {
		return nil
	}
	warn := func(w string) {
		if !slices.Contains(e.File.Warnings, w) {
			e.File.Warnings = append(e.File.Warnings, w)
		}
	}
	for _, w := range e.Warnings {
		warn(w)
	}
	for p, forced := range e.Forced {
		if forced {
			warn(fmt.Sprintf("message patterns among %d ranks that shared fewer CPUs: their times are no measurement", p))
		}
	}
	return e.File
}
