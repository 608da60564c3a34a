package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// estimateRunFlags is estimate -run.
func estimateRunFlags(flags *argument.Set) action {
	var req estimateRequest
	var c estimate.Cannon
	measuring := surveyRequest{name: "estimate"}
	var program string
	argument.Word(flags, &program, "run", "", "`program` to be carried out: cannon", []string{estimate.Plain})
	flags.IntVar(&c.N, "N", 512, "rows and columns of the matrices on each rank, a `number`")
	flags.IntVar(&c.P, "P", 1, "ranks, a square `number`")
	share := flags.Bool("oversubscribe", false, "let ranks share CPUs: what is measured is then the scheduler")
	flags.Check(func() error {
		if err := c.Check(); err != nil {
			return usagef("-N, -P: %v", err)
		}
		return nil
	})
	req.add(flags)
	measuring.add(flags, 30*time.Second, "")
	return func(ctx context.Context, out, errOut io.Writer, _ []string) error {
		machine, err := here()
		if err != nil {
			return err
		}
		if err := fewEnough(c.P, machine.Allowed.Len(), *share); err != nil {
			return err
		}
		if free, err := numa.FreeMemoryBytes("/"); err == nil && c.Memory() > free/2 {
			return usagef("-N %d, -P %d: matrices take %d MB, and this process may take %d: take a smaller -N", c.N, c.P, c.Memory()>>20, free>>21)
		}
		place, err := machine.Place(numa.Local, c.P)
		if err != nil {
			return usagef("%v", err)
		}
		m, err := req.machine(errOut)
		if err != nil {
			return err
		}
		for _, variant := range []string{estimate.Plain, estimate.Transposed} { // before anything is measured
			if _, err := m.Estimate(c.Program(variant)); err != nil {
				return req.lacking(err)
			}
		}
		task := survey.Task{Request: c, Places: []numa.Placement{place}, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
		return measuring.measure(ctx, out, errOut, machine, estimate.Survey, task, func(f *params.File) (*document.Document, error) {
			runs, err := c.Runs(f, m)
			return programRuns{Cannon: c, Runs: runs, file: f}.document(), err
		})
	}
}

// programRuns are estimates beside what was measured.
type programRuns struct {
	estimate.Cannon
	Runs []estimate.Run `json:"runs"`
	file *params.File
}

func (r programRuns) document() *document.Document {
	s := *estimate.Survey
	s.Tables = r.tables
	about := fmt.Sprintf("%d × %d elements of float64 on each of %s", r.N, r.N, printable.Count(r.P, "rank"))
	doc := report.Survey(r.file, []string{about}, &s)
	for i := range r.Runs {
		fmt.Fprintln(doc)
		r.Runs[i].Say(doc)
	}
	doc.Kind, doc.Values = "taulop estimate -run", document.Rows(r.values)
	doc.Value = struct {
		Provenance params.Provenance `json:"provenance"`
		programRuns
	}{r.file.Provenance, r}
	return doc
}

// values have a row for each program.
func (r programRuns) values() view.Table {
	t := view.Table{Columns: view.Words("program", "N", "P", "estimated_ns", "estimated_lo_ns", "estimated_hi_ns", "measured_ns", "measured_lo_ns", "measured_hi_ns", "error")}
	for _, run := range r.Runs {
		t.Add(run.Program, r.N, r.P, run.Total.Center, run.Total.Lo, run.Total.Hi, run.Measured.Center, run.Measured.Lo, run.Measured.Hi, run.Error)
	}
	return t
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
