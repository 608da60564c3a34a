package verify

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// against has a machine whose transfers take 1 ns a byte at every τ.
func against() Against { return Against{models: []Model{fixedModels()[1], fixedModels()[3]}} }

func TestAgainst(t *testing.T) {
	time := func(name string, kind mpibench.Kind, p, m int, us float64) mpibench.Time {
		return mpibench.Time{Suite: "IMB", Benchmark: name, Kind: kind, P: p, Bytes: m, Microseconds: us}
	}
	rows := must.Get(against().Compare([]mpibench.Time{
		time("PingPong", mpibench.Message, 2, 4096, 6), time("Sendrecv", mpibench.Sendrecv, 4, 4096, 10),
		time("Exchange", mpibench.Exchange, 4, 4096, 16), time("Bcast", "bcast", 4, 1024, 6),
		time("Barrier", "barrier", 3, 0, 1), time("PingPong", mpibench.Message, 2, 4096, 4), time("PingPong", mpibench.Message, 2, 4096, 5),
	}))
	for i, want := range []struct {
		name               string
		measured, taulop   float64
		algorithm, nearest string
	}{
		{"PingPong", 5000, 5120, "", ""},   // eq. (10): 2·1024 + 3·1024; the median of three
		{"Sendrecv", 10000, 8192, "", ""},  // eq. (17): 2k·L(S,P)
		{"Exchange", 16000, 16384, "", ""}, // twice that
		// Two stages of one segment, eq. (13), and three of the linear one.
		{"Bcast", 6000, 4096, "bcast:binomial", "bcast:linear"},
		{"Barrier", 1000, 0, "barrier:dissemination", "barrier:dissemination"}, // of those that take no time the one supposed
	} {
		r := rows[i]
		p := r.Predicted.Models[0]
		check.True(t, r.Benchmark == want.name && r.Measured.Center == want.measured && math.Abs(p.Ns-want.taulop) <= 1e-6 && r.Predicted.Algorithm == want.algorithm,
			"%+v, want %+v", r, want)
		check.Near(t, p.Error, (want.taulop-want.measured)/want.measured, 1e-9, "%s: error", r.Benchmark)
		check.True(t, (r.Nearest == nil) == (want.nearest == "") && (r.Nearest == nil || r.Nearest.Algorithm == want.nearest), "%s: nearest %+v", r.Benchmark, r.Nearest)
	}
	check.Equal(t, len(rows), 5, "rows")
}

// OSU divides its sizes by the ranks: of blocks without a byte nothing is predicted.
func TestTakeLeavesOutEmptyBlocks(t *testing.T) {
	printed := must.Get(mpibench.Read(strings.NewReader("# OSU MPI Reduce_scatter_block Latency Test v7.4\n# Size       Avg Latency(us)\n2 0.03\n4 3.1\n"), "osu.txt"))
	chosen := Chosen{P: []int{4}}
	times, leftOut := chosen.Take(printed.Times, nil)
	check.True(t, len(times) == 1 && times[0].Bytes == 1 && len(leftOut) == 1 && leftOut[0].Line == 3, "taken %+v, left out %+v", times, leftOut)
}

// A named algorithm is the only candidate. An algorithm that does not exist for that many ranks is no
// candidate, and is refused if named.
func TestAgainstAlgorithm(t *testing.T) {
	linear := must.Get(collective.Lookup("bcast:linear"))
	row := mpibench.Time{Suite: "OSU", Benchmark: "osu_bcast", Kind: "bcast", P: 6, Bytes: 1024, Microseconds: 10}
	a := against()
	a.Algorithm = map[string]mpi.Algorithm{"bcast": {Collective: linear.Collective, Textbook: linear}}
	rows, err := a.Compare([]mpibench.Time{row})
	check.True(t, err == nil && rows[0].Predicted.Algorithm == "bcast:linear" && rows[0].Nearest == nil, "%+v, %v", rows, err)
	rows, err = against().Compare([]mpibench.Time{row})
	check.True(t, err == nil && rows[0].Nearest != nil, "%+v, %v", rows, err)
	doubling := must.Get(collective.Lookup("allgather:recursive-doubling")) // there is no bcast that does not exist among 6
	a.Algorithm["bcast"] = mpi.Algorithm{Collective: doubling.Collective, Textbook: doubling}
	check.Error(t, must.Err(a.Compare([]mpibench.Time{row})), "recursive doubling among 6")
}

func TestAgainstMeans(t *testing.T) {
	row := func(name string, p int, nearest float64, errors ...float64) Compared {
		r := Compared{Suite: "IMB", Benchmark: name, P: p}
		for _, e := range errors {
			name := AgainstModels[len(r.Predicted.Models)]
			r.Predicted.Models = append(r.Predicted.Models, Prediction{Model: name, Error: e})
		}
		if nearest >= 0 {
			r.Nearest = &Candidate{Models: []Prediction{{Model: "log_nP"}, {Model: Full, Error: nearest}}}
		}
		return r
	}
	means := AgainstMeans([]Compared{
		row("Barrier", 2, -1, 0.1), row("PingPong", 2, -1, 0.7), // not all models predict these
		row("PingPong", 2, -1, 0.1, 0.2), row("Bcast", 2, 0.1, 0.4, 0.5), row("PingPong", 2, -1, 0.3, 0.4), row("Bcast", 2, 0.3, 0.4, 0.7), row("Bcast", 4, 0, 1, 1),
		row("Gather", 2, 0.1, 1, 1), row("Gather", 2, -1, 1, 1),
	})
	want := []struct {
		name                   string
		p, rows                int
		taulop, lognp, nearest float64
		withoutAnyOther        bool
	}{{"PingPong", 2, 2, 0.2, 0.3, 0, true}, {"Bcast", 2, 2, 0.4, 0.6, 0.2, false}, {"Bcast", 4, 1, 1, 1, 0, false}, {"Gather", 2, 2, 1, 1, 0, true}}
	check.Need(t, len(means) == len(want), "%+v", means)
	for i, w := range want {
		m := means[i]
		check.True(t, m.Benchmark == w.name && m.P == w.p && m.Rows == w.rows && math.Abs(m.Errors[0]-w.taulop) <= 1e-9 && math.Abs(m.Errors[1]-w.lognp) <= 1e-9 &&
			(m.Nearest == nil) == w.withoutAnyOther && (m.Nearest == nil || math.Abs(*m.Nearest-w.nearest) <= 1e-9), "%+v, want %+v", m, w)
	}
}

// Predictions that need a time of 0 are left out: they have no row in the means, and no algorithm is
// the nearest by them.
func TestAgainstKnowsZeros(t *testing.T) {
	a := against()
	a.models[0].in[false] = zero{below: 4096, Coster: a.models[0].in[false]}
	rows := must.Get(a.Compare([]mpibench.Time{
		{Benchmark: "PingPong", Kind: mpibench.Message, P: 2, Bytes: 1024, Microseconds: 1},
		{Benchmark: "Bcast", Kind: "bcast", P: 4, Bytes: 1024, Microseconds: 1},
		{Benchmark: "Bcast", Kind: "bcast", P: 4, Bytes: 4096, Microseconds: 1},
	}))
	for i, r := range rows {
		_, full := found(r.Predicted.Models, Full)
		_, lognp := found(r.Predicted.Models, "log_nP")
		check.True(t, full == (i == 2) && lognp && (r.Nearest != nil) == (i == 2),
			"%s, m = %d: %+v, nearest %+v", r.Benchmark, r.Bytes, r.Predicted, r.Nearest)
	}
	means := AgainstMeans(rows)
	check.True(t, len(means) == 1 && means[0].Benchmark == "Bcast" && means[0].Rows == 1, "%+v", means)
}

// zero is a model that needs a time of 0 for calls below a number of bytes.
type zero struct {
	below int
	model.Coster
}

func (z zero) Cost(s *collective.Schedule) (model.Cost, error) {
	c, err := z.Coster.Cost(s)
	c.Unknown = s.Call.M < z.below
	return c, err
}

// Messages have two buffers in each rank, broadcasts one.
func TestAgainstContext(t *testing.T) {
	for kind, want := range map[mpibench.Kind]int{mpibench.Message: 2048, mpibench.Sendrecv: 2048, mpibench.Exchange: 2048, "bcast": 1024} {
		seen := &recorder{}
		a := Against{models: []Model{{Name: Full, in: map[bool]model.Coster{false: seen}}}}
		must.Get(a.Compare([]mpibench.Time{{Kind: kind, P: 2, Bytes: 1024, Microseconds: 1}}))
		check.Equal(t, seen.touched, want, "%s: ranks touch: bytes", kind)
	}
}

// A recorder is a model that records the footprint of the first schedule.
type recorder struct{ touched int }

func (r *recorder) Cost(s *collective.Schedule) (model.Cost, error) {
	r.touched = cmp.Or(r.touched, s.Footprint(0))
	return model.Cost{}, nil
}

// bothWays is a file in which a byte takes 1 ns through segments of 4 KiB, and 3 ns by single copies; a flag 10 ns.
func bothWays() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{params.Ring, params.Ping}, Policies: []numa.Policy{numa.Local},
		Caches: []bool{false}, Sizes: []int{1024, 4096, 1 << 20}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 4096}}
	for _, setup := range f.Plan.Setups {
		for _, tau := range f.Plan.Taus {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NullCell, Setup: setup, Placement: numa.Local, Tau: tau}, Time: fit.Estimate{Center: 10, Lo: 10, Hi: 10}})
			for _, m := range f.Plan.Sizes {
				key := params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m}
				f.Cells = append(f.Cells, params.Cell{Key: key, K: max(1, m/4096), Transfers: 1, Time: fit.Estimate{Center: float64(m), Lo: float64(m), Hi: float64(m)}})
				key.Transport, key.Buffers = params.CMA, params.Unchanged
				f.Cells = append(f.Cells, params.Cell{Key: key, K: 1, Transfers: 1, Time: fit.Estimate{Center: float64(3 * m), Lo: float64(3 * m), Hi: float64(3 * m)}})
			}
		}
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 1024, Variant: params.Segmented}, Time: fit.Estimate{Center: 1e9, Lo: 1e9, Hi: 1e9}})
	return f
}

// o(m) is the time of ping-pongs beyond the library's transfers: by size for messages of one segment,
// and for single copies the shortest message's, from which longer ones are predicted.
func TestOverheads(t *testing.T) {
	library := must.Get(mpi.Named("openmpi4"))
	of := func(name string, kind mpibench.Kind, ns map[int]float64) (times []mpibench.Time) {
		for m, t := range ns {
			times = append(times, mpibench.Time{Suite: "IMB", Benchmark: name, Kind: kind, P: 2, Printed: m, Bytes: m, Microseconds: t / 1e3})
		}
		return times
	}
	exchanges := of("Sendrecv", mpibench.Sendrecv, map[int]float64{1024: 2*1024 + 500, 8192: 3*8192 + 900})
	times := append(of("PingPong", mpibench.Message, map[int]float64{1024: 2*1024 + 300, 2048: 2*2048 + 400, 8192: 3*8192 + 700, 65536: 3*65536 + 9000, 1 << 30: 1}), exchanges...)
	choice := model.Choice{As: library, Buffers: params.Unchanged}
	f := bothWays()
	must.Do(Overheads(f, choice, times))
	must.Do(f.Validate())
	a := must.Get(NewAgainst(f, choice))
	check.Empty(t, must.Get(a.Compare(times[:0:0])), "rows of nothing")
	for kind, times := range map[mpibench.Kind]map[int]float64{
		mpibench.Message:  {1024: 2*1024 + 300, 8192: 3*8192 + 700, 65536: 3*65536 + 700, 1 << 20: 3*(1<<20) + 700},
		mpibench.Sendrecv: {1024: 2*1024 + 500, 65536: 3*65536 + 900},
	} {
		for m, want := range times {
			rows := must.Get(a.Compare([]mpibench.Time{{Kind: kind, P: 2, Bytes: m, Microseconds: 1}}))
			p, _ := found(rows[0].Predicted.Models, Full)
			check.True(t, math.Abs(p.Ns-want) <= 1e-6*want, "%s, m = %d: %g ns, want %g", kind, m, p.Ns, want)
		}
	}
	check.Error(t, Overheads(bothWays(), choice, exchanges), "o(m) of exchanges alone")
	check.Error(t, Overheads(bothWays(), choice, nil), "o(m) of no ping-pong")
}

// A collective is predicted as the algorithm that the library chooses.
func TestOwn(t *testing.T) {
	try := func(library string, kind mpibench.Kind, m int, want string) {
		t.Helper()
		a := must.Get(NewAgainst(bothWays(), model.Choice{As: must.Get(mpi.Named(library)), Buffers: params.Unchanged}))
		rows := must.Get(a.Compare([]mpibench.Time{{Kind: kind, P: 2, Bytes: m, Microseconds: 1}}))
		check.Equal(t, rows[0].Predicted.Algorithm, want, "%s, %s, m = %d", library, kind, m)
	}
	try("mpich4", "allgather", 1024, "allgather:recursive_doubling")
	try("mpich4", "alltoall", 1024, "alltoall:scattered")
	try("mpich4", "gather", 1024, "gather:binomial") // a textbook's: not known
	try("openmpi4", "allgather", 1024, "allgather:6 two_proc")
	try("openmpi4-none", "bcast", 4096, "bcast:1 basic_linear")
}
