package verify

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
)

// against has a machine whose transfers take 1 ns a byte at every τ.
func against() Against {
	return Against{models: []Model{fixedModels()[1], fixedModels()[3]}}
}

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
		name             string
		measured, taulop float64
		algorithm        string
		nearest          string
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
		if r.Benchmark != want.name || r.Measured.Center != want.measured || math.Abs(p.Ns-want.taulop) > 1e-6 || r.Predicted.Algorithm != want.algorithm {
			t.Errorf("%+v, want %+v", r, want)
		}
		check.Near(t, p.Error, (want.taulop-want.measured)/want.measured, 1e-9, "%s: error", r.Benchmark)
		nearest := ""
		if r.Nearest != nil {
			nearest = r.Nearest.Algorithm
		}
		check.Equal(t, nearest, want.nearest, "%s: nearest", r.Benchmark)
	}
	check.Equal(t, len(rows), 5, "rows")
}

// OSU divides its sizes by the ranks: of blocks without a byte nothing is predicted.
func TestTakeLeavesOutEmptyBlocks(t *testing.T) {
	printed := must.Get(mpibench.Read(strings.NewReader("# OSU MPI Reduce_scatter_block Latency Test v7.4\n# Size       Avg Latency(us)\n2 0.03\n4 3.1\n"), "osu.txt"))
	chosen := Chosen{P: []int{4}}
	times, leftOut := chosen.Take(printed.Times, nil)
	if len(times) != 1 || times[0].Bytes != 1 || len(leftOut) != 1 || leftOut[0].Line != 3 {
		t.Errorf("taken %+v, left out %+v", times, leftOut)
	}
}

// A named algorithm is the only candidate. An algorithm that does not exist for that many ranks is no
// candidate, and is refused if named.
func TestAgainstAlgorithm(t *testing.T) {
	linear := must.Get(collective.Lookup("bcast:linear"))
	row := mpibench.Time{Suite: "OSU", Benchmark: "osu_bcast", Kind: "bcast", P: 6, Bytes: 1024, Microseconds: 10}
	a := against()
	a.Algorithm = map[string]mpi.Algorithm{"bcast": {Collective: linear.Collective, Textbook: linear}}
	rows, err := a.Compare([]mpibench.Time{row})
	if err != nil || rows[0].Predicted.Algorithm != "bcast:linear" || rows[0].Nearest != nil {
		t.Errorf("%+v, %v", rows, err)
	}
	if rows, err = against().Compare([]mpibench.Time{row}); err != nil || rows[0].Nearest == nil {
		t.Errorf("%+v, %v", rows, err)
	}
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
		name            string
		p, rows         int
		taulop, lognp   float64
		nearest         float64
		withoutAnyOther bool
	}{{"PingPong", 2, 2, 0.2, 0.3, 0, true}, {"Bcast", 2, 2, 0.4, 0.6, 0.2, false}, {"Bcast", 4, 1, 1, 1, 0, false}, {"Gather", 2, 2, 1, 1, 0, true}}
	if len(means) != len(want) {
		t.Fatalf("%+v", means)
	}
	for i, w := range want {
		m := means[i]
		if m.Benchmark != w.name || m.P != w.p || m.Rows != w.rows || math.Abs(m.Errors[0]-w.taulop) > 1e-9 || math.Abs(m.Errors[1]-w.lognp) > 1e-9 ||
			(m.Nearest == nil) != w.withoutAnyOther || m.Nearest != nil && math.Abs(*m.Nearest-w.nearest) > 1e-9 {
			t.Errorf("%+v, want %+v", m, w)
		}
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
		if known := i == 2; full != known || !lognp || (r.Nearest != nil) != known {
			t.Errorf("%s, m = %d: %+v, nearest %+v", r.Benchmark, r.Bytes, r.Predicted, r.Nearest)
		}
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
	if r.touched == 0 {
		r.touched = s.Footprint(0)
	}
	return model.Cost{}, nil
}
