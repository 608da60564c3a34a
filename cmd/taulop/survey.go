package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// A surveyRequest is what the commands have in common that measure one survey.
type surveyRequest struct {
	name     string
	takes    bool // arguments
	time     time.Duration
	launches int
	most     int // launches, if none are asked for; 0: 30
	destination
	saying
	machine string // what it is to be called
	spread  bool   // launches over all of the time
	huge    bool
}

func (req *surveyRequest) flags(budget time.Duration, about string) *flag.FlagSet {
	flags := flag.NewFlagSet("taulop "+req.name, flag.ContinueOnError)
	flags.DurationVar(&req.time, "time", budget, "budget of the measurement"+about)
	flags.IntVar(&req.launches, "launches", 0, fmt.Sprintf("measure in `n` launches, fresh processes each (default as many as there is time for, 6 to %d)", cmp.Or(req.most, 30)))
	flags.BoolVar(&req.huge, "huge", false, hugeUsage)
	addName(flags, &req.machine)
	addNode(flags)
	req.destination.add(flags)
	flags.Lookup("o").Usage = "write to a new `file`: a parameter file if it ends in .json and -json is not given, else what would be printed; - is standard output"
	req.saying.add(flags, "no progress and no warnings")
	return flags
}

// parse parses flags, and looks at the machine.
func (req *surveyRequest) parse(flags *flag.FlagSet, out io.Writer, args []string, help string) (*numa.Machine, error) {
	if err := parse(flags, out, args, help); err != nil {
		return nil, err
	}
	return req.check(flags)
}

// check checks flags that are parsed, and looks at the machine.
func (req *surveyRequest) check(flags *flag.FlagSet) (*numa.Machine, error) {
	machine, discovery := numa.Discover("/")
	given := givenFlags(flags)["time"]
	switch {
	case flags.NArg() > 0 && !req.takes:
		return nil, usagef("%s takes no arguments, got %q: all is said by flags", req.name, flags.Arg(0))
	case given && req.time <= 0:
		return nil, usagef("-time is %v: give a budget above zero, like 20s", req.time)
	}
	req.spread = given && req.launches == 0
	if err := cmp.Or(checkLaunches(req.launches), req.destination.check()); err != nil {
		return nil, err
	}
	if !shm.Supported {
		return nil, errNoMeasuring
	}
	return machine, discovery
}

// hugeUsage is what -huge says in every command that measures.
const hugeUsage = "ask for transparent huge pages of buffers, which otherwise get none"

// fillUsage is what -fill says in the commands that have it.
const fillUsage = "keep cores busy that no worker is on, so that few workers run at no higher clock than many"

// checkLaunches checks -launches; 0 is as many as there is time for.
func checkLaunches(n int) error {
	const most = 1000 // than any day has time for
	if n != 0 && (n < engine.LeastLaunches || n > most) {
		return usagef("-launches is %d: an interval takes %d or more, and %d are the most", n, engine.LeastLaunches, most)
	}
	return nil
}

// native: the output is a parameter file.
func (req *surveyRequest) native() bool {
	return req.format() == nil && strings.EqualFold(filepath.Ext(req.path), ".json")
}

// surveyCommand is the command of a survey.
func surveyCommand(s *survey.Survey) func(ctx context.Context, out, errOut io.Writer, args []string) error {
	return func(ctx context.Context, out, errOut io.Writer, args []string) error {
		req := surveyRequest{name: s.Name, takes: s.Command.Takes, most: s.Command.Most}
		flags := req.flags(s.Command.Time, s.Command.Budget)
		asked := s.Command.Flags(flags)
		machine, err := req.parse(flags, out, args, s.Command.Help)
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
		return req.measure(ctx, out, errOut, machine, s, t, func(f *params.File) (documented, error) { return surveyed{f, s, t}, nil })
	}
}

// A surveyed is what a survey's task found.
type surveyed struct {
	*params.File
	survey *survey.Survey
	task   survey.Task
}

func (d surveyed) Document() *document.Document {
	s := *d.survey
	if d.task.Tables != nil {
		s.Tables = d.task.Tables
	}
	doc := report.Survey(d.File, d.task.About, &s)
	if d.task.Document != nil {
		doc.Kind, doc.Value = "taulop "+d.survey.Name, d.task.Document(d.File)
	}
	return doc
}

// measure measures, and writes what it has, also if it ends early.
func (req *surveyRequest) measure(ctx context.Context, out, errOut io.Writer, m *numa.Machine, s *survey.Survey, t survey.Task, found func(*params.File) (documented, error)) error {
	here := provenance.Read("/", m)
	here.Give(req.huge)
	here.Name = printable.Name(req.machine)
	plan := t.Plan
	plan.Budget, plan.Copy, plan.With, plan.NoGamma = req.time.Seconds(), shm.CopyName(), []string{req.name}, true
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: plan, Placements: t.Places, Networks: t.Networks}
	x := &engine.Experiment{File: f, Time: req.time, Launches: req.launches, Most: req.most}
	if req.spread || req.most > 0 && req.launches == 0 {
		x.Over = req.time
	}
	more, err := survey.Add(x, s, t.Request, m)
	if err != nil {
		return usageError(err.Error())
	}
	f.Warn(slices.Concat(advised(here.Warnings()), starved(), t.Warnings, more)...)
	if len(x.Cells) == 0 {
		return usagef("there is nothing to measure: %s", f.Warnings[len(f.Warnings)-1])
	}
	said, told := req.aside(errOut), len(f.Warnings)
	warn(said, f.Warnings)
	steal, began := provenance.StartSteal("/"), time.Now()
	limited, cancel := within(ctx, req.time)
	defer cancel()
	_, err = carryOut(limited, req.progress(errOut), x.Time, &x.Report, x.Run)
	f.Seconds = time.Since(began).Seconds()
	if lacking, _ := x.Lacking(); err != nil && !errors.Is(err, context.Canceled) && req.native() && len(lacking) == len(x.Cells) {
		return err // a file without an interval would only be in the way of the next run's
	}
	if errors.Is(err, context.Canceled) {
		err = interrupted(fmt.Sprintf("stopped: %v", cmp.Or(x.Missing(), errors.New("all cells are measured"))))
	}
	if len(f.Cells) == 0 {
		return cmp.Or(err, nothingIn(req.time))
	}
	f.Warn(steal.Warnings()...)
	f.Warn(f.Unequal()...)
	if s.Doubts != nil {
		f.Warn(s.Doubts(f.Cells)...)
	}
	if missing := x.Missing(); missing != nil {
		f.Warn(fmt.Errorf("%w: allow more with -time, or choose fewer", missing))
	}
	warn(said, f.Warnings[told:])
	doc, failed := found(f)
	if failed == nil {
		failed = req.write(out, f, doc)
	}
	return cmp.Or(failed, err)
}

func (req *surveyRequest) write(out io.Writer, f *params.File, doc documented) error {
	if req.native() {
		return putParameters(out, req.file, f, doc.Document().WriteText)
	}
	return req.destination.put(out, doc)
}
