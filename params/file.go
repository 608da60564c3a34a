package params

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
)

// A File is what a sweep found out about a machine, or as much of it as there
// is yet: the native parameter file, see docs/parameter-file.md.
type File struct {
	Format     string           `json:"format"`  // Format
	Version    int              `json:"version"` // of the format
	Provenance Provenance       `json:"provenance"`
	Plan       Plan             `json:"plan"`
	Placements []numa.Placement `json:"placements"` // of the largest τ, one of each policy
	Networks   []Network        `json:"networks,omitempty"`
	Complete   bool             `json:"complete"` // every cell of the plan has its samples
	Seconds    float64          `json:"seconds"`  // spent measuring, over all resumptions
	Warnings   []string         `json:"warnings"`
	Launches   []Launch         `json:"launches"`
	Watches    []Watch          `json:"watches,omitempty"`
	Journal    string           `json:"journal,omitempty"` // mark of the journal that has what is not in here yet, while it is measured
	Cells      []Cell           `json:"cells"`

	state      *State // see State
	throughout bool   // it is what Throughout leaves, as are files drawn from it
}

// Format and Version are what this program writes. It reads no newer version.
// The version grows whenever a reader of the one before would misunderstand.
const (
	Format  = "taulop parameters"
	Version = 5
)

// A Plan is what a sweep was asked for. A sweep goes on only under the same.
type Plan struct {
	Setups       []string      `json:"setups"` // Published in imported files
	Policies     []numa.Policy `json:"placements"`
	CPUs         []int         `json:"cpus,omitempty"`        // of policy "cpus", in order
	Sizes        []int         `json:"sizes"`                 // m, bytes, rising
	Taus         []int         `json:"taus"`                  // rising
	Segments     int           `json:"segments"`              // nseg of the intermediate buffers
	SegmentBytes int           `json:"segment_bytes"`         // S
	Caches       []bool        `json:"off_cache"`             // false: in cache, true: off cache
	CacheBytes   int           `json:"cache_bytes,omitempty"` // last-level cache
	// OwnCacheBytes is the largest cache that a core shares with no other; 0: unknown.
	OwnCacheBytes int     `json:"own_cache_bytes,omitempty"`
	ArenaCaches   float64 `json:"arena_caches,omitempty"` // off cache, size of a worker's arena in caches; 0: twice the last-level cache, by those who share it
	// ArenaDown: off cache each message lies before the last one. In files without it they lay
	// behind, where the processor had fetched ahead, see Ascending.
	ArenaDown bool     `json:"arena_down,omitempty"`
	Operators []string `json:"operators,omitempty"` // of γ, in order; none: the customary ones
	Budget    float64  `json:"budget_s"`
	Width     float64  `json:"width"`              // relative half-width at which a cell is done
	Copy      string   `json:"copy"`               // what copies
	NoGamma   bool     `json:"no_gamma,omitempty"` // reduction operators are left out
	With      []string `json:"with,omitempty"`     // surveys: pairs, pack, copy, access, cma
	// Whole: messages were timed whole, as MPI's are from outside, and one through shared
	// memory counts as two transfers, T(m) = o(m) + 2L(m,τ), however the library cut it.
	Whole bool `json:"whole,omitempty"`
	// Transfers are measured with every other number and size of segments, too.
	MoreSegments     []int `json:"more_segments,omitempty"`
	MoreSegmentBytes []int `json:"more_segment_bytes,omitempty"`
}

// A Kind is what a cell measures.
type Kind string

// The kinds of cells that this package knows; surveys have others. Times are in ns throughout the file.
const (
	TransferCell   Kind = "transfer"   // Time is l(k,τ), a message of Bytes in K segments
	NullCell       Kind = "null"       // Time is y(τ), a transfer of nothing
	CopyCell       Kind = "copy"       // Time is c(m,τ), a copy of Bytes, no flags
	OwnCell        Kind = "own"        // Time is what a rank's own copy of Bytes takes, from what it sends to where it receives
	OverheadCell   Kind = "overhead"   // Time is o(m), before the first byte moves, as it was published or, of sweeps once, an empty loop
	GammaCell      Kind = "gamma"      // Time is γ(m,τ), an Operator over two vectors of Bytes
	PRTTCell       Kind = "prtt"       // Time is PRTT(n,d,m), parametrised round trips, for LogGP; of Variant Receiver a part of each
	ExchangeCell   Kind = "exchange"   // Time is an exchange of two ranks over idle channels: o(m) of exchanges and their transfers
	MessageCell    Kind = "message"    // Time is T(m), a message alone from idle channels, Variant Segmented: o(m) and its transfers
	PairCell       Kind = "pair"       // Time is one way between two CPUs, Variant "0-2"; m = 0 is a null transfer
	LevelCell      Kind = "level"      // Time is c(m,τ) between levels of the memory, Variant "L2-memory"
	LoadedCell     Kind = "loaded"     // Time is a latency under load, Variant "read-25", or "rate-read-25": of a line of 64 bytes that was injected
	AccessCell     Kind = "access"     // Time is a pass over Bytes of an array, Variant "read-int32-16"
	PackCell       Kind = "pack"       // Time is of a message that lies in pieces, Variant "4K8S"
	PatternCell    Kind = "pattern"    // Time is a message of Bytes while all ranks follow a pattern, Variant "permutation-1"
	CollectiveCell Kind = "collective" // Time is a collective of Bytes among Tau ranks, Variant "bcast:binomial"
	DiskCell       Kind = "disk"       // Time is a transfer of Bytes from or to a file, Variant "read-direct"
	NetCell        Kind = "net"        // Time is a parameter of a Network, such as L(m,τ), Variant "eth0:L"
	ChannelCell    Kind = "channel"    // Time is a parameter of a published level of the machine, Variant "same_l3:T"
)

// A Key says which cell it is; no two cells of a file have the same.
type Key struct {
	Kind      Kind        `json:"kind"`
	Setup     string      `json:"setup,omitzero"` // of transfer and null: ring, bcast, ping, isolated; of copy: share, all out of one buffer, or none
	Placement numa.Policy `json:"placement"`
	OffCache  bool        `json:"off_cache,omitzero"`
	Tau       int         `json:"tau"`               // 0, of gamma: any
	Bytes     int         `json:"bytes"`             // m
	Operator  string      `json:"operator,omitzero"` // of gamma, as in the published files: SUM_I
	Variant   Variant     `json:"variant,omitzero"`  // of message, prtt and kinds of surveys: which
	N         int         `json:"n,omitzero"`        // of prtt: messages that the client sends
	Delay     int         `json:"delay_ns,omitzero"` // of prtt: d, between them
	// Of transfer and null, what is not as in the plan's first buffers; else 0.
	Segments     int `json:"segments,omitzero"`
	SegmentBytes int `json:"segment_bytes,omitzero"`
	// Of transfer and null: what carried them, and what became of send buffers meanwhile.
	Transport Transport `json:"transport,omitzero"`
	Buffers   Buffers   `json:"buffers,omitzero"`
}

// Isolated is the setup whose transfers are L(m,1) of a message between two
// processes: two workers, of whom only one copies at a time.
const Isolated = "isolated"

// Setups that models tell apart: exchanges, one-way messages, exchanges of what was not
// touched before, and one that all others read.
const (
	Ring     = "ring"
	Ping     = "ping"
	Sendrecv = "sendrecv"
	Bcast    = "bcast"
)

// Segmented is the variant of messages that go through channels, segment by segment.
const Segmented = Name("segmented")

// Receiver is the variant of round trips of which Time is what each message takes its
// receiver, from when it knows of it until it may wait for the next: o of that side.
const Receiver = Name("receiver")

// Published is setup and placement of what comes from a published file, which
// does not say how it was measured.
const Published = "published"

// String names the cell in a sentence.
func (k Key) String() string {
	var b strings.Builder
	b.WriteString(string(k.Kind))
	if k.Setup != "" {
		b.WriteString(" of " + k.Setup)
	}
	if k.Operator != "" {
		b.WriteString(" of " + k.Operator)
	}
	if k.Variant != nil {
		b.WriteString(" " + k.Variant.String())
	}
	fmt.Fprintf(&b, ", %s, τ = %d, m = %d", Where(k.Placement, k.OffCache), k.Tau, k.Bytes)
	if k.Segments > 0 {
		fmt.Fprintf(&b, ", %d segments", k.Segments)
	}
	if k.SegmentBytes > 0 {
		fmt.Fprintf(&b, ", segments of %d bytes", k.SegmentBytes)
	}
	if k.Transport != InSegments {
		b.WriteString(", over " + string(k.Transport))
	}
	if k.Buffers != Rewritten {
		b.WriteString(", buffers " + string(k.Buffers))
	}
	if k.Kind == PRTTCell {
		fmt.Fprintf(&b, ", n = %d, d = %d ns", k.N, k.Delay)
	}
	return b.String()
}

// Where names a table in a sentence.
func Where(placement numa.Policy, offCache bool) string {
	text := "any placement"
	if placement != "" {
		text = "placement " + string(placement)
	}
	return text + ", " + cacheText(offCache)
}

// A Cell is a measured value of a Key.
type Cell struct {
	Key
	K         int          `json:"k,omitempty"`         // of transfer: segments of the message
	Transfers int          `json:"transfers,omitempty"` // of transfer: one after the other, a segment: l = Transfers·k·L
	Time      fit.Estimate `json:"time_ns"`
	Samples   []Sample     `json:"samples,omitempty"` // as they were taken; none in published files
}

// A cellText is a cell as it stands in a file; a Key has a method of its own for JSON.
type cellText struct {
	keyText
	K         int          `json:"k,omitzero"`
	Transfers int          `json:"transfers,omitzero"`
	Time      estimateText `json:"time_ns"`
	Samples   samplesText  `json:"samples,omitempty"`
}

type (
	keyText      Key
	estimateText struct {
		fit.Estimate
		digits int // that are written
	}
	samplesText []Sample
)

// Segment is L(S,τ) of the segment that a transfer's message travels in (S =
// Bytes where the message is smaller): l/(Transfers·k), ns.
func (c Cell) Segment() fit.Estimate { return fit.Transfer(c.Time, max(1, c.K), max(1, c.Transfers)) }

// Whole is the effective transfer time of the whole message, L(m,τ):
// l/Transfers, ns. It is what models that ask for L(m,τ) beyond a segment use.
func (c Cell) Whole() fit.Estimate { return fit.Transfer(c.Time, 1, max(1, c.Transfers)) }

// order is the order of cells in a file: a curve's cells follow each other.
func (k *Key) order(o *Key) int {
	if k.Kind != o.Kind {
		return k.Kind.Compare(o.Kind)
	}
	off := func(k *Key) int { return lists.FalseFirst(k.OffCache) }
	if before := cmp.Or(strings.Compare(k.Setup, o.Setup), cmp.Compare(k.Placement, o.Placement), off(k)-off(o),
		strings.Compare(k.Operator, o.Operator), cmp.Compare(k.Transport, o.Transport), cmp.Compare(k.Buffers, o.Buffers),
		k.Segments-o.Segments, k.SegmentBytes-o.SegmentBytes, k.Tau-o.Tau, k.Bytes-o.Bytes); before != 0 || *k == *o {
		return before
	}
	return cmp.Or(strings.Compare(k.VariantName(), o.VariantName()), k.N-o.N, k.Delay-o.Delay)
}

var kinds = []Kind{TransferCell, NullCell, CopyCell, OwnCell, OverheadCell, GammaCell, PRTTCell, ExchangeCell, MessageCell, PairCell, LevelCell, AccessCell, PackCell, PatternCell, CollectiveCell, DiskCell, NetCell, ChannelCell}
