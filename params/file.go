package params

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// A File is a native parameter file, see docs/parameter-file.md: the results of a sweep, which may be
// unfinished.
type File struct {
	Format     string           `json:"format"`  // Format
	Version    int              `json:"version"` // of the format
	Provenance Provenance       `json:"provenance"`
	Plan       Plan             `json:"plan"`
	Placements []numa.Placement `json:"placements"` // of the largest τ, one of each policy
	Networks   []Network        `json:"networks,omitempty"`
	Complete   bool             `json:"complete"` // every cell of the plan has its samples
	Seconds    float64          `json:"seconds"`  // of measuring, over all resumptions
	// Persistence is fit.Persistence of the launches of one session, each cell in one state; 0 of several sessions.
	Persistence float64  `json:"persistence,omitzero"`
	Warnings    []string `json:"warnings"`
	Launches    []Launch `json:"launches"`
	Watches     []Watch  `json:"watches,omitempty"`
	Journal     string   `json:"journal,omitempty"` // mark of the journal with samples that are not in the file yet
	Cells       []Cell   `json:"cells"`

	state      *State // see State
	throughout bool   // a result of Throughout, or resampled from one
}

// Format and Version are written to files. Other versions are refused. The version grows whenever readers
// of the one before would misunderstand the file.
const (
	Format  = "taulop parameters"
	Version = 1
)

// A Plan is what a sweep measures. A sweep can be resumed with the same plan only.
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
	OwnCacheBytes int `json:"own_cache_bytes,omitempty"`
	// ArenaCaches is the size of a worker's arena off cache, over the bytes of a worker that caches hold;
	// 0: arenas are twice the last-level cache, over the workers that share it.
	ArenaCaches float64  `json:"arena_caches,omitempty"`
	Operators   []string `json:"operators,omitempty"` // of γ, in order; none: the customary ones
	Budget      float64  `json:"budget_s"`
	Width       float64  `json:"width"`              // relative half-width at which a cell is done
	Copy        string   `json:"copy"`               // instructions that copy
	NoGamma     bool     `json:"no_gamma,omitempty"` // reduction operators are left out
	With        []string `json:"with,omitempty"`     // surveys: pairs, pack, copy, access, cma
	// Whole: messages were timed from outside an MPI library. However it cuts a message, one through
	// shared memory counts as two transfers: T(m) = o(m) + 2L(m,τ).
	Whole bool `json:"whole,omitempty"`
	// Transfers are also measured with each of these numbers and sizes of segments.
	MoreSegments     []int `json:"more_segments,omitempty"`
	MoreSegmentBytes []int `json:"more_segment_bytes,omitempty"`
}

// A Kind is the quantity that a cell measures.
type Kind string

// Kinds of this package; surveys have others. All times of a file are in ns.
const (
	TransferCell   Kind = "transfer"   // Time is l(k,τ), a message of Bytes in K segments
	NullCell       Kind = "null"       // Time is y(τ), a transfer of nothing
	CopyCell       Kind = "copy"       // Time is c(m,τ), a copy of Bytes, no flags
	OwnCell        Kind = "own"        // Time is a copy of Bytes from a rank's send buffer to its receive buffer
	OverheadCell   Kind = "overhead"   // Time is o(m), before the first byte moves: published or of an MPI library
	GammaCell      Kind = "gamma"      // Time is γ(m,τ), an Operator over two vectors of Bytes
	PRTTCell       Kind = "prtt"       // Time is PRTT(n,d,m), parametrised round trips, for LogGP; with Variant Receiver, see there
	ExchangeCell   Kind = "exchange"   // Time is an exchange of two ranks over idle channels: o(m) of exchanges and their transfers
	MessageCell    Kind = "message"    // Time is T(m), a message alone over idle channels, o(m) and its transfers; Variant Segmented
	PairCell       Kind = "pair"       // Time is one way between two CPUs, Variant "0-2"; m = 0 is a null transfer
	LevelCell      Kind = "level"      // Time is c(m,τ) between levels of the memory, Variant "L2-memory"
	LoadedCell     Kind = "loaded"     // Time is a latency under load, Variant "read-25", or the load's time for 64 bytes, "rate-read-25"
	AccessCell     Kind = "access"     // Time is a pass over Bytes of an array, Variant "read-int32-16"
	PackCell       Kind = "pack"       // Time is of a message that is not contiguous, Variant "4K8S"
	PatternCell    Kind = "pattern"    // Time is a message of Bytes while all ranks follow a pattern, Variant "permutation-1"
	CollectiveCell Kind = "collective" // Time is a collective of Bytes among Tau ranks, Variant "bcast:binomial"
	DiskCell       Kind = "disk"       // Time is a transfer of Bytes from or to a file, Variant "read-direct"
	NetCell        Kind = "net"        // Time is a parameter of a Network, such as L(m,τ), Variant "eth0:L"
	ChannelCell    Kind = "channel"    // Time is a parameter of a published level of the machine, Variant "same_l3:T"
)

// A Key identifies a cell: no two cells of a file have the same.
type Key struct {
	Kind      Kind        `json:"kind"`
	Setup     string      `json:"setup,omitzero"` // transfer and null: ring, bcast, ping, isolated; copy: share, all from one buffer, or none
	Placement numa.Policy `json:"placement"`
	OffCache  bool        `json:"off_cache,omitzero"`
	Tau       int         `json:"tau"`               // gamma: 0 stands for any
	Bytes     int         `json:"bytes"`             // m
	Operator  string      `json:"operator,omitzero"` // gamma: as in the published files, SUM_I
	Variant   Variant     `json:"variant,omitzero"`  // message, prtt and kinds of surveys
	N         int         `json:"n,omitzero"`        // prtt: messages that the client sends
	Delay     int         `json:"delay_ns,omitzero"` // prtt: d, between them
	// Transfer and null: the number and size of segments; 0: as in the plan's first buffers.
	Segments     int `json:"segments,omitzero"`
	SegmentBytes int `json:"segment_bytes,omitzero"`
	// Transfer and null; Transport is of overhead, too.
	Transport Transport `json:"transport,omitzero"`
	Buffers   Buffers   `json:"buffers,omitzero"`
}

// Isolated is the setup of L(m,1) between two processes: two workers, of which one at a time copies.
const Isolated = "isolated"

// Setups that models distinguish: Ring and Sendrecv are exchanges, the latter of data that was not touched
// before; Ping is one-way messages; in Bcast all read one worker's message.
const (
	Ring     = "ring"
	Ping     = "ping"
	Sendrecv = "sendrecv"
	Bcast    = "bcast"
)

// Segmented is the variant of messages that go through channels segment by segment.
const Segmented = Name("segmented")

// Receiver is the variant of round trips whose Time is LogGP's o of the receiver: from the arrival of a
// message until it can wait for the next.
const Receiver = Name("receiver")

// Published is the setup and placement of cells from a published file, which does not say how they were
// measured.
const Published = "published"

// String describes the cell in a sentence.
func (k Key) String() string {
	return string(k.Kind) + printable.If(k.Setup != "", " of "+k.Setup) +
		printable.If(k.Operator != "", " of "+k.Operator) + printable.If(k.Variant != nil, " "+k.VariantName()) +
		fmt.Sprintf(", %s, τ = %d, m = %d", Where(k.Placement, k.OffCache), k.Tau, k.Bytes) +
		printable.If(k.Segments > 0, fmt.Sprintf(", %d segments", k.Segments)) +
		printable.If(k.SegmentBytes > 0, fmt.Sprintf(", segments of %d bytes", k.SegmentBytes)) +
		printable.If(k.Transport != InSegments, ", over "+string(k.Transport)) +
		printable.If(k.Buffers != Rewritten, ", buffers "+string(k.Buffers)) +
		printable.If(k.Kind == PRTTCell, fmt.Sprintf(", n = %d, d = %d ns", k.N, k.Delay))
}

// Where describes a placement and state of the cache in a sentence.
func Where(placement numa.Policy, offCache bool) string {
	return printable.Either(placement != "", "placement "+string(placement), "any placement") + ", " + printable.Cache(offCache)
}

// A Cell is the measured time of a Key.
type Cell struct {
	Key
	K         int          `json:"k,omitempty"`         // transfer: segments of the message
	Transfers int          `json:"transfers,omitempty"` // transfer: consecutive transfers of a segment: l = Transfers·k·L
	Time      fit.Estimate `json:"time_ns"`
	Samples   []Sample     `json:"samples,omitempty"` // in the order of time; none in published files
}

// A cellText is the JSON of a cell in files. Its keyText lacks Key's method for JSON.
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
		digits int // to write
	}
	samplesText []Sample
)

// Segment is L(S,τ) of a segment of the message, S ≤ Bytes: l/(Transfers·k), ns.
func (c Cell) Segment() fit.Estimate { return fit.Transfer(c.Time, max(1, c.K), max(1, c.Transfers)) }

// Whole is the effective transfer time of the whole message, L(m,τ): l/Transfers, ns.
func (c Cell) Whole() fit.Estimate { return fit.Transfer(c.Time, 1, max(1, c.Transfers)) }

// order compares keys in the order of files, in which the cells of a curve are adjacent.
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
