package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Series is one measurement of L(S,τ), all times in ns.
type Series struct {
	Provenance   provenance.Provenance `json:"provenance"`
	Setup        string                `json:"setup"`
	About        string                `json:"-"`
	Transfers    int                   `json:"transfers_per_segment"` // l(k,τ) = Transfers·k·L(S,τ)
	Segments     int                   `json:"segments"`
	SegmentBytes int                   `json:"segment_bytes"`
	Label        string                `json:"-"` // the segment's size as asked: 8KB
	Tau          int                   `json:"tau"`
	Concurrent   bool                  `json:"concurrent"` // false: workers are oversubscribed, no concurrency was measured
	Placement    numa.Placement        `json:"placement"`
	OffCache     bool                  `json:"off_cache"`
	ArenaBytes   int                   `json:"arena_bytes,omitempty"` // of each worker, off cache
	Copy         string                `json:"copy"`
	Confidence   float64               `json:"confidence"`
	Rows         []series.Row          `json:"rows"`
	Results      Results               `json:"results"`
	States       []SeriesState         `json:"states,omitempty"` // of several: rows and results are means weighted by their shares
	Launches     int                   `json:"launches"`
	Within       *float64              `json:"spread_within_launches"`  // relative standard deviation of batches
	Between      *float64              `json:"spread_between_launches"` // of launches
	Workers      Balances              `json:"workers"`
	Begun        params.Begun          `json:"begun"`
	MHz          float64               `json:"clock_mhz,omitempty"` // of the first worker's CPU, if the system states it
	Warnings     []string              `json:"warnings"`
	Brief        bool                  `json:"-"` // text has the results alone

	reads string // of Results.Remarks, whether data were off cache: it holds in all states
}

// A SeriesState is the results in one state of the machine.
type SeriesState struct {
	params.State
	Rows    []series.Row `json:"rows"`
	Results Results      `json:"results"`
}

// Balances compare the times of workers with the slowest worker's time.
type Balances struct {
	Messages *params.Balance `json:"messages,omitempty"`
	Copies   *params.Balance `json:"copies,omitempty"` // without flags: no worker waits for another
}

// Results are computed from the rows.
type Results struct {
	series.Result
	Remarks []string `json:"remarks"`
}

// Warn adds the warnings that are not nil.
func (s *Series) Warn(ws ...error) {
	said := lists.Filter(ws, func(w error) bool { return w != nil })
	s.Warnings = append(s.Warnings, lists.Map(said, error.Error)...)
}

// Finish adds the result with remarks on it, and the result in each state.
func (s *Series) Finish(r series.Result, f *params.File, states []series.InState) {
	for _, state := range states {
		s.States = append(s.States, SeriesState{state.State, state.Rows, s.results(state.Result)})
	}
	s.Rows, s.Results, s.Confidence = r.Rows, s.results(r), fit.Confidence
	s.Launches, s.Begun = len(f.Launches), f.Begun()
	s.MHz = f.MHz()[s.Tau]
	s.Workers = Balances{f.Balance(params.TransferCell), f.Balance(params.CopyCell)}
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	within, between, _ := f.Components()
	s.Within, s.Between = known(within), known(between)
	if s.reads = offCache(f); s.reads != "" {
		s.reads = view.Capital(s.reads) + "."
		s.Results.Remarks = append(s.Results.Remarks, s.reads)
	}
}

func (s *Series) results(r series.Result) Results { return Results{r, s.remarks(r)} }

// remarks are sentences about results, for people.
func (s *Series) remarks(r series.Result) (said []string) {
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if r.L.Differ(r.Slope) {
		say("along k one more transfer costs %s what the mean says: look at the rows before you use one number.", times(r.Slope.Center/r.L.Center))
	}
	if s.SegmentBytes == 0 {
		say("these are null transfers: L(0,τ) is the synchronisation y(τ) alone.")
		return said
	}
	if r.C.Known() && r.C.Lo <= 0 {
		say("the copy, c, cannot be told from 0 at this size: the interval of L − y holds it. A longer run may tell them apart.")
	}
	switch {
	case !r.C.Differ(r.Copy):
	case s.Setup == setups.Share.Name:
		say("out of one buffer the copy costs %s what it costs out of a buffer of each worker's own.", times(r.C.Center/r.Copy.Center))
	default:
		say("with flags and partners the copy costs %s what it costs alone.", times(r.C.Center/r.Copy.Center))
	}
	if n := s.Provenance.Allowed.Len(); s.Concurrent && s.Tau == n && n > 2 {
		say("all %d allowed CPUs have a worker, so other processes delay one of them: compare with τ = %d.", n, n-1)
	}
	if s.Tau == 1 {
		say("one worker copies within its own cache: L(S,1) between two, which models take, is the column L(m,1) of taulop sweep.")
	} else if bytesPerNs := float64(s.Tau) * float64(s.SegmentBytes) / r.L.Center; s.Concurrent {
		say("%d transfers at once move %s GB/s together.", s.Tau, view.Digits(bytesPerNs, bytesPerNs/100))
	}
	return said
}

// Document is the result in all output formats.
func (s *Series) Document() *document.Document {
	return document.New("taulop", s, document.Rows(s.values), func(d *document.Document) {
		if s.Brief {
			s.sayResults(d)
			return
		}
		if len(s.States) > 0 {
			L := make(map[params.State]fit.Estimate)
			for _, state := range s.States {
				L[state.State] = state.Results.L
			}
			sayStates(d, s.Tau, lists.Map(s.States, func(s SeriesState) params.State { return s.State }),
				stateColumn{view.Column{Name: s.name("L"), Unit: "ns"}, func(s params.State) string { return view.Center(L[s]) }},
				stateColumn{view.Column{Name: "95 % interval", Unit: "ns", Left: true}, func(s params.State) string { return view.Interval(L[s]) }})
			fmt.Fprintln(d)
		}
		s.sayResults(d)
		fmt.Fprintln(d)
		s.each(d, func(rows []series.Row, _ Results) { d.Table(s.rowTable(rows)) })
		fmt.Fprintln(d)
		s.sayHeader(d)
	})
}

// each calls write for each state with a share of Settled or more, under a title; without states once.
func (s *Series) each(w *document.Document, write func([]series.Row, Results)) {
	if len(s.States) == 0 {
		write(s.Rows, s.Results)
	}
	for _, state := range s.States {
		if state.Share < params.Settled {
			continue
		}
		fmt.Fprintf(w, "%s, %.0f %% of the time:\n", flagIn(s.Tau, state.State), state.Percent())
		write(state.Rows, state.Results)
	}
}

// sayHeader writes what was measured and where.
func (s *Series) sayHeader(w *document.Document) {
	fmt.Fprintf(w, "%s\n", machine(s.Provenance))
	times := printable.Either(s.Transfers > 1, fmt.Sprintf("l(k,τ) = %dk·L(S,τ)", s.Transfers), "l(k,τ) = k·L(S,τ)")
	fmt.Fprintf(w, "setup %s, τ = %d: %s; %s\n", s.Setup, s.Tau, s.About, times)
	user := "the same user buffers for every message (in cache as far as they fit)"
	if s.OffCache {
		user = fmt.Sprintf("user buffers walk through %d MB a worker (off cache)", s.ArenaBytes>>20)
	}
	fmt.Fprintf(w, "intermediate buffers of %d segments of %s (%d bytes); %s\n", s.Segments, s.Label, s.SegmentBytes, user)
	fmt.Fprintf(w, "copy by %s\n", s.Copy)
	placement := placementTable(s.Placement)
	placement.Title = fmt.Sprintf("placement %s:", s.Placement.Policy)
	w.Table(placement)
}

// rowTable is a table of all k.
func (s *Series) rowTable(rows []series.Row) view.Table {
	t := view.Table{Columns: []view.Column{
		{Name: "k", Unit: "segments"}, {Name: "m", Unit: "bytes"}, {Name: fmt.Sprintf("l(k,%d)", s.Tau), Unit: "ns"},
		{Name: s.name("L"), Unit: "ns"}, {Name: "95 % interval of L", Unit: "ns", Left: true}, {Name: "launches"},
	}}
	for _, r := range rows {
		t.Add(r.K, r.Bytes, view.Center(r.Message), view.Center(r.Transfer), view.Interval(r.Transfer), r.Message.N)
	}
	return t
}

// sayResults writes the parameters of each state. They begin with L, the last line of the paper's tool.
func (s *Series) sayResults(w *document.Document) {
	s.each(w, func(rows []series.Row, r Results) { s.sayResult(w, rows, r) })
	if s.Within != nil && s.Between != nil {
		fmt.Fprintf(w, "%d launches; %s. Intervals are over launches of this hour.\n", s.Launches, differ(*s.Within, *s.Between))
	}
	w.Lines(printable.If(s.MHz > 0, fmt.Sprintf("The clock of worker 0's CPU was %.0f MHz.", s.MHz)), s.balance())
	remarks := s.Results.Remarks
	if len(s.States) > 0 { // remarks that hold in every state
		remarks = s.States[0].Results.Remarks
		for _, state := range s.States[1:] {
			remarks = lists.Filter(remarks, func(r string) bool { return slices.Contains(state.Results.Remarks, r) })
		}
		w.Lines(s.reads)
	}
	w.Lines(lists.Map(remarks, view.Capital)...)
}

// mostApart is the largest ratio of the bounds of an interval that is fit for use.
const mostApart = 2

func (s *Series) sayResult(w *document.Document, rows []series.Row, r Results) {
	add := func(name string, e fit.Estimate, what string) {
		if math.IsNaN(e.Center) { // not reached
			return
		}
		fmt.Fprintf(w, "%*s = %s ns  %s  %s\n", utf8.RuneCountInString(s.name("L")), name, view.Center(e), view.Interval(e), what)
	}
	over := "mean over k"
	if n := len(r.Over); n > 0 {
		over = fmt.Sprintf("mean over k, %d of them reached", n)
	}
	add(s.name("L"), r.L, over)
	if !s.Concurrent {
		fmt.Fprintf(w, "NOT A CONCURRENCY MEASUREMENT: %d workers take turns on fewer CPUs. Here take τ ≤ %d.\n", s.Tau, len(lists.Unique(lists.Map(s.Placement.Workers, func(w numa.Worker) int { return w.ID }))))
	}
	switch {
	case !r.L.Known() && slices.ContainsFunc(rows, series.Row.Known):
		fmt.Fprintln(w, "L has no interval: more than a tenth of it is of caches or memory of which no row has launches enough. Let it run longer.")
	case !r.L.Known():
		fmt.Fprintln(w, "Not fit for use: there are too few launches for an interval. Let it run longer.")
	case r.L.Hi > mostApart*r.L.Lo:
		fmt.Fprintf(w, "Not fit for use: L is known no better than to a factor of %s. Let it run longer, with the machine for itself.\n", view.Digits(r.L.Hi/r.L.Lo, 0.1))
	}
	if len(r.By) > 1 {
		for _, by := range r.By {
			add(by.Name(), by.L, fmt.Sprintf("mean over k = %s, m = %s", ends(by.K, strconv.Itoa), ends(by.Bytes, view.Bytes)))
		}
	}
	if len(rows) > 1 && r.Slope.Center > 0 { // else noise is more than what a segment takes
		add("slope", r.Slope, "of l over k, a transfer")
	}
	if s.SegmentBytes > 0 {
		add(fmt.Sprintf("y(%d)", s.Tau), r.Y, "synchronisation: transfers of nothing")
		add(s.name("c"), r.C, "copy: L − y")
		add("copy", r.Copy, "the bare copy, measured without flags")
	}
}

// balance compares workers' times; "" for one worker.
func (s *Series) balance() string {
	var fastest, typical []string
	for i, b := range []*params.Balance{s.Workers.Messages, s.Workers.Copies} {
		if b != nil {
			of := [...]string{"messages", "copies"}[i]
			fastest = append(fastest, fmt.Sprintf("%.1f %% with %s", 100*b.Fastest, of))
			typical = append(typical, fmt.Sprintf("%.1f %% with %s", 100*b.Typical, of))
		}
	}
	if fastest == nil {
		return ""
	}
	line := "Of the slower worker's time the faster one took " + strings.Join(fastest, ", ")
	if s.Tau > 2 {
		line = "Of the slowest worker's time the fastest one took " + strings.Join(fastest, ", ") + ", the median of the others " + strings.Join(typical, ", ")
	}
	line += "."
	if late := s.Begun.String(); late != "" {
		line += " " + view.Capital(late) + "."
	}
	return line
}

// name is L(8KB,2) for L.
func (s *Series) name(parameter string) string {
	return fmt.Sprintf("%s(%s,%d)", parameter, s.Label, s.Tau)
}

// ends writes a range, or its only value.
func ends(r [2]int, text func(int) string) string {
	return text(r[0]) + printable.If(r[0] != r[1], " … "+text(r[1]))
}

// times writes a ratio in words: 97 % of, 6.3 times.
func times(ratio float64) string {
	return printable.Either(ratio > 2, fmt.Sprintf("%.1f times", ratio), fmt.Sprintf("%.0f %% of", 100*ratio))
}

// values have a row for each k and state.
func (s *Series) values() view.Table {
	t := view.Table{Columns: view.Words("setup", "placement", "off_cache", "tau", "segment_bytes", "k", "m_bytes", "l_ns", "l_lo_ns", "l_hi_ns", "L_ns", "L_lo_ns", "L_hi_ns", "launches", "state_ns", "state_share", "state_slowed")}
	add := func(rows []series.Row, state ...any) {
		for _, r := range rows {
			t.Add(s.Setup, s.Placement.Policy, s.OffCache, s.Tau, s.SegmentBytes, r.K, r.Bytes, bounds(r.Message), bounds(r.Transfer), r.Message.N, state)
		}
	}
	if len(s.States) == 0 {
		add(s.Rows, nil, nil, nil)
	}
	for _, state := range s.States {
		add(state.Rows, state.NS, state.Share, state.Slow > 0)
	}
	return t
}
