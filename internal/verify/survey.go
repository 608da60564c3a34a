package verify

import (
	"context"
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// Survey carries schedules out on this machine's memory.
var Survey = survey.Register(&survey.Survey{
	Name: "collectives", Doc: "collectives and message patterns, carried out",
	Decode: survey.Decoder[schedules],
	Drawing: &view.Drawing{ // of patterns
		Kind: params.PatternCell, Profiles: view.ByCell(profiled),
		Name: "patterns", About: "message patterns against m, with T_s + m·τ_d of each", Example: "taulop plot patterns -variant scatter -o p.svg host.json",
		Title: "Time of message patterns", What: "message patterns", Measure: "taulop verify -patterns -save", Order: PatternNames(),
		Ranks: true, Fitted: FittedSizes,
		Label: "Message patterns",
	},
})

// profiled is the time over the message size: a panel for each pattern and P, a line for each
// variant.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	at.Panel, at.Line = fmt.Sprintf("%s, P = %d", PatternOf(c.VariantName()), c.Tau), c.VariantName()
	at.Number, at.Alike = c.Tau, true
	return c.Bytes, c.Time, true
}

// schedules are the requested cases.
type schedules struct {
	Segments     int         `json:"segments"`
	SegmentBytes int         `json:"segment_bytes"`
	ArenaBytes   map[int]int `json:"arena_bytes"` // by P, of cases off cache
	Operator     string      `json:"operator"`    // of reductions
	Degree       int         `json:"degree,omitempty"`
	Chunk        int         `json:"chunk,omitempty"`
	Single       bool        `json:"single,omitempty"`    // copies by the kernel between ranks that are processes,
	Rewritten    bool        `json:"rewritten,omitempty"` // who rewrite what they send before each run

	cases []Case
}

// Key is the case's key in a parameter file.
func (c Case) Key() params.Key {
	call := c.Schedule.Call
	k := params.Key{Kind: params.CollectiveCell, Placement: numa.Local, OffCache: c.OffCache, Tau: call.P, Bytes: call.M, Variant: params.Name(c.Name)}
	if PatternOf(c.Name) != c.Name {
		k.Kind = params.PatternCell
	}
	return k
}

// messageAlone is the variant of the messages that log_nP is measured by; the test has others.
const messageAlone = "message-alone"

// caseOf is the case of a key.
func (r schedules) caseOf(k params.Key, element int) (Case, error) {
	switch {
	case k.Kind == params.PatternCell:
		return patternCase(k)
	case k.VariantName() == Message, k.VariantName() == messageAlone:
		c, err := MessageCase(k.Bytes, k.OffCache)
		c.Name = k.VariantName()
		return c, err
	}
	a, err := collective.Lookup(k.VariantName())
	if err != nil {
		return Case{}, err
	}
	return r.algorithmCase(a, k.Tau, k.Bytes, k.OffCache, element)
}

// algorithmCase is an algorithm among p ranks; elements of reductions have that size in bytes.
func (r schedules) algorithmCase(a *collective.Algorithm, p, m int, off bool, element int) (Case, error) {
	call := collective.Call{P: p, M: m, Degree: r.Degree, Chunk: r.Chunk}
	if a.Reduces() {
		call.Element = element
	}
	s, err := a.Schedule(call)
	return Case{a.String(), off, s}, err
}

func patternCase(k params.Key) (Case, error) {
	pattern, err := LookupPattern(PatternOf(k.VariantName()))
	if err != nil {
		return Case{}, err
	}
	for _, v := range pattern.variants(k.Tau) {
		if v.name == k.VariantName() {
			return pattern.of(v, k.Tau, k.Bytes, k.OffCache)
		}
	}
	return Case{}, fmt.Errorf("there is no pattern %q among %d ranks", k.VariantName(), k.Tau)
}

// Cells are the cases, in a set of their own, so that other launches measure transfers.
func (r schedules) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, c := range r.cases {
		cell := engine.Cell{Cell: params.Cell{Key: c.Key()}}
		if c.OffCache || r.Single { // teams of processes are one at a time
			cell.Group = fmt.Sprint(c.Schedule.Call.P)
		}
		cells = append(cells, cell)
	}
	return cells, nil, nil
}

// Open prepares for samples.
func (r schedules) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r schedules) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	o, err := reduce.Lookup(r.Operator)
	if err != nil {
		return engine.Reading{}, err
	}
	c, err := r.caseOf(k, o.Element)
	if err != nil {
		return engine.Reading{}, err
	}
	place, err := b.Machine.PlaceFrom(b.FirstCPU, numa.Local, k.Tau)
	if err != nil {
		return engine.Reading{}, err
	}
	work := setups.Collective{Schedule: c.Schedule, Segments: r.Segments, SegmentBytes: r.SegmentBytes, Operator: &o,
		Single: r.Single, Rewritten: r.Single && r.Rewritten}
	if k.OffCache {
		work.ArenaBytes = r.ArenaBytes[k.Tau]
	}
	if k.OffCache && !r.Single {
		b.Keep(place, "collectives", 2*int64(work.ArenaBytes)*int64(k.Tau))
	}
	return b.Sample(ctx, place, work, 1, hint)
}
