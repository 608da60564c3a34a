// Package strides measures non-contiguous messages: packing, and one way of such a message between two
// CPUs (mlognp-2009, section IV).
package strides

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/strided"
)

// Survey is strided messages.
var Survey = survey.Register(&survey.Survey{
	Name: "pack", Doc: "strided messages: packing, o_mw and l_mw",
	Decode: survey.Decoder[Request],
	Plan: func(m *numa.Machine, p params.Plan) (survey.Request, error) {
		messages, err := Messages(PackSizes, PackStrides, strided.Element, packArray)
		if err != nil {
			return nil, err
		}
		return NewRequest(Request{Messages: messages, Pairs: Pairs(m), Caches: p.Caches, ArenaCaches: p.ArenaCaches, Segments: p.Segments, SegmentBytes: p.SegmentBytes})
	},
	Command: &survey.Command{Help: help, Time: 10 * time.Second, Takes: true, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
	Drawing: &view.Drawing{
		Kind: params.PackCell, Profiles: view.ByCell(profiled),
		Name: "pack", About: "strided messages, packed and one way, a line for each size", Example: "taulop plot pack -m 4K,64K -o p.svg pack.json",
		Title: "Time of strided messages", What: "strided messages", Measure: "taulop pack", Order: []string{"packing", "one way"},
		Label: "Strided messages",
	},
})

// packArray bounds the array of a sweep's messages, in bytes.
const packArray = 16 << 20

// A Request is messages at strides, contiguous messages included: packing, p(m,d), and one way between
// two CPUs, o_mw + l_mw.
type Request struct {
	Messages     []strided.Message `json:"messages"`
	Pairs        []Pair            `json:"pairs"`
	Caches       []bool            `json:"off_cache"`
	ArenaCaches  float64           `json:"arena_caches,omitempty"` // size of off-cache arenas over the cache that holds a worker's data; 0: setups.ArenaCaches
	Segments     int               `json:"segments"`               // of the channels between CPUs
	SegmentBytes int               `json:"segment_bytes"`
	Most         int               `json:"most_bytes"` // bound on a worker's off-cache arena
}

// Default sizes, strides and element of messages: as in mlognp-2009, and one larger size.
var (
	PackSizes   = []int{1 << 10, 4 << 10, 16 << 10, 64 << 10}
	PackStrides = []int{8, 64, 512}
)

// Messages are all sizes, contiguous and at all strides. It fails if a message is invalid or exceeds
// an array of this number of bytes.
func Messages(sizes, strides []int, element, array int) (messages []strided.Message, err error) {
	for _, s := range sizes {
		for _, d := range append([]int{element}, strides...) {
			m := strided.Message{Bytes: s, Stride: d, Element: element}
			if err := m.Check(); err != nil {
				return nil, err
			}
			if m.Span() > array {
				return nil, fmt.Errorf("%v goes beyond the array: %d elements at a stride of %d bytes lie in %d bytes, and the array has %d; choose a larger one with -array, or a smaller size or stride",
					m, s/element, d, m.Span(), array)
			}
			messages = append(messages, m)
		}
	}
	return lists.Unique(messages), nil
}

// NewRequest rejects messages that exceed free memory, and chooses the bound on arenas.
func NewRequest(r Request) (Request, error) {
	free, err := numa.FreeMemoryBytes("/")
	if err != nil {
		return r, err
	}
	for _, m := range r.Messages {
		if int64(m.Span()) > free/int64(16+16*len(r.Pairs)) {
			return r, fmt.Errorf("%v lies in %d bytes, which is too much of the %d MB of memory that this process may take: choose a smaller size or stride", m, m.Span(), free>>20)
		}
	}
	r.Most = int(free/4) / (1 + 2*len(r.Pairs))
	return r, nil
}

// A Pair is two CPUs and the closest thing that they share: smt, a cache like L3, package, node or
// machine.
type Pair struct {
	Level string `json:"level"`
	CPUs  [2]int `json:"cpus"`
}

// Pairs are one pair for each level: the first allowed CPU and the first CPU at that level.
func Pairs(m *numa.Machine) (pairs []Pair) {
	levels := m.Levels(m.Allowed)
	for _, cpu := range m.Allowed[1:] {
		p := between(levels, m.Allowed[0], cpu)
		if !slices.ContainsFunc(pairs, func(o Pair) bool { return o.Level == p.Level }) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// between is the pair of two CPUs.
func between(levels numa.Levels, a, b int) Pair {
	name := "" // unknown
	if i := levels.Of(a, b); i >= 0 {
		name = levels[i].Name
	}
	return Pair{params.PackLevel(name), [2]int{a, b}}
}

// packRuns is the number of round trips of a sample, which is their median.
const packRuns = 32

// Cells are packing and one way between each pair, for every message.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	add := func(placement numa.Policy, off bool, m params.Packed) {
		c := engine.Cell{Cell: params.Cell{Key: params.Key{Kind: params.PackCell, Placement: placement, OffCache: off, Tau: 1, Bytes: m.Bytes, Variant: m}}}
		if off {
			c.Group = string(placement) + m.Level
		}
		cells = append(cells, c)
	}
	for _, off := range r.Caches {
		for _, m := range r.Messages {
			add(numa.Local, off, params.Packed{Message: m})
			for _, pair := range r.Pairs {
				add(numa.List, off, params.Packed{Message: m, Level: pair.Level})
			}
		}
	}
	return cells, nil, nil
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	message, ok := k.Packed()
	if !ok {
		return engine.Reading{}, fmt.Errorf("%q is no strided message of %d bytes", k.VariantName(), k.Bytes)
	}
	between, cpus := message.Level != "", []int{b.Machine.Allowed[0]}
	if between {
		i := slices.IndexFunc(r.Pairs, func(p Pair) bool { return p.Level == message.Level })
		if i < 0 {
			return engine.Reading{}, fmt.Errorf("no two CPUs are chosen for %s", message.Level)
		}
		cpus = r.Pairs[i].CPUs[:]
	}
	place, err := b.Machine.PlaceOn(cpus, len(cpus))
	if err != nil {
		return engine.Reading{}, err
	}
	wanted := min(setups.ArenaOf(b.Machine, place, cmp.Or(r.ArenaCaches, setups.ArenaCaches)), r.Most)
	if k.OffCache {
		b.Keep(place, "strides", 2*int64(wanted)*int64(len(cpus)))
	}
	var work setups.Work
	if between {
		trip := setups.RoundTrip{N: 1, Bytes: message.Bytes, Segments: r.Segments, SegmentBytes: r.SegmentBytes, Runs: packRuns}
		if !message.Contiguous() {
			trip.Layout = &message.Message
		}
		if k.OffCache { // one to send from, and one to receive into
			trip.ArenaBytes = min(wanted, r.Most/2)
		}
		work = trip
	} else {
		room := setups.Room{Bytes: message.Span()}
		if k.OffCache { // half of it to pack from, half to unpack into
			room = setups.Room{Bytes: max(wanted/2, message.Span()), Memory: true}
		}
		work = setups.Between{Tau: 1, Bytes: message.Span(), From: room, To: room, Layout: &message.Message}
	}
	// Packed and unpacked, or there and back: RTT = 2(o_mw + l_mw).
	return b.Sample(ctx, place, work, 2, hint)
}
