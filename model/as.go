package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// scalar is an operator as a library reduces, where the file has that: one element at a time.
func scalar(gamma *params.Gamma, library *mpi.Library, operator string) string {
	if library == nil || library.Scalar == "" || gamma == nil {
		return operator
	}
	of, err := gamma.Operator(cmp.Or(operator, "sum"))
	if err != nil {
		return operator
	}
	one, err := gamma.Operator(of.Name + params.Scalar)
	if err != nil { // such as γ of the library itself
		return operator
	}
	return one.Name
}

// as makes a model of each way of a library.
func (p *Predictor) as(f *params.File, c Choice) error {
	var ways []func(*collective.Schedule) TauLop
	for _, w := range p.As.Ways {
		of := c
		of.As, of.Model = nil, "taulop"
		switch {
		case w.Single:
			of.Transport = CMA
		case w.Most > 0 && w.Most <= w.Segment:
			of.Transport = Whole
		default:
			of.Transport, of.Segment, of.BufferSegments = Segmented, w.Segment, w.Segments
		}
		q, err := NewPredictor(f, of)
		if err != nil {
			return fmt.Errorf("%s: %w", p.As.Title, err)
		}
		for _, warning := range q.Warnings {
			if !slices.ContainsFunc(p.Warnings, func(known error) bool { return known.Error() == warning.Error() }) {
				p.Warnings = append(p.Warnings, warning)
			}
		}
		if p.zeros == nil {
			p.zeros = q.zeros
		}
		p.Channel = q.Channel // of the longest messages
		p.Transfers, p.Largest = q.Transfers, q.Largest
		ways = append(ways, q.of)
	}
	p.inContext = false
	instruction, overheads := f.Instruction(), f.OfLibrary()
	if p.As.Counted == "" {
		instruction = 0
	}
	switch {
	case overheads: // have it
	case p.As.Counted == "":
		p.Warnings = append(p.Warnings, fmt.Errorf("the instructions of %s were not counted: what it computes itself, a large part of a short message, is left out", p.As.Title))
	case instruction == 0:
		p.Warnings = append(p.Warnings, errors.New("the file does not say what an instruction takes: what the library computes itself, a large part of a short message, is left out; another session of a sweep measures it"))
	}
	model := func(s *collective.Schedule) protocols {
		return protocols{p.As, lists.Map(ways, func(w func(*collective.Schedule) TauLop) TauLop { return w(s) }), instruction, overheads}
	}
	p.in = func(s *collective.Schedule) Coster { return model(s) }
	if p.Model == "lognp" {
		p.in = func(s *collective.Schedule) Coster {
			of := model(s)
			m, _ := logNPOf(of.ways[0], of.Message) // the transports are known
			return m
		}
	}
	return nil
}
