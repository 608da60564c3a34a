package verify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/params"
)

// A Setting is the machine and the options of a measurement.
type Setting struct {
	Provenance   provenance.Provenance `json:"provenance"`
	Parameters   string                `json:"params"`                // the file, or that they were measured in between
	Session      string                `json:"session,omitempty"`     // the file of another session that stands beside them
	Tau          []int                 `json:"tau"`                   // that parameters are of; none: all of the file
	HeldOut      []int                 `json:"held_out_tau"`          // that they may not be of, and that the test has
	Launches     Launches              `json:"launches"`              // that measured
	Segments     int                   `json:"segments"`              // of a channel
	SegmentBytes int                   `json:"segment_bytes"`         //
	Chunk        int                   `json:"chunk_bytes,omitempty"` // of algorithms that have chunks, and
	Degree       int                   `json:"degree,omitempty"`      // of those that have trees, where they were asked for
	ArenaBytes   int                   `json:"arena_bytes,omitempty"` // off cache, of a rank of the fewest, for each direction
	Rounds       int                   `json:"rounds"`                // samples of each case
	Transport    params.Transport      `json:"transport,omitempty"`
	Buffers      string                `json:"buffers,omitempty"` // state of send buffers, of single copies
}

// Launches count the processes that measured.
type Launches struct {
	Parameters int `json:"parameters"`
	Schedules  int `json:"schedules"`
	Both       int `json:"both"` // none should
}

// launches counts the file's launches by the kind of their samples.
func (e *Experiment) launches() Launches {
	cases := lists.ToMap(e.Cases, func(c Case) (params.Key, bool) { return c.Key(), true })
	of := map[bool]map[int32]bool{false: {}, true: {}} // by whether a sample is of a case
	for _, c := range e.File.Cells {
		for _, s := range c.Samples {
			of[cases[c.Key]][s.Launch] = true
		}
	}
	both := lists.Filter(slices.Collect(maps.Keys(of[false])), func(launch int32) bool { return of[true][launch] })
	return Launches{Parameters: len(of[false]), Schedules: len(of[true]), Both: len(both)}
}

func (e *Experiment) setting() Setting {
	s := Setting{Provenance: e.here, Parameters: e.Source, Tau: e.Tau, HeldOut: e.heldOut, Launches: e.launches(),
		Segments: e.schedules.Segments, SegmentBytes: e.schedules.SegmentBytes, Chunk: e.Chunk, Degree: e.Degree, Rounds: e.Rounds()}
	if e.schedules.Single {
		s.Transport, s.Buffers = params.CMA, e.Buffers.String()
	}
	if !e.NoSweep {
		s.Session, s.Tau = e.Source, e.File.Plan.Taus
		of := printable.Either(e.Patterns, "patterns", "collectives")
		s.Parameters = "swept by launches between those of the " + of
		if s.Launches.Both > 0 {
			e.Warn(fmt.Errorf("%d launches measured both what is predicted and what it is predicted from: this is no test", s.Launches.Both))
		}
	}
	if slices.Contains(e.Caches, true) {
		s.ArenaBytes = e.schedules.ArenaBytes[slices.Min(slices.Collect(maps.Keys(e.schedules.ArenaBytes)))]
	}
	return s
}

// A Result is measured collectives with predictions.
type Result struct {
	Setting
	States   []RankStates `json:"states,omitempty"` // where the host moved the CPUs
	Models   []Model      `json:"models"`           // in the order of the report
	LogGP    []LogGP      `json:"loggp"`
	Rows     []Row        `json:"rows"`
	Means    []Mean       `json:"means"`
	Warnings []string     `json:"warnings"`
}

// LogGP are measured parameters of LogGP, in s and s a byte.
type LogGP struct {
	State      params.State `json:"state,omitzero"` // see Row
	OffCache   bool         `json:"off_cache"`
	Latency    float64      `json:"L_s"`
	Overhead   float64      `json:"o_s"`
	Gap        float64      `json:"g_s"`
	GapPerByte float64      `json:"G_s_per_byte"`
	// Measured is L with its interval, ns, which may be below zero; nil: unknown.
	Measured *fit.Estimate `json:"L_measured_ns,omitempty"`
}

// Collectives are the measured collectives with predictions; lacking says why there is none.
func (e *Experiment) Collectives() (doc *Result, lacking error) {
	doc = &Result{Setting: e.setting(), States: e.states(), Rows: []Row{}}
	grid := e.File.Plan.Sizes
	if e.NoSweep {
		grid = e.Params.Plan.Sizes
	}
	var models []Model
	for _, s := range e.stays() {
		rows, why := s.Rows(s.models)
		for i := range rows {
			rows[i].State, rows[i].OnGrid = s.state, slices.Contains(grid, rows[i].Bytes)
		}
		doc.Rows, lacking = append(doc.Rows, rows...), cmp.Or(lacking, why)
		doc.LogGP = append(doc.LogGP, s.logGP()...)
		models = append(models, s.models...)
	}
	for _, m := range models { // what each is given is the same in all states, but for what lacks
		if i := slices.IndexFunc(doc.Models, func(o Model) bool { return o.Name == m.Name }); i < 0 {
			doc.Models = append(doc.Models, m)
		} else if len(doc.Models[i].in) == 0 {
			doc.Models[i] = m
		}
	}
	predicted := slices.ContainsFunc(doc.Rows, func(r Row) bool { return len(r.Predicted) > 0 })
	lacking = e.lack(predicted, models, lacking)
	doc.Means, doc.Warnings = Means(doc.Rows), e.Warnings
	return doc, lacking
}

// lack warns of missing predictions, and fails if there are none at all.
func (e *Experiment) lack(predicted bool, models []Model, why error) error {
	for _, m := range models {
		why = cmp.Or(why, m.lacking)
	}
	switch {
	case !predicted && e.OutOfTime():
		return e.Short()
	case !predicted:
		return cmp.Or(why, errors.New("the times that are needed are 0 or were not measured: sweep anew"))
	case errors.As(why, &noState{}): // which was said
	case why != nil:
		e.Warn(fmt.Errorf("parameters are missing for some predictions: %w", why))
	}
	return nil
}

// A PatternResult is measured message patterns with predictions.
type PatternResult struct {
	Setting
	Patterns    []Pattern    `json:"patterns"`
	FittedSizes []int        `json:"fitted_m"` // that lines go through
	Fits        []PatternFit `json:"fits"`
	Rows        []PatternRow `json:"rows"`
	Means       []Mean       `json:"means"`
	Warnings    []string     `json:"warnings"`
}

// PatternResult are the measured patterns with predictions; lacking says why parameters do not
// suffice, unfitted why no lines were fitted.
func (e *Experiment) PatternResult() (doc *PatternResult, lacking, unfitted error) {
	doc = &PatternResult{Setting: e.setting(), FittedSizes: FittedSizes(e.M)}
	for _, name := range e.Names {
		pattern, _ := LookupPattern(name) // cases were made of it
		doc.Patterns = append(doc.Patterns, pattern)
	}
	if doc.Fits, unfitted = e.PatternFits(); unfitted != nil {
		e.Warn(unfitted)
	}
	models := e.models()
	rows, lacking := e.PatternRows(models, doc.Fits)
	lacking = e.lack(slices.ContainsFunc(rows, func(r PatternRow) bool { return len(r.Predicted) > 0 }), models, lacking)
	doc.Rows, doc.Means, doc.Warnings = rows, PatternMeans(rows), e.Warnings
	return doc, lacking, unfitted
}

// PatternFile is a parameter file of the sweep and of the patterns, nil if none was measured.
func (e *Experiment) PatternFile() *params.File {
	if !slices.ContainsFunc(e.File.Cells, func(c params.Cell) bool { return c.Kind == params.PatternCell }) {
		return nil
	}
	e.File.Warnings = append(e.File.Warnings, e.Warnings...)
	for _, p := range slices.Sorted(maps.Keys(e.Forced)) {
		if e.Forced[p] {
			e.File.Warnings = append(e.File.Warnings, fmt.Sprintf("message patterns among %d ranks that shared fewer CPUs: their times are no measurement", p))
		}
	}
	e.File.Warnings = lists.Unique(e.File.Warnings)
	return e.File
}
