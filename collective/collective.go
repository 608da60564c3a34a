package collective

import (
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// Collective is what a collective does, whichever algorithm carries it out. Buffer sizes,
// checks of results, default algorithms, help and the reading of benchmarks' output come from
// it, so a new collective is a value of this type and its algorithms, in one file.
type Collective struct {
	Name  string // such as "bcast"
	About string // what it does, a clause
	M     string // what the m of a call counts, "" where messages are empty

	Rooted  bool // one rank is the root
	Shifted bool // a call has a Distance
	Reduces bool // ranks combine what they receive, for which a model needs γ

	// Brings is where a rank's contribution lies before the call: the first bytes of its Send,
	// or of its Recv, where it then stays. Nil: ranks bring nothing.
	Brings func(c Call, rank int) Span
	// Promise is what a rank's Recv holds afterwards, one part after another from
	// its first byte to its last (MPI-3.1, chapter 5). A nil function promises
	// nothing.
	Promise func(c Call, rank int) []Part

	// Default is the name of the algorithm that is verified, and assumed of a benchmark, unless
	// another is named.
	Default string
	// Benchmarks measure the collective. Of two with one title the first counts that is not
	// newer than the suite.
	Benchmarks []Benchmark
}

// A Part is what some ranks contribute to a buffer: the same bytes of each one's
// contribution, one rank after another, or combined into one.
type Part struct {
	From, Ranks int // From, From+1 … From+Ranks−1
	At, Bytes   int // of each one's contribution
	Reduced     bool
}

// Size is the bytes of a part.
func (p Part) Size() int {
	if p.Reduced {
		return p.Bytes
	}
	return p.Ranks * p.Bytes
}

// A Benchmark is one of a suite of MPI benchmarks.
type Benchmark struct {
	Suite  string   // IMB or OSU
	Name   string   // Bcast of IMB, osu_bcast of OSU
	Titles []string // of its tables, in any case; Name if there are none
	Since  int      // first version, a year, that counts sizes in this way; 0 for all
	// M is the m of a size that it prints, among p ranks; nil if they are the same.
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

// Collectives returns the collectives that have an algorithm, by name.
func Collectives() (all []*Collective) {
	all = lists.Map(All(), func(a *Algorithm) *Collective { return a.Collective })
	return slices.Compact(all)
}

// Names returns the names of collectives.
func Names(of []*Collective) (names []string) {
	return lists.Map(of, func(c *Collective) string { return c.Name })
}

// Named finds a collective by its name; it is nil if there is none.
func Named(name string) *Collective {
	i := slices.IndexFunc(known, func(a *Algorithm) bool { return a.Collective.Name == name })
	if i < 0 {
		return nil
	}
	return known[i].Collective
}

// BenchmarkOf finds a benchmark by the title of its table and the version of its
// suite; it is nil if there is none.
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

// measured are the benchmarks of a collective that both suites call by one name,
// and count as calls do; OSU may have other titles.
func measured(name string, titles ...string) []Benchmark {
	return []Benchmark{
		{Suite: "IMB", Name: name},
		{Suite: "OSU", Name: "osu_" + strings.ToLower(name), Titles: append(titles, name)},
	}
}

// The contributions that several collectives have in common.

// sendsOne is m bytes of every rank.
func sendsOne(c Call, _ int) Span { return Span{Send, 0, c.M} }

// sendsAll is m bytes of every rank for each rank.
func sendsAll(c Call, _ int) Span { return Span{Send, 0, c.P * c.M} }

// rootSendsOne is m bytes of the root.
var rootSendsOne = rootBrings(sendsOne)

// rootSendsAll is m bytes of the root for each rank.
var rootSendsAll = rootBrings(sendsAll)

// rootBrings is what the root alone brings.
func rootBrings(brings func(c Call, rank int) Span) func(c Call, rank int) Span {
	return func(c Call, rank int) Span {
		if rank != c.Root {
			return Span{}
		}
		return brings(c, rank)
	}
}

// rootGets is what the root alone gets: m bytes of all ranks, or of all combined.
func rootGets(reduced bool) func(c Call, rank int) []Part {
	return func(c Call, rank int) []Part {
		if rank != c.Root {
			return nil
		}
		return []Part{{Ranks: c.P, Bytes: c.M, Reduced: reduced}}
	}
}
