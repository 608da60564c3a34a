package collective_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// The numbers of stages and the sizes that the algorithms' sources state.
func TestReduceScatterStages(t *testing.T) {
	try := func(name string, p int, want string) { // want: messages×blocks of each stage, without what stays within ranks
		t.Helper()
		const m = 7
		var stages []string
		a := must.Get(collective.Lookup("reduce_scatter:" + name))
		for _, step := range must.Get(a.Schedule(collective.Call{P: p, M: m})).Steps() {
			batches := lists.Map(step.Shape, func(b collective.Batch) string { return fmt.Sprintf("%d×%d", b.Count, b.Bytes/m) })
			if step.Pattern != collective.Local {
				stages = append(stages, strings.Join(batches, "+"))
			}
		}
		check.Equal(t, strings.Join(stages, " "), want, "%s, P = %d", name, p)
	}
	try("ring", 4, "4×1 4×1 4×1")
	try("pairwise", 5, "5×1 5×1 5×1 5×1")
	try("recursive-halving", 8, "8×4 8×2 8×1")
	try("recursive-halving", 2, "2×1")
	try("recursive-halving", 3, "1×3 1×2+1×1 1×1")
	try("recursive-halving", 5, "1×5 2×3+2×2 1×2+3×1 1×1")
	try("recursive-halving", 6, "2×6 2×4+2×2 2×2+2×1 2×1")
	try("recursive-halving", 11, "3×11 4×7+4×4 2×4+2×3+4×2 3×2+5×1 3×1")
	try("recursive-halving", 1, "")
}

// The printed size is the block in one suite and the vector in another.
func TestReduceScatterOfBenchmarks(t *testing.T) {
	imb := func(banner, title string) string {
		return banner + "\n# Benchmarking " + title + "\n# #processes = 3\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n1024 1000 9 10 9.5\n"
	}
	osu := func(title string) string {
		return "# OSU MPI " + title + " Latency Test v7.5\n# Size       Avg Latency(us)\n1024 10\n"
	}
	try := func(text, benchmark string, m int) {
		t.Helper()
		got, err := mpibench.Read(strings.NewReader(text), "out.txt")
		check.Need(t, err == nil && len(got.Times) == 1, "%v, %+v of\n%s", err, got, text)
		row := got.Times[0]
		if row.P == 0 {
			row = row.Among(3)
		}
		check.True(t, row.Kind == "reduce_scatter" && row.Benchmark == benchmark && row.Bytes == m && row.Printed == 1024 && row.Microseconds == 10,
			"%+v, want %s with m = %d of\n%s", row, benchmark, m, text)
	}
	try(imb("#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 1024)
	try(imb("#    Intel(R) MPI Benchmarks 2018 Update 1, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 342)
	try(imb("#    Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", "Reduce_scatter"), "Reduce_scatter", 342)
	try(imb("", "Reduce_scatter_block"), "Reduce_scatter_block", 1024)
	try(osu("Reduce_scatter"), "osu_reduce_scatter", 342)
	try(osu("Reduce_scatter_block"), "osu_reduce_scatter_block", 341)
}
