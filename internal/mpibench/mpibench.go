// Package mpibench reads the output of the two common MPI benchmark suites: Intel's IMB-MPI1 and Ohio
// State's OSU micro-benchmarks.
//
// Its opinion: columns are found by name, not by place, so that any version of a suite can be read; a
// collective lasts as long as its slowest rank, t_max and Max Latency; tables that cannot be compared
// with predictions are left out with a reason; and text of launchers and job scripts is no error,
// around tables or in front of each line.
package mpibench

import (
	"slices"

	"github.com/taulop/taulop/collective"
)

// A Kind is the measured operation: the name of a collective, or one of the following.
type Kind string

// Messages between neighbours. Messages and streams may have P/2 concurrent pairs of ranks.
const (
	Message  Kind = "message"  // one way between the ranks of a pair: half of a round trip
	Sendrecv Kind = "sendrecv" // every rank sends one message and receives one
	Exchange Kind = "exchange" // every rank sends to both neighbours and receives from both
	Stream   Kind = "stream"   // the gap between consecutive messages of a window, not a message's time
)

// Reduction is MPI_Reduce_local by P ranks at once, without messages.
const Reduction Kind = "reduction"

// MostPairs is the largest number of concurrent pairs of ranks.
const MostPairs = maxRanks / 2

// Results are the content of an output.
type Results struct {
	Times   []Time
	LeftOut []Omission
	// OffCache: IMB was started with its option for buffers off cache, which its tables do not name.
	OffCache bool
}

// A Time is a row of a table.
type Time struct {
	Suite        string // IMB or OSU
	Benchmark    string // the suite's name
	Kind         Kind
	Operator     string // of a Reduction, package reduce's name: SUM_F
	P            int    // ranks of all groups together; 0: unknown, see Among
	Printed      int    // size in the table; 0 for a barrier
	Bytes        int    // m, in the sense of package collective; without P, Printed
	Microseconds float64
	Line         int // of the file

	of    *collective.Benchmark
	title int // line of its table's title
}

// An Omission is a part of an output that is left out, and the reason.
type Omission struct {
	Benchmark string `json:"benchmark"`
	Line      int    `json:"line"` // the first
	Why       string `json:"why"`
}

// has reports whether a benchmark's omission for a reason is among all.
func has(all []Omission, benchmark, why string) bool {
	return slices.ContainsFunc(all, func(o Omission) bool { return o.Benchmark == benchmark && o.Why == why })
}

// others are the benchmarks of messages between neighbours and of reductions. The collectives have
// their own benchmarks.
var others = map[Kind][]collective.Benchmark{
	Message: {
		{Suite: "IMB", Name: "PingPong", Titles: []string{"PingPong", "PingPongSpecificSource", "PingPongAnySource"}},
		{Suite: "OSU", Name: "osu_latency", Titles: []string{"Latency"}},
		{Suite: "OSU", Name: "osu_multi_lat", Titles: []string{"Multi Latency"}},
	},
	Sendrecv: {
		{Suite: "IMB", Name: "PingPing", Titles: []string{"PingPing", "PingPingSpecificSource", "PingPingAnySource"}},
		{Suite: "IMB", Name: "Sendrecv"},
	},
	Exchange: {{Suite: "IMB", Name: "Exchange"}},
	Stream: {
		{Suite: "OSU", Name: "osu_bw", Titles: []string{"Bandwidth"}},
		{Suite: "OSU", Name: "osu_mbw_mr", Titles: []string{"Multiple Bandwidth / Message Rate"}},
	},
	Reduction: {{Suite: "IMB", Name: "Reduce_local"}},
}

// called finds a benchmark by the title of its table and the version of its suite. The kind of an
// unknown one is "".
func called(suite, title string, version int) (Kind, *collective.Benchmark) {
	for kind, benchmarks := range others {
		if b := collective.BenchmarkOf(benchmarks, suite, title, version); b != nil {
			return kind, b
		}
	}
	for _, c := range collective.Collectives() {
		if b := collective.BenchmarkOf(c.Benchmarks, suite, title, version); b != nil {
			return Kind(c.Name), b
		}
	}
	return "", nil
}

// SayPairs gives the number of pairs of each table without one, as of osu_multi_lat, in the order of the
// tables. It returns the unused numbers, and the title line of the first table that lacks one, 0
// if none does.
func (r *Results) SayPairs(pairs []int) (left []int, lacking int) {
	title := 0
	for i := range r.Times {
		t := &r.Times[i]
		if t.P > 0 || t.Kind != Message {
			continue
		}
		if t.title != title {
			if len(pairs) == 0 {
				return nil, t.title
			}
			title, left, pairs = t.title, pairs[:1], pairs[1:]
		}
		*t = t.Among(2 * left[0])
	}
	return pairs, 0
}

// Empty reports whether a kind's messages have no bytes, so that tables have no sizes.
func (k Kind) Empty() bool {
	c := collective.Named(string(k))
	return c != nil && c.Empty()
}

// Among is the time with p ranks, for outputs without the number.
func (t Time) Among(p int) Time {
	t.P, t.Bytes = p, t.Printed
	if t.of != nil && t.of.M != nil {
		t.Bytes = t.of.M(t.Printed, p)
	}
	return t
}
