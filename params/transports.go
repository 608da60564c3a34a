package params

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// A Transport is a way to send messages between two ranks of a node.
type Transport string

const (
	// InSegments is an intermediate buffer in shared memory, which the sender fills segment by segment and
	// the receiver empties: two copies.
	InSegments Transport = ""
	// CMA is a single copy by the kernel, called by the receiver (cross memory attach, process_vm_readv).
	CMA Transport = "cma"
)

func (t Transport) String() string { return cmp.Or(string(t), "segmented") }

// Buffers is how send buffers change between messages.
type Buffers string

const (
	// Rewritten: the sender writes the buffer before each message, as programs do.
	Rewritten Buffers = ""
	// Unchanged: as in the usual benchmarks. A receiver that reads the sender's memory has the buffer in
	// its own cache from the second message on.
	Unchanged Buffers = "unchanged"
	// Copied: the sender copies the message to the buffer within the measured time, over data that the
	// receiver has read and still has in its cache.
	Copied Buffers = "copied"
)

func (b Buffers) String() string { return cmp.Or(string(b), "rewritten") }

// ParseBuffers finds a state of send buffers by its name.
func ParseBuffers(name string) (Buffers, error) {
	for _, b := range []Buffers{Rewritten, Unchanged} {
		if b.String() == name {
			return b, nil
		}
	}
	return "", fmt.Errorf("unknown state of buffers %q: take one of rewritten, unchanged", name)
}

// ErrNoTransport is the error for a file in which a transport was not measured.
var ErrNoTransport = errors.New("measure them")

// A Selection chooses transfers of a file. An empty field is the plan's first value.
//
// Segments and SegmentBytes take the nearest measured value by ratio. Buffers of segmented transfers
// count only if the file has both kinds. For single copies L(m,τ) begins when the sender has its message
// ready, τ is the number of concurrent copies, and τ = 1 is ping's for every setup; off cache rewritten
// and unchanged send buffers are the same.
type Selection struct {
	Setup                  string
	Placement              numa.Policy
	OffCache               bool
	Transport              Transport
	Buffers                Buffers
	Segments, SegmentBytes int
}

// Select replaces empty fields by the plan's first values, and segments by the nearest measured ones. It
// fails if the file has no transfers over the transport with such send buffers.
func (f *File) Select(s Selection) (Selection, error) {
	s = f.fill(s)
	if s.Transport == InSegments || len(f.Setups(s)) > 0 {
		return s, nil
	}
	if c := lists.Find(f.Cells, func(c Cell) bool { return c.Kind == TransferCell && c.Transport == s.Transport }); c != nil {
		return s, fmt.Errorf("it has transfers over %s with send buffers that are %s alone, and none that are %s: %w", s.Transport, c.Buffers, s.Buffers, ErrNoTransport)
	}
	if slices.Contains(f.Plan.With, string(s.Transport)) {
		return s, fmt.Errorf("it has no transfers over %s yet: %w", s.Transport, ErrUnfinished)
	}
	return s, fmt.Errorf("it has no transfers over %s: %w", s.Transport, ErrNoTransport)
}

func (f *File) fill(s Selection) Selection {
	p := &f.Plan
	if s.Transport != InSegments { // which has none
		s.Segments, s.SegmentBytes = 0, 0
	}
	s.Segments, s.SegmentBytes = nearestTo(s.Segments, p.AllSegments()), nearestTo(s.SegmentBytes, p.AllSegmentBytes())
	if setups := f.Setups(s); s.Setup == "" && len(setups) > 0 {
		s.Setup = setups[0]
	}
	if policies := f.Policies(s); s.Placement == "" && len(policies) > 0 {
		s.Placement = policies[0]
	}
	return s
}

// Setups are the setups of the selection's transfers: the plan's; over other transports the measured
// ones, sendrecv first, because exchanges are like it.
func (f *File) Setups(s Selection) (setups []string) {
	if s.Transport == InSegments {
		return f.Plan.Setups
	}
	over := f.over(s)
	for i := range f.Cells {
		if c := &f.Cells[i]; c.Kind == TransferCell && over(c) && !slices.Contains(setups, c.Setup) {
			setups = append(setups, c.Setup)
		}
	}
	slices.SortFunc(setups, func(a, b string) int { return strings.Compare(b, a) })
	return setups
}

// Policies are the placements of the plan with transfers over the selection's transport.
func (f *File) Policies(s Selection) []numa.Policy {
	if s.Transport == InSegments {
		return f.Plan.Policies
	}
	over := f.over(s)
	return lists.Filter(f.Plan.Policies, func(p numa.Policy) bool {
		return slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Kind == TransferCell && c.Placement == p && over(&c) })
	})
}

// over matches transfer and null cells with the selection's transport, buffers and segments, of any setup
// and placement.
func (f *File) over(s Selection) func(*Cell) bool {
	if s.Transport == InSegments && !slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Transport == s.Transport && c.Buffers == s.Buffers }) {
		s.Buffers = Rewritten
	}
	return func(c *Cell) bool {
		k := c.Key
		k.Transport, k.Segments, k.SegmentBytes = s.Transport, s.Segments, s.SegmentBytes
		if k.Kind == TransferCell {
			k.Buffers = s.Buffers
		}
		if k.OffCache && k.Buffers == Unchanged {
			k.Buffers = Rewritten
		}
		f.Plan.Abridge(&k)
		return (k.Kind == TransferCell || k.Kind == NullCell) && k == c.Key
	}
}

// MostBuffers limits the numbers of segments, and the sizes of segments, of a plan.
const MostBuffers = 64

// AllSegments are the numbers of segments of intermediate buffers.
func (p *Plan) AllSegments() []int { return append([]int{p.Segments}, p.MoreSegments...) }

// AllSegmentBytes are the sizes of segments.
func (p *Plan) AllSegmentBytes() []int { return append([]int{p.SegmentBytes}, p.MoreSegmentBytes...) }

// Abridge sets to 0 a key's number and size of segments if they are the plan's first ones or do not
// matter.
func (p *Plan) Abridge(k *Key) {
	if k.Setup == Isolated || k.Segments == p.Segments { // buffers of Isolated have one segment
		k.Segments = 0
	}
	if k.Kind == NullCell || k.Bytes <= min(k.SegmentBytes, p.SegmentBytes) || k.SegmentBytes == p.SegmentBytes {
		k.SegmentBytes = 0
	}
}

// nearestTo is the value nearest to want by ratio, the larger one if two are equally near; the first for 0.
func nearestTo(want int, values []int) int {
	if want <= 0 {
		return values[0]
	}
	distance := func(v int) float64 { return math.Abs(math.Log(float64(max(1, v)) / float64(want))) }
	return slices.MinFunc(values, func(a, b int) int { return cmp.Or(cmp.Compare(distance(a), distance(b)), b-a) })
}
