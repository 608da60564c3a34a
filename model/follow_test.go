package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/params"
)

// withChannels is plain with l for some channels.
func withChannels(l curve, channels ...Channel) *Channels {
	c := Uniform(plain{})
	for _, of := range channels {
		c.transfers[of] = Transfers{l: l}
	}
	return c
}

// Channels of a machine with all sources and destinations measured.
var (
	oneWays   = []Channel{{Way: OneWay}, {Way: OneWay, Destination: OwnCache}}
	exchanges = []Channel{{Way: Exchange}, {Way: Exchange, Destination: OwnCache}, {Way: Exchange, Source: OwnCache}, {Way: Exchange, Source: OwnCache, Destination: OwnCache}}
	copies    = []Channel{{Way: Alone}, {Way: Alone, Destination: OwnCache}, {Way: Alone, Source: OwnCache}, {Way: Alone, Source: OwnCache, Destination: OwnCache}}
)

// A channel that was not measured has the nearest one's parameters: with an untouched destination, then
// also an untouched source, at last of Strict transfers.
func TestNearestChannel(t *testing.T) {
	c := withChannels(plain{}.L, Channel{Way: Exchange}, Channel{Way: Exchange, Source: OwnCache}, Channel{Level: 1}, Channel{Level: 1, Way: OneWay})
	for asked, want := range map[Channel]Channel{
		{Way: Exchange, Source: OwnCache, Destination: OwnCache}: {Way: Exchange, Source: OwnCache},
		{Way: Exchange, Destination: OwnCache}:                   {Way: Exchange},
		{Way: OneWay, Destination: OwnCache}:                     {},
		{Level: 1, Way: OneWay, Source: OtherCache}:              {Level: 1, Way: OneWay},
		{Level: 1, Way: Exchange}:                                {Level: 1},
		{Way: Exchange, Transport: params.CMA}:                   {},
		{Level: 1, Way: OneWay, Destination: OwnCache}:           {Level: 1, Way: OneWay},
	} {
		check.Equal(t, c.Nearest(asked), want, "%+v", asked)
	}
}

// A whole segment costs as in a message of the call's footprint, up to the largest measured, of which a worker
// of a setup with separate buffers touches twice as much; a remainder as a message of its own size. Longer
// messages count themselves.
func TestSegmentsByFootprint(t *testing.T) {
	m := &machine{segment: 1000}
	common, oneWay, exchange := measured{}, measured{oneWay: true}, measured{exchange: true}
	for _, tt := range []struct {
		setup                            measured
		bytes, touched, sent, segment, m int
		want                             float64
	}{
		{common, 1000, 5000, 500, 1000, 1000, 50}, {common, 1000, 5000, 500, 1000, 500, 1}, {common, 1000, 500, 500, 1000, 1000, 2},
		{common, 1000, 5000, 500, 500, 1, 7}, {common, 1000, 9000, 500, 1000, 1000, 50}, {common, 6000, 18000, 500, 1000, 1000, 62},
		{oneWay, 1000, 500, 5000, 1000, 1000, 50}, {oneWay, 1000, 5000, 500, 1000, 1000, 2}, {exchange, 1000, 10000, 500, 1000, 1000, 50},
	} {
		tt.setup.segments = &params.Table{Transfers: params.Curve{Sizes: []int{500, 1000, 5000}, Times: [][]float64{{1}, {2}, {50}}}}
		tt.setup.whole = &params.Table{Transfers: params.Curve{Sizes: []int{1}, Times: [][]float64{{7}}}}
		check.Equal(t, first(m.byFootprint(tt.bytes, tt.touched, tt.sent, tt.segment)(&tt.setup)(tt.m, 2)), tt.want, "%+v", tt)
	}
}

func first(v float64, _ bool) float64 { return v }

// A copy in a call costs at least its share of a copy of the call's footprint, and at least a lone copy.
func TestFootprint(t *testing.T) {
	slower := [][]float64{{1000}, {2000}, {12000}, {32000}} // beyond 2000 bytes each takes five times as long
	try := func(times [][]float64, touched, m int, want float64) {
		t.Helper()
		c := &params.Curve{Sizes: []int{1000, 2000, 4000, 8000}, Taus: []int{1}, Times: times}
		check.Near(t, first(footprint{touched}.of(c, 2)(m, 1)), want, 1e-6, "%d bytes of %d take", m, touched)
	}
	try(slower, 0, 2000, 2000)             // the call is unknown
	try(slower, 4000, 2000, 2000)          // a footprint of the copy alone
	try(slower, 8000, 2000, 1000+11000./3) // a third of the way from 1000 to 4000 bytes
	try(slower, 8000, 1000, 1000)          // the smallest size
	try(slower, 1<<20, 8000, 32000)
	try(slower, 1<<20, 2000, 1000+(32000.-1000)/7)                      // up to the largest size measured
	try([][]float64{{1000}, {2000}, {2000}, {2000}}, 16000, 2000, 2000) // no less than the copy by itself
	s := schedule(t, "allgather:two-proc", collective.Call{P: 2, M: 1000})
	check.Equal(t, buffered(s, 3000, 600).bytes, 4200, "ranks of an allgather of two send 1000 bytes, receive 2000, fill a buffer of 600 and empty another, in all")
	got, lone := footprintOf(s).bytes, footprintOf(alone(1000)).bytes
	check.True(t, got == 4000 && lone == 0,
		"ranks of an allgather of two send 1000 bytes, receive 2000 and read 1000, in all %d; of a lone message %d, want 0: unknown", got, lone)
}

// The messages of a stage decide its channel: one way, exchanges, and exchanges between caches of temporary
// buffers, where vectors to be reduced arrive. Off cache, buffers that the call has written are cached, too. It
// has not written a rank's own input, even a root's in its receive buffer, nor an empty message.
func TestCachedInTheCall(t *testing.T) {
	const off = true
	in := []Channel{{Way: Exchange}, {Way: Exchange, Source: OwnCache, Destination: OwnCache}}
	try := func(name string, p int, off bool, terms []string) { // terms: in the order of the formula, which groups equal ones
		t.Helper()
		s, channels := schedule(t, name, collective.Call{P: p, M: 8000, Element: 4}), append(oneWays[:2:2], in...)
		if off {
			channels = slices.Concat(oneWays, exchanges, copies)
		}
		m := TauLop{Channels: withChannels(plain{}.L, channels...), Reductions: plain{}, Segment: 1000, Call: s}
		c := priced(t, m, s)
		rest, found := c.Formula(), true
		for _, want := range terms {
			_, rest, found = strings.Cut(rest, want)
			check.Need(t, found, "%s, P = %d: %s; want %q in this order", name, p, c.Formula(), terms)
		}
	}
	try("bcast:binomial", 2, false, []string{"L→("})
	try("allgather:ring", 2, false, []string{"L⇄("})
	try("allreduce:recursive-doubling", 2, false, []string{"L°⇄°("})
	try("reduce_scatter:pairwise", 2, false, []string{"L⇄("})
	try("reduce_scatter:ring", 2, false, []string{"L°⇄°("})
	try("reduce_scatter:recursive-halving", 2, false, []string{"L°⇄°("})
	try("bcast:split-binary", 2, off, []string{"L→(", "L⇄("})
	try("barrier:dissemination", 2, off, []string{"L⇄("})
	try("alltoall:pairwise", 2, off, []string{"c(", "L⇄("})
	try("allgather:ring", 2, off, []string{"c(", "L°⇄("})
	try("allgather:two-proc", 2, off, []string{"L⇄(", "c°→("}) // the exchange has read what is copied
	try("alltoall:bruck", 2, off, []string{"c→°(", "c°→°(", "L°⇄(", "c°→("})
	try("alltoall:bruck", 8, off, []string{"c→°(", "c°→°(", "L°⇄(", "L°⇄°("}) // the second has the first one's destination
	try("allreduce:rabenseifner", 2, off, []string{"c(", "4kL°⇄°("})
}
