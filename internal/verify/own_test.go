package verify

import (
	"math"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// bothWays is a file in which a byte takes 1 ns through segments of 4 KiB, and 3 ns by single copies.
func bothWays() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Setups: []string{params.Ring, params.Ping}, Policies: []numa.Policy{numa.Local},
		Caches: []bool{false}, Sizes: []int{1024, 4096, 1 << 20}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 4096}}
	for _, setup := range f.Plan.Setups {
		for _, tau := range f.Plan.Taus {
			for _, m := range f.Plan.Sizes {
				key := params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m}
				f.Cells = append(f.Cells, params.Cell{Key: key, K: max(1, m/4096), Transfers: 1, Time: fit.Estimate{Center: float64(m), Lo: float64(m), Hi: float64(m)}})
				key.Transport, key.Buffers = params.CMA, params.Unchanged
				f.Cells = append(f.Cells, params.Cell{Key: key, K: 1, Transfers: 1, Time: fit.Estimate{Center: float64(3 * m), Lo: float64(3 * m), Hi: float64(3 * m)}})
			}
		}
	}
	for _, setup := range f.Plan.Setups {
		for _, tau := range f.Plan.Taus { // a flag takes 10 ns
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NullCell, Setup: setup, Placement: numa.Local, Tau: tau}, Time: fit.Estimate{Center: 10, Lo: 10, Hi: 10}})
		}
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.MessageCell, Placement: numa.Local, Tau: 1, Bytes: 1024, Variant: params.Segmented}, Time: fit.Estimate{Center: 1e9, Lo: 1e9, Hi: 1e9}})
	return f
}

// o(m) is the time of ping-pongs beyond the library's transfers: by size for messages of one segment,
// and for single copies the shortest message's, from which longer ones are predicted.
func TestOverheads(t *testing.T) {
	library := must.Get(mpi.Named("openmpi4"))
	var times []mpibench.Time
	for m, ns := range map[int]float64{1024: 2*1024 + 300, 2048: 2*2048 + 400, 8192: 3*8192 + 700, 65536: 3*65536 + 9000, 1 << 30: 1} {
		times = append(times, mpibench.Time{Suite: "IMB", Benchmark: "PingPong", Kind: mpibench.Message, P: 2, Printed: m, Bytes: m, Microseconds: ns / 1e3})
	}
	for m, ns := range map[int]float64{1024: 2*1024 + 500, 8192: 3*8192 + 900} {
		times = append(times, mpibench.Time{Suite: "IMB", Benchmark: "Sendrecv", Kind: mpibench.Sendrecv, P: 2, Printed: m, Bytes: m, Microseconds: ns / 1e3})
	}
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
	exchanges := slices.DeleteFunc(slices.Clone(times), func(t mpibench.Time) bool { return t.Kind == mpibench.Message })
	check.Error(t, Overheads(bothWays(), choice, exchanges), "o(m) of exchanges alone")
	check.Error(t, Overheads(bothWays(), choice, nil), "o(m) of no ping-pong")
}

// A collective is predicted as the algorithm that the library chooses.
func TestOwn(t *testing.T) {
	for _, tt := range []struct {
		library, collective string
		p, m                int
		want                string
	}{
		{"mpich4", "allgather", 2, 1024, "allgather:recursive_doubling"},
		{"mpich4", "alltoall", 2, 1024, "alltoall:scattered"},
		{"mpich4", "gather", 2, 1024, "gather:binomial"}, // a textbook's: not known
		{"openmpi4", "allgather", 2, 1024, "allgather:6 two_proc"},
		{"openmpi4-none", "bcast", 2, 4096, "bcast:1 basic_linear"},
	} {
		library := must.Get(mpi.Named(tt.library))
		a := must.Get(NewAgainst(bothWays(), model.Choice{As: library, Buffers: params.Unchanged}))
		rows := must.Get(a.Compare([]mpibench.Time{{Kind: mpibench.Kind(tt.collective), P: tt.p, Bytes: tt.m, Microseconds: 1}}))
		check.Equal(t, rows[0].Predicted.Algorithm, tt.want, "%s, %s, P = %d, m = %d", tt.library, tt.collective, tt.p, tt.m)
	}
}
