package model

import (
	"slices"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A machine is τ-Lop of a native parameter file, for one placement of ranks and
// state of the cache. Segments are looked up in the context of the call's message,
// one-way messages as ping has them and exchanges of what was not touched before as
// sendrecv has them, if those were measured, everything else as the setup does.
//
// Where ranks lie on several NUMA nodes, a stage with a message between two of them
// costs what the placement spread measured, and one without what local did, if the
// file has both.
type machine struct {
	within, across channels
	nodes          []int // by rank, nil where they make no difference
	gamma          *params.Gamma
	copies         *params.Curve // c(m,τ), nil where it was not measured
	segment        int           // S that was measured
}

type channels struct {
	common, oneWay, fresh *measured
}

// measured is what a file says of one setup.
type measured struct {
	segments, whole *params.Table
	y               *params.Curve // nil where it was not measured
	isolated        bool          // a transfer alone is one between two processes
}

// machineOf takes a file apart. With no setup named it is ring, the one to trust for
// collectives, or what the file has in its place; with one named every message is
// as that has it. An empty placement is the plan's first. It fails where the file
// has no such transfers, or not all of them.
func machineOf(f *params.File, setup string, placement numa.Policy, offCache bool) (m machine, err error) {
	placement = placementOf(f, placement)
	m.segment = f.Plan.SegmentBytes
	m.gamma, _ = f.Gamma(placement) // who reduces without it hears of it then
	m.copies, _ = f.C(placement, offCache)
	within := placement
	if has := f.Plan.Policies; placement != numa.Remote && slices.Contains(has, numa.Local) && slices.Contains(has, numa.Spread) {
		if m.nodes = nodesOf(f, placement); m.nodes != nil {
			within = numa.Local
			if m.across, err = channelsOf(f, setup, numa.Spread, offCache); err != nil {
				return m, err
			}
		}
	}
	m.within, err = channelsOf(f, setup, within, offCache)
	return m, err
}

// nodesOf are the nodes of ranks, if there are several.
func nodesOf(f *params.File, placement numa.Policy) (nodes []int) {
	for _, p := range f.Placements {
		if p.Policy != placement {
			continue
		}
		for _, w := range p.Workers {
			nodes = append(nodes, w.UserNode)
		}
	}
	if slices.ContainsFunc(nodes, func(n int) bool { return n != nodes[0] }) {
		return nodes
	}
	return nil
}

// setupOf is the setup named, else ring where a file has it, else the file's first.
func setupOf(f *params.File, name string) string {
	switch {
	case name != "":
		return name
	case slices.Contains(f.Plan.Setups, params.Ring) || len(f.Plan.Setups) == 0:
		return params.Ring
	}
	return f.Plan.Setups[0]
}

// placementOf is the placement named, else the plan's first.
func placementOf(f *params.File, name numa.Policy) numa.Policy {
	if name == "" && len(f.Plan.Policies) > 0 {
		return f.Plan.Policies[0]
	}
	return name
}

func channelsOf(f *params.File, setup string, placement numa.Policy, offCache bool) (c channels, err error) {
	if c.common, err = measuredBy(f, setupOf(f, setup), placement, offCache); err != nil {
		return c, err
	}
	for special, channel := range map[string]**measured{params.Ping: &c.oneWay, params.Sendrecv: &c.fresh} {
		if setup == "" && slices.Contains(f.Plan.Setups, special) {
			if *channel, err = measuredBy(f, special, placement, offCache); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

func measuredBy(f *params.File, setup string, placement numa.Policy, offCache bool) (s *measured, err error) {
	s = &measured{isolated: slices.ContainsFunc(f.Cells, func(c params.Cell) bool { return c.Setup == params.Isolated })}
	if s.segments, err = f.SegmentTable(setup, placement, offCache); err != nil {
		return nil, err
	}
	if s.whole, err = f.Table(setup, placement, offCache); err != nil {
		return nil, err
	}
	if y, err := f.Y(setup, placement); err == nil {
		s.y = y
	}
	return s, nil
}

// call is τ-Lop for the messages of a call of bytes, in segments of the given size.
// Segments of the measured size are looked up in context, of other sizes as they are.
func (m machine) call(bytes, segment int) TauLop {
	return m.taulop(segment, func(s *measured) Parameters {
		if segment != m.segment {
			return s.whole
		}
		context := InContext{Parameters: s.segments, Segment: segment, Message: bytes}
		if s.isolated && s.y != nil {
			context.Alone = s.waits
		}
		return context
	})
}

// whole is τ-Lop for messages that are not cut into segments.
func (m machine) whole() TauLop {
	return m.taulop(0, func(s *measured) Parameters { return s.whole })
}

func (m machine) taulop(segment int, look func(*measured) Parameters) TauLop {
	synchronised := func(s *measured) Parameters {
		switch {
		case s == nil:
			return nil
		case s.y == nil:
			return look(s)
		}
		return Synchronised{Parameters: look(s), Y: s.waits}
	}
	of := func(c channels) TauLop {
		return TauLop{Segment: segment, Parameters: synchronised(c.common), OneWay: synchronised(c.oneWay), Fresh: synchronised(c.fresh)}
	}
	t := of(m.within)
	if m.gamma != nil {
		t.Reductions = m.gamma
	}
	if m.copies != nil {
		t.Copies = m.copies.At
	}
	if m.nodes != nil {
		across := of(m.across)
		t.Nodes, t.Across = m.nodes, &across
	}
	return t
}

func (s *measured) waits(tau int) (seconds float64, extrapolated bool) { return s.y.At(1, tau) }
