package main

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

func TestProgramRunsCSV(t *testing.T) {
	var out strings.Builder
	runs := programRuns{Cannon: estimate.Cannon{N: 512, P: 4}, Runs: []estimate.Run{{Estimate: &estimate.Estimate{Program: "cannon", Total: fit.Estimate{Center: 100, Lo: math.NaN(), Hi: math.NaN()}},
		Measured: fit.Estimate{Center: 80, Lo: 70, Hi: 90, N: 9}, Error: 0.25}}, file: &params.File{}}
	must.Do(runs.document(report.Reach{}).WriteCSV(&out))
	if _, row, _ := strings.Cut(out.String(), "\n"); row != "cannon,512,4,100,,,80,70,90,0.25\n" {
		t.Errorf("%s", out.String())
	}
}
