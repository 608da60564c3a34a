package hierarchy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/strided"
)

// Packs are messages at strides: what packing them costs, p(m,d), and one way of a
// message between two CPUs, o_mw + l_mw, contiguous messages among them.
type Packs struct {
	Messages     []strided.Message
	Pairs        []Pair
	Caches       []bool // false: user buffers in cache, true: off cache
	Segments     int    // of the channels between CPUs
	SegmentBytes int
}

// Sizes, strides and element of messages if nobody chooses: those of mlognp-2009,
// and a size beyond.
var (
	PackSizes   = []int{1 << 10, 4 << 10, 16 << 10, 64 << 10}
	PackStrides = []int{8, 64, 512}
)

// Messages are all sizes at all strides, each size contiguous too. An error says
// which of them cannot be, or does not fit into an array of so many bytes.
func Messages(sizes, strides []int, element, array int) (messages []strided.Message, err error) {
	for _, s := range sizes {
		for _, d := range append([]int{element}, strides...) {
			m := strided.Message{Bytes: s, Stride: d, Element: element}
			if err := m.Check(); err != nil {
				return nil, err
			}
			if slices.Contains(messages, m) {
				continue
			}
			if m.Span() > array {
				return nil, fmt.Errorf("%v goes beyond the array: %d elements at a stride of %d bytes lie in %d bytes, and the array has %d; choose a larger one with -array, or a smaller size or stride",
					m, s/element, d, m.Span(), array)
			}
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// Fits refuses messages that no memory has room for.
func (p Packs) Fits() error {
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return err
	}
	for _, m := range p.Messages {
		if int64(m.Span()) > free/int64(16+16*len(p.Pairs)) {
			return fmt.Errorf("%v lies in %d bytes, which is too much of the %d MB of memory that this process may take: choose a smaller size or stride", m, m.Span(), free>>20)
		}
	}
	return nil
}

// A Pair is two CPUs and the nearest that they have in common: smt, a cache like
// L3, package, node or machine.
type Pair struct {
	Level string `json:"level"`
	CPUs  [2]int `json:"cpus"`
}

// Pairs are one pair of each level: the first CPU that may be used and the first
// that is so near to it.
func Pairs(m *numa.Machine) (pairs []Pair) {
	for _, cpu := range m.Allowed {
		if cpu == m.Allowed[0] {
			continue
		}
		p := PairOf(m, m.Allowed[0], cpu)
		if !slices.ContainsFunc(pairs, func(o Pair) bool { return o.Level == p.Level }) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// PairOf finds what two CPUs have in common.
func PairOf(m *numa.Machine, a, b int) Pair {
	p := Pair{CPUs: [2]int{a, b}}
	first, _ := m.CPU(a)
	second, _ := m.CPU(b)
	if first.Core == second.Core {
		p.Level = "smt"
		return p
	}
	shared := 0
	for _, c := range m.Caches {
		if c.Type != "Instruction" && c.CPUs.Contains(a) && c.CPUs.Contains(b) && (shared == 0 || c.Level < shared) {
			shared = c.Level
		}
	}
	switch {
	case shared > 0:
		p.Level = fmt.Sprintf("L%d", shared)
	case first.Package == second.Package && first.Node == second.Node:
		p.Level = "package"
	case first.Node == second.Node:
		p.Level = "node"
	default:
		p.Level = "machine"
	}
	return p
}

// packRuns are round trips of a sample, the median of which it is.
const packRuns = 32

// Measure measures the packs.
func (p Packs) Measure(ctx context.Context, m *numa.Machine, r Rounds) (missing int, warnings []error, err error) {
	place, err := m.PlaceOn([]int{m.Allowed[0]}, 1)
	if err != nil {
		return 0, nil, err
	}
	var teams []*setups.Team
	defer func() {
		for _, t := range slices.Backward(teams) {
			t.Close()
		}
	}()
	join := func(place numa.Placement) (*setups.Team, error) {
		t, err := setups.NewTeam(place)
		if err == nil {
			teams = append(teams, t)
		}
		return t, err
	}
	alone, err := join(place)
	if err != nil {
		return 0, nil, err
	}
	var jobs []*job
	for _, off := range p.Caches {
		for _, message := range p.Messages {
			room := setups.Room{Bytes: []int{message.Span()}}
			if off { // half of it to pack from, half to unpack into
				room = setups.Room{Bytes: []int{max(p.arena(m, place)/2, message.Span())}, Memory: true}
			}
			b := setups.Between{Tau: 1, Bytes: message.Span(), From: room, To: room, Layout: &message}
			key := params.Key{Kind: params.PackCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: message.Bytes, Variant: message.String()}
			jobs = append(jobs, &job{key, alone, &setups.Cell{Between: &b}, 0.5}) // packed and unpacked
		}
	}
	for _, pair := range p.Pairs {
		place, err := m.PlaceOn(pair.CPUs[:], 2)
		if err != nil {
			return 0, nil, err
		}
		two, err := join(place)
		if err != nil {
			return 0, nil, err
		}
		for _, off := range p.Caches {
			for _, message := range p.Messages {
				trip := &setups.RoundTrip{N: 1, Bytes: message.Bytes, Segments: p.Segments, SegmentBytes: p.SegmentBytes, Runs: packRuns}
				if !message.Contiguous() {
					trip.Layout = &message
				}
				if off { // one to send from, and one to receive into
					trip.ArenaBytes = p.arena(m, place) / 2
				}
				key := params.Key{Kind: params.PackCell, Placement: numa.List, OffCache: off, Tau: 1, Bytes: message.Bytes, Variant: message.String() + "-" + pair.Level}
				jobs = append(jobs, &job{key, two, &setups.Cell{Trips: trip}, 0.5}) // RTT = 2(o_mw + l_mw)
			}
		}
	}
	missing, err = r.measure(ctx, jobs)
	for _, t := range teams {
		for _, w := range t.Warnings() {
			if !slices.ContainsFunc(warnings, func(o error) bool { return o.Error() == w.Error() }) {
				warnings = append(warnings, w)
			}
		}
	}
	return missing, warnings, err
}

// arena is what a worker's messages walk through off cache: a quarter of free memory
// at the most for all.
func (p Packs) arena(m *numa.Machine, place numa.Placement) int {
	wanted := setups.Fit{CacheBytes: m.LastLevelCacheBytes(), Sharers: m.Sharers(place)}.WantedArena()
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		wanted = min(wanted, int(free/4)/(1+2*len(p.Pairs)))
	}
	return wanted
}

// A PackRow is what is known of one message, ns.
type PackRow struct {
	Message  strided.Message `json:"-"`
	Notation string          `json:"message"`
	OffCache bool            `json:"off_cache,omitempty"`
	Level    string          `json:"level,omitempty"`
	// Of packing alone, Level "": p(m,d) of one end, or what a copy takes of a
	// contiguous message. Of a level: one way between two CPUs, o_mw + l_mw.
	Time fit.Estimate `json:"time_ns"`
	// Contiguous is that of the same size in one piece: of a level o_mw.
	Contiguous *fit.Estimate `json:"contiguous_ns,omitempty"`
	// Latency of a level is l_mw = f(s,d) of both ends, what the stride adds.
	Latency *fit.Estimate `json:"l_mw_ns,omitempty"`
}

// PackRows are the messages of a file, packing first, then level by level.
func PackRows(cells []params.Cell) (rows []PackRow) {
	type place struct {
		message strided.Message
		off     bool
		level   string
	}
	at := make(map[place]fit.Estimate)
	for _, c := range cells {
		if c.Kind != params.PackCell {
			continue
		}
		text, level, _ := strings.Cut(c.Variant, "-")
		m, err := strided.Parse(text)
		if err != nil {
			continue // of a newer version
		}
		at[place{m, c.OffCache, level}] = c.Time
		rows = append(rows, PackRow{Message: m, Notation: m.String(), OffCache: c.OffCache, Level: level, Time: c.Time})
	}
	for i := range rows {
		r := &rows[i]
		whole := r.Message
		whole.Stride = whole.Element
		if o, ok := at[place{whole, r.OffCache, r.Level}]; ok {
			r.Contiguous = &o
			if l := r.Time.Sub(o); r.Level != "" && !r.Message.Contiguous() {
				r.Latency = &l
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b PackRow) int {
		switch {
		case a.OffCache != b.OffCache:
			return map[bool]int{false: -1, true: 1}[a.OffCache]
		case a.Level != b.Level:
			return strings.Compare(a.Level, b.Level)
		case a.Message.Element != b.Message.Element:
			return a.Message.Element - b.Message.Element
		case a.Message.Bytes != b.Message.Bytes:
			return a.Message.Bytes - b.Message.Bytes
		}
		return a.Message.Stride - b.Message.Stride
	})
	return rows
}
