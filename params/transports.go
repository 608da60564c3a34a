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

// A Transport is what carries a message between two ranks of a node.
type Transport string

const (
	// InSegments is an intermediate buffer in shared memory, which one rank fills segment
	// by segment and another empties: two copies.
	InSegments Transport = ""
	// CMA is one copy from process to process, which the kernel makes for the receiver
	// (cross memory attach, process_vm_readv).
	CMA Transport = "cma"
)

func (t Transport) String() string { return cmp.Or(string(t), "segmented") }

// Buffers are what becomes of a send buffer between two messages.
type Buffers string

const (
	// Rewritten: its owner writes it anew before each message, as programs do.
	Rewritten Buffers = ""
	// Unchanged: not rewritten, as in the usual benchmarks. A receiver that reads it from its
	// owner's memory has it in its own cache from the second message on.
	Unchanged Buffers = "unchanged"
	// Copied: its owner copies the message there from elsewhere, in the time that is measured:
	// onto what the receiver read before, and still has.
	Copied Buffers = "copied"
)

func (b Buffers) String() string {
	if b == Rewritten {
		return "rewritten"
	}
	return string(b)
}

// ParseBuffers finds a state of send buffers by its name.
func ParseBuffers(name string) (Buffers, error) {
	for _, b := range []Buffers{Rewritten, Unchanged} {
		if b.String() == name {
			return b, nil
		}
	}
	return "", fmt.Errorf("unknown state of buffers %q: take one of rewritten, unchanged", name)
}

// ErrNoTransport is of a file in which a transport was not measured.
var ErrNoTransport = errors.New("measure them")

// A Selection says which of a file's transfers a lookup is of. What is empty is the plan's first.
//
// Buffers of the number and size of segments that were measured nearest to the selection's, by
// their ratio, stand for it. Whether send buffers of segments are rewritten counts only if the file
// has both. Single copies have o(m) only from an MPI library: L(m,τ) begins when the sender has its
// message ready, and τ counts copies at once. A single copy by itself is ping's τ = 1, for every
// setup; off cache send buffers that are rewritten and that are not are the same.
type Selection struct {
	Setup                  string
	Placement              numa.Policy
	OffCache               bool
	Transport              Transport
	Buffers                Buffers
	Segments, SegmentBytes int
}

// Select fills in what a selection leaves open, and replaces buffers by those that were measured.
// It fails where the file has no transfers over the transport with such send buffers.
func (f *File) Select(s Selection) (Selection, error) {
	s = f.fill(s)
	if s.Transport == InSegments || len(f.Setups(s)) > 0 {
		return s, nil
	}
	for _, c := range f.Cells {
		if c.Kind == TransferCell && c.Transport == s.Transport {
			return s, fmt.Errorf("it has transfers over %s with send buffers that are %s alone, and none that are %s: %w", s.Transport, c.Buffers, s.Buffers, ErrNoTransport)
		}
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

// Setups are the setups that the selection's transfers may be of: the plan's, and over other
// transports those measured, sendrecv first, which is as exchanges are.
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

// over tells the transfers, and those of nothing, that went as a selection says, of any setup and
// placement.
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

// MostBuffers is how many numbers of segments, and how many sizes, a plan may have.
const MostBuffers = 64

// AllSegments are the numbers of segments of intermediate buffers, the plan's first one first.
func (p *Plan) AllSegments() []int { return append([]int{p.Segments}, p.MoreSegments...) }

// AllSegmentBytes are the sizes of segments, likewise.
func (p *Plan) AllSegmentBytes() []int { return append([]int{p.SegmentBytes}, p.MoreSegmentBytes...) }

// Abridge leaves out of a key what it has in common with one of the plan's first
// buffers: values that are these, and those that make no difference to what is measured.
func (p *Plan) Abridge(k *Key) {
	if k.Setup == Isolated || k.Segments == p.Segments { // whose buffer has one segment
		k.Segments = 0
	}
	if k.Kind == NullCell || k.Bytes <= min(k.SegmentBytes, p.SegmentBytes) || k.SegmentBytes == p.SegmentBytes {
		k.SegmentBytes = 0
	}
}

// nearestTo is the value nearest to one by their ratio, the larger of two; for 0 it is the first.
func nearestTo(want int, values []int) int {
	if want <= 0 {
		return values[0]
	}
	far := func(v int) float64 { return math.Abs(math.Log(float64(max(1, v)) / float64(want))) }
	return slices.MinFunc(values, func(a, b int) int { return cmp.Or(cmp.Compare(far(a), far(b)), b-a) })
}
