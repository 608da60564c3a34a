package collective

import (
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// Collective is the semantics of a collective, independent of its algorithms. Buffer sizes, verification,
// default algorithms, help and the reading of benchmarks' output follow from it: a new collective is
// such a value and its algorithms in one file.
type Collective struct {
	Name  string // such as "bcast"
	About string // its effect, a clause
	M     string // meaning of m in a call; "": messages are empty

	Rooted  bool // one rank is the root
	Shifted bool // calls have a Distance
	Reduces bool // ranks combine what they receive; models need γ

	// Brings is a rank's contribution: the first bytes of its Send, or of its Recv, where it stays. Nil:
	// ranks contribute nothing.
	Brings func(c Call, rank int) Span
	// Promise is the content of a rank's Recv after the call, part after part from its first byte to its
	// last (MPI-3.1, chapter 5). Nil: nothing.
	Promise func(c Call, rank int) []Part

	// Default is the algorithm that is verified, and assumed for benchmarks, unless another is named.
	Default string
	// Benchmarks measure the collective. Of several with the same title the first applies whose Since is
	// not after the suite's version.
	Benchmarks []Benchmark
}

// A Part is a range of bytes of several ranks' contributions in a buffer, concatenated by rank or reduced.
type Part struct {
	From, Ranks int // From, From+1 … From+Ranks−1
	At, Bytes   int // range within each contribution
	Reduced     bool
}

// Size is the part's size in bytes.
func (p Part) Size() int {
	if p.Reduced {
		return p.Bytes
	}
	return p.Ranks * p.Bytes
}

// A Benchmark is a benchmark of a suite, as its output names it.
type Benchmark struct {
	Suite  string   // IMB or OSU
	Name   string   // Bcast of IMB, osu_bcast of OSU
	Titles []string // of its tables, in any case; Name if there are none
	Since  int      // first version of the suite, a year, with this meaning of sizes; 0: all
	// M converts a printed size to m among p ranks; nil: they are equal.
	M func(size, p int) int
}

func (c *Collective) String() string { return c.Name }

// Empty reports whether messages have no bytes, whatever m is.
func (c *Collective) Empty() bool { return c.Promise == nil }

// Algorithms are the collective's algorithms, in order.
func (c *Collective) Algorithms() (of []*Algorithm) {
	return lists.Filter(All(), func(a *Algorithm) bool { return a.Collective == c })
}

// DefaultAlgorithm is the algorithm of that name.
func (c *Collective) DefaultAlgorithm() *Algorithm { return find(c.Name + ":" + c.Default) }

// Collectives are the collectives with an algorithm, by name.
func Collectives() (all []*Collective) {
	all = lists.Map(All(), func(a *Algorithm) *Collective { return a.Collective })
	return slices.Compact(all)
}

// Names are the names of collectives, in the given order.
func Names(of []*Collective) (names []string) {
	return lists.Map(of, func(c *Collective) string { return c.Name })
}

// Named finds a collective by its name, or nil.
func Named(name string) *Collective {
	i := slices.IndexFunc(known, func(a *Algorithm) bool { return a.Collective.Name == name })
	if i < 0 {
		return nil
	}
	return known[i].Collective
}

// BenchmarkOf finds a benchmark by its table's title and its suite's version, or nil.
func BenchmarkOf(all []Benchmark, suite, title string, version int) *Benchmark {
	for i := range all {
		b := &all[i]
		titled := len(b.Titles) == 0 && strings.EqualFold(title, b.Name) ||
			slices.ContainsFunc(b.Titles, func(t string) bool { return strings.EqualFold(t, title) })
		if titled && b.Suite == suite && version >= b.Since {
			return b
		}
	}
	return nil
}

// measured are the benchmarks of a collective with one name in both suites, whose sizes are m. OSU may
// have further titles.
func measured(name string, titles ...string) []Benchmark {
	return []Benchmark{
		{Suite: "IMB", Name: name},
		{Suite: "OSU", Name: "osu_" + strings.ToLower(name), Titles: append(titles, name)},
	}
}

// sendsOne is m bytes of every rank.
func sendsOne(c Call, _ int) Span { return Span{Send, 0, c.M} }

// sendsAll is m bytes of every rank for each rank.
func sendsAll(c Call, _ int) Span { return Span{Send, 0, c.P * c.M} }

// rootSendsOne is m bytes of the root.
var rootSendsOne = rootBrings(sendsOne)

// rootSendsAll is m bytes of the root for each rank.
var rootSendsAll = rootBrings(sendsAll)

// rootBrings is a contribution of the root alone.
func rootBrings(brings func(c Call, rank int) Span) func(c Call, rank int) Span {
	return func(c Call, rank int) Span {
		if rank != c.Root {
			return Span{}
		}
		return brings(c, rank)
	}
}

// rootGets is a result at the root alone: m bytes of each rank, concatenated or reduced.
func rootGets(reduced bool) func(c Call, rank int) []Part {
	return func(c Call, rank int) []Part {
		if rank != c.Root {
			return nil
		}
		return []Part{{Ranks: c.P, Bytes: c.M, Reduced: reduced}}
	}
}
