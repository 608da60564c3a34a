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

// scalar is an operator one element at a time, for libraries that reduce so, if the file has it.
func scalar(gamma *params.Gamma, library *mpi.Library, operator string) string {
	if library == nil || library.Scalar == "" || gamma == nil {
		return operator
	}
	if of, err := gamma.Operator(cmp.Or(operator, "sum")); err == nil {
		if one, err := gamma.Operator(of.Name + params.Scalar); err == nil {
			return one.Name
		}
	}
	return operator // γ of the library itself, for one
}

// as makes a model of each of a library's protocols.
func (p *Predictor) as(f *params.File, c Choice) error {
	var ways []func(*collective.Schedule) TauLop
	for _, w := range p.As.Ways {
		c := c
		c.As, c.Model = nil, "taulop"
		switch {
		case w.Single:
			c.Transport = CMA
		case w.Most > 0 && w.Most <= w.Segment:
			c.Transport = Whole
		default:
			c.Transport, c.Segment, c.BufferSegments = Segmented, w.Segment, w.Segments
		}
		q, err := NewPredictor(f, c)
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
		p.Channel = q.Channel // at last the longest messages'
		p.Transfers, p.Largest = q.Transfers, q.Largest
		ways = append(ways, q.of)
	}
	p.byFootprint = false
	instruction, overheads := f.Instruction(), f.OfLibrary()
	if p.As.Counted == "" {
		instruction = 0
	}
	switch {
	case overheads: // include them
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
			library := model(s)
			m, _ := logNPOf(library.ways[0], library) // the transports are known
			return m
		}
	}
	return nil
}
