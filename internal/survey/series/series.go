// Package series measures L(S,τ) as the paper does, by messages of k segments for growing k
// (taulop-2015, Fig. 18b), and in the same launches the null transfer y(τ) and the uncontended copy.
package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/stats"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is the measurement of taulop without a subcommand.
var Survey = survey.Register(&survey.Survey{
	Name: "series", Doc: "L(S,τ) from messages of k segments",
	Decode: survey.Decoder[Request],
})

// A Request is a setup at one τ.
type Request struct {
	Setup        string         `json:"setup"`
	Placement    numa.Placement `json:"placement"`
	Segments     int            `json:"segments"`      // nseg
	SegmentBytes int            `json:"segment_bytes"` // S; 0: null transfers, L = y
	K            []int          `json:"k"`             // rising
	ArenaBytes   int            `json:"arena_bytes"`   // > 0: off cache, memory of each worker's arena
}

// K are the rows of taulop-2015, Fig. 18b.
var K = []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288}

// Fit keeps user buffers within a quarter of free memory: it leaves out rows, or off cache reduces
// the arena, each with a warning. It fails instead of leaving out rows that the user chose.
func (r *Request) Fit(m *numa.Machine, offCache, chosen bool) (warnings []error, err error) {
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return []error{fmt.Errorf("how much memory is free is unknown (%v): the run may need more than there is", err)}, nil
	}
	fit := setups.Fit{Segments: r.Segments, SegmentBytes: r.SegmentBytes,
		OffCache: offCache, ArenaBytes: setups.ArenaOf(m, r.Placement, setups.NeededCaches(m, []bool{offCache})), FreeBytes: free,
		Placement: r.Placement, Nodes: m.Nodes}
	k, arena, err := fit.Rows(r.K)
	if err != nil {
		return nil, err
	}
	if len(k) < len(r.K) {
		left := r.K[len(k)]
		if chosen {
			return nil, fmt.Errorf("k = %d needs more than a quarter of the %d MB of memory that are free: leave it out, or use a smaller SIZE or TAU", left, free>>20)
		}
		warnings = append(warnings, fmt.Errorf("rows from k = %d on are left out: their user buffers need more than a quarter of the %d MB of memory that are free", left, free>>20))
	}
	if partly := fit.Partly(arena); partly != nil && arena > 0 {
		warnings = append(warnings, partly)
	}
	r.K, r.ArenaBytes = k, arena
	return warnings, nil
}

// nullSegments is the number of segments of a null message, large enough to make its loop negligible.
const nullSegments = 64

func (r Request) key(kind params.Kind, k int) params.Key {
	key := params.Key{Kind: kind, Placement: r.Placement.Policy, Tau: len(r.Placement.Workers), Bytes: k * r.SegmentBytes}
	switch kind {
	case params.TransferCell:
		key.Setup, key.OffCache = r.Setup, r.ArenaBytes > 0
		if r.SegmentBytes == 0 { // to tell rows apart
			key.Bytes = k
		}
	case params.NullCell:
		key.Setup, key.Bytes = r.Setup, 0
	case params.CopyCell:
		key.OffCache = r.ArenaBytes > 0
	}
	return key
}

// segments is k of a key.
func (r Request) segments(k params.Key) int {
	switch {
	case k.Kind == params.NullCell:
		return nullSegments
	case r.SegmentBytes == 0:
		return k.Bytes
	}
	return k.Bytes / r.SegmentBytes
}

// Cells are a message and a copy for each k, and a null transfer.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	s, err := setups.Lookup(r.Setup)
	if err != nil {
		return nil, nil, err
	}
	add := func(kind params.Kind, k, tier int) {
		// A message and its copy are measured one after the other, and if time is short both are.
		c := engine.Cell{Cell: params.Cell{Key: r.key(kind, k)}, Tier: tier, Group: fmt.Sprint(k)}
		if kind == params.TransferCell {
			c.K, c.Transfers = k, s.Transfers
		}
		cells = append(cells, c)
	}
	for _, k := range r.K {
		tier := lists.FalseFirst(k*r.SegmentBytes > 4<<20) // if time is short, long messages are left out
		add(params.TransferCell, k, tier)
		if r.SegmentBytes > 0 {
			add(params.CopyCell, k, tier)
		}
	}
	if r.SegmentBytes > 0 {
		add(params.NullCell, 0, -1) // without it there is no y
	}
	return cells, nil, nil
}

// Open starts the workers.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) {
	t, err := b.Team(r.Placement)
	if err != nil {
		return nil, err
	}
	return &sampler{Request: r, OnBench: engine.OnBench{Bench: b}, team: t}, nil
}

type sampler struct {
	Request
	engine.OnBench
	team *setups.Team
	huge [2][]float64 // shares of user and intermediate buffers
}

func (s *sampler) Sample(ctx context.Context, key params.Key, hint float64) (engine.Reading, error) {
	k := s.segments(key)
	tr := setups.Trial{Segments: s.Segments, SegmentBytes: s.SegmentBytes, K: k, Bytes: k * s.SegmentBytes, ArenaBytes: s.ArenaBytes}
	var err error
	if tr.Setup, err = setups.Lookup(s.Setup); err != nil {
		return engine.Reading{}, err
	}
	factor := 1.
	switch key.Kind {
	case params.NullCell:
		tr.SegmentBytes, tr.Bytes, tr.ArenaBytes = 0, 0, 0
		factor = 1 / float64(k*tr.Setup.Transfers)
	case params.CopyCell:
		tr.Setup = setups.Bare
		factor = 1 / float64(k*tr.Setup.Transfers)
	}
	found, err := s.team.Sample(ctx, tr, hint/factor)
	if err == nil && s.team.Huge && key.Kind == params.TransferCell {
		for i, share := range s.team.HugeShares() {
			s.huge[i] = append(s.huge[i], share)
		}
	}
	found.NS *= factor
	return found, err
}

// Warnings include the mean share of buffers in huge pages, if these were requested.
func (s *sampler) Warnings() []error {
	warnings := s.OnBench.Warnings()
	if len(s.huge[0]) > 0 {
		warnings = append(warnings, fmt.Errorf("huge pages held %.0f %% of the user buffers and %.0f %% of the intermediate ones", 100*stats.Mean(s.huge[0]), 100*stats.Mean(s.huge[1])))
	}
	return warnings
}

// A Row is the results of one k.
type Row struct {
	K        int          `json:"k"`
	Bytes    int          `json:"bytes"`
	Message  fit.Estimate `json:"l_ns"`       // l(k,τ)
	Transfer fit.Estimate `json:"L_ns"`       // L(S,τ)
	Copy     fit.Estimate `json:"copy_ns"`    // one uncontended copy of a segment; unknown for S = 0
	Samples  []float64    `json:"samples_ns"` // of l
}

// Known reports whether there were enough launches for an interval.
func (r Row) Known() bool { return r.Message.Known() }

// A Result is a series' rows and the parameters by them, in ns.
type Result struct {
	Rows  []Row        `json:"-"`
	L     fit.Estimate `json:"L_ns"` // the mean over k, as in the paper
	By    []Regime     `json:"L_by_cache,omitempty"`
	Slope fit.Estimate `json:"slope_ns"` // time of one more transfer, by the line through l(k)
	Y     fit.Estimate `json:"y_ns"`     // y(τ), a null transfer
	C     fit.Estimate `json:"c_ns"`     // c(S,τ) = L − y
	Copy  fit.Estimate `json:"copy_ns"`  // c(S,τ) measured by copies without flags, mean over k
	// Over are the k of the means, if some were not reached.
	Over []int `json:"over_k,omitempty"`
}

// Conclude computes the parameters from a file's cells.
func (r Request) Conclude(m *numa.Machine, f *params.File) (res Result) {
	s, err := setups.Lookup(r.Setup)
	if err != nil {
		return res
	}
	cells := lists.ToMap(f.Cells, func(c params.Cell) (params.Key, *params.Cell) { return c.Key, &c })
	unknown := fit.Median(nil)
	for _, k := range r.K {
		c := cells[r.key(params.TransferCell, k)]
		if c == nil {
			continue
		}
		row := Row{K: k, Bytes: k * r.SegmentBytes, Message: c.Time, Transfer: c.Segment(), Copy: unknown, Samples: c.Values()}
		if bare := cells[r.key(params.CopyCell, k)]; bare != nil && r.SegmentBytes > 0 {
			row.Copy = bare.Time
		}
		res.Rows = append(res.Rows, row)
	}
	if len(res.Rows) == 0 {
		return res
	}
	k := func(row Row) int { return row.K }
	if len(res.Rows) < len(r.K) {
		res.Over = lists.Map(res.Rows, k)
	}
	res.By = r.Regimes(m, res.Rows)
	res.L = res.mean(func(row Row) fit.Estimate { return row.Transfer })
	line := res.Rows
	if slices.ContainsFunc(line, Row.Known) {
		line = lists.Filter(line, Row.Known)
	}
	messages := lists.Map(line, func(row Row) fit.Estimate { return row.Message })
	res.Slope = fit.Slope(lists.Map(line, k), messages).Scale(1 / float64(s.Transfers))
	if r.SegmentBytes == 0 {
		res.Y, res.C, res.Copy = res.L, fit.Estimate{N: res.L.N}, fit.Estimate{N: res.L.N}
		return res
	}
	res.Y = unknown
	if y := cells[r.key(params.NullCell, 0)]; y != nil {
		res.Y = y.Time
	}
	res.C = fit.Copy(res.L, res.Y)
	res.Copy = res.mean(func(row Row) fit.Estimate { return row.Copy })
	return res
}

// mean is the mean over k. Rows without an interval have the relative bounds of the others in the same caches;
// if there are none, and such rows make up more than a tenth of the mean, it has no interval.
func (res *Result) mean(of func(Row) fit.Estimate) fit.Estimate {
	var es []fit.Estimate
	for rows := res.Rows; len(rows) > 0; {
		n := len(rows)
		for _, in := range res.By {
			if in.K[0] == rows[0].K {
				n = 1 + slices.IndexFunc(rows, func(row Row) bool { return row.K == in.K[1] })
			}
		}
		es, rows = append(es, slices.Repeat([]fit.Estimate{fit.Mean(lists.Map(rows[:n], of))}, n)...), rows[n:]
	}
	es = slices.DeleteFunc(es, func(e fit.Estimate) bool { return math.IsNaN(e.Center) })
	mean, without := fit.Mean(es), 0.
	for _, e := range es {
		if !e.Known() {
			without += e.Center
		}
	}
	if without > 0.1*mean.Center*float64(len(es)) {
		mean.Lo, mean.Hi = math.Inf(-1), math.Inf(1)
	}
	return mean
}

// An InState is the results in one state of the machine.
type InState struct {
	params.State
	Result
}

// ByState is Conclude for the samples of each state of the workers, the most frequent first; nil if there was one.
func (r Request) ByState(m *numa.Machine, f *params.File) (all []InState) {
	workers := len(r.Placement.Workers)
	for _, state := range f.Sort().States(workers) {
		in, err := f.InState(workers, state)
		if err != nil {
			continue
		}
		if result := r.Conclude(m, in); result.L.Center > 0 { // else the state has no samples
			all = append(all, InState{state, result})
		}
	}
	slices.SortStableFunc(all, func(a, b InState) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// Short names the requested rows that were not reached, with the k of the means, or have too few launches;
// nil if the rows are complete.
func (r Request) Short(res Result) error {
	var unreached, few []int
	for _, k := range r.K {
		switch i := slices.IndexFunc(res.Rows, func(row Row) bool { return row.K == k }); {
		case i < 0:
			unreached = append(unreached, k)
		case !res.Rows[i].Message.Known():
			few = append(few, k)
		}
	}
	var parts []string
	if n := len(unreached); n > 0 {
		parts = append(parts, fmt.Sprintf("%s (k = %s)", engine.Unreached(n), list(unreached)))
	}
	if n := len(few); n > 0 {
		parts = append(parts, fmt.Sprintf("%s (k = %s)", engine.TooFew(n), list(few)))
	}
	if len(parts) == 0 {
		return nil
	}
	over := printable.If(len(unreached) > 0, ": means are over k = "+list(res.Over))
	return fmt.Errorf("of %s %s%s", printable.Count(len(r.K), "row"), strings.Join(parts, " and "), over)
}

// list writes 1, 2, 4.
func list(ks []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ks), " ", ", "), "[]") }
