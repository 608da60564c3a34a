package model

import (
	"errors"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A machine is τ-Lop of a native parameter file, for one placement of ranks and state of the cache.
// Segments are looked up by the call's footprint: one-way messages in ping, exchanges with separate
// receive buffers in sendrecv, if these were measured, everything else in the setup.
//
// Where placements measured several levels of the machine, or at least local and spread, messages
// cost as at the level between their ranks.
type machine struct {
	levels        []setups           // from the closest on; one where they make no difference
	levelOf       func(a, b int) int // of the ranks in two places of a node
	places        int
	copies        *params.Curve // local copies; nil where nothing like them was measured
	copiesInCache *params.Curve // the same in cache, for off cache
	segment       int           // S that was measured
	buffer        int           // bytes of an intermediate buffer
	strict        bool          // L(S,τ) does not depend on the footprint
	written       *machine      // single copies of data that the sender wrote in the same call; nil: not measured
	warnings      []error       // missing measurements
}

// setups are a placement's measurements.
type setups struct {
	common, oneWay, exchange *measured // exchange: sendrecv, with separate receive buffers

	// Off cache, the same in cache.
	commonInCache, oneWayInCache *measured

	exchangeOverheads []params.Overhead // none where they were not measured
}

// measured are the measurements of one setup.
type measured struct {
	segments, whole *params.Table
	y               *params.Curve // nil where it was not measured
	isolated        bool          // y(1) is of isolated transfers
	exchange        bool          // sendrecv: workers send and receive, in separate buffers
	oneWay          bool          // ping: workers send or receive
	offCache        bool
}

// machineOf reads a file's parameters. Without a setup in s the common one is ring, which represents
// collectives best, or the file's first; a named one counts for all messages. It fails
// where the file lacks transfers of it.
func machineOf(f *params.File, s params.Selection) (m machine, err error) {
	placement, offCache := s.Placement, s.OffCache
	m.segment, m.buffer = s.SegmentBytes, s.Segments*s.SegmentBytes
	if m.copies, err = f.Own(placement, offCache); err != nil {
		if m.copies, err = f.C(placement, offCache); err == nil && offCache {
			m.warnings = append(m.warnings, errNoOwn)
		}
	}
	if offCache && m.copies != nil {
		m.copiesInCache, _ = f.Own(placement, false)
	}
	placements := m.levelPlacements(f, s)
	if placements == nil {
		placements = []numa.Policy{placement}
	}
	for _, s.Placement = range placements {
		level, err := m.setups(f, s)
		if err != nil {
			return m, err
		}
		m.levels = append(m.levels, level)
	}
	return m, nil
}

// readWritten reads single copies of data that the sender wrote in the same call, if the file has
// them at all levels.
func (m *machine) readWritten(f *params.File, s params.Selection) {
	s.Transport, s.Buffers = params.CMA, params.Copied
	if _, err := f.Select(s); err != nil {
		return
	}
	written, err := machineOf(f, s)
	if err == nil && written.copies != nil && len(written.levels) == len(m.levels) {
		m.written = &written
	}
}

// mostPlaces bounds the workers of placements whose levels are told apart.
const mostPlaces = 1 << 10

// levelPlacements finds the placements that measured the levels between ranks, and sets levelOf. It
// returns nil where all ranks are at one level. Files without what CPUs share have NUMA nodes, and
// placements local and spread.
func (m *machine) levelPlacements(f *params.File, s params.Selection) (placements []numa.Policy) {
	at := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == s.Placement })
	if at < 0 || s.Placement == numa.Remote || len(f.Placements[at].Workers) > mostPlaces {
		return nil
	}
	workers := f.Placements[at].Workers
	channels := slices.DeleteFunc(f.Channels(s), func(c params.Channel) bool { return c.Level < 0 })
	channels = channels[:min(len(channels), mapping.Levels)]
	var levelOf func(a, b int) int
	if len(channels) < 2 {
		has := f.Policies(s)
		if !slices.Contains(has, numa.Local) || !slices.Contains(has, numa.Spread) {
			return nil
		}
		placements = []numa.Policy{numa.Local, numa.Spread}
		levelOf = func(a, b int) int {
			if workers[a].UserNode != workers[b].UserNode {
				return 1
			}
			return 0
		}
	} else {
		placements = lists.Map(channels, func(c params.Channel) numa.Policy { return c.Placement })
		measured := lists.Map(channels, func(c params.Channel) int { return c.Level })
		levels := f.Provenance.Levels.Channels(lists.Map(workers, func(w numa.Worker) int { return w.ID }))
		levelOf = func(a, b int) int { return levelFrom(measured, int(levels[a][b])) }
	}
	for b := range workers {
		if levelOf(0, b) != levelOf(0, 0) {
			m.places, m.levelOf = len(workers), levelOf
			return placements
		}
	}
	return nil
}

// setupOf is the setup named, else ring where it was measured, else the first.
func setupOf(measured []string, name string) string {
	switch {
	case name != "":
		return name
	case slices.Contains(measured, params.Ring) || len(measured) == 0:
		return params.Ring
	}
	return measured[0]
}

// Warnings of measurements that a file lacks; of errNoOwn and errNoSendrecv off cache alone.
var (
	errNoOwn      = errors.New("it lacks ranks' own copies from where they send to where they receive, and bare copies, which are too cheap, count for them: on one machine of two cores mean errors off cache were 18 % instead of 11 %")
	errNoPing     = errors.New("it lacks transfers of ping, and one-way messages are predicted from another setup: on one machine of two cores their mean errors were 20 % instead of 10 %")
	errNoSendrecv = errors.New("it lacks transfers of sendrecv, and exchanges that receive beside what they send are predicted from another setup: on one machine of two cores their mean errors off cache were 20 % instead of 12 %")
)

// setups reads a placement's setups. Without ping or sendrecv the common setup counts for them, with
// a warning unless it was named.
func (m *machine) setups(f *params.File, s params.Selection) (c setups, err error) {
	named, has := s.Setup != "", f.Setups(s)
	by := func(setup string, offCache bool) (*measured, error) {
		s := s
		s.Setup, s.OffCache = setup, offCache
		return measuredBy(f, s)
	}
	common := setupOf(has, s.Setup)
	if c.common, err = by(common, s.OffCache); err == nil {
		err = f.OneWorker()
	}
	if err != nil || named {
		return c, err
	}
	for _, special := range []struct {
		setup   string
		found   **measured
		lacks   error
		matters bool
	}{{params.Ping, &c.oneWay, errNoPing, true}, {params.Sendrecv, &c.exchange, errNoSendrecv, s.OffCache}} {
		found, err := by(special.setup, s.OffCache)
		switch {
		case err == nil:
			*special.found = found
		case special.matters && !f.Plan.Whole && !slices.Contains(has, params.Published) && !slices.Contains(m.warnings, special.lacks):
			m.warnings = append(m.warnings, special.lacks)
		}
	}
	c.exchangeOverheads = f.ExchangeOverheads(s)
	if s.OffCache {
		c.commonInCache, _ = by(common, false)
		c.oneWayInCache, _ = by(params.Ping, false)
	}
	return c, nil
}

func measuredBy(f *params.File, s params.Selection) (m *measured, err error) {
	m = &measured{exchange: s.Setup == params.Sendrecv, oneWay: s.Setup == params.Ping, offCache: s.OffCache}
	if m.segments, err = f.SegmentTable(s); err != nil {
		return nil, err
	}
	if m.whole, err = f.Table(s); err != nil {
		return nil, err
	}
	if y, err := f.Y(s); err == nil {
		m.y = y
		m.isolated = slices.ContainsFunc(f.Cells, func(c params.Cell) bool {
			return c.Kind == params.NullCell && c.Setup == params.Isolated && c.Placement == s.Placement && c.Transport == s.Transport
		})
	}
	return m, nil
}
