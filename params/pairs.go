package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// Pairs are a file's transfers between two CPUs: L(m,1), one pair at a time.
type Pairs struct {
	Home   Home        `json:"home,omitempty"`
	CPUs   numa.CPUSet `json:"cpus"`
	Sizes  []int       `json:"sizes"`  // m in bytes, rising; 0 is a null transfer
	Levels []PairLevel `json:"levels"` // levels with pairs, the closest first
	Pairs  []Pair      `json:"pairs"`  // by their CPUs
	// Others are the same pairs through memory of other nodes, in the order of homes.
	Others []*Pairs `json:"other_homes,omitempty"`
}

// A Home is the NUMA node of the memory that a pair's transfers go through. The home of the cache lines
// influences transfer times as much as the places of the two CPUs do.
type Home string

// Homes. The writer is the lower CPU of a pair.
const (
	UnknownHome Home = ""       // machines with one node, and files that do not tell
	WriterHome  Home = "writer" // as in MPI libraries and setups
	ReaderHome  Home = "reader" // the same as the writer's for pairs within a node
	ThirdHome   Home = "third"  // another node
)

// homes are all homes, that of models first.
var homes = []Home{UnknownHome, WriterHome, ReaderHome, ThirdHome}

// A Pair is two CPUs, the lower one first.
type Pair struct {
	From  int            `json:"from"`
	To    int            `json:"to"`
	Level int            `json:"level"` // index in Levels
	other bool           // adopted: the times are those of WriterHome
	Times []fit.Estimate `json:"time_ns"` // L(m,1) of each size; NaN: not measured
	// States are the two CPUs' states, none if they had one. With several, Times are means by their shares.
	States []PairState `json:"states,omitempty"`
}

// A PairState is a pair in one of its states.
type PairState struct {
	State
	at    int            // stay.at
	Times []fit.Estimate `json:"time_ns"` // of each size
}

// A PairLevel is the pairs with the same closest shared level, see numa.Level.
type PairLevel struct {
	Name   string    `json:"level"`
	Pairs  int       `json:"pairs"`
	Median []float64 `json:"median_ns"` // over its pairs, for each size; 0: not measured
}

// unknownLevel is the level in files that do not say what CPUs share.
const unknownLevel = "level unknown"

// Pairs are the file's pairs of the first home measured, with the other homes. A time of 0 counts as not
// measured. It fails without pairs, and for invalid variants.
func (f *File) Pairs() (*Pairs, error) {
	var cells []*Cell
	var cpus, sizes []int
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Kind != PairCell {
			continue
		}
		key, ok := c.Variant.(PairKey)
		if !ok {
			return nil, fmt.Errorf("cell %v: %.40q is no pair of CPUs; want two numbers, the lower one first, such as 0-2, and perhaps whose node the memory between them is on, such as 0-2-reader", c.Key, c.VariantName())
		}
		if c.Time.Center == 0 {
			continue
		}
		cells = append(cells, c)
		cpus, sizes = append(cpus, key.From, key.To), append(sizes, c.Bytes)
	}
	if len(cells) == 0 {
		return nil, errors.New("the file has no pairs of CPUs: measure them with taulop pairs")
	}
	cpus, sizes = lists.Rising(cpus), lists.Rising(sizes)
	byHome, sorting := make(map[Home]*Pairs), f.Sort()
	for _, cells := range lists.Groups(cells, func(c *Cell) Variant { return c.Variant }) {
		key := cells[0].Variant.(PairKey)
		pair := Pair{From: key.From, To: key.To, Times: slices.Repeat([]fit.Estimate{fit.Median(nil)}, len(sizes))}
		for _, c := range cells {
			row, _ := slices.BinarySearch(sizes, c.Bytes)
			pair.Times[row] = c.Time
			if stays := sorting.stays(c); len(stays) > 1 {
				pair.add(f, stays, row, len(sizes))
			}
		}
		if byHome[key.Home] == nil {
			byHome[key.Home] = &Pairs{Home: key.Home, CPUs: cpus, Sizes: sizes}
		}
		byHome[key.Home].Pairs = append(byHome[key.Home].Pairs, pair)
	}
	byHome[ReaderHome].adopt(byHome[WriterHome])
	var all []*Pairs
	for _, home := range homes {
		if p := byHome[home]; p != nil {
			slices.SortFunc(p.Pairs, func(a, b Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
			p.level(f.Provenance.Levels)
			all = append(all, p)
		}
	}
	all[0].Others = all[1:]
	return all[0], nil
}

// add adds the times of a size in each state.
func (p *Pair) add(f *File, stays []stay, row, sizes int) {
	for _, stay := range stays {
		i := slices.IndexFunc(p.States, func(s PairState) bool { return s.at == stay.at })
		if i < 0 {
			i = len(p.States)
			p.States = append(p.States, PairState{stay.State, stay.at, slices.Repeat([]fit.Estimate{fit.Median(nil)}, sizes)})
		}
		p.States[i].Times[row] = stay.time(f)
	}
	slices.SortFunc(p.States, func(a, b PairState) int { return cmp.Or(cmp.Compare(a.NS, b.NS), cmp.Compare(a.Slow, b.Slow)) })
}

// adopt adds the pairs that were measured through the writer's node only, because it is the reader's, too.
func (p *Pairs) adopt(writer *Pairs) {
	if p == nil || writer == nil {
		return
	}
	cpus := func(pair Pair) [2]int { return [2]int{pair.From, pair.To} }
	own := lists.Counts(p.Pairs, cpus)
	for _, pair := range writer.Pairs {
		if own[cpus(pair)] == 0 {
			pair.other = true
			p.Pairs = append(p.Pairs, pair)
		}
	}
}

// Measured reports whether a level has a pair that was not adopted from another home.
func (p *Pairs) Measured(level int) bool {
	return slices.ContainsFunc(p.Pairs, func(pair Pair) bool { return pair.Level == level && !pair.other })
}

// Each are the pairs of this home and of the others.
func (p *Pairs) Each() []*Pairs { return append([]*Pairs{p}, p.Others...) }

// level finds each pair's level, and the levels' medians.
func (p *Pairs) level(known numa.Levels) {
	at := make([][]*Pair, len(known)+1) // by level, the unknown one last
	for i := range p.Pairs {
		level := known.Of(p.Pairs[i].From, p.Pairs[i].To)
		if level < 0 {
			level = len(known)
		}
		at[level] = append(at[level], &p.Pairs[i])
	}
	for level, pairs := range at {
		if len(pairs) == 0 {
			continue
		}
		l := PairLevel{Name: unknownLevel, Pairs: len(pairs), Median: make([]float64, len(p.Sizes))}
		if level < len(known) {
			l.Name = known[level].Name
		}
		for row := range p.Sizes {
			var times []float64
			for _, pair := range pairs {
				pair.Level = len(p.Levels)
				if t := pair.Times[row]; !math.IsNaN(t.Center) {
					times = append(times, t.Center)
				}
			}
			if len(times) > 0 {
				l.Median[row] = fit.Median(times).Center
			}
		}
		p.Levels = append(p.Levels, l)
	}
}

// Curve is L(m,1) of a level's pairs in seconds, their median. If the file has null transfers only, their
// time holds for any m.
func (p *Pairs) Curve(level int) *Curve {
	c := &Curve{}
	for row, m := range p.Sizes {
		if ns := p.Levels[level].Median[row]; ns > 0 {
			c.Sizes = append(c.Sizes, m)
			c.Times = append(c.Times, []float64{seconds(ns)})
		}
	}
	if len(c.Sizes) == 1 && c.Sizes[0] == 0 {
		c.Sizes, c.Times = append(c.Sizes, 1), append(c.Times, c.Times[0])
	}
	return c
}
