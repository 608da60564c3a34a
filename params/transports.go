package params

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Over is the file as if transfers had been measured over one transport and with send buffers of
// one state alone. Single copies have o(m) only from an MPI library: L(m,τ) begins when the sender
// has its message ready, and τ counts copies at once. A single copy by itself is ping's τ = 1, for
// every setup; off cache send buffers of both states are the same. Whether send buffers of segments
// are rewritten counts only if the file has both. The result shares data with the file. It fails
// without such transfers.
func (f *File) Over(t Transport, b Buffers) (*File, error) {
	if t == InSegments && !slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Transport == t && c.Buffers == b && c.Buffers != Rewritten }) {
		return f, nil
	}
	over := *f
	over.Cells = nil
	var setups []string
	for _, c := range f.Cells {
		switch c.Kind {
		case TransferCell, NullCell:
			of := b
			if c.OffCache && b == Unchanged { // off cache both states are the same
				of = Rewritten
			}
			if c.Transport != t || c.Buffers != of && c.Kind == TransferCell {
				continue
			}
			if c.Transport, c.Buffers = "", ""; c.Kind == TransferCell && !slices.Contains(setups, c.Setup) {
				setups = append(setups, c.Setup)
			}
		case OverheadCell: // that an MPI library adds to its copies
			if c.Transport != t {
				continue
			}
			c.Transport = ""
		case MessageCell, ExchangeCell, PRTTCell, PairCell: // of segments
			if t != InSegments {
				continue
			}
		}
		over.Cells = append(over.Cells, c)
	}
	if len(setups) == 0 {
		return nil, f.lacksTransport(t, b)
	}
	if t == InSegments {
		return &over, nil
	}
	slices.SortFunc(setups, func(a, b string) int { return strings.Compare(b, a) }) // sendrecv first, which is as exchanges are
	over.Plan.Setups, over.Plan.MoreSegments, over.Plan.MoreSegmentBytes = setups, nil, nil
	over.Plan.Policies = slices.DeleteFunc(slices.Clone(f.Plan.Policies), func(p numa.Policy) bool {
		return !slices.ContainsFunc(over.Cells, func(c Cell) bool { return c.Kind == TransferCell && c.Placement == p })
	})
	alone := make(map[Key]bool)
	for _, c := range over.Cells {
		if c.Kind == TransferCell || c.Kind == NullCell {
			alone[c.Key] = true
		}
	}
	for _, c := range over.Cells {
		if alone[c.Key] && c.Setup == Ping && c.Tau == 1 {
			for _, c.Setup = range setups {
				if !alone[c.Key] {
					over.Cells = append(over.Cells, c)
				}
			}
		}
	}
	return &over, nil
}

// lacksTransport says which transports there are instead of one.
func (f *File) lacksTransport(t Transport, b Buffers) error {
	for _, c := range f.Cells {
		if c.Kind == TransferCell && c.Transport == t {
			return fmt.Errorf("it has transfers over %s with send buffers that are %s alone, and none that are %s: %w", t, c.Buffers, b, ErrNoTransport)
		}
	}
	if slices.Contains(f.Plan.With, string(t)) {
		return fmt.Errorf("it has no transfers over %s yet: %w", t, ErrUnfinished)
	}
	return fmt.Errorf("it has no transfers over %s: %w", t, ErrNoTransport)
}
