// Package pairs measures transfers between every two CPUs of a machine, one pair at a time, and
// finds pairs that are slower than what the two share lets expect.
//
// Its opinion: pairs that run at once disturb each other, so they are measured one at a time;
// where the memory between two CPUs lies matters as much as where they are, so it is part of
// the key; and no pair is called slow for one sample.
package pairs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
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
		return request(m), nil
	},
	Time:     func(m *numa.Machine) time.Duration { return max(survey.DefaultTime, request(m).Time(m)) },
	Command:  &survey.Command{Help: help, Most: mostLaunches, Budget: " (default 10s, or up to 11 ms a pair where there are many)", Flags: flags},
	Answer:   Answer,
	Tables:   Tables,
	Matrices: Matrices,
})

// SegmentBytes is S of messages that are longer.
const SegmentBytes = 8 << 10

// A Request is the CPUs and sizes of messages.
type Request struct {
	CPUs  []int `json:"cpus"`
	Sizes []int `json:"sizes"` // m in bytes, rising; 0 is a null transfer
	// Addresses are on how many pages a sample has the memory between a pair in turn: it is their
	// median, and its spread theirs. 0 is one.
	Addresses int `json:"addresses,omitempty"`
}

// visit is what a sample takes, about.
func (r Request) visit() time.Duration { return visitTime * time.Duration(max(1, r.Addresses)) }

// request is what a sweep measures.
func request(m *numa.Machine) Request {
	return Request{CPUs: m.CoreCPUs(), Sizes: []int{0, SegmentBytes}}
}

// What a plan takes is worked out with these.
const (
	visitTime = 1100 * time.Microsecond // a sample, with its part of a launch: 13.2 ms for two sizes in six launches were measured
	shortTime = 10 * time.Second        // has every launch measure every cell, if that is enough
	alike     = 8                       // pairs of a class that every launch measures, where it does not measure all
	doubted   = 10                      // at most one cell in ten is measured again
	// mostLaunches tell shares of states within 3 points where these last less than from launch
	// to launch.
	mostLaunches = 300
)

// Time is the time to measure every pair in LeastLaunches launches, at least 10 s. With many
// pairs it is the time of the shorter plan of Cells: two minutes for 128 cores.
func (r Request) Time(m *numa.Machine) time.Duration {
	cells, _, err := r.Cells(m)
	if err != nil {
		return shortTime
	}
	visits := 0
	for _, c := range cells {
		if c.Once {
			visits += doubted + engine.LeastLaunches - 1 // tenths
		} else {
			visits += doubted * 2 * engine.LeastLaunches
		}
	}
	if !slices.ContainsFunc(cells, func(c engine.Cell) bool { return c.Once }) {
		return shortTime
	}
	return max(shortTime, time.Duration(visits)*r.visit()/doubted)
}

// Cells are all pairs with all homes and sizes; the cells of a pair follow each other.
//
// Where that takes longer than shortTime every launch measures a few pairs of each class, which
// share level and home; every pair is measured once; and pairs whose one sample is doubtful are
// measured as often as the few of each class.
func (r Request) Cells(m *numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	if len(r.CPUs) < 2 {
		return nil, []error{fmt.Errorf("there are no pairs to measure: this process may use one core")}, nil
	}
	class := r.classes(m)
	for i, a := range r.CPUs {
		for _, b := range r.CPUs[i+1:] {
			for _, home := range homes(m, a, b) {
				for _, bytes := range r.Sizes {
					key := params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: bytes, Variant: params.PairOf(a, b, home)}
					cells = append(cells, engine.Cell{Cell: params.Cell{Key: key}, Group: params.PairOf(a, b, params.UnknownHome).String(), Like: class(key)})
				}
			}
		}
	}
	if time.Duration(len(cells))*engine.LeastLaunches*r.visit() <= shortTime {
		return cells, nil, nil
	}
	members, seen := make(map[string]int), make(map[string]int)
	for _, c := range cells {
		members[c.Like]++
	}
	for i := range cells {
		c := &cells[i]
		n, every := seen[c.Like], max(1, members[c.Like]/alike)
		seen[c.Like]++
		// Evenly spread over the class, and the same when a sweep goes on.
		if c.Once = n%every != every/2; c.Once {
			c.Tier = 1
		}
	}
	return cells, nil, nil
}

// classes tell what pairs have in common that should be alike, with size and home.
func (r Request) classes(m *numa.Machine) func(params.Key) string {
	levels := m.Levels(numa.SetOf(r.CPUs...))
	return func(k params.Key) string {
		p, _ := k.Variant.(params.PairKey)
		return fmt.Sprint(levels.Of(p.From, p.To), " ", p.Home, " ", k.Bytes)
	}
}

// Doubtful returns the cells that lie above their class by more than chance allows one sample,
// the farthest ones if they are many.
func (r Request) Doubtful(m *numa.Machine) func([]params.Cell) []params.Key {
	const score = 2.5 // of a robust z: 1 in 160 by chance
	class := r.classes(m)
	return func(cells []params.Cell) (keys []params.Key) {
		times := make(map[string][]float64)
		for _, c := range cells {
			if c.Kind == params.PairCell && c.Time.Center > 0 {
				times[class(c.Key)] = append(times[class(c.Key)], c.Time.Center)
			}
		}
		spreads := make(map[string]fit.Spread)
		for class, of := range times {
			spreads[class] = fit.NewSpread(of)
		}
		scores := make(map[params.Key]float64)
		for _, c := range cells {
			if c.Kind != params.PairCell {
				continue
			}
			if z := spreads[class(c.Key)].Z(c.Time.Center); z > score {
				scores[c.Key] = z
				keys = append(keys, c.Key)
			}
		}
		slices.SortStableFunc(keys, func(a, b params.Key) int { return cmp.Compare(scores[b], scores[a]) })
		return keys[:min(len(keys), len(cells)/doubted)]
	}
}

// homes are a pair's homes: on one node its own and another one, on two the writer's, the
// reader's, and another one; unknown if only one node has memory.
func homes(m *numa.Machine, a, b int) []params.Home {
	place, err := m.PlaceOn([]int{a, b}, 2)
	if err != nil {
		return []params.Home{params.UnknownHome} // a sample says why
	}
	of := []params.Home{params.WriterHome}
	if place.Workers[0].UserNode != place.Workers[1].UserNode {
		of = append(of, params.ReaderHome)
	}
	if _, there := third(m, place); there {
		of = append(of, params.ThirdHome)
	}
	if len(of) == 1 {
		return []params.Home{params.UnknownHome}
	}
	return of
}

// third is the node with memory that is neither worker's, the farthest from both.
func third(m *numa.Machine, p numa.Placement) (node int, there bool) {
	writer, reader := p.Workers[0].UserNode, p.Workers[1].UserNode
	farthest := -1
	for _, n := range m.Nodes {
		if n.ID == writer || n.ID == reader || n.Forbidden || n.MemoryBytes == 0 {
			continue
		}
		if d := m.Distance(writer, n.ID) + m.Distance(reader, n.ID); d > farthest {
			farthest, node, there = d, n.ID, true
		}
	}
	return node, there
}

// Open prepares for samples.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

// nullSegments of a null message, so that its own loop does not count.
const nullSegments = 64

// sample has the intermediate buffer at the pair's home. Its flags are there too: of a
// null transfer they are all that moves.
func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	pair, ok := k.Variant.(params.PairKey)
	if !ok {
		return engine.Reading{}, fmt.Errorf("%q is no pair of CPUs", k.VariantName())
	}
	place, err := placed(b.Machine, pair)
	if err != nil {
		return engine.Reading{}, err
	}
	tr := setups.Trial{Setup: setups.Isolated, Segments: 1, SegmentBytes: min(k.Bytes, SegmentBytes), K: nullSegments, Bytes: k.Bytes}
	transfers := float64(nullSegments * tr.Setup.Transfers)
	if k.Bytes > 0 {
		tr.K, transfers = (k.Bytes+tr.SegmentBytes-1)/tr.SegmentBytes, float64(tr.Setup.Transfers)
	}
	var all []engine.Reading
	for tr.Page = range max(1, r.Addresses) {
		one, err := b.Sample(ctx, place, setups.Brief{Trial: tr}, transfers, hint)
		if err != nil {
			return one, err
		}
		hint = one.NS
		all = append(all, one)
	}
	return typical(all), nil
}

// typical is the median of readings; of several, its spread is their relative standard deviation.
func typical(all []engine.Reading) engine.Reading {
	slices.SortStableFunc(all, func(a, b engine.Reading) int { return cmp.Compare(a.NS, b.NS) })
	middle := all[len(all)/2]
	if len(all) > 1 {
		middle.Spread = float32(stats.StdDev(lists.Map(all, func(r engine.Reading) float64 { return r.NS })) / middle.NS)
	}
	return middle
}

// placed has worker 0 write on the one CPU and worker 1 read on the other.
func placed(m *numa.Machine, pair params.PairKey) (numa.Placement, error) {
	place, err := m.PlaceOn([]int{pair.From, pair.To}, 2)
	if err != nil || pair.Home == params.UnknownHome {
		return place, err
	}
	node := place.Workers[0].UserNode
	switch pair.Home {
	case params.ReaderHome:
		node = place.Workers[1].UserNode
	case params.ThirdHome:
		node, _ = third(m, place)
	}
	return m.BindIntermediate(place, node)
}
