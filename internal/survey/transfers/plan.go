package transfers

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// Sizes are the 30 customary message sizes of τ-Lop parameter files, in bytes, two more between them,
// because most L1 caches fill at 16 or 24 KiB, and two above, for calls in which ranks touch more
// than one message.
var Sizes = []int{
	1, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 12288, 16384,
	24576, 32768, 49152, 65536, 98304, 131072, 196608, 262144, 393216, 524288, 786432,
	1048576, 1572864, 2097152, 3145728, 4194304, 8388608, 16777216,
}

// Taus are the default τ on n cores: 1 to 8, then a geometric series, with n−1 and n. n workers leave
// no core to the rest of the system, n−1 do.
func Taus(n int) []int {
	var taus []int
	for tau := 1; tau < n-1; {
		taus = append(taus, tau)
		if tau < 8 {
			tau++
		} else {
			tau += tau / 2
		}
	}
	if n > 1 {
		taus = append(taus, n-1)
	}
	return append(taus, max(n, 1))
}

// Policies are the distinct placements of a machine: local, one for each further level, and with at
// most two of these on several nodes remote, which has no level of its own. A placement that equals
// spread is named spread.
func Policies(m *numa.Machine) []numa.Policy {
	cores := m.Count().Cores
	levels := m.Levels(m.Allowed)
	spread, _ := m.Place(numa.Spread, cores)
	var all []numa.Policy
	seen := make(map[int]bool)
	for _, policy := range []numa.Policy{numa.Local, numa.L3, numa.AcrossL3, numa.AcrossNodes, numa.AcrossPackages, numa.Spread, numa.Farthest} {
		p, err := m.Place(policy, cores)
		if err != nil && policy != numa.Local {
			continue
		}
		if len(p.Workers) > 1 {
			level := levels.Channel(p.Workers[0].ID, p.Workers[1].ID)
			if seen[level] {
				continue
			}
			seen[level] = true
			if slices.Equal(p.Workers, spread.Workers) && policy != numa.Local {
				policy = numa.Spread
			}
		} else if policy != numa.Local {
			continue
		}
		all = append(all, policy)
	}
	if m.Count().Nodes > 1 && len(all) <= 2 {
		all = append(all, numa.Remote)
	}
	return all
}

// Keys lists all cells of a plan on a machine with this number of allowed CPUs.
func Keys(p params.Plan, cpus int) []params.Key {
	var ks []params.Key
	for _, policy := range p.Policies {
		for _, tau := range p.Taus {
			for _, name := range p.Setups {
				if name == setups.Sendrecv.Name && tau == 1 && cpus >= setups.Isolated.Workers(1) {
					continue // isolated transfers are the column τ = 1
				}
				if name == setups.Share.Name {
					ks = append(ks, sized(p, params.Key{Kind: params.CopyCell, Setup: name, Placement: policy, Tau: tau})...)
					continue
				}
				if s, err := setups.Lookup(name); err == nil && s.Check(tau) == nil {
					ks = append(ks, buffered(p, params.Key{Kind: params.NullCell, Setup: name, Placement: policy, Tau: tau})...)
					ks = append(ks, buffered(p, sized(p, params.Key{Kind: params.TransferCell, Setup: name, Placement: policy, Tau: tau})...)...)
				}
			}
			ks = append(ks, sized(p, params.Key{Kind: params.CopyCell, Placement: policy, Tau: tau})...)
			ks = append(ks, sized(p, params.Key{Kind: params.OwnCell, Placement: policy, Tau: tau})...)
		}
		if slices.Contains(p.Taus, 1) && cpus >= setups.Isolated.Workers(1) {
			isolated := params.Key{Kind: params.TransferCell, Setup: setups.Isolated.Name, Placement: policy, Tau: 1}
			ks = append(ks, buffered(p, sized(p, isolated)...)...)
			isolated.Kind = params.NullCell
			ks = append(ks, isolated)
		}
	}
	for _, policy := range p.Policies {
		ks = append(ks, trips(p, policy)...)
		if slices.Contains(p.Taus, 1) && cpus >= 2 {
			ks = append(ks, messages(p, params.Key{Kind: params.MessageCell, Placement: policy, Tau: 1, Variant: params.Segmented})...)
		}
		if slices.Contains(p.Taus, 2) && cpus >= 2 && slices.Contains(p.Setups, setups.Sendrecv.Name) {
			ks = append(ks, messages(p, params.Key{Kind: params.ExchangeCell, Placement: policy, Tau: 2})...)
		}
	}
	if p.NoGamma {
		return ks
	}
	// γ does not depend on the placement.
	first := p.Policies[0]
	for _, tau := range p.Taus {
		for _, o := range operators(p) {
			for _, m := range reduced(p, o) {
				ks = append(ks, params.Key{Kind: params.GammaCell, Placement: first, Tau: tau, Bytes: m, Operator: o.Name})
			}
		}
	}
	return ks
}

// mostReduced is the size of the longest reduced vector, in bytes: longer ones lie in memory, too.
const mostReduced = 4 << 20

// reduced are the sizes of an operator's vectors, from one element on. Scalar operators, whose time is
// proportional to the size, have three. Uncommon operators that the user did not name are measured at
// powers of 4: interpolation is within 5 % on average, and all sizes would take a third of a sweep's
// time.
func reduced(p params.Plan, o reduce.Operator) (sizes []int) {
	const ofScalar = 3
	coarse := len(p.Operators) == 0 && slices.Equal(p.Sizes, Sizes) && !slices.Contains(Common, o.Name)
	for i, m := range p.Sizes {
		if i > 0 && m > mostReduced {
			break
		}
		if powerOf4 := bits.OnesCount(uint(m)) == 1 && bits.TrailingZeros(uint(m))%2 == 0; i > 0 && coarse && !powerOf4 {
			continue
		}
		if m < o.Element && i+1 < len(p.Sizes) && p.Sizes[i+1] <= o.Element {
			continue
		}
		sizes = append(sizes, max(m, o.Element))
	}
	if strings.HasSuffix(o.Name, reduce.Scalar) {
		return lists.Spread(sizes, ofScalar)
	}
	return sizes
}

// operators are a plan's operators, without unknown names.
func operators(p params.Plan) (all []reduce.Operator) {
	if len(p.Operators) == 0 {
		scalar, _ := reduce.Lookup(Common[0] + reduce.Scalar)
		return append(slices.Clone(reduce.Published), scalar)
	}
	for _, name := range p.Operators {
		if o, err := reduce.Lookup(name); err == nil {
			all = append(all, o)
		}
	}
	return all
}

// Round trips for LogGP: of one message and of several, of sizes up to a segment, because longer
// messages are several to LogGP, eq. (3). The smallest size also has a delay, longer than any gap
// between messages.
const (
	tripMessages = 16
	tripSizes    = 6
	tripDelay    = 5 * time.Microsecond
	tripRuns     = 64
)

func trips(p params.Plan, policy numa.Policy) (ks []params.Key) {
	for _, off := range p.Caches {
		k := params.Key{Kind: params.PRTTCell, Placement: policy, OffCache: off, Tau: 1}
		add := func(n, bytes int, delay time.Duration) {
			k.N, k.Bytes, k.Delay = n, bytes, int(delay)
			ks = append(ks, k)
		}
		sizes := []int{1}
		for m := p.SegmentBytes; m > 1 && len(sizes) <= tripSizes; m /= 2 {
			sizes = append(sizes, m)
		}
		for _, m := range sizes {
			add(1, m, 0)
			add(tripMessages, m, 0)
		}
		add(tripMessages, 1, tripDelay)
		k.Variant = params.Receiver
		add(tripMessages, 1, tripDelay)
	}
	return ks
}

// Numbers of the plan's sizes for o(m), which is negligible in longer messages.
const (
	messagesOfOne   = 5 // segment or less
	messagesOfMore  = 3 // segments, up to messageSegments
	messageSegments = 8
)

func messages(p params.Plan, k params.Key) (ks []params.Key) {
	upTo := func(bytes int) int {
		i, _ := slices.BinarySearch(p.Sizes, bytes+1)
		return i
	}
	one := upTo(p.SegmentBytes)
	sizes := append(lists.Spread(p.Sizes[:one], messagesOfOne), lists.Spread(p.Sizes[one:upTo(messageSegments*p.SegmentBytes)], messagesOfMore)...)
	if len(sizes) == 0 || sizes[0] > 1 {
		sizes = append([]int{1}, sizes...)
	}
	for _, off := range p.Caches {
		k.OffCache = off
		if k.Kind == params.ExchangeCell && !off { // as in a barrier, where only flags cross
			k.Bytes = 0
			ks = append(ks, k)
		}
		for _, m := range sizes {
			k.Bytes = m
			ks = append(ks, k)
		}
	}
	return ks
}

// work is the workers' work for a cell: its trial, a round trip or a collective of ranks.
func work(p params.Plan, k params.Key, tr setups.Trial) (setups.Work, error) {
	if k.Kind == params.PRTTCell {
		return setups.RoundTrip{N: k.N, Delay: time.Duration(k.Delay), Bytes: k.Bytes,
			Segments: p.Segments, SegmentBytes: p.SegmentBytes, Runs: tripRuns, ArenaBytes: tr.ArenaBytes, Receiver: k.Variant == params.Receiver}, nil
	}
	if ranked(k) {
		a, name := collective.Permutation, ""
		switch {
		case k.Kind == params.OwnCell:
			a = collective.OwnCopies
		case k.Kind == params.MessageCell:
			name = "bcast:linear"
		case k.Bytes == 0: // a permutation would have no messages
			name = "barrier:dissemination"
		}
		if name != "" {
			var err error
			if a, err = collective.Lookup(name); err != nil {
				return nil, err
			}
		}
		s, err := a.Schedule(collective.Call{P: workers(k, tr.Setup), M: k.Bytes, Distance: 1})
		return setups.Collective{Schedule: s, Segments: p.Segments, SegmentBytes: p.SegmentBytes, ArenaBytes: tr.ArenaBytes}, err
	}
	return tr, nil
}

// ranked reports whether a cell is measured by ranks, which send from one arena and receive into
// another. Own copies off cache are, because consecutive copies would find their first lines
// prefetched; short copies are prefetched in any case, and too short for the clock.
func ranked(k params.Key) bool {
	const long = 1 << 10
	return k.Kind == params.OwnCell && k.OffCache && k.Bytes >= long || slices.Contains([]params.Kind{params.PRTTCell, params.MessageCell, params.ExchangeCell}, k.Kind)
}

// workers is the number of workers of a cell.
func workers(k params.Key, s setups.Setup) int {
	if ranked(k) && k.Kind != params.OwnCell {
		return 2
	}
	return s.Workers(k.Tau)
}

// sized is a key for each size and state of the cache.
func sized(p params.Plan, k params.Key) (ks []params.Key) {
	for _, off := range p.Caches {
		for _, m := range p.Sizes {
			k.Bytes, k.OffCache = m, off
			ks = append(ks, k)
		}
	}
	return ks
}

// buffered is a key for each of the plan's numbers and sizes of segments that matters to it.
func buffered(p params.Plan, keys ...params.Key) (ks []params.Key) {
	for i, n := range p.AllSegments() {
		for j, bytes := range p.AllSegmentBytes() {
			for _, k := range keys {
				k.Segments, k.SegmentBytes = n, bytes
				if p.Abridge(&k); (k.Segments != 0) == (i > 0) && (k.SegmentBytes != 0) == (j > 0) {
					ks = append(ks, k)
				}
			}
		}
	}
	return ks
}

// trial is the trial of a cell, and the number of the cell's times that it measures.
func trial(p params.Plan, k params.Key) (tr setups.Trial, times float64, err error) {
	tr = setups.Trial{Segments: cmp.Or(k.Segments, p.Segments), K: 1, Bytes: k.Bytes, SegmentBytes: k.Bytes}
	times = 1
	switch k.Kind {
	case params.TransferCell:
		tr.SegmentBytes = min(k.Bytes, cmp.Or(k.SegmentBytes, p.SegmentBytes))
		tr.K = (k.Bytes + tr.SegmentBytes - 1) / tr.SegmentBytes
		tr.Setup, err = setups.Lookup(k.Setup)
	case params.NullCell:
		tr.K = 64 // makes the message's loop negligible
		tr.Setup, err = setups.Lookup(k.Setup)
		times = float64(tr.K * tr.Setup.Transfers)
	case params.CopyCell:
		tr.Setup, tr.Segments = setups.Bare, 1
		if k.Setup == setups.Share.Name {
			tr.Setup = setups.Share
		}
		times = float64(tr.Setup.Transfers)
	case params.OwnCell:
		tr.Setup, tr.Segments = setups.Own, 1
	case params.GammaCell:
		var o reduce.Operator
		o, err = reduce.Lookup(k.Operator)
		tr.Setup, tr.Segments, tr.Kept = setups.Reducing(o), 1, true // computation depends less on the memory's place
	case params.PRTTCell, params.MessageCell, params.ExchangeCell: // see work
	default:
		err = fmt.Errorf("cells of kind %q are not measured here", k.Kind)
	}
	return tr, times, err
}
