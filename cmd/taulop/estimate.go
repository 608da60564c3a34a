package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// An estimateRequest holds the flags of estimate.
type estimateRequest struct {
	clusterFlags
	files  parameterFiles
	choice model.Choice
	state  stateChoice
	gamma  string
}

// add adds the flags that choose the machine.
func (req *estimateRequest) add(flags *argument.Set) {
	flags.Var(&req.files, "params", "parameters of a machine, a `list` of files; the first that has a parameter counts")
	flags.StringVar(&req.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	req.state.add(flags, mixture)
	models := append(slices.Clone(model.Models), estimate.IMH)
	argument.Word(flags, &req.choice.Model, "model", models[0], "`model`: "+strings.Join(models, ", "), models)
	flags.Required("params", "name files that taulop sweep, taulop access or taulop disk wrote, like -params host.json,disk.json")
}

// parameterFiles is a flag that names files, in a list or repeated.
type parameterFiles []string

func (n *parameterFiles) String() string { return strings.Join(*n, ",") }

// Repeats allows the flag more than once: files add up.
func (n *parameterFiles) Repeats() {}

func (n *parameterFiles) Set(list string) error {
	if list == "" {
		return errors.New("it has an empty name: name a file, or leave it out")
	}
	names := strings.Split(list, ",")
	if isFile(list) { // a name with a comma
		names = []string{list}
	}
	for _, name := range names {
		switch {
		case name == "":
			return errors.New("a comma with no file beside it: name one there, or leave the comma out")
		case slices.Contains(*n, name):
			return fmt.Errorf("%s is named twice: name each file once", name)
		}
		*n = append(*n, name)
	}
	return nil
}

// estimateFlags is the subcommand.
func estimateFlags(flags *argument.Set) action {
	var req estimateRequest
	var to destination
	req.add(flags)
	req.clusterFlags.add(flags)
	to.add(flags)
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		p, err := estimate.ReadFile(words[0])
		if err != nil {
			return usageError(err.Error())
		}
		if req.choice.Cluster, err = req.cluster(flags, &req.choice.Placement); err != nil {
			return err
		}
		m, err := req.machine(errOut)
		if err != nil {
			return err
		}
		e, err := m.Estimate(p)
		if err != nil {
			return req.lacking(err)
		}
		return to.put(out, e.Document())
	}
}

// machine reads the parameter files. Its name is their names, each once.
func (req *estimateRequest) machine(errOut *messages) (m *estimate.Machine, err error) {
	if req.choice.Gamma, err = readGamma(req.gamma); err != nil {
		return nil, err
	}
	var machines []compare.Machine
	for _, path := range req.files {
		f, err := compare.Read(path)
		if err != nil {
			return nil, usagef("-params: %v", unreadable(err, path))
		}
		machines = append(machines, f)
	}
	hosts := lists.Unique(lists.Map(machines, func(m compare.Machine) string { return m.Name }))
	if err := req.state.of(machines); err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		warn(errOut, []string{fmt.Sprintf("the parameters are of %d machines, %s: what is taken from each is as if it were one", len(hosts), printable.List(hosts))})
	}
	files := lists.Map(machines, func(m compare.Machine) *params.File { return m.File })
	m = estimate.NewMachine(strings.Join(hosts, ", "), files, req.choice)
	states := lists.Map(machines, compare.Machine.States)
	m.States = strings.Join(lists.Unique(lists.Filter(states, func(s string) bool { return s != "" })), "; ")
	return m, nil
}

// lacking names the command that measures the missing parameters.
func (req *estimateRequest) lacking(err error) error {
	var lacks *estimate.LackingError
	if !errors.As(err, &lacks) || lacks.Why != nil {
		return refused(err)
	}
	command := "taulop sweep -o host.json"
	switch lacks.Kind {
	case params.AccessCell:
		p := lacks.Pass
		n, strides := []int{p.N}, []int{1, p.Stride}
		if req.choice.Model == estimate.IMH { // whose terms are three
			n, strides = []int{max(1, p.N/4), p.N}, []int{1, 4, p.Stride}
		}
		command = fmt.Sprintf("taulop access -ops %s -types %s -n %s -stride %s -cache %s -o access.json", p.Operation, p.Type, list(n), list(strides), map[bool]string{false: "in", true: "off"}[lacks.OffCache])
	case params.DiskCell:
		command = "taulop disk -o disk.json DIR"
	case params.GammaCell:
		return usagef("%v; name a file that has γ with -gamma", err)
	case params.PatternCell:
		command = fmt.Sprintf("taulop verify -patterns -P %d -save patterns.json", lacks.P)
	}
	return usagef("%v; %s measures it, and -params takes that file, too", err, command)
}

// list formats numbers for a flag, sorted, each once.
func list(numbers []int) string {
	return strings.Join(lists.Map(lists.Rising(numbers), strconv.Itoa), ",")
}

// estimateRunFlags is estimate -run.
func estimateRunFlags(flags *argument.Set) action {
	var req estimateRequest
	var c estimate.Cannon
	measuring := surveyRequest{name: "estimate"}
	var program string
	argument.Word(flags, &program, "run", "", "`program` to run: cannon", []string{estimate.Plain})
	flags.IntVar(&c.N, "N", 512, "rows and columns of the matrices on each rank, a `number`")
	flags.IntVar(&c.P, "P", 1, "ranks, a square `number`")
	share := flags.Bool("oversubscribe", false, "let ranks share CPUs; the scheduler then determines the times")
	flags.Check(func() error { return refusedBy("-N, -P", c.Check()) })
	req.add(flags)
	measuring.add(flags, 30*time.Second, "")
	return func(ctx context.Context, out io.Writer, errOut *messages, _ []string) error {
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
		for _, variant := range []string{estimate.Plain, estimate.Transposed} { // fails before the measurement
			if _, err := m.Estimate(c.Program(variant)); err != nil {
				return req.lacking(err)
			}
		}
		task := survey.Task{Request: c, Places: []numa.Placement{place}, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
		return measuring.measure(ctx, out, errOut, machine, estimate.Survey, task, func(f *params.File, r report.Reach) (*document.Document, error) {
			runs, err := c.Runs(f, m)
			return programRuns{Cannon: c, Runs: runs, file: f}.document(r), err
		})
	}
}

// programRuns are estimated and measured times.
type programRuns struct {
	estimate.Cannon
	Runs []estimate.Run `json:"runs"`
	file *params.File
}

func (r programRuns) document(reach report.Reach) *document.Document {
	s := *estimate.Survey
	s.Answer, s.Tables = r.answer, r.tables
	about := fmt.Sprintf("%d × %d elements of float64 on each of %s", r.N, r.N, printable.Count(r.P, "rank"))
	doc := report.Survey(r.file, []string{about}, &s, reach)
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

// values has a row per program.
func (r programRuns) values() view.Table {
	t := view.Table{Columns: view.Words("program", "N", "P", "estimated_ns", "estimated_lo_ns", "estimated_hi_ns", "measured_ns", "measured_lo_ns", "measured_hi_ns", "error")}
	for _, run := range r.Runs {
		t.Add(run.Program, r.N, r.P, run.Total.Center, run.Total.Lo, run.Total.Hi, run.Measured.Center, run.Measured.Lo, run.Measured.Hi, run.Error)
	}
	return t
}

// answer is the first program's measured and estimated time.
func (r programRuns) answer(*params.File) string {
	if len(r.Runs) == 0 {
		return ""
	}
	run := r.Runs[0]
	return fmt.Sprintf("%s took %s; the estimate is %s, %+.0f %% off.", run.Program, view.Timed(run.Measured), view.Duration(run.Total.Center), 100*run.Error)
}

func (r programRuns) tables(*params.File) []view.Table {
	t := view.Table{Columns: append(view.Words("program"), view.Numbers("estimated", "measured", "error")...)}
	for _, run := range r.Runs {
		t.Add(run.Program, view.Duration(run.Total.Center), view.Timed(run.Measured), fmt.Sprintf("%+.0f %%", 100*run.Error))
	}
	if states := r.file.Sort().States(r.P); len(states) > 0 {
		t.Note("The machine was in several states, a flag took %s: times are means over these states by their shares, and estimates over those that the parameters met.", params.StateList(states))
	}
	return []view.Table{t}
}
