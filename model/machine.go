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
// Segments are looked up in the context of the call's message: one-way messages in ping, exchanges that
// receive beside what they send in sendrecv, if these were measured, everything else in the setup.
//
// Where placements measured several levels of the machine, or at least local and spread, messages
// cost what the level between their ranks does.
type machine struct {
	levels    []setups           // from the closest on, one where they make no difference
	between   func(a, b int) int // level of the ranks in two places of a node
	known     int                // places
	gamma     *params.Gamma
	copies    *params.Curve // ranks' own copies, nil where nothing like them was measured
	temporary *params.Curve // off cache, those in cache
	segment   int           // S that was measured
	ownCache  int           // bytes, of the largest that a core shares with no other; 0: unknown
	strict    bool          // no context
	// written is of single copies out of what their senders wrote in the same call; nil where
	// nothing was measured of them.
	written  *machine
	warnings []error // what lacks, and what it costs
}

// setups are a placement's.
type setups struct {
	common, oneWay, apart *measured
	// Off cache, in cache: exchanges, and one-way messages.
	temporary, near *measured

	exchanges []params.Overhead // none where they were not measured
}

// measured is what a file says of one setup.
type measured struct {
	segments, whole *params.Table
	y               *params.Curve // nil where it was not measured
	isolated        bool          // y(1) is of isolated transfers
	apart           bool          // workers receive beside what they send
	oneWay          bool          // they do one of both
	off             bool          // off cache
}

// machineOf takes a file apart. With no setup named it is ring, the one to trust for
// collectives, or what the file has in its place; with one named every message is
// as that has it. It fails where the file has no such transfers, or not all of them.
func machineOf(f *params.File, s params.Selection) (m machine, err error) {
	placement, offCache := s.Placement, s.OffCache
	m.segment, m.ownCache = s.SegmentBytes, f.Plan.OwnCacheBytes
	m.gamma, _ = f.Gamma(placement) // who reduces without it hears of it then
	if m.copies, err = f.Own(placement, offCache); err != nil {
		if m.copies, err = f.C(placement, offCache); err == nil && offCache {
			m.warnings = append(m.warnings, errNoOwn)
		}
	}
	if offCache && m.copies != nil {
		m.temporary, _ = f.Own(placement, false)
	}
	placements := []numa.Policy{placement}
	if farther := m.tell(f, s); farther != nil {
		placements = farther
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

// tellWritten tells single copies out of what their senders wrote in the same call from others,
// if the file has them of all levels.
func (m *machine) tellWritten(f *params.File, s params.Selection) {
	s.Transport, s.Buffers = params.CMA, params.Copied
	if _, err := f.Select(s); err != nil {
		return
	}
	w, err := machineOf(f, s)
	if err == nil && w.copies != nil && len(w.levels) == len(m.levels) {
		m.written = &w
	}
}

// mostPlaces is how many workers are told apart.
const mostPlaces = 1 << 10

// tell finds which placements measured the levels that ranks are apart, and how to tell
// these; nil if all are alike. Files that do not say what CPUs share have NUMA nodes, and
// placements local and spread.
func (m *machine) tell(f *params.File, s params.Selection) (placements []numa.Policy) {
	at := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == s.Placement })
	if at < 0 || s.Placement == numa.Remote || len(f.Placements[at].Workers) > mostPlaces {
		return nil
	}
	workers := f.Placements[at].Workers
	channels := slices.DeleteFunc(f.Channels(s), func(c params.Channel) bool { return c.Level < 0 })
	channels = channels[:min(len(channels), mapping.Levels)]
	placements = lists.Map(channels, func(c params.Channel) numa.Policy { return c.Placement })
	var between func(a, b int) int
	if has := f.Policies(s); len(channels) < 2 {
		if !slices.Contains(has, numa.Local) || !slices.Contains(has, numa.Spread) {
			return nil
		}
		placements = []numa.Policy{numa.Local, numa.Spread}
		between = func(a, b int) int {
			if workers[a].UserNode != workers[b].UserNode {
				return 1
			}
			return 0
		}
	}
	if between == nil {
		cpus := lists.Map(workers, func(w numa.Worker) int { return w.ID })
		levels := f.Provenance.Levels.Channels(cpus)
		between = func(a, b int) int {
			// The level's own, else the next beyond, else the last.
			level := int(levels[a][b])
			for i, c := range channels[:len(channels)-1] {
				if level >= 0 && c.Level >= level {
					return i
				}
			}
			return len(channels) - 1
		}
	}
	apart := false
	for b := range workers {
		apart = apart || between(0, b) != between(0, 0)
	}
	if !apart {
		return nil
	}
	m.known, m.between = len(workers), between
	return placements
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

// placementOf is the placement named, else the plan's first.
func placementOf(f *params.File, name numa.Policy) numa.Policy {
	if name == "" && len(f.Plan.Policies) > 0 {
		return f.Plan.Policies[0]
	}
	return name
}

// What a file may lack where it was seen to matter, the first and the last off cache alone:
var (
	errNoOwn      = errors.New("it lacks ranks' own copies from where they send to where they receive, and bare copies, which are too cheap, count for them: on one machine of two cores mean errors off cache were 18 % instead of 11 %")
	errNoPing     = errors.New("it lacks transfers of ping, and one-way messages are predicted from another setup: on one machine of two cores their mean errors were 20 % instead of 10 %")
	errNoSendrecv = errors.New("it lacks transfers of sendrecv, and exchanges that receive beside what they send are predicted from another setup: on one machine of two cores their mean errors off cache were 20 % instead of 12 %")
)

// setups are a placement's setups. Missing parts of ping and sendrecv come from the setup of other
// placements, unless it was named.
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
	}{{params.Ping, &c.oneWay, errNoPing, true}, {params.Sendrecv, &c.apart, errNoSendrecv, s.OffCache}} {
		found, err := by(special.setup, s.OffCache)
		switch {
		case err == nil:
			*special.found = found
		case special.matters && !f.Plan.Whole && !slices.Contains(has, params.Published) && !slices.Contains(m.warnings, special.lacks):
			m.warnings = append(m.warnings, special.lacks)
		}
	}
	c.exchanges = f.ExchangeOverheads(s)
	if s.OffCache {
		c.temporary, _ = by(common, false)
		c.near, _ = by(params.Ping, false)
	}
	return c, nil
}

func measuredBy(f *params.File, s params.Selection) (m *measured, err error) {
	m = &measured{apart: s.Setup == params.Sendrecv, oneWay: s.Setup == params.Ping, off: s.OffCache}
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

// channels are the parameters of a machine, of transfers over one transport, each setup's
// L(m,τ) looked up as look says.
func (m *machine) channels(transport params.Transport, look func(*measured) curve) *Channels {
	c := newChannels()
	for level, of := range m.levels {
		at := func(way Way, source, destination Place) Channel {
			return Channel{level, transport, way, source, destination}
		}
		add := func(channel Channel, s *measured) {
			if s != nil {
				c.transfers[channel] = s.transfers(look(s))
			}
		}
		add(at(Strict, 0, 0), of.common)
		add(at(OneWay, 0, 0), of.oneWay)
		add(at(Exchange, 0, 0), of.apart)
		switch {
		case of.temporary != nil: // off cache
			add(at(Exchange, OwnCache, OwnCache), of.temporary)
			add(at(Exchange, Untouched, OwnCache), of.common) // a ring receives over what it sends
			if of.apart != nil && !of.common.apart {
				c.transfers[at(Exchange, OwnCache, Untouched)] = onward(c.transfers, at)
			}
		case of.apart != nil:
			add(at(Exchange, OwnCache, OwnCache), of.common)
		}
		if of.oneWay != nil && of.near != nil {
			far, near := c.transfers[at(OneWay, 0, 0)], of.near.transfers(look(of.near))
			c.transfers[at(OneWay, 0, OwnCache)] = Transfers{l: mean(far.l, near.l), y: far.flag}
		}
		c.overheads[Channel{Level: level}] = of.common.whole.O
		if len(of.exchanges) > 0 && !m.strict {
			c.overheads[Channel{Level: level, Way: Exchange}] = func(m int) (float64, bool) {
				_, beyond := of.common.whole.O(m)
				return params.OverheadAt(of.exchanges, m), beyond
			}
		}
	}
	return c
}

// transfers are a setup's, given how L(m,τ) is looked up. A transfer of nothing costs y(τ) alone, for
// c(0,τ) = 0. Isolated ones wait for a flag each; of the two of a message that is alone one does.
func (s *measured) transfers(l curve) Transfers {
	if s.y == nil {
		return Transfers{l: l}
	}
	y := func(tau int) (float64, bool) { return s.y.At(1, tau) }
	return Transfers{y: y, l: func(m, tau int) (seconds float64, extrapolated bool) {
		if m > 0 {
			return l(m, tau)
		}
		if seconds, extrapolated = y(tau); s.isolated && tau == 1 {
			seconds /= 2
		}
		return seconds, extrapolated
	}}
}

// mean is for transfers of which one end is where the one's are, and one where the other's are.
func mean(a, b curve) curve {
	return func(m, tau int) (seconds float64, extrapolated bool) {
		one, beyond := a(m, tau)
		other, further := b(m, tau)
		return (one + other) / 2, beyond || further
	}
}

// onward is for exchanges of data in cache, to memory that the call has not touched: exchanges in
// cache, and the additional time of receiving there. An off-cache ring lacks it, because it
// receives over what it sends; exchanges with a separate destination have it.
func onward(of map[Channel]Transfers, at func(way Way, source, destination Place) Channel) Transfers {
	hand, here, apart := of[at(Exchange, OwnCache, OwnCache)].l, of[at(Exchange, Untouched, OwnCache)].l, of[at(Exchange, 0, 0)].l
	return Transfers{l: func(m, tau int) (seconds float64, extrapolated bool) {
		near, beyond := hand(m, tau)
		ring, further := here(m, tau)
		far, farthest := apart(m, tau)
		return min(max(near, near+far-ring), max(near, far)), beyond || further || farthest
	}}
}

// inContext looks segments up, of a call of that many bytes in which ranks touch `touched`, and
// senders of one-way messages `sent`. A segment's cost depends on the bytes that its rank touches:
// in cache, segments of a long message come from farther away. So a whole segment is looked up in
// the message of which a worker touches as much, and a remainder at its own size. Segments of
// another size than the measured one are looked up as they are.
func (m *machine) inContext(bytes, touched, sent, segment int) func(*measured) curve {
	return func(s *measured) curve {
		if m.strict || segment != m.segment {
			return s.whole.L
		}
		near := touched
		if s.oneWay {
			near = sent
		}
		message := max(segment, s.messageOf(bytes, near))
		return func(m, tau int) (float64, bool) {
			if m == segment {
				m = message
			}
			return s.segments.L(m, tau)
		}
	}
}

// addCopies adds a rank's own copies, between user data and between data in cache. A copy with one
// end off cache costs its time in cache and the additional time of such transfers. An off-cache
// ring reads what it sends there and receives over it; a sendrecv writes there, too. Reading and
// writing overlap, so each takes at least half of both; this half counts where one was not
// measured, and beside single copies.
func (m *machine) addCopies(c *Channels, users, hand curve, segments bool) {
	c.transfers[Channel{Way: Alone}] = Transfers{l: users}
	if m.temporary == nil {
		return
	}
	of := m.levels[0]
	half := func(far, near *measured) Transfers {
		return Transfers{l: func(bytes, tau int) (float64, bool) {
			both, beyond := users(bytes, tau)
			none, _ := m.temporary.At(bytes, tau)
			middle := (both + none) / 2
			if of.apart == nil || of.temporary == nil || !segments || both < none {
				return middle, beyond
			}
			pair := max(tau, 2) // one alone is a transfer of its own kind
			with, further := far.whole.L(bytes, pair)
			without, _ := near.whole.L(bytes, pair)
			return min(max(middle, none+2*(with-without)), both), beyond || further
		}}
	}
	c.transfers[Channel{Way: Alone, Destination: OwnCache}] = half(of.common, of.temporary)
	c.transfers[Channel{Way: Alone, Source: OwnCache}] = half(of.apart, of.common)
	c.transfers[Channel{Way: Alone, Source: OwnCache, Destination: OwnCache}] = Transfers{l: hand}
}

// messageOf is the size of the setup's message of which a worker touches that many bytes: it receives
// over what it sent, or beside it. It is not above the measured sizes, unless the call's is.
func (s *measured) messageOf(bytes, touched int) int {
	if s.apart {
		touched /= 2
	}
	sizes := s.segments.Transfers.Sizes
	if largest := sizes[len(sizes)-1]; bytes <= largest {
		return min(touched, largest)
	}
	return bytes
}

// crowded looks single copies up in a call whose data fill the ranks' caches. For each byte copied
// a receiver touches two, source and destination, and in an exchange what it sends, too.
func (c crowd) crowded(s *measured) curve {
	each := 2
	if s.apart {
		each = 3
	}
	return c.among(&s.whole.Transfers, each)
}

// addWritten adds single copies out of what their senders wrote in the same call: their time in w
// beyond the sender's own copies. Off cache such data are in cache, and their destination may be, too.
func (w *machine) addWritten(c *Channels, in crowd) {
	look := func(s *measured) curve {
		each, copies := 2, w.copies
		if s.apart {
			each = 4 // and what it copied there
		}
		if !s.off && w.temporary != nil {
			copies = w.temporary
		}
		l := in.among(&s.whole.Transfers, each)
		return func(m, tau int) (seconds float64, extrapolated bool) {
			both, extrapolated := l(m, tau)
			own, _ := crowd{max(in.bytes, each*m)}.among(copies, 2)(m, tau)
			return max(0, both-own), extrapolated
		}
	}
	of := w.channels(params.CMA, look)
	for level, l := range w.levels {
		at := func(way Way, source, destination Place) Channel {
			return Channel{level, params.CMA, way, source, destination}
		}
		for _, way := range []Way{Exchange, OneWay} {
			c.transfers[at(way, OtherCache, Untouched)] = of.Transfers(at(way, Untouched, Untouched))
		}
		if l.temporary != nil {
			c.transfers[at(Exchange, OtherCache, OwnCache)] = of.Transfers(at(Exchange, OwnCache, OwnCache))
		}
		if l.oneWay != nil && l.near != nil { // what is sent is in cache
			c.transfers[at(OneWay, OtherCache, OwnCache)] = l.near.transfers(look(l.near))
		}
	}
}
