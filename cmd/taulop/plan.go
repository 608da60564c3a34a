package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/plan"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/mpi"
)

// planFlags is tune -plan.
func planFlags(flags *argument.Set) action {
	var req tuneRequest
	var with string
	req.addTarget(flags)
	folder := flags.String("plan", "", "new `folder` for the job")
	budget := flags.Duration("budget", 20*time.Minute, "the `time` that the job may take")
	info := flags.String("components", "", "what to time besides, comma-separated: other components of Open MPI, by its `version`, such as 6.0, or a file with the output of ompi_info (- is standard input), and NAME=VALUE of the environment, such as UCX_RNDV_THRESH=8192")
	argument.Word(flags, &with, "with", "", "benchmark `suite` to time with, instead of a program in the folder: "+strings.Join(plan.Suites(), " or "), plan.Suites())
	all := flags.Bool("all", false, "time all settings, to see what a job without -all would miss")
	flags.Within("budget", float64(10*time.Second), math.MaxInt64, "a job needs ten seconds or more")
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		components, err := componentsOf(*info, req.library)
		if err != nil {
			return err
		}
		cells, err := req.cells(ctx, errOut, words, nil, *all)
		if err != nil {
			return err
		}
		if len(cells) == 0 {
			return usagef("nothing is planned for one rank: give -P with two or more")
		}
		nodes := 1
		if c := req.Predictor.Cluster; c != nil {
			nodes = c.Nodes
		}
		if req.ends != "" {
			tell(errOut, "%s", req.ends)
		}
		m := plan.Make(cells, req.library, nodes, req.loaded.File.Provenance.CPUModel, components, *budget, *all, with)
		if err := m.Write(*folder, req.library, *budget); errors.Is(err, plan.ErrThere) || errors.Is(err, plan.ErrForeign) || unwritten(err) {
			return usagef("-plan: %v", err)
		} else if err != nil {
			return err
		}
		report.WritePlan(out, m, req.library, *folder)
		return nil
	}
}

// componentsOf are the components that words name; none for "".
func componentsOf(words string, library *mpi.Library) (all []mpi.Component, err error) {
	if words == "" {
		return nil, nil
	}
	all, err = mpi.Components(strings.Split(words, ","), func(file string) ([]mpi.Component, error) {
		return infile.Read(file, mpi.ReadComponents)
	})
	if err != nil {
		return nil, usagef("-components: %v", err)
	}
	if c := lists.Find(all, func(c mpi.Component) bool { return !strings.Contains(c.Name, "=") }); c != nil && library.NeedsBase() {
		return nil, usagef("-components: %s is of Open MPI: %s has none", c.Name, library.Version)
	}
	return all, nil
}

// cells prepares the request, and predicts all settings that a plan may time.
func (req *tuneRequest) cells(ctx context.Context, errOut *messages, words []string, planned *plan.Manifest, all bool) (cells []plan.Cell, err error) {
	if err := req.prepare(words, planned); err != nil {
		return nil, err
	}
	warn(errOut, req.warnings)
	show, done := countProgress(errOut, "cell")
	cells, err = plan.Predict(ctx, req.Predictor, req.library, req.collectives, req.P, req.M, all, show)
	done()
	return cells, refused(err)
}

// takeFrom takes from a plan the library, the collectives, and P and m unless flags give them.
func (req *tuneRequest) takeFrom(m *plan.Manifest) (err error) {
	library, err := mpi.Tunable(m.Library)
	if err != nil {
		return usagef("-timed: %v", err)
	}
	if req.library != nil && req.library.Name != library.Name {
		return usagef("-for is %s, and the plan is for %s: leave it out", req.library.Name, library.Name)
	}
	req.library = library
	var ps, ms []int
	for _, w := range m.Cells {
		ps, ms = append(ps, w.P), append(ms, w.Bytes)
		for _, c := range library.Collectives() {
			if c.Name == w.Collective && !slices.Contains(req.collectives, c) {
				req.collectives = append(req.collectives, c)
			}
		}
	}
	if !req.flags.Given("P") {
		req.P = lists.Rising(ps)
	}
	if !req.flags.Given("m") {
		req.M = slices.DeleteFunc(lists.Rising(ms), func(m int) bool { return m == 0 })
	}
	return req.named()
}

// timedFlags is tune -timed.
func timedFlags(flags *argument.Set) action {
	var req tuneRequest
	req.addTarget(flags)
	folder := flags.String("timed", "", "`folder` of a plan, with the times of its job")
	req.addRules(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, _ []string) error {
		req.timed = true
		m, err := infile.Read(filepath.Join(*folder, plan.Name), plan.ReadManifest)
		if err != nil {
			return usagef("-timed: %v", err)
		}
		cells, err := req.cells(ctx, errOut, nil, m, false)
		if err != nil {
			return err
		}
		results, err := m.Read(os.DirFS(*folder), req.library)
		if err != nil {
			return usagef("-timed: %v", err)
		}
		for _, o := range results.LeftOut {
			more := printable.If(o.Lines > 1, fmt.Sprintf(" and %d more", o.Lines-1))
			tell(errOut, "left out: %s, line %d%s: %s", o.File, o.Line, more, o.Why)
		}
		if len(results.Passes) == 0 {
			return usagef("-timed: %s has no times of its plan yet: run run.sh there", printable.Name(*folder))
		}
		concluded := m.Conclude(results, cells)
		if !slices.ContainsFunc(concluded, func(c plan.Conclusion) bool { return c.OwnUS > 0 }) {
			todo := printable.Either(m.Passes < plan.FewPasses,
				fmt.Sprintf("its plan has %d, so make another with a larger -budget", m.Passes), "run run.sh there again, it goes on")
			return noAnswer(fmt.Sprintf("-timed: in %s nothing is timed %d times yet, the passes that an interval needs: %s", printable.Name(*folder), plan.FewPasses, todo))
		}
		rules := plan.Rules(concluded, req.library, func(p int) int {
			nodes, _ := req.Predictor.Nodes(p)
			return nodes
		})
		return req.put(out, report.Timed(req.library, m, results, concluded, rules), rules)
	}
}
