package predict

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// paired is a machine of 8 CPUs on two L3s, with strided messages and a network, as in Figs. 3 and 4 of
// mlognp-2009.
func paired() *params.File {
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
			add(params.Key{Kind: params.PairCell, Bytes: 0, Variant: params.PairOf(a, b, params.UnknownHome)}, ns)
			add(params.Key{Kind: params.PairCell, Bytes: 16 << 10, Variant: params.PairOf(a, b, params.UnknownHome)}, 8*ns)
		}
	}
	f.Placements = []numa.Placement{place}
	for size, bytes := range map[string]int{"1K": 1 << 10, "4K": 4 << 10, "16K": 16 << 10} {
		for _, d := range []string{"8", "64", "512"} {
			add(params.Key{Kind: params.PackCell, Bytes: bytes}.Named(size+d+"S"), float64(bytes)/4)
		}
	}
	f.Networks = []params.Network{{Name: "eth0", Kind: "tcp"}}
	for _, bytes := range []int{1, 64 << 10} {
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetTransfer}}, 20000+float64(bytes))
		add(params.Key{Kind: params.NetCell, Bytes: bytes, Variant: params.Parameter{Of: "eth0", Name: params.NetOverhead}}, 4000)
	}
	return f
}

// The paper's 64 processes on 8 nodes of 8: three sizes of three strides each, and log_3P above
// 2log_{2,3}P throughout. A linear broadcast has 64 halves of o' + l' in it.
func TestStrided(t *testing.T) {
	const o, l, net = 4000.0 / 2, 4096.0 / 4, 20000.0 + 4096 // o and l at each end
	for name, want := range map[string]float64{"bcast:linear": 64*(o+l) + net, "bcast:binomial": 6 * (2*(o+l) + net)} {
		d := must.Get(StridedOf(paired(), model.Choice{Cluster: &model.Cluster{Nodes: 8}}, name, 64, nil))
		if got := strings.Join(d.Where, " · "); got != "in cache · placement local · P = 64 on 8 nodes, block, network eth0" || len(d.Rows) != 27 {
			t.Errorf("%s: %d rows, %s", name, len(d.Rows), got)
		}
		at := make(map[[2]int][]float64) // by size and stride, log_3P first
		for _, r := range d.Rows {
			key := [2]int{r.Bytes, r.Stride}
			at[key] = append(at[key], r.Seconds*1e9)
		}
		for key, ns := range at {
			if len(ns) != 3 || !(ns[1] <= ns[2] && ns[2] < ns[0]) {
				t.Errorf("%s, m = %d, d = %d: log_3P, 2log, mlog %g ns", name, key[0], key[1], ns)
			}
		}
		check.Near(t, at[[2]int{4096, 64}][0], want, 1, "%s, log_3P of 4K64S, ns", name)
	}
	d := must.Get(StridedOf(paired(), model.Choice{}, "bcast:linear", 0, []int{4096}))
	check.True(t, d.Where[2] == "P = 8" && len(d.Rows) == 9, "%+v", d)
	bare := paired()
	bare.Networks = nil
	for _, tt := range []struct {
		f     *params.File
		c     model.Choice
		name  string
		ranks int
		want  string
	}{
		{bare, model.Choice{Cluster: &model.Cluster{Nodes: 2}}, "bcast:linear", 0, "no network"},
		{paired(), model.Choice{OffCache: true}, "bcast:linear", 0, "no strided messages"},
		{paired(), model.Choice{}, "bcast:linear", 9, "there are 8 CPUs"},
		{paired(), model.Choice{Cluster: &model.Cluster{Nodes: 1 << 17}}, "bcast:linear", 0, "more than 262144 messages"},
		{paired(), model.Choice{}, "bcast:nosuch", 0, "nosuch"},
	} {
		contains.Error(t, must.Err(StridedOf(tt.f, tt.c, tt.name, tt.ranks, nil)), tt.want)
	}
}
