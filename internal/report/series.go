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
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Series is the document of one measurement of L(S,τ). All times are in ns.
type Series struct {
	Provenance   provenance.Provenance `json:"provenance"`
	Setup        string                `json:"setup"`
	About        string                `json:"-"`
	Transfers    int                   `json:"transfers_per_segment"` // l(k,τ) = Transfers·k·L(S,τ)
	Segments     int                   `json:"segments"`
	SegmentBytes int                   `json:"segment_bytes"`
	Label        string                `json:"-"` // the segment's size as asked: 8KB
	Tau          int                   `json:"tau"`
	Concurrent   bool                  `json:"concurrent"` // false: workers take turns on the CPUs, no concurrency was measured
	Placement    numa.Placement        `json:"placement"`
	OffCache     bool                  `json:"off_cache"`
	ArenaBytes   int                   `json:"arena_bytes,omitempty"` // of each worker, off cache
	Copy         string                `json:"copy"`
	Confidence   float64               `json:"confidence"`
	Rows         []series.Row          `json:"rows"`
	Results      Results               `json:"results"`
	States       []SeriesState         `json:"states,omitempty"` // where there were several; rows and results are means by their shares
	Launches     int                   `json:"launches"`
	Within       *float64              `json:"spread_within_launches"`  // relative standard deviation of batches
	Between      *float64              `json:"spread_between_launches"` // of launches
	Workers      Balances              `json:"workers"`
	Begun        params.Begun          `json:"begun"`
	MHz          float64               `json:"clock_mhz,omitempty"` // of the first worker's CPU, where the system says it
	Warnings     []string              `json:"warnings"`
	Brief        bool                  `json:"-"` // results are all there is to read
}

// A SeriesState is what was found while the machine was in one of its states.
type SeriesState struct {
	params.State
	Rows    []series.Row `json:"rows"`
	Results Results      `json:"results"`
}

// Balances are what the workers took by themselves over what the last of them took.
type Balances struct {
	Messages *params.Balance `json:"messages,omitempty"`
	Copies   *params.Balance `json:"copies,omitempty"` // without flags, so that none waits for another
}

// Results are what follows from the rows.
type Results struct {
	series.Result
	Remarks []string `json:"remarks"`
}

// Warn adds warnings.
func (s *Series) Warn(ws ...error) {
	for _, w := range ws {
		if w != nil {
			s.Warnings = append(s.Warnings, w.Error())
		}
	}
}

// Finish takes over a result, with remarks on what it means, and each state's.
func (s *Series) Finish(r series.Result, f *params.File, in []series.InState) {
	for _, of := range in {
		one := *s
		one.take(of.Result)
		s.States = append(s.States, SeriesState{of.State, one.Rows, one.Results})
	}
	s.take(r)
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
	if reads := offCache(f); reads != "" {
		s.Results.Remarks = append(s.Results.Remarks, reads+".")
	}
}

func (s *Series) take(r series.Result) {
	s.Rows, s.Results, s.Confidence = r.Rows, Results{Result: r}, fit.Confidence
	s.Results.Remarks = s.remarks()
}

// remarks are sentences about the results, for people.
func (s *Series) remarks() (said []string) {
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	r := s.Results
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
		say("all %d CPUs that may be used have a worker, so that whatever else runs takes its time from one of them: τ = %d beside it says what that costs.", n, n-1)
	}
	if s.Tau == 1 {
		say("one worker copies within its own cache: L(S,1) between two, which models take, is the column L(m,1) of taulop sweep.")
	} else if bytesPerNs := float64(s.Tau) * float64(s.SegmentBytes) / r.L.Center; s.Concurrent {
		say("%d transfers at once move %s GB/s together.", s.Tau, view.Digits(bytesPerNs, bytesPerNs/100))
	}
	return said
}

// Document is what there is to read and to compute with.
func (s *Series) Document() *document.Document {
	return document.New("taulop", s, document.Rows(s.values), func(d *document.Document) {
		if s.Brief {
			s.sayResults(d)
			return
		}
		if len(s.States) > 0 {
			L := func(state params.State) fit.Estimate {
				return s.States[slices.IndexFunc(s.States, func(of SeriesState) bool { return of.State == state })].Results.L
			}
			sayStates(d, s.Tau, lists.Map(s.States, func(of SeriesState) params.State { return of.State }),
				stateColumn{view.Column{Name: s.name("L"), Unit: "ns"}, func(of params.State) string { return view.Center(L(of)) }},
				stateColumn{view.Column{Name: "95 % interval", Unit: "ns", Left: true}, func(of params.State) string { return view.Interval(L(of)) }})
			fmt.Fprintln(d)
		}
		s.sayResults(d)
		fmt.Fprintln(d)
		s.each(d, func(of *Series) { of.writeRows(d) })
		fmt.Fprintln(d)
		s.sayHeader(d)
	})
}

// each calls what writes rows and results for each state with Settled of the time or more, with
// a title; for all where the machine was in one.
func (s *Series) each(w *document.Document, write func(*Series)) {
	if len(s.States) == 0 {
		write(s)
		return
	}
	for _, of := range s.States {
		if of.Share < params.Settled {
			continue
		}
		one := *s
		one.Rows, one.Results, one.States = of.Rows, of.Results, nil
		fmt.Fprintf(w, "%s, %.0f %% of the time:\n", flagIn(s.Tau, of.State), of.Percent())
		write(&one)
	}
}

// sayHeader writes what is measured and where.
func (s *Series) sayHeader(w *document.Document) {
	fmt.Fprintf(w, "%s\n", machine(s.Provenance))
	times := "l(k,τ) = k·L(S,τ)"
	if s.Transfers > 1 {
		times = fmt.Sprintf("l(k,τ) = %dk·L(S,τ)", s.Transfers)
	}
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

// writeRows adds a table of all k.
func (s *Series) writeRows(w *document.Document) {
	t := view.Table{Columns: []view.Column{
		{Name: "k", Unit: "segments"}, {Name: "m", Unit: "bytes"}, {Name: fmt.Sprintf("l(k,%d)", s.Tau), Unit: "ns"},
		{Name: s.name("L"), Unit: "ns"}, {Name: "95 % interval of L", Unit: "ns", Left: true}, {Name: "launches"},
	}}
	for _, r := range s.Rows {
		t.Add(r.K, r.Bytes, view.Center(r.Message), view.Center(r.Transfer), view.Interval(r.Transfer), r.Message.N)
	}
	w.Table(t)
}

// sayResults writes the parameters, of each state, first the line that the paper's tool
// ended with.
func (s *Series) sayResults(w *document.Document) {
	s.each(w, func(of *Series) { of.writeResults(w) })
	if s.Within != nil && s.Between != nil {
		fmt.Fprintf(w, "%d launches; %s. Intervals are over launches of this hour.\n", s.Launches, differ(*s.Within, *s.Between))
	}
	if s.MHz > 0 {
		fmt.Fprintf(w, "The clock of worker 0's CPU was %.0f MHz.\n", s.MHz)
	}
	if line := s.balance(); line != "" {
		fmt.Fprintln(w, line)
	}
	remarks := s.Results.Remarks
	if len(s.States) > 0 { // of the mean over states nothing follows
		remarks = s.States[0].Results.Remarks
		for _, of := range s.States[1:] {
			remarks = lists.Filter(remarks, func(r string) bool { return slices.Contains(of.Results.Remarks, r) })
		}
	}
	for _, remark := range remarks {
		fmt.Fprintln(w, view.Capital(remark))
	}
}

// mostApart is the ratio of an interval's bounds from which on it says too little to be used.
const mostApart = 2

func (s *Series) writeResults(w *document.Document) {
	r := s.Results
	add := func(name string, e fit.Estimate, what string) {
		fmt.Fprintf(w, "%*s = %s ns  %s  %s\n", utf8.RuneCountInString(s.name("L")), name, view.Center(e), view.Interval(e), what)
	}
	over := "mean over k"
	if len(r.Over) > 0 {
		if over += " = " + numbers(r.Over); r.L.Known() {
			over += ", which have enough launches"
		}
	}
	add(s.name("L"), r.L, over)
	if !s.Concurrent {
		fmt.Fprintf(w, "NOT A CONCURRENCY MEASUREMENT: %d workers take turns on fewer CPUs. Here take τ ≤ %d.\n", s.Tau, s.Provenance.Allowed.Len())
	}
	switch {
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
	if len(s.Rows) > 1 && r.Slope.Center > 0 { // else noise is more than what a segment takes
		add("slope", r.Slope, "of l over k, a transfer")
	}
	if s.SegmentBytes > 0 {
		add(fmt.Sprintf("y(%d)", s.Tau), r.Y, "synchronisation: transfers of nothing")
		add(s.name("c"), r.C, "copy: L − y")
		add("copy", r.Copy, "the bare copy, measured without flags")
	}
}

// balance says how alike the workers were; nothing of one.
func (s *Series) balance() string {
	var parts []string
	for _, of := range []struct {
		what string
		is   *params.Balance
	}{{"messages", s.Workers.Messages}, {"copies", s.Workers.Copies}} {
		if of.is != nil {
			part := fmt.Sprintf("%s %.1f %%", of.what, 100*of.is.Fastest)
			if s.Tau > 2 {
				part += fmt.Sprintf(" and %.1f %%", 100*of.is.Typical)
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	who := "the fastest worker and the median of all but the slowest"
	if s.Tau == 2 {
		who = "the faster worker"
	}
	line := "Of the slowest worker's time " + who + " took, with " + strings.Join(parts, ", with ") + "."
	if late := s.Begun.String(); late != "" {
		line += " " + view.Capital(late) + "."
	}
	return line
}

// name is L(8KB,2) for L.
func (s *Series) name(parameter string) string {
	return fmt.Sprintf("%s(%s,%d)", parameter, s.Label, s.Tau)
}

// ends are the first and the last of a range.
func ends(of [2]int, text func(int) string) string {
	if of[0] == of[1] {
		return text(of[0])
	}
	return text(of[0]) + " … " + text(of[1])
}

// times says a ratio as people do: 97 % of, 6.3 times.
func times(ratio float64) string {
	if ratio > 2 {
		return fmt.Sprintf("%.1f times", ratio)
	}
	return fmt.Sprintf("%.0f %% of", 100*ratio)
}
