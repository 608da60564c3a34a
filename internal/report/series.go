// Package report turns results into what people read: tables and documents.
//
// Its opinion: text and JSON come from the same value, every number stands
// with its unit and its interval and has as many digits as the interval
// deserves, and a warning stands with the number that it speaks against.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/series"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
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
	Rows         []Row                 `json:"rows"`
	Results      Results               `json:"results"`
	Launches     int                   `json:"launches"`
	Within       *float64              `json:"spread_within_launches"`  // relative standard deviation of batches
	Between      *float64              `json:"spread_between_launches"` // of launches
	Warnings     []string              `json:"warnings"`
}

// A Row is a measured k.
type Row struct {
	K        int          `json:"k"`
	Bytes    int          `json:"bytes"`
	Message  fit.Estimate `json:"l_ns"`
	Transfer fit.Estimate `json:"L_ns"`
	Copy     fit.Estimate `json:"copy_ns"`
	Samples  []float64    `json:"samples_ns"` // of l, one a launch
}

// Results are what follows from the rows.
type Results struct {
	L       fit.Estimate `json:"L_ns"`
	Slope   fit.Estimate `json:"slope_ns"` // a transfer, by the slope of l over k
	Y       fit.Estimate `json:"y_ns"`
	C       fit.Estimate `json:"c_ns"`
	Copy    fit.Estimate `json:"copy_ns"`
	Remarks []string     `json:"remarks"`
}

// Add adds a row as it was measured.
func (s *Series) Add(r series.Row) Row {
	row := Row{K: r.K, Bytes: r.Bytes, Message: r.Message, Transfer: r.Transfer, Copy: r.Copy}
	for _, sample := range r.Samples {
		row.Samples = append(row.Samples, sample.NS)
	}
	s.Rows = append(s.Rows, row)
	return row
}

// Warn adds warnings.
func (s *Series) Warn(ws ...error) {
	for _, w := range ws {
		if w != nil {
			s.Warnings = append(s.Warnings, w.Error())
		}
	}
}

// Finish takes over a result, with remarks on what it means.
func (s *Series) Finish(r series.Result, f *params.File) {
	s.Results = Results{L: r.L, Slope: r.Slope, Y: r.Y, C: r.C, Copy: r.Copy}
	s.Launches = len(f.Launches)
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	within, between, _ := f.Components()
	s.Within, s.Between = known(within), known(between)
	s.Results.Remarks = s.remarks()
}

// remarks are sentences about the results, for people.
func (s *Series) remarks() (said []string) {
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	r := s.Results
	if r.L.Differ(r.Slope) {
		why := "messages that outgrow a cache cost more"
		if r.Slope.Center < r.L.Center {
			why = "what a message costs once weighs on the short ones"
		}
		say("along k one more transfer costs %s what the mean says: %s; look at the rows before you use one number.",
			times(r.Slope.Center/r.L.Center), why)
	}
	if s.SegmentBytes == 0 {
		say("these are null transfers: L(0,τ) is the synchronisation y(τ) alone.")
		return said
	}
	if r.C.Known() && r.C.Lo <= 0 {
		say("the copy is lost in the synchronisation: c is not distinguishable from 0 at this size.")
	}
	if r.C.Differ(r.Copy) {
		why := "its segments come from another core's cache"
		if r.C.Center < r.Copy.Center {
			why = "copies that wait for each other get in each other's way less"
		}
		say("with flags and partners the copy costs %s what it costs alone: %s.", times(r.C.Center/r.Copy.Center), why)
	}
	if s.Tau == 1 {
		say("one worker copies within its own cache: L(S,1) between two, which models take, is the setup isolated of taulop sweep.")
	} else if bytesPerNs := float64(s.Tau) * float64(s.SegmentBytes) / r.L.Center; s.Concurrent {
		say("%d transfers at once move %s GB/s together.", s.Tau, view.Digits(bytesPerNs, bytesPerNs/100))
	}
	return said
}

// WriteHeader writes what is measured and where.
func (s *Series) WriteHeader(w io.Writer) {
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
	if !s.Concurrent {
		fmt.Fprintf(w, "NOT A CONCURRENCY MEASUREMENT: %d workers take turns on fewer CPUs\n", s.Tau)
	}
	fmt.Fprintf(w, "placement %s:\n%s\n", s.Placement.Policy, indent(s.Placement.String()))
	fmt.Fprintf(w, "%8s %12s %14s %14s  %-21s %8s\n", "k", "m", fmt.Sprintf("l(k,%d)", s.Tau), s.name("L"), "95 % interval of L", "launches")
	fmt.Fprintf(w, "%8s %12s %14s %14s  ns\n", "segments", "bytes", "ns", "ns")
}

// machine is the machine in a line.
func machine(p provenance.Provenance) string {
	parts := []string{"taulop " + p.Taulop}
	for _, part := range []string{p.Hostname, p.CPUModel, p.Kernel, p.Time} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// WriteRow writes a row of the table.
func (s *Series) WriteRow(w io.Writer, r Row) {
	half := (r.Transfer.Hi - r.Transfer.Lo) / 2
	fmt.Fprintf(w, "%8d %12d %14s %14s  %-21s %8d", r.K, r.Bytes,
		view.Center(r.Message), view.Digits(r.Transfer.Center, half), view.Interval(r.Transfer), r.Message.N)
	fmt.Fprintln(w)
}

// WriteResults writes the parameters, first the line that the paper's tool
// ended with.
func (s *Series) WriteResults(w io.Writer) {
	if len(s.Rows) == 0 {
		return
	}
	r := s.Results
	line := func(name string, e fit.Estimate, note string) {
		fmt.Fprintf(w, "%s = %s ns  %s%s\n", name, view.Center(e), view.Interval(e), note)
	}
	line(s.name("L"), r.L, "  mean over k")
	pad := func(name string) string {
		return fmt.Sprintf("%*s", len([]rune(s.name("L"))), name)
	}
	if len(s.Rows) > 1 {
		line(pad("slope"), r.Slope, "  of l over k, a transfer")
	}
	if s.SegmentBytes > 0 {
		line(pad(fmt.Sprintf("y(%d)", s.Tau)), r.Y, "  synchronisation: transfers of nothing")
		line(pad(s.name("c")), r.C, "  copy: L − y")
		line(pad("copy"), r.Copy, "  the bare copy, measured without flags")
	}
	if s.Within != nil && s.Between != nil {
		fmt.Fprintf(w, "%d launches; samples differ by %s %% within a launch, %s %% between launches. Intervals are over launches of this hour.\n",
			s.Launches, view.Digits(100**s.Within, 0.1), view.Digits(100**s.Between, 0.1))
	}
	for _, remark := range r.Remarks {
		fmt.Fprintf(w, "%s\n", strings.ToUpper(remark[:1])+remark[1:])
	}
}

// WriteJSON writes the document.
func (s *Series) WriteJSON(w io.Writer) error {
	if s.Warnings == nil {
		s.Warnings = []string{}
	}
	if s.Results.Remarks == nil {
		s.Results.Remarks = []string{}
	}
	s.Confidence = fit.Confidence
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// name is L(8KB,2) for L.
func (s *Series) name(parameter string) string {
	return fmt.Sprintf("%s(%s,%d)", parameter, s.Label, s.Tau)
}

// times says a ratio as people do: 97 % of, 6.3 times.
func times(ratio float64) string {
	if ratio > 2 {
		return fmt.Sprintf("%.1f times", ratio)
	}
	return fmt.Sprintf("%.0f %% of", 100*ratio)
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
