package params_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Channels of two packages of four nodes with two L3 complexes of four cores each: a placement for each level, the
// first that measured it, the closest level first.
func TestChannels(t *testing.T) {
	m := numatest.EPYC(2, 4, 2, 4, 1)
	file := func(policies ...numa.Policy) *params.File {
		f := &params.File{Plan: params.Plan{Policies: policies}}
		f.Provenance.Levels = m.Levels(m.Allowed)
		for _, policy := range policies {
			p := must.Get(m.Place(policy, 16))
			f.Placements = append(f.Placements, p)
		}
		return f
	}
	for _, tt := range []struct {
		policies []numa.Policy
		channels string
	}{
		{[]numa.Policy{numa.Local, numa.AcrossL3, numa.AcrossNodes, numa.AcrossPackages, numa.Remote},
			"local: shared L3, across-l3: same node, across-nodes: same package, across-packages: nodes 32 apart"},
		{[]numa.Policy{numa.Local, numa.Spread}, "local: shared L3, spread: same package"},
		{[]numa.Policy{numa.Farthest, numa.L3}, "l3: shared L3, farthest: nodes 32 apart"},
		{[]numa.Policy{numa.Local}, "local: shared L3"},
	} {
		f := file(tt.policies...)
		var channels string
		for i, c := range f.Channels(params.Selection{}) {
			if i > 0 {
				channels += ", "
			}
			channels += fmt.Sprintf("%s: %s", c.Placement, f.Provenance.Levels[c.Level].Name)
		}
		if channels != tt.channels {
			t.Errorf("%v: %s, want %s", tt.policies, channels, tt.channels)
		}
	}
	unknown := file(numa.Local)
	unknown.Provenance.Levels = nil
	if c := unknown.Channels(params.Selection{}); len(c) != 1 || c[0].Level != -1 {
		t.Errorf("unknown levels: %+v", c)
	}
}

// Launches that began at CPU 8 took 10 % longer than launches at CPU 0.
func TestFirstCPUs(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	for i := range 4 {
		f.Launches = append(f.Launches, params.Launch{Began: "2026-01-02T03:04:05Z", FirstCPU: i % 2 * 8})
	}
	for bytes := range 5 {
		ns := 100 * float64(bytes+1)
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Ring, Placement: numa.Local, Tau: 2, Bytes: bytes + 1}, K: 1, Transfers: 2,
			Time:    fit.Estimate{Center: ns, Lo: math.Inf(-1), Hi: math.Inf(1), N: 4},
			Samples: []params.Sample{{NS: ns, Launch: 0}, {NS: 1.1 * ns, Launch: 1}, {NS: ns, Launch: 2}, {NS: 1.1 * ns, Launch: 3}}})
	}
	f.Relate()
	got := f.FirstCPUs()
	if len(got) != 2 || got[0].CPU != 0 || got[1].CPU != 8 || got[0].Ratio.N != 2 || fmt.Sprintf("%.3f %.3f", got[0].Ratio.Center, got[1].Ratio.Center) != "1.000 1.100" {
		t.Errorf("%+v", got)
	}
	var text bytes.Buffer
	must.Do(f.Write(&text))
	again, err := params.Read(&text, "f")
	if err != nil || !reflect.DeepEqual(again.FirstCPUs(), got) {
		t.Errorf("read back: %+v, %v", again.FirstCPUs(), err)
	}
	f.Launches[1].Relative = map[numa.Policy]float64{"nowhere": 1}
	if err := f.Validate(); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a launch of placement nowhere: %v", err)
	}
	for i := range f.Launches {
		f.Launches[i].FirstCPU = 8
	}
	if got := f.FirstCPUs(); got != nil {
		t.Errorf("all began at one CPU: %+v", got)
	}
}
