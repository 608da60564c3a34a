package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const estimateRunHelp = `Estimate -run carries a program out on this machine's memory and prints what it took
beside what it was estimated at.

  taulop estimate -run cannon -params FILE[,FILE ...] [flags]

cannon multiplies matrices by Cannon's algorithm, N × N elements on each of P ranks (P =
1, 4, 9 …), as the report's section 6: on columns of C, which lie a row apart, and on rows
of what C is transposed to first. Every product is checked.

Examples:
  taulop access -ops read,write,multiply,dot -types float64 -size 2M -stride 1,512 -cache in -o access.json
  taulop estimate -run cannon -N 512 -params access.json
  taulop sweep -o host.json
  taulop estimate -run cannon -P 4 -params access.json,host.json

Flags:
`

// estimateRun is estimate -run.
func estimateRun(ctx context.Context, out, errOut io.Writer, args []string) error {
	var req estimateRequest
	var c estimate.Cannon
	measuring := surveyRequest{name: "estimate"}
	flags := measuring.flags(30*time.Second, "")
	program := flags.String("run", "", "`program` to be carried out: cannon")
	flags.IntVar(&c.N, "N", 512, "rows and columns of the matrices on each rank, a `number`")
	flags.IntVar(&c.P, "P", 1, "ranks, a square `number`")
	share := flags.Bool("oversubscribe", false, "let ranks share CPUs: what is measured is then the scheduler")
	req.add(flags)
	machine, err := measuring.parse(flags, out, args, estimateRunHelp)
	if err != nil {
		return err
	}
	if *program != estimate.Plain {
		return usagef("-run is %q: the one program that is carried out is %s", *program, estimate.Plain)
	}
	if err := c.Check(); err != nil {
		return usagef("-N, -P: %v", err)
	}
	if c.P > machine.Allowed.Len() && !*share {
		return usagef("P = %d ranks need as many CPUs and %d may be used here: take fewer, or -oversubscribe, and then it is the scheduler that is measured", c.P, machine.Allowed.Len())
	}
	if free, err := numa.FreeMemoryBytes("/"); err == nil && c.Memory() > free/2 {
		return usagef("-N %d, -P %d: matrices take %d MB, and this process may take %d: take a smaller -N", c.N, c.P, c.Memory()>>20, free>>21)
	}
	place, err := machine.Place(numa.Local, c.P)
	if err != nil {
		return usagef("%v", err)
	}
	m, err := req.machine(errOut, nil)
	if err != nil {
		return err
	}
	for _, variant := range []string{estimate.Plain, estimate.Transposed} { // before anything is measured
		if _, err := m.Estimate(c.Program(variant)); err != nil {
			return req.lacking(err)
		}
	}
	task := survey.Task{Request: c, Places: []numa.Placement{place}, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	return measuring.measure(ctx, out, errOut, machine, estimate.Survey, task, func(f *params.File) (documented, error) {
		runs, err := c.Runs(f, m)
		return programRuns{Cannon: c, Runs: runs, file: f}, err
	})
}

// programRuns are estimates beside what was measured.
type programRuns struct {
	estimate.Cannon
	Runs []estimate.Run `json:"runs"`
	file *params.File
}

func (r programRuns) Document() *document.Document {
	s := *estimate.Survey
	s.Tables = r.tables
	about := fmt.Sprintf("%d × %d elements of float64 on each of %s", r.N, r.N, printable.Count(r.P, "rank"))
	doc := report.Survey(r.file, []string{about}, &s)
	for i := range r.Runs {
		fmt.Fprintln(doc)
		r.Runs[i].Say(doc)
	}
	doc.Kind, doc.Values = "taulop estimate -run", r.writeValues
	doc.Value = struct {
		Provenance params.Provenance `json:"provenance"`
		programRuns
	}{r.file.Provenance, r}
	return doc
}

// writeValues writes a row for each program.
func (r programRuns) writeValues(w io.Writer, separator rune) error {
	t := view.Table{Columns: view.Words("program", "N", "P", "estimated_ns", "estimated_lo_ns", "estimated_hi_ns", "measured_ns", "measured_lo_ns", "measured_hi_ns", "error")}
	for _, run := range r.Runs {
		t.Add(run.Program, r.N, r.P, run.Total.Center, run.Total.Lo, run.Total.Hi, run.Measured.Center, run.Measured.Lo, run.Measured.Hi, run.Error)
	}
	return t.WriteValues(w, separator)
}

func (r programRuns) tables(*params.File) []view.Table {
	t := view.Table{Columns: append(view.Words("program"), view.Numbers("estimated", "measured", "95 % interval", "error")...)}
	for _, run := range r.Runs {
		t.Add(run.Program, estimate.Span(run.Total.Center), estimate.Span(run.Measured.Center), estimate.SpanInterval(run.Measured), fmt.Sprintf("%+.0f %%", 100*run.Error))
	}
	if states := r.file.Sort().States(r.P); len(states) > 0 {
		t.Note("The host moved the CPUs, %s: times are means over these states by their shares, and estimates over those that the parameters met.", params.StateList(states))
	}
	return []view.Table{t}
}
