package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// Costs among millions of ranks on several nodes take seconds: the slowest algorithms to cost are left
// out, and a program with too many messages is an error.
func TestEstimatesManyRanks(t *testing.T) {
	t.Parallel()
	machine, directory := smallMachine(t)
	program := filepath.Join(directory, "p.toml")
	for _, tt := range []struct {
		phases []string
		want   string // said
	}{
		{[]string{"bcast"}, "algorithms left out: too many messages to look at one by one)"},
		{[]string{"bcast:binomial"}, "bcast:binomial"},
		{slices.Repeat([]string{"alltoall:pairwise"}, 12), "beside those of other phases: take fewer"},
	} {
		text := "ranks = 2_000_000\n"
		for i, message := range tt.phases {
			text += fmt.Sprintf("[[phase]]\nmessage = %q\nbytes = %d\n", message, 8000+i)
		}
		save(t, "", program, text)
		out, _, err := run(t, on(machine, "estimate", "-nodes 16 -net "+filepath.Join(directory, "SHM.txt")+" "+program)...)
		if err != nil {
			out = err.Error()
		}
		if !strings.Contains(strings.Join(strings.Fields(out), " "), tt.want) {
			t.Errorf("%s: %s", tt.phases[0], out)
		}
	}
}

func TestProgramRunsCSV(t *testing.T) {
	var out strings.Builder
	runs := programRuns{Cannon: estimate.Cannon{N: 512, P: 4}, Runs: []estimate.Run{{Estimate: &estimate.Estimate{Program: "cannon", Total: fit.Estimate{Center: 100, Lo: math.NaN(), Hi: math.NaN()}},
		Measured: fit.Estimate{Center: 80, Lo: 70, Hi: 90, N: 9}, Error: 0.25}}, file: &params.File{}}
	must.Do(runs.document(report.Reach{}).WriteCSV(&out))
	if _, row, _ := strings.Cut(out.String(), "\n"); row != "cannon,512,4,100,,,80,70,90,0.25\n" {
		t.Errorf("%s", out.String())
	}
}
