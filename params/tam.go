package params

import (
	"fmt"
	"math"

	"github.com/taulop/taulop/fit"
)

// Tam has a network's parameters of Tam's model (Tam, section 2.2.3): times in ns as lines over the bytes
// of a packet.
type Tam struct {
	Packet     int      // b: the largest packet, bytes
	Send       fit.Line // O_s(m), eq. (2.1): overhead of the sender
	SendGap    fit.Line // g_s(m), eq. (2.2): gap between packets at the sender
	Latency    fit.Line // L(m,2), eq. (2.3): latency of the network
	ReceiveGap fit.Line // g_r(m), eq. (2.4): gap between packets at the receiver
	Receive    fit.Line // O_r(m), eq. (2.5): the kernel's CPU time at the receiver
	Take       fit.Line // U_r(m): reading a received packet
	Buffer     float64  // B_L: bytes in flight while one flow saturates the network; 0: not measured
}

// Names of Parameters of Tam's model, τ = 1.
const (
	TamSend       = "O_s"
	TamSendGap    = "g_s"
	TamReceiveGap = "g_r"
	TamReceive    = "O_r"
	TamTake       = "U_r"
)

// Tam has Tam's parameters of a network; "" is the first. Latency is the time of a message less the times
// of its hosts; times below 1 ns count as 1 ns.
func (f *File) Tam(name string) (t Tam, err error) {
	n, err := f.network(name)
	if err != nil {
		return t, err
	}
	grids := make(map[string]grid)
	for _, parameter := range []string{TamSend, TamSendGap, TamReceiveGap, TamReceive, TamTake, NetTransfer, NetOverhead, NetQueue} {
		grids[parameter] = f.parameter(NetCell, Parameter{Of: n.Name, Name: parameter})
	}
	of := func(parameter string, m int) float64 {
		if c := grids[parameter].cells[[2]int{m, 1}]; c != nil {
			return c.Time.Center
		}
		return math.NaN() // kernels may keep too few unread bytes to measure it
	}
	sizes := grids[TamSend].sizes
	line := func(parameter string, at func(m int) float64) (l fit.Line) {
		var ms []int
		var times []float64
		for _, m := range sizes {
			if ns := at(m); !math.IsNaN(ns) {
				ms, times = append(ms, m), append(times, max(1, ns))
			}
		}
		l, failed := fit.LineOf(ms, times)
		if failed != nil && err == nil {
			err = fmt.Errorf("%s of network %s: %w", parameter, n.Name, failed)
		}
		return l
	}
	measured := func(parameter string) fit.Line {
		return line(parameter, func(m int) float64 { return of(parameter, m) })
	}
	t.Send, t.SendGap, t.ReceiveGap = measured(TamSend), measured(TamSendGap), measured(TamReceiveGap)
	t.Receive, t.Take = measured(TamReceive), measured(TamTake)
	if err != nil {
		return t, err
	}
	var o float64
	if ms := grids[NetOverhead].sizes; len(ms) > 0 { // nearly the same for all sizes
		o = of(NetOverhead, ms[0])
	}
	t.Latency = line("L", func(m int) float64 { return o + of(NetTransfer, m) - t.Send.At(m) - t.Receive.At(m) - t.Take.At(m) })
	t.Packet = sizes[len(sizes)-1]
	for _, m := range grids[NetQueue].sizes {
		t.Buffer = of(NetQueue, m) * float64(t.Packet) / t.SendGap.At(t.Packet)
	}
	return t, err
}
