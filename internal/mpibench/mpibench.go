// Package mpibench reads what the two usual MPI benchmark suites print: Intel's
// IMB-MPI1 and Ohio State's OSU micro-benchmarks.
//
// Its opinion: a table says in its heading what it holds, so that columns are found by their names and
// not by their places, in any version of a suite; where times of several ranks are given, a collective
// lasts as long as its slowest rank, t_max and Max Latency; what cannot be compared with a prediction
// is left out with the reason, never silently; text around the tables, as launchers and job scripts
// print it, is no error; and what they print in front of each line, ranks and times, is none either.
package mpibench

import "github.com/taulop/taulop/collective"

// A Kind is what was measured: the name of a collective, or one of those below.
type Kind string

// Messages between neighbours. Of messages and streams several pairs of ranks may be at it
// at once, P/2 of them.
const (
	Message  Kind = "message"  // one way between the two ranks of a pair: half of a round trip
	Sendrecv Kind = "sendrecv" // every rank sends one message and receives one
	Exchange Kind = "exchange" // every rank sends to both neighbours and receives from both
	Stream   Kind = "stream"   // the gap between two messages of a sender that does not wait for each: no message's time
)

// Reduction is one vector reduced into another by each of P ranks at once, which sends
// nothing: MPI_Reduce_local.
const Reduction Kind = "reduction"

// MostPairs is how many pairs of ranks may exchange messages at once.
const MostPairs = maxRanks / 2

// Results are what an output holds.
type Results struct {
	Times   []Time
	LeftOut []Omission
}

// A Time is a row of a table.
type Time struct {
	Suite        string // IMB or OSU
	Benchmark    string // as the suite names it
	Kind         Kind
	Operator     string // of a Reduction, as package reduce names it: SUM_F
	P            int    // ranks that took part, of all groups at once; 0 where the output does not say, see Among
	Printed      int    // size in the table; 0 of a barrier
	Bytes        int    // m, as package collective counts it; where P is not known, Printed
	Microseconds float64
	Line         int // of the file

	of    *collective.Benchmark
	title int // line of its table's title
}

// An Omission says what of an output is left out, and why.
type Omission struct {
	Benchmark string `json:"benchmark"`
	Line      int    `json:"line"` // the first
	Why       string `json:"why"`
}

// others are the benchmarks of messages between neighbours and of what a rank does by
// itself; those of collectives are the collectives' own.
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

var collectives = collective.Collectives()

// called finds a benchmark by the title of its table and the version of its suite.
// The kind is empty if there is none.
func called(suite, title string, version int) (Kind, *collective.Benchmark) {
	for kind, of := range others {
		if b := collective.BenchmarkOf(of, suite, title, version); b != nil {
			return kind, b
		}
	}
	for _, c := range collectives {
		if b := collective.BenchmarkOf(c.Benchmarks, suite, title, version); b != nil {
			return Kind(c.Name), b
		}
	}
	return "", nil
}

// SayPairs says how many pairs of ranks exchanged the messages of each table that does not
// say it, those of osu_multi_lat, in the order of the tables. It returns the numbers that
// are left, and the first of the tables that there is none for, 0 if there is for all.
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

// Empty tells whether a kind's messages have no bytes, so that no sizes are printed.
func (k Kind) Empty() bool {
	c := collective.Named(string(k))
	return c != nil && c.Empty()
}

// Among is the time among p ranks, where the output does not say how many.
func (t Time) Among(p int) Time {
	t.P, t.Bytes = p, t.Printed
	if t.of != nil && t.of.M != nil {
		t.Bytes = t.of.M(t.Printed, p)
	}
	return t
}
