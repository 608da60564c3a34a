package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A surveyRequest holds the flags of commands that measure one survey.
type surveyRequest struct {
	name     string
	time     time.Duration
	launches int
	most     int // default limit of launches; 0: 30
	destination
	machine string // name in the output
	peak    float64
	spread  bool // launches are spread over all of the time
	huge    bool
}

// add adds the common flags.
func (req *surveyRequest) add(flags *argument.Set, budget time.Duration, about string) {
	flags.DurationVar(&req.time, "time", budget, "budget of the measurement"+about)
	addLaunches(flags, &req.launches, cmp.Or(req.most, 30))
	flags.BoolVar(&req.huge, "huge", false, hugeUsage)
	addNode(flags, &req.machine)
	flags.Check(func() error {
		req.spread = flags.Given("time") && req.launches == 0
		return nil
	})
	req.destination.add(flags)
	flags.Lookup("o").Usage = "write to a new `file`: a parameter file if it ends in .json and -json is not given, else what would be printed; - is standard output"
}

// addPeak adds -peak; 0: not given.
func addPeak(flags *argument.Set, to *float64) {
	argument.Var(flags, to, "peak", "", "peak bandwidth of this machine's memory, in `GB/s`: channels × MT/s × 8 / 1000 (default from the modules that the firmware lists, if root runs it and the firmware names channels)", argument.Bandwidth)
}

// addLaunches adds -launches; 0: as many as the time allows.
func addLaunches(flags *argument.Set, n *int, usual int) {
	const most = 1000
	flags.IntVar(n, "launches", 0, fmt.Sprintf("measure in `n` launches, each of fresh processes (default as many as -time allows, 6 to %d)", usual))
	flags.Within("launches", engine.LeastLaunches, most, fmt.Sprintf("an interval takes %d or more, and %d are the most", engine.LeastLaunches, most))
}

// here is the topology of this machine, or the error that it cannot be measured.
func here() (*numa.Machine, error) {
	if !shm.Supported {
		return nil, errNoMeasuring
	}
	return numa.Discover("/")
}

// hugeUsage is the usage of -huge.
const hugeUsage = "ask for transparent huge pages for buffers, which otherwise get none"

// fillUsage is the usage of -fill.
const fillUsage = "keep cores without a worker busy, so that few workers run at the clock of many"

// native reports whether the output is a parameter file.
func (req *surveyRequest) native() bool {
	return req.format() == nil && strings.EqualFold(filepath.Ext(req.path), ".json")
}

// surveyFlags is the command of a survey.
func surveyFlags(s *survey.Survey) func(*argument.Set) action {
	return func(flags *argument.Set) action {
		req := surveyRequest{name: s.Name, most: s.Command.Most}
		asked := s.Command.Flags(flags.FlagSet)
		req.add(flags, s.Command.Time, s.Command.Budget)
		if s.Command.Carries {
			addPeak(flags, &req.peak)
		}
		return func(ctx context.Context, out, errOut io.Writer, _ []string) error {
			machine, err := here()
			if err != nil {
				return err
			}
			t, err := asked(machine)
			if err != nil {
				return usagef("%v", err)
			}
			if req.time == 0 {
				req.time = t.Time
			}
			return req.measure(ctx, out, errOut, machine, s, t, surveyed(s, t))
		}
	}
}

// A finding makes a document of a file that may be incomplete.
type finding func(*params.File, report.Reach) (*document.Document, error)

// surveyed makes the document of a survey's task.
func surveyed(of *survey.Survey, task survey.Task) finding {
	s := *of
	if task.Tables != nil {
		s.Tables = task.Tables
	}
	return func(f *params.File, r report.Reach) (*document.Document, error) {
		doc := report.Survey(f, task.About, &s, r)
		if task.Document != nil {
			doc.Kind, doc.Value = "taulop "+s.Name, task.Document(f)
		}
		return doc, nil
	}
}

// measure measures and writes, also after an early end.
func (req *surveyRequest) measure(ctx context.Context, out, errOut io.Writer, m *numa.Machine, s *survey.Survey, t survey.Task, found finding) error {
	now := provenance.Read("/", m)
	now.Give(req.huge)
	now.Name = printable.Name(req.machine)
	now.SetPeak(req.peak, m)
	plan := t.Plan
	plan.Budget, plan.Copy, plan.With, plan.NoGamma = req.time.Seconds(), shm.CopyName(), []string{req.name}, true
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: now, Plan: plan, Placements: t.Places, Networks: t.Networks}
	x := &engine.Experiment{File: f, Time: req.time, Launches: req.launches, Most: req.most}
	if req.spread || req.most > 0 && req.launches == 0 {
		x.Over = req.time
	}
	more, err := survey.Add(x, s, t.Request, m)
	if err != nil {
		return usageError(err.Error())
	}
	f.Warn(slices.Concat(advised(now.Warnings()), starved(), t.Warnings, more)...)
	if len(x.Cells) == 0 {
		return usagef("there is nothing to measure: %s", f.Warnings[len(f.Warnings)-1])
	}
	told := len(f.Warnings)
	warn(errOut, f.Warnings)
	began := time.Now()
	steal, err := carryOut(ctx, errOut, req.time, x.Time, &x.Report, x.Run)
	f.Seconds = time.Since(began).Seconds()
	if lacking, _ := x.Lacking(); err != nil && !errors.Is(err, context.Canceled) && req.native() && len(lacking) == len(x.Cells) {
		return err // no cell has an interval, and a file would block the next run's -o
	}
	err = ifStopped(err, "stopped: %v", cmp.Or(x.Missing(), errors.New("all cells are measured")))
	if len(f.Cells) == 0 {
		return cmp.Or(err, nothingIn(req.time))
	}
	f.Warn(steal.Warnings()...)
	f.Warn(append(doubt.Unequal(f), doubt.OfMemory(f)...)...)
	if s.Doubts != nil {
		f.Warn(s.Doubts(f.Cells)...)
	}
	untold := f.Warnings[told:]
	r := report.Reach{Cells: len(x.Cells), Missing: x.Missing(),
		Rest: "Allow more with -time, or choose fewer.", More: "Let nothing else run, and allow more with -time."}
	if r.Missing != nil {
		f.Warn(fmt.Errorf("%w: allow more with -time, or choose fewer", r.Missing))
		if req.format() != nil { // text begins with it
			untold = f.Warnings[told:]
		}
	}
	doc, failed := found(f, r)
	if failed == nil {
		if req.native() {
			failed = putParameters(out, req.file, f, doc.WriteText)
		} else {
			failed = req.put(out, doc)
		}
	}
	warn(errOut, untold)
	return cmp.Or(failed, err)
}
