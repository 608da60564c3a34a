package params

import (
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/strided"
)

// packs is a file of packed messages in cache, in ns by variant.
func packs(ns map[string]float64) *File {
	f := &File{}
	for variant, ns := range ns {
		message, _, _ := strings.Cut(variant, "-")
		key := Key{Kind: PackCell, Placement: numa.List, Tau: 1, Bytes: must.Get(strided.Parse(message)).Bytes}
		f.Cells = append(f.Cells, Cell{Key: key.Named(variant), Time: exactly(ns)})
	}
	return f
}

// p(m,d) by stride and cache; contiguous messages and messages between CPUs are not packed.
func TestP(t *testing.T) {
	f := packs(map[string]float64{"4K4S": 50, "4K8S": 300, "1K8S": 80, "4K8S-L3": 1800, "4K512S": 950, "4K64S": 920})
	off := packs(map[string]float64{"4K8S": 900}).Cells[0]
	off.OffCache = true
	f.Cells = append(f.Cells, off)
	for _, tt := range []struct {
		stride, m int
		off       bool
		want      float64
	}{{8, 1024, false, 80e-9}, {8, 4096, false, 300e-9}, {8, 2560, false, 190e-9}, {8, 4096, true, 900e-9}, {64, 4096, false, 920e-9}} {
		curve := must.Get(f.P(tt.stride, tt.off))
		got, beyond := curve.At(tt.m, 7)
		check.True(t, math.Abs(got-tt.want) <= 1e-15 && !beyond, "p(%d,%d) = %v, %v; want %v", tt.m, tt.stride, got, beyond, tt.want)
	}
	contains.Error(t, must.Err(f.P(16, false)), "there are those of 8, 64, 512")
	check.ErrorIs(t, must.Err(sparse().P(8, false)), ErrUnpacked, "nothing packed")
}

// Latency is half the difference of strided and contiguous messages at the level, at least 0.
func TestLatency(t *testing.T) {
	f := packs(map[string]float64{"1K4S-L3": 300, "1K64S-L3": 700, "4K4S-L3": 900, "4K64S-L3": 2900, "4K4S-machine": 1000, "4K64S-machine": 990, "4K64S": 800, "4K64S-node": 900})
	for _, tt := range []struct {
		level string
		bytes int
		want  float64 // ns
	}{{"shared L3", 1024, 200}, {"shared L3", 4096, 1000}, {"nodes 21 apart", 4096, 0}, {"other node", 4096, 0}} {
		got, _ := must.Get(f.Latency(tt.level, 64, false)).At(tt.bytes, 7)
		check.True(t, math.Abs(got*1e9-tt.want) <= 1e-9, "%s, %d bytes: %g ns, want %g", tt.level, tt.bytes, got*1e9, tt.want)
	}
	for _, level := range []string{"same node", "SMT siblings", "shared L2"} { // same node: contiguous was not measured
		check.ErrorIs(t, must.Err(f.Latency(level, 64, false)), ErrUnpacked, "%s", level)
	}
	check.ErrorIs(t, must.Err(f.Latency("shared L3", 64, true)), ErrUnpacked, "off cache")
}
