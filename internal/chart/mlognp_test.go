package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// paired is a machine of 8 CPUs, 4 of them on each of two L3s, with strided messages and
// a network: what Figs. 3 and 4 of mlognp-2009 need.
func paired() compare.Machine {
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	near, all := []numa.CPUSet{numa.SetOf(0, 1, 2, 3), numa.SetOf(4, 5, 6, 7)}, numa.SetOf(0, 1, 2, 3, 4, 5, 6, 7)
	f.Provenance.Levels = numa.Levels{{Name: "shared L3", Groups: near}, {Name: "same node", Groups: []numa.CPUSet{all}}}
	place := numa.Placement{Policy: numa.Local}
	add := func(k params.Key, ns float64) {
		if k.Placement == "" {
			k.Placement = numa.List
		}
		k.Tau = 1
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6}})
	}
	for a := range 8 {
		place.Workers = append(place.Workers, numa.Worker{CPU: numa.CPU{ID: a}})
		for b := a + 1; b < 8; b++ {
			ns := 100.0
			if a/4 != b/4 {
				ns = 250
			}
			add(params.Key{Kind: params.PairCell, Bytes: 0, Variant: params.PairVariant(a, b, params.UnknownHome)}, ns)
			add(params.Key{Kind: params.PairCell, Bytes: 16 << 10, Variant: params.PairVariant(a, b, params.UnknownHome)}, 8*ns)
		}
	}
	f.Placements = []numa.Placement{place}
	for size, bytes := range map[string]int{"1K": 1 << 10, "4K": 4 << 10, "16K": 16 << 10} {
		for _, d := range []string{"8", "64", "512"} {
			add(params.Key{Kind: params.PackCell, Bytes: bytes, Variant: size + d + "S"}, float64(bytes)/4)
		}
	}
	f.Networks = []params.Network{{Name: "eth0", Kind: "tcp"}}
	for _, bytes := range []int{1, 64 << 10} {
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetTransfer}.String()}, 20000+float64(bytes))
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetOverhead}.String()}, 4000)
	}
	return compare.Machine{Name: "node1", File: f}
}

// The paper's 64 processes on 8 nodes of 8: three panels of three strides each, and log_3P
// above 2log_{2,3}P throughout. A linear broadcast has 64 halves of o' + l' in it.
func TestStridedCosts(t *testing.T) {
	for _, name := range []string{"bcast:linear", "bcast:binomial"} {
		c, err := StridedCosts([]compare.Machine{paired()}, Choice{Algorithms: []string{name}, Nodes: 8, P: 64})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Panels) != 3 || c.Panels[0].Name != "m = 1K" || len(c.Panels[2].Series) != 3 || !strings.Contains(c.describe(), "P = 64 on 8 nodes, block by block, network eth0") {
			t.Fatalf("%s", c.describe())
		}
		for _, p := range c.Panels {
			for i, at := range p.Series[0].Points {
				one, two, all := at.Y.Center, p.Series[1].Points[i].Y.Center, p.Series[2].Points[i].Y.Center
				if !(two <= all && all < one) || len(p.Series[0].Points) != 3 || at.X != []float64{8, 64, 512}[i] {
					t.Errorf("%s, %s, d = %g: log_3P %g, 2log %g, mlog %g ns", name, p.Name, at.X, one, two, all)
				}
			}
		}
		const o, l = 4000.0 / 2, 4096.0 / 4 // at each end
		net := 20000.0 + 4096
		want := map[string]float64{"bcast:linear": 64*(o+l) + net, "bcast:binomial": 6 * (2*(o+l) + net)}[name]
		if got := c.Panels[1].Series[0].Points[1].Y.Center; math.Abs(got-want) > 1 {
			t.Errorf("%s, log_3P of 4K64S: %g ns, want %g", name, got, want)
		}
	}
	c, err := StridedCosts([]compare.Machine{paired()}, Choice{})
	if err != nil || !strings.Contains(c.describe(), "P = 8 ·") || !strings.Contains(c.Title, "bcast:linear") {
		t.Errorf("%v, %v", c, err)
	}
	bare := paired()
	bare.File.Networks = nil
	unpacked := paired()
	for i := range unpacked.File.Cells {
		unpacked.File.Cells[i].OffCache = true
	}
	for _, tt := range []struct {
		machines []compare.Machine
		choice   Choice
		want     string
	}{
		{nil, Choice{}, "name one"},
		{[]compare.Machine{bare}, Choice{Nodes: 2}, "no network"},
		{[]compare.Machine{unpacked}, Choice{}, "no strided messages"},
		{[]compare.Machine{paired()}, Choice{P: 9}, "there are 8 CPUs"},
		{[]compare.Machine{paired()}, Choice{Nodes: 1 << 17}, "more than 262144 messages"},
		{[]compare.Machine{paired()}, Choice{Algorithms: []string{"bcast:nosuch"}}, "nosuch"},
		{[]compare.Machine{paired()}, Choice{Algorithms: []string{"bcast:linear", "bcast:binomial"}}, "one algorithm"},
	} {
		if _, err := StridedCosts(tt.machines, tt.choice); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.choice, err, tt.want)
		}
	}
}
