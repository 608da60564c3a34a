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
	"github.com/taulop/taulop/internal/view"
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
		return func(ctx context.Context, out io.Writer, errOut *messages, _ []string) error {
			machine, err := here()
			if err != nil {
				return err
			}
			t, err := asked(machine)
			if err != nil {
				return usagef("%v", err)
			}
			req.time = cmp.Or(req.time, t.Time)
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
func (req *surveyRequest) measure(ctx context.Context, out io.Writer, errOut *messages, m *numa.Machine, s *survey.Survey, t survey.Task, found finding) error {
	x, err := req.experiment(m, s, t)
	if err != nil {
		return err
	}
	f, began := x.File, time.Now()
	return measurement{
		limit: req.time, budget: x.Time, report: &x.Report, warnings: &f.Warnings,
		run: func(ctx context.Context) error {
			err := x.Run(ctx)
			f.Seconds = time.Since(began).Seconds()
			return err
		},
		came: func() string {
			return fmt.Sprintf("stopped: %v", cmp.Or(x.Missing(), errors.New("all cells are measured")))
		},
		conclude: func(steal *provenance.StealMeter, ended error) error {
			lacking, _ := x.Lacking()
			if ended != nil && !errors.Is(ended, context.Canceled) && req.native() && len(lacking) == len(x.Cells) {
				return ended // no cell has an interval, and a file would block the next run's -o
			}
			if len(f.Cells) == 0 {
				return cmp.Or(ended, nothingIn(req.time))
			}
			f.Warn(slices.Concat(steal.Warnings(), doubt.Unequal(f), doubt.OfMemory(f))...)
			if s.Doubts != nil {
				f.Warn(s.Doubts(f.Cells)...)
			}
			return nil
		},
		put: func(ended error) error {
			rest := "allow more with -time, or choose fewer"
			if left := x.Left(); left > 0 {
				rest = fmt.Sprintf("allow about -time %s, or choose fewer", minutes(left+time.Since(began)))
			}
			r := report.Reach{Cells: len(x.Cells), Missing: x.Missing(),
				Rest: view.Capital(rest) + ".", More: "Let nothing else run, and allow more with -time."}
			r.Crowded(onCPU())
			if r.Missing != nil {
				short := fmt.Errorf("%w: %s", r.Missing, rest)
				if f.Warn(short); req.format() != nil { // text begins with it
					defer warn(errOut, []error{short})
				}
			}
			doc, err := found(f, r)
			switch {
			case err != nil:
			case req.native(): // if it cannot be written, out gets it, and the text only if that is a terminal
				if err = put(out, req.file, f.Write); !unwritten(err) || isTerminal(out) {
					doc.WriteText(out)
				}
			default:
				err = req.put(out, doc)
			}
			return cmp.Or(err, ended)
		},
	}.carryOut(ctx, errOut)
}

// experiment plans the measurement. Its file has the warnings that are known before.
func (req *surveyRequest) experiment(m *numa.Machine, s *survey.Survey, t survey.Task) (*engine.Experiment, error) {
	now := provenance.Read("/", m)
	now.Give(req.huge || t.Huge)
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
		return nil, usageError(err.Error())
	}
	f.Warn(slices.Concat(advised(now.Warnings()), starved(), t.Warnings, more)...)
	if len(x.Cells) == 0 {
		return nil, usagef("there is nothing to measure: %s", f.Warnings[len(f.Warnings)-1])
	}
	return x, nil
}
