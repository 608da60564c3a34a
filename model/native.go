package model

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// channel says in words which of the file's times are used.
func (p *Predictor) channel(c setups) string {
	return p.Setup +
		printable.If(c.oneWay != nil && p.Setup != params.Ping, ", one way "+params.Ping) +
		printable.If(c.exchange != nil && p.Setup != params.Sendrecv, ", exchanges "+params.Sendrecv) +
		", " + params.Where(p.Placement, p.OffCache) +
		printable.If(p.Transport == CMA, fmt.Sprintf(", single copies by the kernel (cma), send buffers %s", p.Buffers)) +
		printable.If(p.Stride > 0, fmt.Sprintf(", a stride of %d bytes", p.Stride)) +
		printable.If(strings.HasSuffix(p.Operator, params.Scalar), ", reductions one element at a time")
}

// taulop makes τ-Lop of a file's transfers, by call.
func (p *Predictor) taulop(f *params.File, of params.Selection) (func(*collective.Schedule) TauLop, error) {
	machine, err := machineOf(f, of)
	if err != nil {
		return nil, err
	}
	machine.strict, p.Channel = p.Strict, p.channel(machine.levels[0])
	if p.Stride > 0 {
		if p.Packing, err = f.P(p.Stride, p.OffCache); err != nil {
			return nil, err
		}
	}
	segments := p.Transport == Segmented || p.Transport == Steady
	p.byFootprint = segments && p.Segment == machine.segment && !p.Strict
	for _, lacks := range machine.warnings {
		switch {
		case p.Model == "libtaulop": // no local copies, and one channel
		case p.Model == "lognp" && lacks == errNoSendrecv: // lone messages
		case p.Model == "loggp" && lacks != errNoOwn: // no transfers
		default:
			p.Warnings = append(p.Warnings, lacks)
		}
	}
	if p.Transport == CMA && !p.Strict {
		machine.readWritten(f, of)
	}
	return func(s *collective.Schedule) TauLop {
		t := TauLop{Transport: p.Transport, Operator: p.Operator, Cluster: p.Cluster, Level: machine.levelOf, Known: machine.places}
		m, bytes, sent := touched(s)
		look, call := func(s *measured) curve { return s.whole.L }, footprint{}
		switch {
		case segments:
			look, t.Segment = machine.byFootprint(m, bytes, sent, p.Segment), p.Segment
			if !p.Strict {
				call = buffered(s, bytes, machine.buffer)
			}
		case p.Transport == CMA:
			call = footprintOf(s)
			look = call.singleCopies
		}
		t.Channels = machine.channels(measuredOver(p.Transport), look)
		if machine.copies != nil {
			machine.addCopies(t.Channels, call)
		}
		if s != nil && s.Algorithm != nil {
			t.Call = s
			if machine.written != nil {
				machine.written.addWritten(t.Channels, call)
			}
		}
		if p.Gamma != nil {
			t.Reductions = reductions{p.Gamma, call}
		}
		if p.Packing != nil {
			t.Packing, t.Stride = func(m int) (float64, bool) { return p.Packing.At(m, 1) }, p.Stride
		}
		return t
	}, nil
}
