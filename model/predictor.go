package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Predictor predicts costs of collectives on the machine of a parameter file, under one model.
type Predictor struct {
	Choice // with defaults filled in

	Channel   string        // in words, which of the file's times it uses
	Transfers *params.Curve // L(m,τ) of whole messages, in seconds; nil under mlognp
	Packing   *params.Curve // p(m,d) of Stride, in seconds; nil: contiguous
	Largest   int           // measured m, in bytes
	NoGamma   error         // why reductions have no cost; nil: they have
	Warnings  []error       // reasons to doubt costs

	asked       Choice // without defaults
	in          func(*collective.Schedule) Coster
	of          func(*collective.Schedule) TauLop // by call
	byFootprint bool                              // L of a segment depends on the call's footprint, see Context
	zeros       *params.Curve                     // L(m,τ) if it has times of 0, else nil
	levels      *Hierarchy                        // messages by levels, else nil
}

// A Coster is a model with its parameters.
type Coster interface {
	Cost(*collective.Schedule) (Cost, error)
}

// NewPredictor makes a model of a file's parameters. It fails where the file lacks parameters of the
// model, except γ, see NoGamma.
func NewPredictor(f *params.File, c Choice) (*Predictor, error) {
	asked := c
	c.Model = cmp.Or(c.Model, Models[0])
	if err := c.check(f); err != nil {
		return nil, err
	}
	if f.OfLevels() && !OfPairs(c.Model) {
		c.As = nil // the file has the measured library's messages
		p := &Predictor{Choice: c, asked: asked}
		p.Transport = Whole
		return p, p.hierarchy(f)
	}
	f = f.Throughout()
	if err := c.connect(f); err != nil {
		return nil, err
	}
	library := c.As
	if f.Plan.Whole { // measured over the library's own protocols
		c.As, c.Transport = nil, Whole
	}
	p := &Predictor{Choice: c, asked: asked}
	of, err := p.selection(f)
	if err != nil {
		return nil, err
	}
	p.fill(f, of, library)
	if OfPairs(c.Model) {
		return p, p.mlognp(f)
	}
	table, err := p.table(f, of)
	if err != nil {
		return nil, err
	}
	if c.Operator = p.Operator; c.Strict || c.Model == "libtaulop" { // one table for all
		c.Setup = p.Setup
	}
	of.Setup = c.Setup
	if p.of, err = p.taulop(f, of); err != nil {
		return nil, err
	}
	if c.As != nil {
		return p, p.as(f, c)
	}
	if of.Transport == params.InSegments && len(f.Plan.MoreSegments)+len(f.Plan.MoreSegmentBytes) > 0 {
		p.Channel += fmt.Sprintf(", buffers of %d segments of %d bytes", of.Segments, of.SegmentBytes)
	}
	switch c.Model {
	case "taulop":
		p.in = func(s *collective.Schedule) Coster { return p.of(s) }
	case "libtaulop":
		p.Transport = Whole
		library := Libtaulop{Table: table, Gamma: p.Gamma, Operator: p.Operator, Cluster: p.Cluster}
		p.in = func(*collective.Schedule) Coster { return library }
	case "lognp":
		if _, err := LogNPOf(p.of(nil)); err != nil {
			return nil, err
		}
		p.in = func(s *collective.Schedule) Coster {
			m, _ := LogNPOf(p.of(s)) // the transport is known
			return m
		}
	case "loggp":
		return p, p.loggp(f, p.of)
	}
	return p, nil
}

// On is a predictor of the same choice, from its file, for ranks on a cluster.
func (p *Predictor) On(f *params.File, cluster *Cluster) (*Predictor, error) {
	c := p.asked
	c.Cluster = cluster
	return NewPredictor(f, c)
}

// fill fills in defaults, and adds warnings about the file.
func (p *Predictor) fill(f *params.File, of params.Selection, library *mpi.Library) {
	p.Segment = cmp.Or(p.Choice.Segment, of.SegmentBytes, 8<<10)
	p.Setup, p.Placement = setupOf(f.Setups(of), p.Setup), of.Placement
	if p.Gamma == nil {
		p.Gamma, p.NoGamma = f.Gamma(p.Placement)
		p.Operator = scalar(p.Gamma, library, p.Operator)
	}
	if p.Gamma != nil {
		_, p.NoGamma = p.Gamma.Operator(cmp.Or(p.Operator, "sum"))
	}
	if slices.ContainsFunc(f.Placements, func(p numa.Placement) bool { return p.Oversubscribed }) {
		p.Warnings = append(p.Warnings, errors.New("it was measured with more workers than CPUs: what it says of large τ is no measurement of concurrency"))
	}
	if p.Cluster.several() {
		p.Warnings = append(p.Warnings, p.Cluster.Network.warnings()...)
	}
}

// table is the file's table of whole messages; it adds warnings about its gaps.
func (p *Predictor) table(f *params.File, of params.Selection) (*params.Table, error) {
	of.Setup = p.Setup
	table, err := f.Table(of)
	if err != nil {
		return nil, err
	}
	if table.Lacking != nil {
		p.Warnings = append(p.Warnings, fmt.Errorf("sizes that are not complete count as not measured: %w", table.Lacking))
	}
	p.Transfers = &table.Transfers
	p.Largest = p.Transfers.Sizes[len(p.Transfers.Sizes)-1]
	if zeros := p.Transfers.Zeros(); zeros != "" {
		p.zeros = p.Transfers
		p.Warnings = append(p.Warnings, fmt.Errorf("%s, which is no time: what needs it is not known and is not ranked", zeros))
	}
	if below := f.BelowZero(of); below != nil && p.Model != "loggp" {
		p.Warnings = append(p.Warnings, below)
	}
	return table, nil
}

// selection is the file's transfers for the choice, with a warning where its buffers were not
// measured.
func (p *Predictor) selection(f *params.File) (params.Selection, error) {
	of, err := f.Select(params.Selection{Placement: p.Placement, OffCache: p.OffCache,
		Transport: measuredOver(p.Transport), Buffers: p.Buffers, Segments: p.BufferSegments, SegmentBytes: p.Segment})
	if err != nil || p.Transport == CMA { // which has no segments
		return of, err
	}
	if s := of.SegmentBytes; p.Segment > 0 && s > 0 && s != p.Segment {
		p.Warnings = append(p.Warnings, fmt.Errorf("segments of %d bytes were not measured: messages in segments of %d, the nearest, stand in", p.Segment, s))
	}
	if n := of.Segments; p.BufferSegments > 0 && n > 0 && n != p.BufferSegments {
		p.Warnings = append(p.Warnings, fmt.Errorf("intermediate buffers of %d segments were not measured: buffers of %d, the nearest, stand in", p.BufferSegments, n))
	}
	return of, nil
}

// Title is the model's name for readers.
func (p *Predictor) Title() string { return titles[slices.Index(Models, p.Model)] }

// Rule says in words how times are extrapolated.
func (p *Predictor) Rule() string {
	switch {
	case p.levels != nil:
		return LevelsRule
	case p.Model == "libtaulop":
		return LibtaulopRule
	}
	return ExtrapolationRule
}

// TooCheap tells whether an algorithm is predicted too cheap: its ranks copy at once out of shared
// buffers, and the file has messages by levels alone.
func (p *Predictor) TooCheap(a *collective.Algorithm, ranks int) bool {
	if p.levels == nil {
		return false
	}
	s, err := a.Schedule(collective.Call{P: ranks, M: 1})
	return err == nil && s.Levels > 0
}

// Nodes is the number of nodes of the ranks, for messages by levels as many as they fill unless there
// is a Cluster, and the number of a node's cores; 0: unknown.
func (p *Predictor) Nodes(ranks int) (nodes, cores int) {
	nodes = 1
	if p.levels != nil {
		if of, _, err := p.levels.locate(ranks); err == nil {
			nodes = len(lists.Unique(of))
		}
		return max(1, nodes), len(p.levels.coreOrder)
	}
	if place, err := p.Cluster.place(ranks); err == nil && place != nil {
		nodes = place.Used()
	}
	return nodes, 0
}

// Segments tells whether messages are cut into segments.
func (p *Predictor) Segments() bool {
	return p.As == nil && !OfPairs(p.Model) && (p.Transport == Segmented || p.Transport == Steady)
}

// In is the model for one schedule: under τ-Lop and log_nP the cost of a segment depends on the call's
// footprint, see Context. nil: no footprint.
func (p *Predictor) In(s *collective.Schedule) Coster { return p.in(s) }

// Context is the footprint in bytes that decides the cost of a call's segments: of a rank, or of a
// sender where all messages are one way. It is 0 where segments cost the same in every call.
func (p *Predictor) Context(s *collective.Schedule) int {
	_, bytes, sent := touched(s)
	if s != nil && !bothWays(s) {
		bytes = sent
	}
	if !p.byFootprint || !p.Segments() || bytes <= p.Segment {
		return 0
	}
	return bytes
}

// Work is the number of messages and repetitions of a schedule that its cost evaluates one by one, see
// mapping.Counter; 0 with one channel.
func (p *Predictor) Work(s *collective.Schedule) int {
	if p.of == nil || p.Model == "libtaulop" {
		return 0
	}
	if c, err := p.of(s).counter(s); err == nil && c != nil {
		return c.Work(s)
	}
	return 0
}

// Cost is the cost of a schedule. It fails where a reduction has no γ, and with ErrContiguous where an
// algorithm has no strided messages.
func (p *Predictor) Cost(s *collective.Schedule) (Cost, error) {
	c, err := p.In(s).Cost(s)
	c.Unknown = slices.ContainsFunc(c.Terms, func(t Term) bool {
		transfer := t.Parameter == "L" || t.Parameter == "o" && p.Model == "lognp" // which comes from a message
		// With too few samples o(m) of exchanges can be below zero by more than their transfers.
		return transfer && t.Bytes > 0 && (c.Seconds < 0 || p.zeros != nil && p.zeros.Zero(t.Bytes, max(1, t.Tau)))
	})
	if c.Unknown {
		c.Seconds = max(0, c.Seconds)
	}
	return c, err
}

// CostWithin is the cost of a schedule, and whether it is at most limit seconds; else the cost may be
// incomplete.
func (p *Predictor) CostWithin(s *collective.Schedule, limit float64) (c Cost, within bool, err error) {
	if p.levels == nil {
		c, err = p.Cost(s)
	} else if c, err = p.levels.costWithin(s, limit); errors.Is(err, errAbove) {
		return Cost{}, false, nil
	}
	return c, !(c.Seconds > limit), err
}
