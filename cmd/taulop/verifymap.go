package main

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
)

// verifyMapFlags is verify -map.
func verifyMapFlags(flags *argument.Set) action {
	var (
		req mapRequest
		r   verify.Request
		say saying
	)
	flags.Bool("map", true, "carry out a program's messages under two mappings")
	req.matrixFlags.add(flags)
	flags.StringVar(&req.params, "params", "", "parameters of this machine, a `file` of taulop sweep")
	argument.Var(flags, &req.Methods, "method", "", "two mappings, a `list` from those of taulop map (default block and the cheapest other one)", argument.Among(processmap.Methods), processmap.Methods...)
	argument.Var(flags, &r.Caches, "cache", "in,off", "`list` of where user buffers are: in, off", argument.Caches, "in", "off")
	flags.DurationVar(&r.Time, "time", 30*time.Second, "time for everything")
	say.add(flags, "no progress and no warnings")
	flags.Check(func() error {
		switch {
		case req.params == "":
			return usagef("-params is missing: name a file that taulop sweep wrote on this machine")
		case flags.Given("method") && len(req.Methods) != 2:
			return usagef("-method %s: give two, like block,mwpm", strings.Join(req.Methods, ","))
		}
		return nil
	})
	req.destination.add(flags)
	return func(ctx context.Context, out, errOut io.Writer, words []string) (err error) {
		if r.Source = req.params; req.Methods == nil {
			req.Methods = processmap.Methods
		}
		if err := req.read(flags, words); err != nil {
			return err
		}
		if req.Matrix, err = processmap.Once(req.Matrix); err != nil {
			return usagef("%v", err)
		}
		req.Time = 2 * time.Second
		if r.Program, err = req.program(r.Caches); err != nil {
			return err
		}
		return req.carryOutProgram(ctx, out, errOut, r, say)
	}
}

// program is the matrix under two mappings, as they are predicted for each cache.
func (req *mapRequest) program(caches []bool) (*verify.Program, error) {
	program := &verify.Program{Name: req.Matrix.Name, Ranks: req.Matrix.Ranks()}
	for from, e := range req.Matrix.All() {
		program.Messages = append(program.Messages, collective.Envelope{From: from, To: e.To, Bytes: int(e.Bytes)})
	}
	if len(program.Messages) == 0 {
		return nil, usagef("%s sends nothing: there is nothing to carry out", printable.Name(req.Matrix.Name))
	}
	var places [][]int // of the mappings
	for _, off := range caches {
		req.offCache = off
		if err := req.machine(); err != nil {
			return nil, err
		}
		if req.Model == nil || req.Machine.Nodes > 1 {
			return nil, usagef("%s is of several nodes: give parameters of this machine", printable.Name(req.params))
		}
		if places == nil {
			result, err := processmap.Run(req.Request)
			if err != nil {
				return nil, usagef("%v", err)
			}
			if len(req.Methods) == 2 && len(result.LeftOut) > 0 {
				return nil, usagef("-method: %s", result.LeftOut[0])
			}
			for _, name := range result.Two() {
				m := result.Mapping(name)
				of := verify.ProgramMapping{Name: name}
				for process := range m.Places {
					_, core := result.Place(m, process)
					of.CPUs = append(of.CPUs, core.CPU)
				}
				program.Mappings, places = append(program.Mappings, of), append(places, m.Places)
			}
		}
		for i := range program.Mappings {
			seconds, extrapolated, err := processmap.Predict(req.Request, places[i])
			if err != nil {
				return nil, usagef("%v", err)
			}
			of := &program.Mappings[i]
			of.PredictedNs, of.Extrapolated = append(of.PredictedNs, 1e9*seconds), append(of.Extrapolated, extrapolated)
		}
	}
	return program, nil
}

func (req *mapRequest) carryOutProgram(ctx context.Context, out, errOut io.Writer, r verify.Request, say saying) error {
	machine, err := here()
	if err != nil {
		return err
	}
	for _, m := range r.Program.Mappings {
		if _, err := machine.PlaceOn(m.CPUs, len(m.CPUs)); err != nil {
			return usagef("%s is not of this machine: %v", req.params, err)
		}
	}
	if r.Params, err = readParameters("params", req.params); err != nil {
		return err
	}
	limited, cancel := within(ctx, r.Time)
	defer cancel()
	slow, said := starved(), say.aside(errOut)
	warn(said, slow)
	e, err := verify.New(r, machine, provenance.Read("/", machine))
	if err != nil {
		return err
	}
	ended, err := carryOutCases(limited, say.progress(errOut), r.Time, e)
	if err != nil {
		return err
	}
	warn(said, e.Warnings)
	e.Warn(slow...) // told before
	return cmp.Or(req.destination.put(out, report.Program(e.ProgramResult())), ended)
}
