package params

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
)

// Pairs is what a file has of transfers between two CPUs: L(m,1), one at a time.
type Pairs struct {
	CPUs   numa.CPUSet `json:"cpus"`
	Sizes  []int       `json:"sizes"`  // m in bytes, rising; 0 is a null transfer
	Levels []PairLevel `json:"levels"` // from the closest on, those that have a pair
	Pairs  []Pair      `json:"pairs"`  // by their CPUs
}

// A Pair is two CPUs, the lower one first.
type Pair struct {
	From  int            `json:"from"`
	To    int            `json:"to"`
	Level int            `json:"level"`   // index in Levels
	Times []fit.Estimate `json:"time_ns"` // L(m,1) of each size; not known where it was not measured
}

// A PairLevel is the pairs that share the same at the closest, see numa.Level.
type PairLevel struct {
	Name   string    `json:"level"`
	Pairs  int       `json:"pairs"`
	Median []float64 `json:"median_ns"` // over its pairs, of each size; 0 where none has it
}

// unknownLevel is of files that do not say what CPUs share.
const unknownLevel = "level unknown"

// PairVariant is the variant of cells of two CPUs, the lower one first.
func PairVariant(a, b int) string { return fmt.Sprintf("%d-%d", min(a, b), max(a, b)) }

// ParsePair reads what PairVariant writes, and nothing else.
func ParsePair(variant string) (from, to int, err error) {
	low, high, _ := strings.Cut(variant, "-")
	from, errLow := strconv.Atoi(low)
	to, errHigh := strconv.Atoi(high)
	if errLow != nil || errHigh != nil || from < 0 || to > maxCPUs || from >= to || PairVariant(from, to) != variant {
		return 0, 0, fmt.Errorf("%.40q is no pair of CPUs; want two numbers, the lower one first, such as 0-2", variant)
	}
	return from, to, nil
}

// Pairs are the file's. It fails where there are none, and for variants that are no
// pair.
func (f *File) Pairs() (*Pairs, error) {
	p := &Pairs{}
	at := make(map[[2]int]int)
	cpus := make(map[int]bool)
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Kind != PairCell {
			continue
		}
		from, to, err := ParsePair(c.Variant)
		if err != nil {
			return nil, fmt.Errorf("cell %v: %w", c.Key, err)
		}
		cpus[from], cpus[to] = true, true
		if _, known := at[[2]int{from, to}]; !known {
			at[[2]int{from, to}] = len(p.Pairs)
			p.Pairs = append(p.Pairs, Pair{From: from, To: to})
		}
		if row, found := slices.BinarySearch(p.Sizes, c.Bytes); !found {
			p.Sizes = slices.Insert(p.Sizes, row, c.Bytes)
		}
	}
	if len(p.Pairs) == 0 {
		return nil, errors.New("the file has no pairs of CPUs: measure them with taulop pairs")
	}
	p.CPUs = slices.Sorted(maps.Keys(cpus))
	for i := range p.Pairs {
		p.Pairs[i].Times = slices.Repeat([]fit.Estimate{fit.Median(nil)}, len(p.Sizes))
	}
	for i := range f.Cells {
		if c := &f.Cells[i]; c.Kind == PairCell {
			from, to, _ := ParsePair(c.Variant)
			row, _ := slices.BinarySearch(p.Sizes, c.Bytes)
			p.Pairs[at[[2]int{from, to}]].Times[row] = c.Time
		}
	}
	slices.SortFunc(p.Pairs, func(a, b Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	p.level(f.Provenance.Levels)
	return p, nil
}

// level finds each pair's level, and what the levels' pairs have in common.
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
			var of []float64
			for _, pair := range pairs {
				pair.Level = len(p.Levels)
				if t := pair.Times[row]; !math.IsNaN(t.Center) {
					of = append(of, t.Center)
				}
			}
			if len(of) > 0 {
				l.Median[row] = fit.Median(of).Center
			}
		}
		p.Levels = append(p.Levels, l)
	}
}

// Curve is L(m,1) of a level's pairs in seconds, their median. Where null transfers
// are all that there is, it is theirs for any m.
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
