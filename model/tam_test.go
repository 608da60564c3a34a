package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/params"
)

// figure has the parameters of Tam's Fig. 2.3 in its units, whatever a packet holds, with another g in Fig. 2.4.
func figure(g float64) Tam {
	fixed := func(ns float64) fit.Line { return fit.Line{Startup: fit.Coefficient{Value: ns}} }
	return Tam{Tam: params.Tam{Packet: 1000, Send: fixed(1), SendGap: fixed(g), ReceiveGap: fixed(g), Latency: fixed(4), Receive: fixed(1.5), Take: fixed(0.5)}}
}

func TestTam(t *testing.T) {
	try := func(g float64, bytes, p int, message, tree float64, equation string) { // message: eq. (2.6)
		t.Helper()
		m := figure(g)
		check.Near(t, m.PointToPoint(bytes), message, 1e-9, "g = %g, %d bytes", g, bytes)
		got, by := m.Broadcast(bytes, p)
		check.True(t, math.Abs(got-tree) <= 1e-9 && by == equation, "g = %g, %d bytes among %d: %g by %s, want %g by %s", g, bytes, p, got, by, tree, equation)
	}
	// L + O_r + U_r + O_s is 7, log2 p of them; k − 1 gaps a level.
	try(2, 1000, 16, 7, 4*7, "(2.8)")
	try(2, 3000, 16, 7+2*2, 4*(2*2+7), "(2.8)")
	try(2, 2001, 2, 7+2*2, 2*2+7, "(2.8)")
	// T_0 is 3, not below 2·max(g, O_s): (log2 p + k − 1)·T_0 + L·log2 p + (k − 1)(log2 p − 2)·O_s.
	try(1, 1000, 16, 7, 4*3+4*4, "(2.9)")
	try(1, 3000, 16, 7+2, 6*3+4*4+2*2*1, "(2.9)")
	try(1, 1, 1, 7, 0, "(2.8)")
	m := figure(2)
	m.Copy = func(bytes int) float64 { return float64(bytes) }
	got, _ := m.Broadcast(1000, 16)
	check.Equal(t, got, 1028, "with ctm(M)")
}
