package verify

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// A Model has its parameters for user data in cache and off cache.
type Model struct {
	Name  string `json:"model"`
	Given string `json:"given"` // what it predicts from, or why it cannot

	in      map[bool]model.Coster // by whether user data are off cache
	lacking error                 // why not for both
}

// The three variants of τ-Lop.
const (
	Strict  = "τ-Lop strict"  // one L(S,τ) for every segment, as the paper has it
	Full    = "τ-Lop"         // as predictions are made
	Session = "τ-Lop session" // the same, from what another session measured
)

// Models are the names of all models, in the order of the report.
var Models = []string{Strict, Full, Session, "log_nP", "LogGP"}

// A Prediction is a model's time and its error.
type Prediction struct {
	Model string  `json:"model"`
	Ns    float64 `json:"ns"`
	Error float64 `json:"relative_error"` // (predicted − measured) / measured

	Extrapolated bool `json:"extrapolated,omitempty"` // m or τ is beyond what was measured
}

// beside sets the error relative to the measured time.
func (p Prediction) beside(measured float64) Prediction {
	p.Error = (p.Ns - measured) / measured
	return p
}

// of is a model's prediction; nil if there is none.
func of(ps []Prediction, name string) *Prediction {
	return lists.Find(ps, func(p Prediction) bool { return p.Model == name })
}

// predict are the models' predictions for a schedule, with errors relative to measured, in ns. lacking
// is the first reason why one is missing; predictions from unmeasured times, NaN, or times of 0 are
// omitted without a reason.
func predict(models []Model, off bool, s *collective.Schedule, measured float64) (ps []Prediction, lacking error) {
	ps = []Prediction{}
	for _, m := range models {
		in := m.in[off]
		if in == nil || !(measured > 0) {
			continue
		}
		cost, err := in.Cost(s)
		switch {
		case err != nil && lacking == nil:
			lacking = fmt.Errorf("%s: %w", m.Name, err)
		case err == nil && !cost.Unknown && !math.IsNaN(cost.Seconds):
			ps = append(ps, Prediction{Model: m.Name, Ns: cost.Seconds * 1e9, Extrapolated: cost.Extrapolated}.beside(measured))
		}
	}
	return ps, lacking
}

// models are the models of a request, with parameters of the sweep and of Params.
func (e *Experiment) models() (models []Model) {
	swept, source := e.swept(), ""
	if e.NoSweep {
		swept, source = withTaus(e.Params, e.Tau), e.Source+": "
	}
	S := view.Bytes(e.schedules.SegmentBytes)
	full := e.model(Full, source, swept, model.Choice{})
	if e.Patterns {
		return []Model{full}
	}
	if e.schedules.Single { // whose messages have no segments
		full.say("L(m,τ) of single copies, of %s", setupOf(full))
		models = []Model{full}
	} else {
		strict := e.model(Strict, source, swept, model.Choice{Strict: true})
		strict.say("one L(%s,τ) of %s for all segments, whatever their message: the paper's way", S, setupOf(strict))
		full.say("L(%s,τ) in messages of m bytes, of %s", S, setupOf(full))
		models = []Model{strict, full}
	}
	if e.Params != nil && !e.NoSweep {
		session := e.model(Session, e.Source+": ", withTaus(e.Params, e.Tau), model.Choice{})
		session.say("as τ-Lop, measured %s", e.Params.Provenance.Time)
		models = append(models, session)
	}
	lognp := e.model("log_nP", source, swept, model.Choice{Model: "lognp"})
	if e.NoSweep {
		lognp.say("o(m), half of what τ-Lop says of a message alone")
	} else {
		for off, m := range lognp.in {
			lognp.in[off] = measuredLogNP{m.(*model.Predictor), e.messages(off)}
		}
		lognp.say("o(m), half of what messages alone took, measured for it at %d sizes", len(e.alone)/len(e.Caches))
	}
	if e.schedules.Single {
		return append(models, lognp)
	}
	loggp := e.model("LogGP", source, swept, model.Choice{Model: "loggp"})
	loggp.say("L, o, g and G of round trips, m in segments of %s", S)
	return append(models, lognp, loggp)
}

// model makes a model from a file, in cache and off cache as far as the file has parameters.
func (e *Experiment) model(name, source string, f *params.File, c model.Choice) Model {
	m := Model{Name: name, Given: source, in: make(map[bool]model.Coster)}
	c.Operator, c.Transport, c.Buffers = operator, e.Transport, e.Buffers
	for _, c.OffCache = range e.Caches {
		p, err := model.NewPredictor(f, c)
		if source != "" && e.lacks != nil {
			err = e.lacks
		}
		if err != nil {
			if source == "" && len(e.unmeasured()) > 0 {
				err = errors.New("the sweep had no time for what is needed")
			}
			m.lacking = fmt.Errorf("%s has nothing %s: %s%w", name, view.Cache(c.OffCache), source, err)
			m.Given += fmt.Sprintf("nothing %s: %v; ", view.Cache(c.OffCache), err)
			continue
		}
		m.in[c.OffCache] = p
		for _, w := range p.Warnings {
			if source != "" {
				w = fmt.Errorf("%s%w", source, w)
			}
			e.Warn(w)
		}
	}
	return m
}

// say describes the model's parameters, if it has any.
func (m *Model) say(format string, args ...any) {
	if len(m.in) > 0 {
		m.Given += fmt.Sprintf(format, args...)
	}
	m.Given = strings.TrimSuffix(m.Given, "; ")
}

// setupOf names the setups that a model takes its times from.
func setupOf(m Model) (setups string) {
	for _, in := range m.in {
		setups, _, _ = strings.Cut(in.(*model.Predictor).Channel, ", placement ")
	}
	return setups
}

// measuredLogNP is log_nP as its authors measure it: o(m) is half of the measured time of one
// message alone, not of τ-Lop's prediction.
type measuredLogNP struct {
	*model.Predictor
	messages params.Curve
}

func (l measuredLogNP) Cost(s *collective.Schedule) (model.Cost, error) {
	m := l.In(s).(model.LogNP)
	m.Overhead = func(bytes int) (seconds float64, extrapolated bool) {
		seconds, extrapolated = l.messages.At(max(1, bytes), 1)
		return seconds / 2, extrapolated
	}
	return m.Cost(s)
}

// messages are the times of messages alone, NaN where not measured.
func (e *Experiment) messages(off bool) (c params.Curve) {
	for _, alone := range e.alone {
		if alone.OffCache == off {
			c.Sizes = append(c.Sizes, alone.Schedule.Call.M)
			c.Times = append(c.Times, []float64{e.of(alone).Center / 1e9})
		}
	}
	return c
}

// swept is the sweep's file. Unmeasured times are NaN, so that only predictions that need them are
// missing.
func (e *Experiment) swept() *params.File {
	f := *e.File
	f.Cells = slices.Clone(f.Cells)
	for _, c := range e.unmeasured() {
		if slices.Contains([]string{transfers.Survey.Name, cma.Survey.Name}, c.Survey) && c.Kind != params.PRTTCell { // lines go through fewer round trips
			c.Time = fit.Median(nil)
			f.Cells = append(f.Cells, c.Cell)
		}
	}
	return &f
}

// withTaus is a file without the cells of other τ, if taus are chosen.
func withTaus(f *params.File, taus []int) *params.File {
	if len(taus) == 0 {
		return f
	}
	g := *f
	g.Cells = slices.DeleteFunc(slices.Clone(f.Cells), func(c params.Cell) bool {
		of := []params.Kind{params.TransferCell, params.NullCell, params.CopyCell, params.OwnCell, params.GammaCell}
		return slices.Contains(of, c.Kind) && !slices.Contains(taus, c.Tau)
	})
	g.Plan.Setups = slices.DeleteFunc(slices.Clone(f.Plan.Setups), func(setup string) bool {
		return !slices.ContainsFunc(g.Cells, func(c params.Cell) bool { return c.Kind == params.TransferCell && c.Setup == setup })
	})
	return &g
}
