package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/params"
)

// loggp makes LogGP of the file's round trips, with τ-Lop's local copies.
func (p *Predictor) loggp(f *params.File, taulop func(*collective.Schedule) TauLop) error {
	trips, latency := roundTrips(f, p.Placement, p.OffCache)
	if len(trips) == 0 {
		return errors.New("it has no LogGP parameters: they come from round trips, PRTT(n,d,m), which only a file of taulop sweep can hold")
	}
	m, warnings, err := assessLogGP(trips, latency)
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, warnings...)
	if m.Operator = p.Operator; p.Segments() {
		m.Segment = p.Segment
	}
	p.zeros, p.in = nil, func(s *collective.Schedule) Coster {
		m, local := m, taulop(s)
		m.Local, m.Reductions = &local, local.Reductions
		return m
	}
	return nil
}

// mlognp makes a model of pairs of CPUs.
func (p *Predictor) mlognp(f *params.File) error {
	m, err := MLogNPOf(f, p.Placement)
	if err != nil {
		return err
	}
	if m.Operator = p.Operator; p.Gamma != nil {
		m.Reductions = p.Gamma
	}
	var levels []string
	for _, l := range m.Levels {
		levels = append(levels, l.Name)
		if sizes := l.Transfer.Sizes; len(sizes) > 0 {
			p.Largest = max(p.Largest, sizes[len(sizes)-1])
		}
	}
	p.Channel = fmt.Sprintf("placement %s, levels: %s", p.Placement, strings.Join(levels, ", "))
	if p.Stride > 0 {
		if p.Packing, err = f.P(p.Stride, p.OffCache); err != nil {
			return err
		}
		m.stride(f, p.Packing, p.Stride, p.OffCache)
		p.Channel += fmt.Sprintf(", a stride of %d bytes", p.Stride)
	}
	if p.Cluster.several() {
		network := m.NetworkLevel(p.Cluster.Network.Network, p.Cluster.Network.Table)
		network.Stride = p.Packing
		p.in = func(*collective.Schedule) Coster {
			return costerFunc(func(s *collective.Schedule) (Cost, error) { // places of ranks depend on their number
				place, err := p.Cluster.ranks(s)
				if err != nil {
					return Cost{}, err
				}
				return ofPairs[p.Model](m.Across(network, place.Node, place.Slot)).Cost(s)
			})
		}
		return nil
	}
	m = ofPairs[p.Model](m)
	p.in = func(*collective.Schedule) Coster { return m }
	return nil
}

// A costerFunc is a model that is a function.
type costerFunc func(*collective.Schedule) (Cost, error)

// Cost is the cost of a schedule.
func (f costerFunc) Cost(s *collective.Schedule) (Cost, error) { return f(s) }
