package params_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Channels of two packages of four nodes with two L3 complexes of four cores each: a placement for each level, the
// first that measured it, the closest level first.
func TestChannels(t *testing.T) {
	m := numatest.EPYC(2, 4, 2, 4, 1)
	try := func(levels numa.Levels, policies []numa.Policy, want []params.Channel) {
		t.Helper()
		f := &params.File{Plan: params.Plan{Policies: policies}}
		f.Provenance.Levels = levels
		f.Placements = lists.Map(policies, func(policy numa.Policy) numa.Placement { return must.Get(m.Place(policy, 16)) })
		check.Slices(t, f.Channels(params.Selection{}), want, "%v", policies)
	}
	try(m.Levels(m.Allowed), []numa.Policy{numa.Local, numa.AcrossL3, numa.AcrossNodes, numa.AcrossPackages, numa.Remote},
		[]params.Channel{{Level: 0, Placement: numa.Local}, {Level: 1, Placement: numa.AcrossL3}, {Level: 2, Placement: numa.AcrossNodes}, {Level: 3, Placement: numa.AcrossPackages}})
	try(m.Levels(m.Allowed), []numa.Policy{numa.Local, numa.Spread}, []params.Channel{{Level: 0, Placement: numa.Local}, {Level: 2, Placement: numa.Spread}})
	try(m.Levels(m.Allowed), []numa.Policy{numa.Farthest, numa.L3}, []params.Channel{{Level: 0, Placement: numa.L3}, {Level: 3, Placement: numa.Farthest}})
	try(nil, []numa.Policy{numa.Local}, []params.Channel{{Level: -1, Placement: numa.Local}})
}

// Launches that began at CPU 8 took 10 % longer than launches at CPU 0.
func TestFirstCPUs(t *testing.T) {
	f := &params.File{Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	launches := []params.Launch{{Began: "2026-01-02T03:04:05Z"}, {Began: "2026-01-02T03:04:05Z", FirstCPU: 8}}
	f.Launches = slices.Repeat(launches, 2)
	for bytes := range 5 {
		ns := 100 * float64(bytes+1)
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: 2, Bytes: bytes + 1}, K: 1, Transfers: 2,
			Time: fit.Unbounded(ns), Samples: []params.Sample{{NS: ns, Launch: 0}, {NS: 1.1 * ns, Launch: 1}, {NS: ns, Launch: 2}, {NS: 1.1 * ns, Launch: 3}}})
	}
	f.Relate()
	var text bytes.Buffer
	must.Do(f.Write(&text))
	f = must.Get(params.Read(&text, "f"))
	got := f.FirstCPUs()
	check.True(t, len(got) == 2 && got[0].CPU == 0 && got[1].CPU == 8 && got[0].Ratio.N == 2 && fmt.Sprintf("%.3f %.3f", got[0].Ratio.Center, got[1].Ratio.Center) == "1.000 1.100",
		"%+v", got)
	f.Launches[1].Relative = map[numa.Policy]float64{"nowhere": 1}
	contains.Error(t, f.Validate(), "nowhere")
	f.Launches = slices.Repeat(launches[1:], 4)
	check.Empty(t, f.FirstCPUs(), "of launches that all began at one CPU")
}
