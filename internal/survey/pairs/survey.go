// Package pairs measures transfers between every two CPUs of a machine, one pair at
// a time, and finds those that are slower than what the two share lets expect.
//
// Its opinion: pairs that run at once disturb each other, so they are measured one
// at a time; and where memory happens to lie shows in the spread over launches, so
// no pair is judged by one.
package pairs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is pairs of cores.
var Survey = survey.Register(&survey.Survey{
	Name: "pairs", Doc: "one-way time between every two cores",
	Decode: survey.Decoder[Request],
	Plan: func(m *numa.Machine, p params.Plan) (survey.Request, error) {
		return Request{CPUs: m.CoreCPUs(), Sizes: []int{0, SegmentBytes}}, nil
	},
	Time: func(m *numa.Machine) time.Duration {
		return max(survey.DefaultTime, DefaultTime(Count(len(m.CoreCPUs()))))
	},
	Command:  &survey.Command{Help: help, Budget: " (default 10s, or 13 ms a pair where there are many)", Flags: flags},
	Tables:   Tables,
	Matrices: Matrices,
})

// SegmentBytes is S of messages that are longer.
const SegmentBytes = 8 << 10

// A Request is the CPUs and sizes of messages.
type Request struct {
	CPUs  []int `json:"cpus"`
	Sizes []int `json:"sizes"` // m in bytes, rising; 0 is a null transfer, y
}

// DefaultTime is for that many pairs: ten seconds, or 13 ms a pair where they are
// many, so that the 8,128 pairs of 128 cores are done within two minutes.
func DefaultTime(pairs int) time.Duration {
	return max(10*time.Second, time.Duration(pairs)*13*time.Millisecond)
}

// Count is the number of pairs among n CPUs.
func Count(n int) int { return n * (n - 1) / 2 }

// Cells are all pairs with all sizes; the sizes of a pair follow each other.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	if len(r.CPUs) < 2 {
		return nil, []error{fmt.Errorf("there are no pairs to measure: this process may use one core")}, nil
	}
	for i, a := range r.CPUs {
		for _, b := range r.CPUs[i+1:] {
			variant := params.PairVariant(a, b)
			for _, m := range r.Sizes {
				key := params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: m, Variant: variant}
				cells = append(cells, engine.Cell{Cell: params.Cell{Key: key}, Group: variant})
			}
		}
	}
	return cells, nil, nil
}

// Open prepares for samples.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

// nullSegments of a null message, so that its own loop does not count.
const nullSegments = 64

// sample has intermediate buffers on the node of either CPU.
func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	var from, to int
	if _, err := fmt.Sscanf(k.Variant, "%d-%d", &from, &to); err != nil {
		return engine.Reading{}, fmt.Errorf("%q is no pair", k.Variant)
	}
	m := b.Machine
	place, err := m.PlaceOn([]int{from, to}, 2)
	if err != nil {
		return engine.Reading{}, err
	}
	if here, there := place.Workers[0].UserNode, place.Workers[1].UserNode; here != there && rand.IntN(2) == 1 {
		if place, err = m.BindIntermediate(place, there); err != nil {
			return engine.Reading{}, err
		}
	}
	tr := setups.Trial{Setup: setups.Isolated, Segments: 1, SegmentBytes: min(k.Bytes, SegmentBytes), K: nullSegments, Bytes: k.Bytes}
	transfers := float64(nullSegments * tr.Setup.Transfers)
	if k.Bytes > 0 {
		tr.K, transfers = (k.Bytes+tr.SegmentBytes-1)/tr.SegmentBytes, float64(tr.Setup.Transfers)
	}
	return b.Sample(ctx, place, setups.Brief{Trial: tr}, transfers, hint)
}
