package collective_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/test/must"
)

func reduceScatter(t *testing.T, name string, p, m int) *collective.Schedule {
	t.Helper()
	a := must.Get(collective.Lookup("reduce_scatter:" + name))
	s := must.Get(a.Schedule(collective.Call{P: p, M: m}))
	return s
}

// Stages and sizes are as the algorithms' sources state.
func TestReduceScatterStages(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    int
		want string // messages×blocks of each stage, without what stays within ranks
	}{
		{"ring", 4, "4×1 4×1 4×1"},
		{"pairwise", 5, "5×1 5×1 5×1 5×1"},
		{"recursive-halving", 8, "8×4 8×2 8×1"},
		{"recursive-halving", 2, "2×1"},
		{"recursive-halving", 3, "1×3 1×2+1×1 1×1"},
		{"recursive-halving", 5, "1×5 2×3+2×2 1×2+3×1 1×1"},
		{"recursive-halving", 6, "2×6 2×4+2×2 2×2+2×1 2×1"},
		{"recursive-halving", 11, "3×11 4×7+4×4 2×4+2×3+4×2 3×2+5×1 3×1"},
		{"recursive-halving", 1, ""},
	} {
		const m = 7
		var stages []string
		for _, step := range reduceScatter(t, tt.name, tt.p, m).Steps() {
			var batches []string
			for _, b := range step.Shape {
				batches = append(batches, fmt.Sprintf("%d×%d", b.Count, b.Bytes/m))
			}
			if step.Pattern != collective.Local {
				stages = append(stages, strings.Join(batches, "+"))
			}
		}
		if got := strings.Join(stages, " "); got != tt.want {
			t.Errorf("%s, P = %d: %s, want %s", tt.name, tt.p, got, tt.want)
		}
	}
}

// Without folding no rank sends more than P−1 blocks, the minimum.
func TestReduceScatterSendsNoMoreThanItMust(t *testing.T) {
	for _, name := range []string{"ring", "recursive-halving", "pairwise"} {
		for _, p := range []int{1, 2, 4, 8, 16, 32} {
			sent := make([]int, p)
			for _, step := range reduceScatter(t, name, p, 3).Steps() {
				for m := range step.Messages() {
					if m.From != m.To {
						sent[m.From] += m.Bytes()
					}
				}
			}
			if slices.Max(sent) != 3*(p-1) || slices.Min(sent) != 3*(p-1) {
				t.Errorf("%s, P = %d: ranks send %v bytes, want %d each", name, p, sent, 3*(p-1))
			}
		}
	}
}

// What the suites print as the size is a block in one and the vector in another.
func TestReduceScatterOfBenchmarks(t *testing.T) {
	imb := func(banner, title string) string {
		return banner + "\n# Benchmarking " + title + "\n# #processes = 3\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n1024 1000 9 10 9.5\n"
	}
	osu := func(title string) string {
		return "# OSU MPI " + title + " Latency Test v7.5\n# Size       Avg Latency(us)\n1024 10\n"
	}
	for _, tt := range []struct {
		text, benchmark string
		m               int
	}{
		{imb("#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 1024},
		{imb("#    Intel(R) MPI Benchmarks 2018, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 342},
		{imb("#    Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 342},
		{imb("", "Reduce_scatter_block"), "Reduce_scatter_block", 1024},
		{osu("Reduce_scatter"), "osu_reduce_scatter", 342},
		{osu("Reduce_scatter_block"), "osu_reduce_scatter_block", 342},
	} {
		got, err := mpibench.Read(strings.NewReader(tt.text), "out.txt")
		if err != nil || len(got.Times) != 1 {
			t.Fatalf("%v, %+v of\n%s", err, got, tt.text)
		}
		row := got.Times[0]
		if row.P == 0 {
			row = row.Among(3)
		}
		if row.Kind != "reduce_scatter" || row.Benchmark != tt.benchmark || row.Bytes != tt.m || row.Printed != 1024 || row.Microseconds != 10 {
			t.Errorf("%+v, want %s with m = %d of\n%s", row, tt.benchmark, tt.m, tt.text)
		}
	}
}

// IMB 2021.11 over Open MPI: a block of 64 KiB for each of two ranks takes twice as
// long as a reduction of one vector of 64 KiB.
func TestReduceScatterOfARealOutput(t *testing.T) {
	got := must.Get(mpibench.ReadFile("../internal/mpibench/testdata/imb-2021.11.txt"))
	var rows []string
	for _, row := range got.Times {
		if row.Kind == "reduce_scatter" {
			rows = append(rows, fmt.Sprint(row.Bytes, " ", row.Microseconds))
		}
	}
	if want := []string{"65536 21.38", "131072 33.66", "262144 57.86"}; !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
}
