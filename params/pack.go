package params

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/strided"
)

// ErrUnpacked is the error for a file without packed messages.
var ErrUnpacked = errors.New("measure them with taulop pack, or in a sweep")

// P is p(m,d), the time of packing or unpacking a message with a stride of d bytes, for any τ. It fails
// if the file does not have that stride.
func (f *File) P(stride int, offCache bool) (*Curve, error) {
	g := f.grid(func(c *Cell) bool { return c.packing(offCache) && c.Variant.(Packed).Stride == stride })
	if len(g.cells) == 0 {
		strides := f.Strides(offCache)
		if len(strides) == 0 {
			return nil, fmt.Errorf("no packed messages, %s: %w", printable.Cache(offCache), ErrUnpacked)
		}
		return nil, fmt.Errorf("no messages with a stride of %d bytes: there are those of %s", stride, strings.Join(lists.Map(strides, strconv.Itoa), ", "))
	}
	curve, err := g.curve("packed messages", Cell.Whole)
	if err != nil {
		return nil, err
	}
	curve.Taus = nil
	return &curve, nil
}

// Strides are the strides of P, rising.
func (f *File) Strides(offCache bool) (strides []int) {
	for i := range f.Cells {
		if c := &f.Cells[i]; c.packing(offCache) {
			strides = lists.Insert(strides, c.Variant.(Packed).Stride)
		}
	}
	return strides
}

// packing reports whether a cell is of P.
func (c *Cell) packing(offCache bool) bool {
	m, ok := c.Packed()
	return ok && c.OffCache == offCache && m.Level == "" && !m.Contiguous()
}

// Latency is f(s,d) of mlog_nP for any τ: the time that a stride adds at each end of a message between two
// CPUs of a level, half the difference to a contiguous message one way, but not below 0. It fails if the
// file does not have it.
func (f *File) Latency(level string, stride int, offCache bool) (*Curve, error) {
	oneWay := make(map[strided.Message]float64) // ns
	for i := range f.Cells {
		if m, ok := f.Cells[i].Packed(); ok && f.Cells[i].OffCache == offCache && m.Level == PackLevel(level) {
			oneWay[m.Message] = f.Cells[i].Time.Center
		}
	}
	added := make(map[int]float64)
	for m, ns := range oneWay {
		whole := m
		whole.Stride = m.Element
		if contiguous, measured := oneWay[whole]; measured && m.Stride == stride && !m.Contiguous() {
			added[m.Bytes] = max(0, ns-contiguous) / 2
		}
	}
	if len(added) == 0 {
		return nil, fmt.Errorf("no messages with a stride of %d bytes between two CPUs at level %q, %s: %w", stride, level, printable.Cache(offCache), ErrUnpacked)
	}
	sizes := slices.Sorted(maps.Keys(added))
	return &Curve{Sizes: sizes, Times: lists.Map(sizes, func(m int) []float64 { return []float64{seconds(added[m])} })}, nil
}

// PackLevel is the name of a level of numa.Levels in variants of packed messages.
func PackLevel(level string) string {
	switch cache, isCache := strings.CutPrefix(level, "shared "); {
	case isCache:
		return cache
	case level == numa.Siblings:
		return "smt"
	case level == "same package":
		return "package"
	case level == "same node":
		return "node"
	}
	return "machine"
}
