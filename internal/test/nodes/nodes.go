// Package nodes invents parameter files, for tests of what shows many machines.
package nodes

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Sizes and taus are what every machine has been measured with: 96 transfers.
var (
	sizes = []int{64, 256, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20}
	taus  = []int{1, 2, 3, 4, 6, 8, 12, 16}
)

// Machine is the i-th of the fleet, 100 cells. Its transfers share a channel as in
// the universal scalability law, A(τ) = τ/(1 + σ(τ−1) + κτ(τ−1)) with σ = 0.08 and
// κ = 0.002, give or take 2 % and 1 % of noise in the samples. Every 97th, from the fourth
// on, takes half as long again.
func Machine(i int) *params.File {
	random := rand.New(rand.NewPCG(2015, uint64(i)))
	f := &params.File{
		Format: params.Format, Version: params.Version, Complete: true, Seconds: 60,
		Provenance: provenance.Provenance{
			Time: "2026-01-02T03:04:05Z", Hostname: fmt.Sprintf("node%04d", i), CPUModel: "An Invented CPU", OS: "linux", Arch: "amd64",
			MemoryBytes: 256 << 30, Go: "go1.26.8", Taulop: "v0.1.0", Command: []string{"taulop", "sweep"},
		},
		Plan: params.Plan{
			Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Sizes: sizes, Taus: taus, Segments: 2, SegmentBytes: 8 << 10,
			Caches: []bool{false}, Budget: 60, Width: 0.03, Copy: "REP MOVSB", NoGamma: true,
		},
	}
	if i%10 == 0 {
		f.Warnings = []string{fmt.Sprintf("the load of the last minute is %.2f: stop what else runs here", 1+random.Float64())}
	}
	speed := 1 + 0.02*random.NormFloat64()
	if i%97 == 3 {
		speed *= 1.5
	}
	cell := func(c params.Cell, ns float64) {
		for range 7 {
			c.Samples = append(c.Samples, params.Samples(ns*speed*(1+0.01*random.NormFloat64()))...)
		}
		c.Time = fit.Median(c.Values())
		f.Cells = append(f.Cells, c)
	}
	for _, m := range sizes {
		k := max(1, m>>13)
		for _, tau := range taus {
			t := float64(tau)
			L := (100 + float64(m)/10) * (1 + 0.08*(t-1) + 0.002*t*(t-1))
			cell(params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: tau, Bytes: m}, K: k, Transfers: 2}, 2*L)
		}
	}
	for _, tau := range taus[:4] {
		cell(params.Cell{Key: params.Key{Kind: params.NullCell, Setup: "ring", Placement: numa.Local, Tau: tau}}, 100*float64(tau))
	}
	return f
}

// Write writes n machines to a directory and returns their files.
func Write(t testing.TB, dir string, n int) []string {
	t.Helper()
	var paths []string
	for i := range n {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("node%04d.json", i)))
		must.Do(Machine(i).WriteFile(paths[i]))
	}
	return paths
}
