package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/params"
)

// figure has the parameters of Tam's Fig. 2.3 in its units, whatever a packet holds, with
// another g in Fig. 2.4.
func figure(g float64) Tam {
	fixed := func(ns float64) fit.Line { return fit.Line{Startup: fit.Coefficient{Value: ns}} }
	return Tam{Tam: params.Tam{Packet: 1000, Send: fixed(1), SendGap: fixed(g), ReceiveGap: fixed(g), Latency: fixed(4), Receive: fixed(1.5), Take: fixed(0.5)}}
}

func TestTam(t *testing.T) {
	for _, tt := range []struct {
		g        float64
		bytes, p int
		message  float64 // eq. (2.6)
		tree     float64
		equation string
	}{
		// L + O_r + U_r + O_s is 7, log2 p of them; k − 1 gaps a level.
		{2, 1000, 16, 7, 4 * 7, "(2.8)"},
		{2, 3000, 16, 7 + 2*2, 4 * (2*2 + 7), "(2.8)"},
		{2, 2001, 2, 7 + 2*2, 2*2 + 7, "(2.8)"},
		// T_0 is 3, not below 2·max(g, O_s): (log2 p + k − 1)·T_0 + L·log2 p + (k − 1)(log2 p − 2)·O_s.
		{1, 1000, 16, 7, 4*3 + 4*4, "(2.9)"},
		{1, 3000, 16, 7 + 2, 6*3 + 4*4 + 2*2*1, "(2.9)"},
		{1, 1, 1, 7, 0, "(2.8)"},
	} {
		m := figure(tt.g)
		check.Near(t, m.PointToPoint(tt.bytes), tt.message, 1e-9, "g = %g, %d bytes", tt.g, tt.bytes)
		if got, by := m.Broadcast(tt.bytes, tt.p); math.Abs(got-tt.tree) > 1e-9 || by != tt.equation {
			t.Errorf("g = %g, %d bytes among %d: %g by %s, want %g by %s", tt.g, tt.bytes, tt.p, got, by, tt.tree, tt.equation)
		}
	}
	m := figure(2)
	m.Copy = func(bytes int) float64 { return float64(bytes) }
	if got, _ := m.Broadcast(1000, 16); got != 1028 {
		t.Errorf("with ctm(M): %g, want 1028", got)
	}
}
