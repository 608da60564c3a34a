// Package pairs measures transfers between all pairs of CPUs, one pair at a time, and finds pairs
// that are slow for their level.
//
// Its opinion: concurrent pairs disturb each other, so they are measured one at a time; the node of
// the memory between two CPUs matters as much as the CPUs, so it is part of the key; and one sample
// is not enough to call a pair slow.
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
	Decode:   survey.Decoder[Request],
	Plan:     func(m *numa.Machine, _ params.Plan) (survey.Request, error) { return request(m), nil },
	Time:     func(m *numa.Machine) time.Duration { return max(survey.DefaultTime, request(m).Time(m)) },
	Command:  &survey.Command{Help: help, Most: mostLaunches, Budget: " (default 10s, or up to 11 ms a pair where there are many)", Flags: flags},
	Answer:   Answer,
	Tables:   Tables,
	Matrices: Matrices,
})

// SegmentBytes is the segment size S of longer messages.
const SegmentBytes = 8 << 10

// A Request is the CPUs and sizes of messages.
type Request struct {
	CPUs  []int `json:"cpus"`
	Sizes []int `json:"sizes"` // m in bytes, rising; 0 is a null transfer
	// Addresses is the number of pages that a sample uses in turn for the memory between a pair: the
	// sample is the median over pages. 0 is one.
	Addresses int `json:"addresses,omitempty"`
}

// visit is the approximate time of a sample.
func (r Request) visit() time.Duration { return visitTime * time.Duration(max(1, r.Addresses)) }

func request(m *numa.Machine) Request {
	return Request{CPUs: m.CoreCPUs(), Sizes: []int{0, SegmentBytes}}
}

const (
	visitTime = 1100 * time.Microsecond // a sample with its share of a launch: 13.2 ms for two sizes in six launches were measured
	shortTime = 10 * time.Second        // every launch measures every cell if this is enough
	repeated  = 8                       // pairs of a class that every launch measures, if it does not measure all
	doubted   = 10                      // at most one cell in ten is measured again
	// mostLaunches determine the shares of states within 3 points, if states are shorter than the
	// interval between launches.
	mostLaunches = 300
)

// Time is the time to measure every pair in LeastLaunches launches, at least 10 s, or with many pairs
// the time of the shorter plan of Cells: two minutes for 128 cores.
func (r Request) Time(m *numa.Machine) time.Duration {
	cells, _, _ := r.Cells(m)
	once := len(lists.Filter(cells, func(c engine.Cell) bool { return c.Once }))
	if once == 0 {
		return shortTime
	}
	tenths := once*(doubted+engine.LeastLaunches-1) + (len(cells)-once)*doubted*2*engine.LeastLaunches // of visits
	return max(shortTime, time.Duration(tenths)*r.visit()/doubted)
}

// Cells are all pairs with all homes and sizes; the cells of a pair follow each other.
//
// If that takes longer than shortTime, every launch measures a few pairs of each class of equal level
// and home; the other pairs are measured once, and as often as the few if that sample is doubtful.
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
	members, seen := lists.Counts(cells, func(c engine.Cell) string { return c.Like }), make(map[string]int)
	for i := range cells {
		c := &cells[i]
		n, every := seen[c.Like], max(1, members[c.Like]/repeated)
		seen[c.Like]++
		// Evenly spread over the class, and the same pairs when a sweep is resumed.
		if c.Once = n%every != every/2; c.Once {
			c.Tier = 1
		}
	}
	return cells, nil, nil
}

// classes name the class of a cell: pairs of equal level, home and size, whose times should be equal.
func (r Request) classes(m *numa.Machine) func(params.Key) string {
	levels := m.Levels(numa.SetOf(r.CPUs...)).Between(r.CPUs)
	index := lists.Index(r.CPUs, func(cpu int) int { return cpu })
	return func(k params.Key) string {
		p := k.Variant.(params.PairKey)
		level := int8(-1)
		from, isFrom := index[p.From]
		if to, isTo := index[p.To]; isFrom && isTo {
			level = levels[from][to]
		}
		return fmt.Sprint(level, " ", p.Home, " ", k.Bytes)
	}
}

// Doubtful returns the cells whose only sample lies above their class by more than chance explains, the
// worst first, one cell in ten at most.
func (r Request) Doubtful(m *numa.Machine) func([]params.Cell) []params.Key {
	const score = 2.5 // of a robust z: 1 in 160 by chance
	class := r.classes(m)
	return func(cells []params.Cell) (keys []params.Key) {
		pairs := lists.Filter(cells, func(c params.Cell) bool { return c.Kind == params.PairCell && c.Time.Center > 0 })
		classes := lists.Groups(pairs, func(c params.Cell) string { return class(c.Key) })
		spreads := lists.ToMap(classes, func(of []params.Cell) (string, fit.Spread) {
			return class(of[0].Key), fit.NewSpread(lists.Map(of, func(c params.Cell) float64 { return c.Time.Center }))
		})
		scores := make(map[params.Key]float64)
		for _, c := range pairs {
			if z := spreads[class(c.Key)].Z(c.Time.Center); z > score {
				scores[c.Key] = z
				keys = append(keys, c.Key)
			}
		}
		slices.SortStableFunc(keys, func(a, b params.Key) int { return cmp.Compare(scores[b], scores[a]) })
		return keys[:min(len(keys), len(cells)/doubted)]
	}
}

// homes are the nodes of the memory between a pair: the writer's, the reader's if that is another one,
// and a third one; unknown if only one node has memory.
func homes(m *numa.Machine, a, b int) []params.Home {
	place, err := m.PlaceOn([]int{a, b}, 2)
	if err != nil {
		return []params.Home{params.UnknownHome} // sample returns the error
	}
	homes := []params.Home{params.WriterHome}
	if place.Workers[0].UserNode != place.Workers[1].UserNode {
		homes = append(homes, params.ReaderHome)
	}
	if _, exists := third(m, place); exists {
		homes = append(homes, params.ThirdHome)
	}
	if len(homes) == 1 {
		return []params.Home{params.UnknownHome}
	}
	return homes
}

// third is the node with memory that is neither worker's and is farthest from both.
func third(m *numa.Machine, p numa.Placement) (node int, exists bool) {
	writer, reader := p.Workers[0].UserNode, p.Workers[1].UserNode
	others := lists.Filter(m.Nodes, func(n numa.Node) bool {
		return n.ID != writer && n.ID != reader && !n.Forbidden && n.MemoryBytes > 0
	})
	if len(others) == 0 {
		return 0, false
	}
	distance := func(n numa.Node) int { return m.Distance(writer, n.ID) + m.Distance(reader, n.ID) }
	return slices.MaxFunc(others, func(a, b numa.Node) int { return distance(a) - distance(b) }).ID, true
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

// nullSegments is the number of segments of a null message, large enough to make its loop negligible.
const nullSegments = 64

// sample measures with the intermediate buffer and its flags on the pair's home. A null transfer moves
// the flags alone.
func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	place, err := placed(b.Machine, k.Variant.(params.PairKey))
	if err != nil {
		return engine.Reading{}, err
	}
	tr := setups.Trial{Setup: setups.Isolated, Brief: true, Segments: 1, SegmentBytes: min(k.Bytes, SegmentBytes), K: nullSegments, Bytes: k.Bytes}
	transfers := float64(nullSegments * tr.Setup.Transfers)
	if k.Bytes > 0 {
		tr.K, transfers = (k.Bytes+tr.SegmentBytes-1)/tr.SegmentBytes, float64(tr.Setup.Transfers)
	}
	var readings []engine.Reading
	for tr.Page = range max(1, r.Addresses) {
		one, err := b.Sample(ctx, place, tr, transfers, hint)
		if err != nil {
			return one, err
		}
		hint = one.NS
		readings = append(readings, one)
	}
	return median(readings), nil
}

// median is the median of readings; its spread is the relative standard deviation of several.
func median(readings []engine.Reading) engine.Reading {
	slices.SortStableFunc(readings, func(a, b engine.Reading) int { return cmp.Compare(a.NS, b.NS) })
	middle := readings[len(readings)/2]
	if len(readings) > 1 {
		middle.Spread = float32(stats.StdDev(lists.Map(readings, func(r engine.Reading) float64 { return r.NS })) / middle.NS)
	}
	return middle
}

// placed puts the writer, worker 0, on one CPU and the reader on the other.
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
