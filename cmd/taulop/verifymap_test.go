package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// The two mappings differ where the machine has two that cost differently, as the paper's
// simulated one, and are the best one can say where it has not.
func TestVerifyMapChoosesTwo(t *testing.T) {
	cost := func(seconds float64) *float64 { return &seconds }
	of := func(method string, seconds float64, places ...int) processmap.Mapping {
		return processmap.Mapping{Method: method, Seconds: cost(seconds), Places: places}
	}
	for _, tt := range []struct {
		mappings []processmap.Mapping
		want     []string
	}{
		{[]processmap.Mapping{of("block", 3, 0, 1, 2), of("cyclic", 4, 0, 2, 1), of("mwpm", 1, 1, 0, 2), of("swaps", 2, 2, 0, 1)}, []string{"block", "mwpm"}},
		{[]processmap.Mapping{of("block", 3, 0, 1), of("cyclic", 3, 0, 1), of("swaps", 3, 0, 1)}, []string{"block", "swaps"}},
		{[]processmap.Mapping{of("cyclic", 3, 0, 1), of("drb", 1, 1, 0)}, []string{"cyclic", "drb"}},
	} {
		if got := (&processmap.Result{Mappings: tt.mappings}).Two(); !slices.Equal(got, tt.want) {
			t.Errorf("%v, want %v", got, tt.want)
		}
	}
}

// A program is carried out under two mappings, and every byte arrives.
func TestVerifyMapMeasures(t *testing.T) {
	machine, err := numa.Discover("/")
	if err != nil || len(machine.CoreCPUs()) < 2 {
		t.Skip("it takes two cores")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	place, err := machine.Place(numa.Local, 2)
	if err != nil {
		t.Fatal(err)
	}
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Placements: []numa.Placement{place},
		Plan: params.Plan{Setups: []string{params.Ring}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false}, Taus: []int{1, 2}, Sizes: []int{1024, 8192}, Segments: 2, SegmentBytes: 8192}}
	f.Provenance.Levels = machine.Levels(machine.Allowed)
	for _, m := range []int{1024, 8192} {
		for _, tau := range []int{1, 2} {
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: tau, Bytes: m}, Time: fit.Median([]float64{float64(m * tau)})})
		}
	}
	saveParams(t, f, file)
	matrix := save(t, dir, "m.csv", "from,to,bytes,messages\n0,1,80000,10\n1,0,5000,1\n")
	out, _ := ran(t, "verify", "-map", "-params", file, "-cache", "in", "-time", "5s", "-quiet", "-json", "-method", "block,cyclic", matrix)
	var doc verify.ProgramResult
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Messages != 2 || doc.Bytes != 13000 || len(doc.Rows) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range doc.Rows {
		if len(row.CPUs) != 2 || !(row.Measured.Center > 0) || !(row.Prediction.Ns > 0) {
			t.Errorf("%+v", row)
		}
	}
}
