package mpibench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Channel is an MPI library's channel by its benchmarks: o(m), and L(m,τ) of whole messages; τ
// concurrent messages of n transfers take o(m) + n·L(m,τ). The estimates follow the authors of
// τ-Lop (Rico-Gallego, Díaz-Martín and Lastovetsky, "Extending τ-Lop to model concurrent MPI
// communications in multicore clusters", Future Generation Computer Systems 61, 2016):
//
//   - o(m) is half of the round trip of 0 bytes, or of the smallest message of at most
//     smallOverhead bytes. A rendezvous is a part of L(m,τ): benchmarks do not tell the two apart.
//   - L(m,1) is from half of the round trip of m bytes; L(m,τ) from the same by τ pairs, and from
//     exchanges in a ring of τ ranks.
//   - If there are streams of pairs alone, concurrency is assumed to lengthen a message as much
//     as the gap of a stream: T(m,τ) = T(m,1) + gap(m,τ) − gap(m,1).
type Channel struct {
	Overhead fit.Estimate // ns; it and its N are 0 if no message was small enough
	OneWay   []Transfer   // between pairs; by m, then τ
	Exchange []Transfer   // in rings; τ = 1 as one way
	LeftOut  []Omission
}

// A Transfer is L(m,τ), or another time of τ ranks at once, ns; L(0,τ) is y(τ).
type Transfer struct {
	Bytes, Tau int
	Time       fit.Estimate
}

// smallOverhead is the largest message, in bytes, that takes as long as one of 0 bytes.
const smallOverhead = 8

// Copies is the number of transfers of a message: into shared memory and out of it, or one through a
// network.
type Copies int

const (
	WithinNode   Copies = 2
	BetweenNodes Copies = 1
)

// A ring is a benchmark in which every rank sends and receives.
type ring struct {
	benchmark string
	times     float64 // messages that a rank sends
}

// rings are in the order of preference.
var rings = []ring{{"Sendrecv", 1}, {"PingPing", 1}, {"Exchange", 2}}

// A load is tau concurrent messages of a size.
type load struct{ bytes, tau int }

// loads are samples in ns.
type loads map[load][]float64

func (l loads) add(bytes, tau int, ns float64) { l[load{bytes, tau}] = append(l[load{bytes, tau}], ns) }

func (l loads) medians() map[load]fit.Estimate {
	all := make(map[load]fit.Estimate)
	for key, ns := range l {
		all[key] = fit.Median(ns)
	}
	return all
}

// ChannelOf estimates a channel from times, all of one state of the cache. Between nodes it uses pairs
// alone, whose ranks are on two nodes. It fails without messages of one pair, and without concurrent
// messages.
func ChannelOf(times []Time, copies Copies) (*Channel, error) {
	c := &Channel{}
	messages, streams, ringing := loads{}, loads{}, lists.Map(rings, func(ring) loads { return loads{} })
	for _, t := range times {
		ns := 1e3 * t.Microseconds
		switch {
		case t.Kind == Message:
			messages.add(t.Printed, t.P/2, ns)
		case t.Kind == Stream:
			streams.add(t.Printed, t.P/2, ns)
		case t.Kind == Reduction && copies == WithinNode: // see TakeGamma
		case t.Kind == Reduction:
			c.leaveOut(t.Benchmark, t.Line, "what ranks do by themselves is no part of a network")
		case t.Kind != Sendrecv && t.Kind != Exchange:
			c.leaveOut(t.Benchmark, t.Line, "only messages between neighbours and streams tell L(m,τ)")
		case copies == BetweenNodes:
			c.leaveOut(t.Benchmark, t.Line, "it is unknown which of its messages go between nodes: run a benchmark of pairs")
		default:
			i := slices.IndexFunc(rings, func(r ring) bool { return r.benchmark == t.of.Name })
			ringing[i].add(t.Printed, t.P, ns/rings[i].times)
		}
	}
	oneWay, exchange := messages.medians(), make(map[load]fit.Estimate)
	for _, times := range slices.Backward(ringing) {
		maps.Copy(exchange, times.medians())
	}
	unused := fromStreams(oneWay, streams.medians())
	smallest, alone := math.MaxInt, false
	for key, e := range oneWay {
		if key.tau > 1 {
			continue
		}
		exchange[key], alone = e, true
		if key.bytes <= smallOverhead && key.bytes < smallest {
			c.Overhead, smallest = e, key.bytes
		}
	}
	if !alone {
		return nil, errors.New("no message was alone: give what PingPong of IMB-MPI1 or osu_latency printed, too")
	}
	c.OneWay, c.Exchange = c.transfers("messages of pairs", oneWay, copies), c.transfers("exchanges", exchange, copies)
	switch {
	case several(c.OneWay) || several(c.Exchange):
		return c, nil
	case len(tausOf(oneWay)) > 1 || len(tausOf(exchange)) > 1:
		return nil, errors.New("fewer than two sizes were timed with every number of messages at once: run all benchmarks with the same sizes")
	case unused:
		return nil, errors.New("streams tell L(m,τ) only of sizes that osu_latency, and a stream of one pair, have as well: give these, too")
	}
	return nil, errors.New("there is but one number of pairs of ranks, and L(m,τ) needs several: give what osu_multi_lat, or Sendrecv of IMB-MPI1, printed among more of them, too")
}

// fromStreams adds messages of pairs that were streamed alone. unused: some stream lacks the messages of
// one pair.
func fromStreams(oneWay, gaps map[load]fit.Estimate) (unused bool) {
	for key, gap := range gaps {
		if _, timed := oneWay[key]; timed {
			continue
		}
		t, known := oneWay[load{key.bytes, 1}]
		lone, streamed := gaps[load{key.bytes, 1}]
		if !known || !streamed {
			unused = true
			continue
		}
		added := gap.Sub(lone)
		oneWay[key] = fit.Estimate{Center: t.Center + added.Center, Lo: t.Lo + added.Lo, Hi: t.Hi + added.Hi, N: min(t.N, added.N)}
	}
	return unused
}

// transfers are the transfers of messages, without sizes that lack some τ or take no longer than the
// overhead; nil of one τ.
func (c *Channel) transfers(what string, messages map[load]fit.Estimate, copies Copies) (all []Transfer) {
	if len(tausOf(messages)) < 2 {
		return nil
	}
	rows, incomplete := complete(messages)
	if incomplete != "" {
		c.leaveOut(what, 0, incomplete)
	}
	o := c.Overhead.Center // without its error, which is common to all
	var nothing []int
	for _, row := range rows {
		if m := row[0].Bytes; m > 0 && slices.ContainsFunc(row, func(t Transfer) bool { return t.Time.Center <= o }) {
			nothing = append(nothing, m)
			continue
		}
		for _, t := range row {
			all = append(all, Transfer{t.Bytes, t.Tau, Beyond(t.Time, o).Scale(1 / float64(copies))})
		}
	}
	if len(nothing) > 0 {
		c.leaveOut(what, 0, fmt.Sprintf("of m = %s some took no longer than a message of nothing, o(m)", listed(nothing)))
	}
	return all
}

// Beyond is how much longer a time is than ns, at least zero.
func Beyond(time fit.Estimate, ns float64) fit.Estimate {
	if time.Known() {
		time.Lo, time.Hi = max(0, time.Lo-ns), max(0, time.Hi-ns)
	}
	time.Center = max(0, time.Center-ns)
	return time
}

// complete are the times of each size that has every τ, and the reason for leaving out the others; "": there are
// none.
func complete(times map[load]fit.Estimate) (rows [][]Transfer, why string) {
	taus := tausOf(times)
	var incomplete []int
	for _, m := range sizesOf(times) {
		var row []Transfer
		for _, tau := range taus {
			if t, timed := times[load{m, tau}]; timed {
				row = append(row, Transfer{m, tau, t})
			}
		}
		if len(row) < len(taus) {
			incomplete = append(incomplete, m)
			continue
		}
		rows = append(rows, row)
	}
	if len(incomplete) > 0 {
		why = fmt.Sprintf("of m = %s not every τ was timed of %s", listed(incomplete), listed(taus))
	}
	return rows, why
}

func (c *Channel) leaveOut(benchmark string, line int, why string) {
	if !has(c.LeftOut, benchmark, why) {
		c.LeftOut = append(c.LeftOut, Omission{benchmark, line, why})
	}
}

// several reports whether there are two sizes of messages.
func several(all []Transfer) bool {
	i := slices.IndexFunc(all, func(t Transfer) bool { return t.Bytes > 0 })
	return i >= 0 && all[i].Bytes < all[len(all)-1].Bytes
}

func tausOf(messages map[load]fit.Estimate) []int {
	return lists.Rising(lists.Map(slices.Collect(maps.Keys(messages)), func(l load) int { return l.tau }))
}

func sizesOf(messages map[load]fit.Estimate) []int {
	return lists.Rising(lists.Map(slices.Collect(maps.Keys(messages)), func(l load) int { return l.bytes }))
}

func listed(list []int) string { return printable.List(lists.Map(list, strconv.Itoa)) }

// File is a parameter file with the channel within its nodes.
func (c *Channel) File(offCache bool) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Plan: params.Plan{
		Policies: []numa.Policy{params.Published}, Caches: []bool{offCache}, Whole: true,
	}}
	for _, part := range []struct {
		setup     string
		transfers []Transfer
	}{{params.Sendrecv, c.Exchange}, {params.Ping, c.OneWay}} {
		if len(part.transfers) == 0 {
			continue
		}
		f.Plan.Setups = append(f.Plan.Setups, part.setup)
		for _, t := range part.transfers {
			key := params.Key{Kind: params.TransferCell, Setup: part.setup, Placement: params.Published, OffCache: offCache, Tau: t.Tau, Bytes: t.Bytes}
			if t.Bytes == 0 {
				key.Kind, key.OffCache = params.NullCell, false
			} else {
				f.Plan.Sizes, f.Plan.Taus = append(f.Plan.Sizes, t.Bytes), append(f.Plan.Taus, t.Tau)
			}
			f.Cells = append(f.Cells, params.Cell{Time: t.Time, Key: key})
		}
	}
	f.Plan.Sizes, f.Plan.Taus = lists.Rising(f.Plan.Sizes), lists.Rising(f.Plan.Taus)
	f.Cells = append(f.Cells, params.Cell{Time: c.Overhead, Key: params.Key{
		Kind: params.OverheadCell, Placement: params.Published, OffCache: offCache, Tau: 1,
	}})
	f.Warn(c.doubts()...)
	return f
}

// WithOwn gives a file of a channel within nodes own copies and γ, which benchmarks of messages do not
// have, from a sweep on the same machine, of its first placement. If the sweep is a channel of the
// other state of the cache, the file also gets its messages: off-cache calls exchange cached bytes,
// too, those that ranks have written before.
func WithOwn(f, sweep *params.File) {
	for _, c := range sweep.Cells {
		alone := slices.Contains([]params.Kind{params.CopyCell, params.OwnCell, params.GammaCell}, c.Kind) && c.Setup == ""
		other := sweep.Plan.Whole && !slices.Contains(f.Plan.Caches, c.OffCache) && slices.Contains([]params.Kind{params.TransferCell, params.OverheadCell}, c.Kind)
		if !alone && !other || len(sweep.Plan.Policies) > 0 && c.Placement != sweep.Plan.Policies[0] {
			continue
		}
		c.Placement, c.Samples = params.Published, nil // samples belong to the other file's launches
		f.Cells = append(f.Cells, c)
	}
	f.Plan.Operators = sweep.Plan.Operators
	if sweep.Plan.Whole && !slices.Equal(sweep.Plan.Caches, f.Plan.Caches) {
		f.Plan.Caches = []bool{false, true}
	}
}

// Network is a parameter file with the channel between its nodes.
func (c *Channel) Network(n params.Network) *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Networks: []params.Network{n}}
	cell := func(parameter string, t Transfer) {
		f.Cells = append(f.Cells, params.Cell{Time: t.Time, Key: params.Key{
			Kind: params.NetCell, Placement: params.Published, Tau: t.Tau, Bytes: t.Bytes, Variant: params.Parameter{Of: n.Name, Name: parameter},
		}})
	}
	for i, t := range c.OneWay {
		if t.Bytes == 0 {
			continue // o(m) includes it
		}
		cell(params.NetTransfer, t)
		if i == 0 || t.Bytes != c.OneWay[i-1].Bytes {
			cell(params.NetOverhead, Transfer{t.Bytes, 1, c.Overhead})
		}
	}
	f.Warn(c.doubts()...)
	return f
}

// doubts are warnings for predictions.
func (c *Channel) doubts() []error {
	doubts := []error{errors.New("benchmarks send the same buffer again and again and rewrite it never: a program that does takes longer where a receiver's cache still has it")}
	if c.Overhead.N == 0 {
		doubts = append(doubts, fmt.Errorf("no message of %d bytes or fewer was alone: o(m) counts as 0, and is a part of L(m,τ)", smallOverhead))
	}
	return doubts
}
