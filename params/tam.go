package params

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
)

// Tam is what Tam's model knows of a network (Tam, section 2.2.3), times in ns as lines
// over the bytes of a packet.
type Tam struct {
	Packet     int      // b: the largest, bytes
	Send       fit.Line // O_s(m), eq. (2.1): what sending takes the sender
	SendGap    fit.Line // g_s(m), eq. (2.2): between packets where they leave
	Latency    fit.Line // L(m,2), eq. (2.3): the network
	ReceiveGap fit.Line // g_r(m), eq. (2.4): between packets where they arrive
	Receive    fit.Line // O_r(m), eq. (2.5): what the kernel takes of a CPU that receives
	Take       fit.Line // U_r(m): reading what has come
	Buffer     float64  // B_L: what waits on the way while one flow sends all it can, bytes; 0: not measured
}

// Parameters of a network that are Tam's, names of a Parameter, τ = 1.
const (
	TamSend       = "O_s"
	TamSendGap    = "g_s"
	TamReceiveGap = "g_r"
	TamReceive    = "O_r"
	TamTake       = "U_r"
)

// Tam is Tam's parameters of a network, "" is the first. L is what a message takes beyond
// what its hosts do; what does not show beside the clock counts as 1 ns.
func (f *File) Tam(name string) (t Tam, err error) {
	n, err := f.network(name)
	if err != nil {
		return t, err
	}
	at := make(map[string]map[int]float64)
	for _, c := range f.Cells {
		if p := c.Parameter(); c.Kind == NetCell && c.Tau == 1 && p.Of == n.Name && p.Host == 0 {
			if at[p.Name] == nil {
				at[p.Name] = make(map[int]float64)
			}
			at[p.Name][c.Bytes] = c.Time.Center
		}
	}
	sizes := slices.Sorted(maps.Keys(at[TamSend]))
	line := func(parameter string, at func(m int) float64) (l fit.Line) {
		var of []int
		var times []float64
		for _, m := range sizes {
			if ns := at(m); !math.IsNaN(ns) {
				of, times = append(of, m), append(times, max(1, ns))
			}
		}
		l, failed := fit.LineOf(of, times)
		if failed != nil && err == nil {
			err = fmt.Errorf("%s of network %s: %w", parameter, n.Name, failed)
		}
		return l
	}
	of := func(parameter string) fit.Line {
		return line(parameter, func(m int) float64 {
			if ns, there := at[parameter][m]; there {
				return ns
			}
			return math.NaN() // kernels may keep too little for it
		})
	}
	t.Send, t.SendGap, t.ReceiveGap, t.Receive, t.Take = of(TamSend), of(TamSendGap), of(TamReceiveGap), of(TamReceive), of(TamTake)
	if err != nil {
		return t, err
	}
	var o float64
	if of := slices.Sorted(maps.Keys(at[NetOverhead])); len(of) > 0 { // about the same of all sizes
		o = at[NetOverhead][of[0]]
	}
	t.Latency = line("L", func(m int) float64 { return o + at[NetTransfer][m] - t.Send.At(m) - t.Receive.At(m) - t.Take.At(m) })
	t.Packet = sizes[len(sizes)-1]
	for _, queued := range at[NetQueue] {
		t.Buffer = queued * float64(t.Packet) / t.SendGap.At(t.Packet)
	}
	return t, err
}
