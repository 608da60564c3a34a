package params

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/strided"
)

// ErrUnpacked is of a file without packed messages.
var ErrUnpacked = errors.New("measure them with taulop pack, or in a sweep")

// P is p(m,d), what packing or unpacking a message takes whose elements lie d bytes
// apart, for any τ. It fails where the file does not have that stride.
func (f *File) P(stride int, offCache bool) (*Curve, error) {
	var strides []int
	g := f.grid(func(c *Cell) bool {
		m, ok := c.packed()
		if ok = ok && c.OffCache == offCache && !m.Contiguous(); ok {
			strides = append(strides, m.Stride)
		}
		return ok && m.Stride == stride
	})
	if len(g.cells) == 0 {
		if len(strides) == 0 {
			return nil, fmt.Errorf("no packed messages, %s: %w", cacheText(offCache), ErrUnpacked)
		}
		slices.Sort(strides)
		var there []string
		for _, d := range slices.Compact(strides) {
			there = append(there, strconv.Itoa(d))
		}
		return nil, fmt.Errorf("no messages with a stride of %d bytes: there are those of %s", stride, strings.Join(there, ", "))
	}
	curve, err := g.curve("packed messages", func(c Cell) fit.Estimate { return c.Time })
	if err != nil {
		return nil, err
	}
	curve.Taus = nil
	return &curve, nil
}

// packed is the message that a cell says the packing of.
func (c *Cell) packed() (strided.Message, bool) {
	if c.Kind != PackCell {
		return strided.Message{}, false
	}
	m, err := strided.Parse(c.Variant)
	return m, err == nil && m.Bytes == c.Bytes
}

func cacheText(offCache bool) string {
	if offCache {
		return "off cache"
	}
	return "in cache"
}
