// Package mpibench reads what the two usual MPI benchmark suites print: Intel's
// IMB-MPI1 and Ohio State's OSU micro-benchmarks.
//
// Its opinion: a table says in its heading what it holds, so that columns are
// found by their names and not by their places, in any version of a suite; where
// times of several ranks are given, a collective lasts as long as its slowest
// rank, t_max and Max Latency; what cannot be compared with a prediction is left
// out with the reason, never silently; text around the tables, as launchers
// and job scripts print it, is no error; and what they print in front of each line,
// ranks and times, is none either.
package mpibench

// A Kind is what was measured: the name of a collective, or one of those below.
type Kind string

// Messages between neighbours.
const (
	Message  Kind = "message"  // one way between two ranks: half of a round trip
	Sendrecv Kind = "sendrecv" // every rank sends one message and receives one
	Exchange Kind = "exchange" // every rank sends to both neighbours and receives from both
)

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
	P            int // ranks that took part, 0 where the output does not say
	Bytes        int // m, as package collective counts it; 0 of a barrier
	Microseconds float64
	Line         int // of the file
}

// An Omission says what of an output is left out, and why.
type Omission struct {
	Benchmark string `json:"benchmark"`
	Line      int    `json:"line"` // the first
	Why       string `json:"why"`
}

// imb are the benchmarks of IMB-MPI1 by their names in lower case. Their sizes
// are those of MPI's arguments: a vector of a reduction, else a rank's block.
var imb = map[string]Kind{
	"pingpong": Message, "pingpongspecificsource": Message, "pingponganysource": Message,
	"pingping": Sendrecv, "pingpingspecificsource": Sendrecv, "pingpinganysource": Sendrecv,
	"sendrecv": Sendrecv, "exchange": Exchange,
	"bcast": "bcast", "scatter": "scatter", "gather": "gather", "allgather": "allgather",
	"alltoall": "alltoall", "reduce": "reduce", "allreduce": "allreduce", "barrier": "barrier",
}

// osu are the latency tests of OSU by their titles in lower case.
var osu = map[string]Kind{
	"": Message, "broadcast": "bcast", "bcast": "bcast", "scatter": "scatter", "gather": "gather",
	"allgather": "allgather", "all-to-all personalized exchange": "alltoall", "alltoall": "alltoall",
	"reduce": "reduce", "allreduce": "allreduce", "barrier": "barrier",
}
