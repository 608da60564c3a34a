package model

import "github.com/taulop/taulop/params"

// channels are the parameters of a machine's transfers over one transport; look finds L(m,τ) of a
// setup.
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
		add(at(Exchange, 0, 0), of.exchange)
		switch {
		case of.commonInCache != nil: // off cache
			add(at(Exchange, OwnCache, OwnCache), of.commonInCache)
			add(at(Exchange, Untouched, OwnCache), of.common) // a ring receives into its send buffer
			if of.exchange != nil {
				c.transfers[at(Exchange, OwnCache, Untouched)] = c.leavingCache(at)
			}
		case of.exchange != nil:
			add(at(Exchange, OwnCache, OwnCache), of.common)
		}
		if of.oneWay != nil && of.oneWayInCache != nil {
			offCache, inCache := c.transfers[at(OneWay, 0, 0)], of.oneWayInCache.transfers(look(of.oneWayInCache))
			c.transfers[at(OneWay, 0, OwnCache)] = Transfers{l: mean(offCache.l, inCache.l), y: offCache.flag}
		}
		c.overheads[Channel{Level: level}] = of.common.whole.O
		if len(of.exchangeOverheads) > 0 && !m.strict {
			c.overheads[Channel{Level: level, Way: Exchange}] = func(m int) (float64, bool) {
				_, beyond := of.common.whole.O(m)
				return params.OverheadAt(of.exchangeOverheads, m), beyond
			}
		}
	}
	return c
}

// leavingCache are exchanges of cached data into memory. A ring off cache reads from memory and writes into a
// cache, so its time beyond that in cache is what reading costs. In an exchange between memories an unknown
// part of this overlaps with writing: half of it is subtracted, the middle of the bounds.
func (c *Channels) leavingCache(at func(Way, Place, Place) Channel) Transfers {
	both, read, none := c.transfers[at(Exchange, 0, 0)], c.transfers[at(Exchange, Untouched, OwnCache)], c.transfers[at(Exchange, OwnCache, OwnCache)]
	return Transfers{y: both.flag, l: func(m, tau int) (seconds float64, extrapolated bool) {
		seconds, extrapolated = both.l(m, tau)
		off, beyond := read.l(m, tau)
		in, further := none.l(m, tau)
		return seconds - max(0, off-in)/2, extrapolated || beyond || further
	}}
}

// transfers are a setup's, given L(m,τ). An empty transfer costs y(τ), as c(0,τ) = 0. Isolated
// transfers wait for a flag each; of the two of a lone message one does.
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

// mean is for transfers with one end as in a and the other end as in b.
func mean(a, b curve) curve {
	return func(m, tau int) (seconds float64, extrapolated bool) {
		one, beyond := a(m, tau)
		other, further := b(m, tau)
		return (one + other) / 2, beyond || further
	}
}

// byFootprint looks segments up in a call of `bytes` bytes, in which a rank touches `touched` bytes,
// and a sender of one-way messages `sent`. In cache a segment's cost depends on this footprint: long
// messages come from outer caches. So a whole segment is looked up in the message of which a worker
// touches as much, and a remainder at its own size. Segments of another size than the measured one
// are looked up at their own size.
func (m *machine) byFootprint(bytes, touched, sent, segment int) func(*measured) curve {
	return func(s *measured) curve {
		if m.strict || segment != m.segment {
			return s.whole.L
		}
		own := touched
		if s.oneWay {
			own = sent
		}
		message := max(segment, s.messageOf(bytes, own))
		return func(m, tau int) (float64, bool) {
			if m == segment {
				m = message
			}
			return s.segments.L(m, tau)
		}
	}
}

// messageOf is the size of the setup's message with the given footprint: workers receive into their send
// buffer, or into a separate one. It is a measured size unless the call's message is larger.
func (s *measured) messageOf(bytes, touched int) int {
	if s.exchange {
		touched /= 2
	}
	sizes := s.segments.Transfers.Sizes
	if largest := sizes[len(sizes)-1]; bytes <= largest {
		return min(touched, largest)
	}
	return bytes
}

// addCopies adds local copies, between user data and between cached data. Reading and writing overlap, so
// that a copy with one end off cache takes the mean of both.
func (m *machine) addCopies(c *Channels, call footprint) {
	users := call.of(m.copies, 2)
	c.transfers[Channel{Way: Alone}] = Transfers{l: users}
	if m.copiesInCache == nil {
		return
	}
	cached := call.of(m.copiesInCache, 2)
	c.transfers[Channel{Way: Alone, Destination: OwnCache}] = Transfers{l: mean(users, cached)}
	c.transfers[Channel{Way: Alone, Source: OwnCache}] = Transfers{l: mean(users, cached)}
	c.transfers[Channel{Way: Alone, Source: OwnCache, Destination: OwnCache}] = Transfers{l: cached}
}

// addWritten adds single copies of data that the sender wrote in the same call: their time without the
// sender's own copies. Off cache such data are cached, and their destination may be, too.
func (m *machine) addWritten(c *Channels, call footprint) {
	look := func(s *measured) curve {
		perByte, copies := 2, m.copies
		if s.exchange {
			perByte = 4 // and what it copied there
		}
		if !s.offCache && m.copiesInCache != nil {
			copies = m.copiesInCache
		}
		l := call.of(&s.whole.Transfers, perByte)
		return func(bytes, tau int) (seconds float64, extrapolated bool) {
			both, extrapolated := l(bytes, tau)
			own, _ := footprint{max(call.bytes, perByte*bytes)}.of(copies, 2)(bytes, tau)
			return max(0, both-own), extrapolated
		}
	}
	of := m.channels(params.CMA, look)
	for level, l := range m.levels {
		at := func(way Way, source, destination Place) Channel {
			return Channel{level, params.CMA, way, source, destination}
		}
		for _, way := range []Way{Exchange, OneWay} {
			c.transfers[at(way, OtherCache, Untouched)] = of.Transfers(at(way, Untouched, Untouched))
		}
		if l.commonInCache != nil {
			c.transfers[at(Exchange, OtherCache, OwnCache)] = of.Transfers(at(Exchange, OwnCache, OwnCache))
		}
		if l.oneWay != nil && l.oneWayInCache != nil { // what is sent is cached
			c.transfers[at(OneWay, OtherCache, OwnCache)] = l.oneWayInCache.transfers(look(l.oneWayInCache))
		}
	}
}
