package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Predictor says what collectives cost on the machine of a parameter file, under one
// model.
type Predictor struct {
	Choice // with what was left open filled in

	Channel   string        // which of the file's times it takes, in words
	Transfers *params.Curve // L(m,τ) of whole messages, in seconds; nil under mlognp
	Packing   *params.Curve // p(m,d) of Stride, in seconds; nil without
	Largest   int           // m that was measured, in bytes
	// NoGamma is why reductions cannot be costed, nil where they can.
	NoGamma error
	// Warnings are what the file says or lacks that speaks against costs.
	Warnings []error

	in        func(*collective.Schedule) Coster
	of        func(*collective.Schedule) TauLop // by calls
	inContext bool                              // a segment costs what it does in the context of the call, see Context
	zeros     *params.Curve                     // L(m,τ) where it has times of 0, else nil
	levels    *Hierarchy                        // messages by levels, else nil
}

// A Coster is a model with its parameters.
type Coster interface {
	Cost(*collective.Schedule) (Cost, error)
}

// A Choice is what to predict from, and how. Its zero value is τ-Lop for segmented
// contiguous messages, from what the file has first, in cache.
type Choice struct {
	Model     string         // one of Models
	Setup     string         // that measured L; "": ring for all but what ping and sendrecv measured better, or the file's first
	Placement numa.Policy    // of the ranks; "": the plan's first
	OffCache  bool           // of user buffers
	Transport Transport      // Library knows Whole alone
	Buffers   params.Buffers // what becomes of send buffers between messages
	Segment   int            // S in bytes; 0: that of the file, 8 KiB where it does not say
	Operator  string         // of reductions; "": sum
	Gamma     *params.Gamma
	Stride    int // bytes from element to element; 0: contiguous messages, all that libtaulop and loggp know

	// Strict has one L(S,τ) of one setup for every segment, as the paper does: neither the
	// message that it is a part of nor the pattern of the stage tells segments apart.
	Strict bool
	// As, if not nil, is an MPI library that carries messages in its own way: Transport,
	// Segment and BufferSegments are then its own. Of a file of whole messages it is nil.
	As *mpi.Library
	// BufferSegments is how many intermediate buffers have; 0: the file's first. Times are
	// of the buffers that the file has which are nearest to them and to Segment.
	BufferSegments int

	// Cluster is where ranks are, nil: on one node. One of several nodes without a network
	// takes the file's first.
	Cluster *Cluster
}

// Models are the names of models; "" is the first.
var Models = []string{"taulop", "libtaulop", "lognp", "mlognp", "2log23p", "log3p", "loggp"}

var titles = []string{"τ-Lop", "τ-Lop as the authors' library computes it", "log_nP", "mlog_nP", "2log_{2,3}P", "log_3P", "LogGP"}

// ofPairs are the models of pairs of CPUs, whose file need not have any transfers.
var ofPairs = map[string]func(MLogNP) MLogNP{
	"mlognp": func(m MLogNP) MLogNP { return m }, "2log23p": MLogNP.Reduced, "log3p": MLogNP.One,
}

// OfPairs tells models of pairs of CPUs.
func OfPairs(model string) bool { return ofPairs[model] != nil }

// NewPredictor makes a model of what a file holds. It fails where the file lacks what
// the model needs, but for γ, see NoGamma.
func NewPredictor(f *params.File, c Choice) (*Predictor, error) {
	c.Model = cmp.Or(c.Model, Models[0])
	switch {
	case !slices.Contains(Models, c.Model):
		return nil, fmt.Errorf("unknown model %q: take one of %s", c.Model, strings.Join(Models, ", "))
	case c.Stride > 0 && !slices.Contains([]string{"taulop", "lognp"}, c.Model) && !OfPairs(c.Model):
		return nil, fmt.Errorf("model %s knows contiguous messages only", c.Model)
	}
	if c.Model == Models[0] && c.Stride == 0 && f.OfLevels() {
		if c.Transport == CMA {
			return nil, errors.New("its messages are those of the library that was measured, not over cma: leave the transport out")
		}
		p := &Predictor{Choice: c}
		p.Transport = Whole
		return p, p.hierarchy(f)
	}
	if f.OfLevels() && !OfPairs(c.Model) {
		return nil, errors.New("it has messages by levels and no transfers: only model taulop, for contiguous messages, predicts from them")
	}
	if err := c.connect(f); err != nil {
		return nil, err
	}
	library := c.As
	if f.Plan.Whole { // however the library carries them
		c.As = nil
	}
	if c.As != nil {
		if err := c.own(); err != nil {
			return nil, err
		}
	}
	if f.Plan.Whole {
		if c.Transport != Segmented && c.Transport != Whole {
			return nil, errors.New("it has whole messages of an MPI library, and their transport is whole")
		}
		c.Transport = Whole
	}
	p, whole := &Predictor{Choice: c}, f
	if p.Transport == CMA && !slices.Contains([]string{"taulop", "lognp"}, p.Model) {
		return nil, fmt.Errorf("model %s knows no single copies: take taulop or lognp", p.Model)
	}
	f, err := f.Over(p.Transport.Carried(), p.Buffers)
	if err != nil {
		return nil, err
	}
	several := len(f.Plan.MoreSegments)+len(f.Plan.MoreSegmentBytes) > 0
	f = p.through(f)
	p.Setup, p.Placement = setupOf(f, c.Setup), placementOf(f, c.Placement)
	p.Segment = cmp.Or(c.Segment, f.Plan.SegmentBytes, 8<<10)
	if p.Gamma == nil {
		p.Gamma, p.NoGamma = f.Gamma(p.Placement)
		p.Operator = scalar(p.Gamma, library, p.Operator)
		c.Operator = p.Operator
	}
	if p.Gamma != nil {
		_, p.NoGamma = p.Gamma.Operator(cmp.Or(p.Operator, "sum"))
	}
	if slices.ContainsFunc(f.Placements, func(p numa.Placement) bool { return p.Oversubscribed }) {
		p.Warnings = append(p.Warnings, errors.New("it was measured with more workers than CPUs: what it says of large τ is no measurement of concurrency"))
	}
	if c.Cluster.several() {
		p.Warnings = append(p.Warnings, c.Cluster.Network.warnings()...)
	}
	if OfPairs(c.Model) {
		return p, p.mlognp(f)
	}
	table, err := f.Table(p.Setup, p.Placement, p.OffCache)
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
	if c.Strict || c.Model == "libtaulop" { // one table for all
		c.Setup = p.Setup
	}
	if below := f.BelowZero(p.Placement, p.OffCache); below != nil && c.Model != "loggp" {
		p.Warnings = append(p.Warnings, below)
	}
	if ascending := f.Plan.Ascending(); ascending != nil && p.OffCache {
		p.Warnings = append(p.Warnings, fmt.Errorf("%w: measure it anew", ascending))
	}
	taulop, err := p.taulop(f, c.Setup, whole)
	if err != nil {
		return nil, err
	}
	p.of = taulop
	if c.As != nil {
		return p, p.as(whole, c)
	}
	if several {
		p.Channel += fmt.Sprintf(", buffers of %d segments of %d bytes", f.Plan.Segments, f.Plan.SegmentBytes)
	}
	switch c.Model {
	case "taulop":
		p.in = func(s *collective.Schedule) Coster { return taulop(s) }
	case "libtaulop":
		p.Transport = Whole
		library := Library{Table: table, Gamma: p.Gamma, Operator: p.Operator, Cluster: p.Cluster}
		p.in = func(*collective.Schedule) Coster { return library }
	case "lognp":
		if _, err := LogNPOf(taulop(nil)); err != nil {
			return nil, err
		}
		p.in = func(s *collective.Schedule) Coster {
			m, _ := LogNPOf(taulop(s)) // the transport is known
			return m
		}
	case "loggp":
		return p, p.loggp(f, taulop)
	}
	return p, nil
}

// scalar is an operator as a library reduces, where the file has that: one element at a time.
func scalar(gamma *params.Gamma, library *mpi.Library, operator string) string {
	if library == nil || library.Scalar == "" || gamma == nil {
		return operator
	}
	of, err := gamma.Operator(cmp.Or(operator, "sum"))
	if err != nil {
		return operator
	}
	one, err := gamma.Operator(of.Name + params.Scalar)
	if err != nil { // such as γ of the library itself
		return operator
	}
	return one.Name
}

// own leaves to a library what it decides. It fails where somebody else does.
func (c *Choice) own() error {
	switch {
	case !slices.Contains([]string{"taulop", "lognp"}, c.Model):
		return fmt.Errorf("model %s knows one way of messages: take taulop or lognp", c.Model)
	case c.Transport != Segmented || c.Segment != 0 || c.BufferSegments != 0:
		return fmt.Errorf("%s has its own transport and segments", c.As.Name)
	}
	return nil
}

// as makes a model of each way of a library.
func (p *Predictor) as(f *params.File, c Choice) error {
	var ways []func(*collective.Schedule) TauLop
	for _, w := range p.As.Ways {
		of := c
		of.As, of.Model = nil, "taulop"
		switch {
		case w.Single:
			of.Transport = CMA
		case w.Most > 0 && w.Most <= w.Segment:
			of.Transport = Whole
		default:
			of.Transport, of.Segment, of.BufferSegments = Segmented, w.Segment, w.Segments
		}
		q, err := NewPredictor(f, of)
		if err != nil {
			return fmt.Errorf("%s: %w", p.As.Title, err)
		}
		for _, warning := range q.Warnings {
			if !slices.ContainsFunc(p.Warnings, func(known error) bool { return known.Error() == warning.Error() }) {
				p.Warnings = append(p.Warnings, warning)
			}
		}
		if p.zeros == nil {
			p.zeros = q.zeros
		}
		p.Channel = q.Channel // of the longest messages
		p.Transfers, p.Largest = q.Transfers, q.Largest
		ways = append(ways, q.of)
	}
	p.inContext = false
	instruction, overheads := f.Instruction(), f.OfLibrary()
	if p.As.Counted == "" {
		instruction = 0
	}
	switch {
	case overheads: // have it
	case p.As.Counted == "":
		p.Warnings = append(p.Warnings, fmt.Errorf("nobody counted the instructions of %s: what it computes itself, a large part of a short message, is left out", p.As.Title))
	case instruction == 0:
		p.Warnings = append(p.Warnings, errors.New("the file does not say what an instruction takes: what the library computes itself, a large part of a short message, is left out; another session of a sweep measures it"))
	}
	model := func(s *collective.Schedule) protocols {
		of := protocols{library: p.As, instruction: instruction, overheads: overheads}
		for _, w := range ways {
			of.ways = append(of.ways, w(s))
		}
		return of
	}
	p.in = func(s *collective.Schedule) Coster { return model(s) }
	if p.Model == "lognp" {
		p.in = func(s *collective.Schedule) Coster {
			of := model(s)
			m, _ := logNPOf(of.ways[0], of.Message) // the transports are known
			return m
		}
	}
	return nil
}

// connect finds the network of several nodes.
func (c *Choice) connect(f *params.File) error {
	if !c.Cluster.several() {
		return nil
	}
	if !slices.Contains([]string{"taulop", "libtaulop"}, c.Model) && !OfPairs(c.Model) {
		return fmt.Errorf("model %s knows one node alone: take taulop, libtaulop, mlognp, 2log23p or log3p for several", c.Model)
	}
	if c.Cluster.Network != nil {
		return nil
	}
	n, table, err := f.Network("")
	if err != nil {
		return fmt.Errorf("%d nodes need a network between them: %w", c.Cluster.Nodes, err)
	}
	with := *c.Cluster
	with.Network = &Network{Network: n, Table: table}
	c.Cluster = &with
	return nil
}

// through is the file with the buffers that are nearest to those asked for; a warning
// says where none were measured.
func (p *Predictor) through(f *params.File) *params.File {
	if p.Transport == CMA { // which has no segments
		return f
	}
	one := f.Through(p.BufferSegments, p.Segment)
	if s := one.Plan.SegmentBytes; p.Segment > 0 && s > 0 && s != p.Segment {
		p.Warnings = append(p.Warnings, fmt.Errorf("segments of %d bytes were not measured: times are those of messages in segments of %d, the nearest", p.Segment, s))
	}
	if n := one.Plan.Segments; p.BufferSegments > 0 && n > 0 && n != p.BufferSegments {
		p.Warnings = append(p.Warnings, fmt.Errorf("intermediate buffers of %d segments were not measured: times are those of %d, the nearest", p.BufferSegments, n))
	}
	return one
}

// Title is what a reader calls the model.
func (p *Predictor) Title() string { return titles[slices.Index(Models, p.Model)] }

// Rule says in words what a time is taken for that was not measured.
func (p *Predictor) Rule() string {
	switch {
	case p.levels != nil:
		return LevelsRule
	case p.Model == "libtaulop":
		return LibraryRule
	}
	return ExtrapolationRule
}

// TooCheap tells algorithms that are predicted too cheap: those whose ranks copy at once out of
// buffers that they share, where only messages by levels are known.
func (p *Predictor) TooCheap(a *collective.Algorithm, ranks int) bool {
	if p.levels == nil {
		return false
	}
	s, err := a.Schedule(collective.Call{P: ranks, M: 1})
	return err == nil && s.Levels > 0
}

// Nodes is how many nodes so many ranks are on: of messages by levels as many as they fill,
// where no Cluster says how many. cores is how many such a node has then; 0: not known.
func (p *Predictor) Nodes(ranks int) (nodes, cores int) {
	if p.Cluster == nil && p.levels == nil {
		return 1, 0
	}
	if p.levels != nil {
		cores = len(p.levels.cores)
	}
	if p.Cluster.several() || p.Cluster != nil && (p.levels == nil || p.Cluster.Order.Ranks() > 0) {
		if place, err := p.Cluster.place(ranks); err == nil {
			return place.Used(), cores
		}
		return 1, cores
	}
	if cores == 0 || p.levels.between < 0 {
		return 1, cores
	}
	return max(1, (ranks+cores-1)/cores), cores
}

// Segments tells whether messages are cut into segments.
func (p *Predictor) Segments() bool {
	return p.As == nil && !OfPairs(p.Model) && (p.Transport == Segmented || p.Transport == Steady)
}

// In is the model for one schedule: under τ-Lop and log_nP what a segment costs depends on
// the bytes that its ranks touch, see Context. Without one, nil, they touch none.
func (p *Predictor) In(s *collective.Schedule) Coster { return p.in(s) }

// Context is the bytes that a rank touches in a call, where a segment costs what it does
// in messages of which workers touch as many, see InContext, and not what one costs that is
// a message by itself. It is 0 where segments cost the same in every call.
func (p *Predictor) Context(s *collective.Schedule) int {
	_, bytes := touched(s)
	if !p.inContext || !p.Segments() || bytes <= p.Segment {
		return 0
	}
	return bytes
}

// Work is how many messages and repetitions of a schedule its cost looks at one by one, see
// mapping.Counter; 0 where they need not be told apart.
func (p *Predictor) Work(s *collective.Schedule) int {
	if p.of == nil || p.Model == "libtaulop" {
		return 0
	}
	on, err := p.Cluster.place(s.Call.P)
	if err != nil {
		return 0
	}
	if c := p.of(s).counter(s, on); c != nil {
		return c.Work(s)
	}
	return 0
}

// Cost is the cost of a schedule, in the context of its call. It fails where a reduction
// has no γ, and with ErrContiguous where an algorithm has no strided messages.
func (p *Predictor) Cost(s *collective.Schedule) (Cost, error) {
	c, err := p.In(s).Cost(s)
	c.Unknown = slices.ContainsFunc(c.Terms, func(t Term) bool {
		// Of log_nP it is the message that o(m) comes from.
		transfer := t.Parameter == "L" || t.Parameter == "o" && p.Model == "lognp"
		// o(m) of exchanges of too few samples may be further below zero than transfers are above.
		return transfer && t.Bytes > 0 && (c.Seconds < 0 || p.zeros != nil && p.zeros.Zero(t.Bytes, max(1, t.Tau)))
	})
	if c.Unknown {
		c.Seconds = max(0, c.Seconds)
	}
	return c, err
}

// CostWithin is the cost of a schedule, and true unless it is above so many seconds: then it may
// be that nobody worked it out.
func (p *Predictor) CostWithin(s *collective.Schedule, most float64) (c Cost, within bool, err error) {
	if p.levels == nil {
		c, err = p.Cost(s)
	} else if c, err = p.levels.costWithin(s, most); errors.Is(err, errAbove) {
		return Cost{}, false, nil
	}
	return c, !(c.Seconds > most), err
}

// Roughly is about what a schedule of many chunks costs, in seconds, from two with fewer: from
// as many chunks on as one passes stages all ranks are busy, and each further one takes as long.
// There is none where a cost comes from a formula, and takes no time, or where chunks are few. It
// is +Inf where that is certainly above so many seconds.
func (p *Predictor) Roughly(s *collective.Schedule, most float64) (seconds float64, ok bool) {
	c, a := s.Call, s.Algorithm
	if p.levels == nil || !a.Chunked || a.Collective != collective.Bcast && a.Collective != collective.Reduce {
		return 0, false
	}
	one := c
	one.M = c.Chunk
	through, err := a.Schedule(one)
	if err != nil {
		return 0, false
	}
	few := max(12, through.Len()+4)
	fewer := few * 3 / 4
	if c.M/c.Chunk < few*3/2 {
		return 0, false
	}
	var costs [2]float64
	var sizes [2]int
	for i, chunks := range []int{few, fewer} {
		part := c
		part.M = chunks*c.Chunk + c.M%c.Chunk
		less, err := a.Schedule(part)
		if err != nil {
			return 0, false
		}
		less.Blocking, less.ToSelf = s.Blocking, s.ToSelf
		cost, within, err := p.CostWithin(less, most)
		switch {
		case err != nil:
			return 0, false
		case !within: // and more chunks take no less
			return math.Inf(1), true
		}
		costs[i], sizes[i] = cost.Seconds, part.M
	}
	each := (costs[0] - costs[1]) / float64(sizes[0]-sizes[1])
	return costs[0] + each*float64(c.M-sizes[0]), true
}

// channel says which of the file's times are taken.
func (p *Predictor) channel(c setups) string {
	text := p.Setup
	if c.oneWay != nil && p.Setup != params.Ping {
		text += ", one way " + params.Ping
	}
	if c.apart != nil && p.Setup != params.Sendrecv {
		text += ", exchanges " + params.Sendrecv
	}
	cache := "in cache"
	if p.OffCache {
		cache = "off cache"
	}
	text += fmt.Sprintf(", placement %s, %s", p.Placement, cache)
	if p.Transport == CMA {
		text += fmt.Sprintf(", single copies by the kernel (cma), send buffers %s", p.Buffers)
	}
	if p.Stride > 0 {
		text += fmt.Sprintf(", a stride of %d bytes", p.Stride)
	}
	if strings.HasSuffix(p.Operator, params.Scalar) {
		text += ", reductions one element at a time"
	}
	return text
}

// taulop is τ-Lop by calls, of a file of one transport that is a part of all.
func (p *Predictor) taulop(f *params.File, setup string, all *params.File) (func(*collective.Schedule) TauLop, error) {
	machine, err := machineOf(f, setup, p.Placement, p.OffCache)
	if err != nil {
		return nil, err
	}
	machine.strict, p.Channel = p.Strict, p.channel(machine.levels[0])
	if p.Stride > 0 {
		if p.Packing, err = f.P(p.Stride, p.OffCache); err != nil {
			return nil, err
		}
	}
	segments := p.Transport == Segmented || p.Transport == Steady
	p.inContext = segments && p.Segment == machine.segment && !p.Strict
	for _, lacks := range machine.warnings {
		switch {
		case p.Model == "libtaulop": // neither copies nor channels of their own
		case p.Model == "lognp" && lacks == errNoSendrecv: // messages alone
		case p.Model == "loggp" && lacks != errNoOwn: // no transfers
		default:
			p.Warnings = append(p.Warnings, lacks)
		}
	}
	var contention func(m, readers int) float64
	if p.Transport == CMA {
		contention = contentionOf(f, p.Placement, p.OffCache)
		if !p.Strict {
			machine.tellWritten(all, setup, p.Placement, p.OffCache)
		}
	}
	return func(s *collective.Schedule) TauLop {
		t := TauLop{Transport: p.Transport, Operator: p.Operator, Cluster: p.Cluster, Level: machine.between, Known: machine.known}
		m, bytes := touched(s)
		look, crowded := func(s *measured) curve { return s.whole.L }, crowd{}
		switch {
		case segments:
			look, t.Segment = machine.inContext(m, bytes, p.Segment), p.Segment
			t.Evicted = machine.ownCache > 0 && bytes > machine.ownCache
		case p.Transport == CMA:
			crowded = crowdOf(s)
			look = crowded.crowded
		}
		t.Channels = machine.channels(p.Transport.Carried(), look)
		t.Channels.contention = contention
		if machine.copies != nil {
			machine.addCopies(t.Channels, crowded.among(machine.copies, 2), crowd{bytes}.among(machine.temporary, 2), segments)
		}
		if s != nil && s.Algorithm != nil {
			t.Call = s
			if machine.written != nil {
				machine.written.addWritten(t.Channels, crowded)
			}
		}
		if p.Gamma != nil {
			t.Reductions = crowdedReductions{p.Gamma, crowded}
		}
		if p.Packing != nil {
			t.Packing, t.Stride = func(m int) (float64, bool) { return p.Packing.At(m, 1) }, p.Stride
		}
		return t
	}, nil
}

// contentionOf is what readers of one process take over as many who each read another;
// nil where that was not measured.
func contentionOf(f *params.File, placement numa.Policy, offCache bool) func(m, readers int) float64 {
	together, err := f.Table(params.Bcast, placement, offCache)
	if err != nil {
		return nil
	}
	apart, err := f.Table(params.Ping, placement, offCache)
	if err != nil {
		return nil
	}
	return func(m, readers int) float64 {
		one, _ := together.L(m, readers)
		many, _ := apart.L(m, readers)
		if !(many > 0) {
			return 1
		}
		return max(1, one/many)
	}
}

// touched is m of a call and the most bytes that a rank touches. Of many ranks, the first
// and the last, the root and one in the middle tell.
func touched(s *collective.Schedule) (m, most int) {
	if s == nil {
		return 0, 0
	}
	ranks := []int{0, s.Call.Root, 1, s.Call.P / 2, s.Call.P - 1}
	for _, rank := range ranks {
		if rank < s.Call.P {
			most = max(most, s.Footprint(rank))
		}
	}
	return s.Call.M, most
}

// loggp makes LogGP of the file's round trips. What ranks do within themselves costs it
// what it costs τ-Lop.
func (p *Predictor) loggp(f *params.File, taulop func(*collective.Schedule) TauLop) error {
	trips, latency := roundTrips(f, p.Placement, p.OffCache)
	if len(trips) == 0 {
		return errors.New("it has no LogGP parameters: they come from round trips, PRTT(n,d,m), which only a file of taulop sweep can hold")
	}
	m, warnings, err := assessLogGP(trips, latency)
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, warnings...)
	if m.Operator = p.Operator; p.Segments() {
		m.Segment = p.Segment
	}
	p.zeros, p.in = nil, func(s *collective.Schedule) Coster {
		m, alike := m, taulop(s)
		m.Local, m.Reductions = localOf(alike), alike.Reductions
		return m
	}
	return nil
}

// mlognp makes a model of pairs of CPUs.
func (p *Predictor) mlognp(f *params.File) error {
	m, err := MLogNPOf(f, p.Placement)
	if err != nil {
		return err
	}
	if m.Operator = p.Operator; p.Gamma != nil {
		m.Reductions = p.Gamma
	}
	var levels []string
	for _, l := range m.Levels {
		levels = append(levels, l.Name)
		if sizes := l.Transfer.Sizes; len(sizes) > 0 {
			p.Largest = max(p.Largest, sizes[len(sizes)-1])
		}
	}
	p.Channel = fmt.Sprintf("placement %s, levels: %s", p.Placement, strings.Join(levels, ", "))
	if p.Stride > 0 {
		if m, err = m.Strided(f, p.Stride, p.OffCache); err != nil {
			return err
		}
		p.Packing, _ = f.P(p.Stride, p.OffCache) // as Strided has it
		p.Channel += fmt.Sprintf(", a stride of %d bytes", p.Stride)
	}
	if p.Cluster.several() {
		network := m.NetworkLevel(p.Cluster.Network.Network, p.Cluster.Network.Table)
		network.Stride = p.Packing
		p.in = func(*collective.Schedule) Coster { return acrossNodes{p.Cluster, m, network, ofPairs[p.Model]} }
		return nil
	}
	m = ofPairs[p.Model](m)
	p.in = func(*collective.Schedule) Coster { return m }
	return nil
}

// acrossNodes is a model of pairs for ranks on several nodes, which are elsewhere for every
// number of them.
type acrossNodes struct {
	cluster *Cluster
	within  MLogNP
	network Level
	model   func(MLogNP) MLogNP
}

// Cost is the cost of a schedule. It fails as MLogNP does, and where ranks cannot be
// mapped or copy from each other's buffers.
func (a acrossNodes) Cost(s *collective.Schedule) (Cost, error) {
	if s.Levels > 0 {
		return Cost{}, fmt.Errorf("%s %w", s.Algorithm, ErrOneNode)
	}
	place, err := a.cluster.place(s.Call.P)
	if err != nil {
		return Cost{}, err
	}
	return a.model(a.within.Across(a.network, place.Node, place.Slot)).Cost(s)
}
