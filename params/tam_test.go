package params

import (
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// tamFile has a network whose times are lines.
func tamFile() *File {
	f := &File{Format: Format, Version: Version, Networks: []Network{{Name: "eth0", Kind: "tcp", Peers: []Peer{{Address: "10.0.0.2:7415", Packet: 1448}}}}}
	add := func(parameter string, m int, ns float64) {
		f.Cells = append(f.Cells, Cell{Key: Key{Kind: NetCell, Placement: numa.Local, Tau: 1, Bytes: m, Variant: Parameter{Of: "eth0", Name: parameter}}, Time: fit.Median([]float64{ns})})
	}
	for _, m := range []int{1, 362, 724, 1448} {
		x := float64(m)
		add(TamSend, m, 1000+x)
		add(TamSendGap, m, 500+8*x)
		add(TamReceiveGap, m, 600+8*x)
		add(TamReceive, m, 2000+x/2)
		add(TamTake, m, 300+x/4)
		// Together with o it is the sum of the hosts' times and a latency of 20 µs + 10 ns a byte.
		add(NetTransfer, m, 20000+10*x+(1000+x)+(2000+x/2)+(300+x/4)-900)
	}
	add(NetTransfer, 1<<20, 1e9) // no packet
	add(NetOverhead, 1, 900)
	add(NetQueue, 64<<10, 1e6)
	return f
}

func TestTam(t *testing.T) {
	f := reread(t, written(t, tamFile()))
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Bytes == 362 && c.Parameter().Name == NetTransfer }) // not measured
	tam := must.Get(f.Tam(""))
	for name, tt := range map[string]struct {
		line           fit.Line
		start, perByte float64
	}{
		"O_s": {tam.Send, 1000, 1}, "g_s": {tam.SendGap, 500, 8}, "g_r": {tam.ReceiveGap, 600, 8}, "O_r": {tam.Receive, 2000, 0.5}, "U_r": {tam.Take, 300, 0.25}, "L": {tam.Latency, 20000, 10},
	} {
		if !near(tt.line.Startup.Value, tt.start, 1e-3) || !near(tt.line.PerByte.Value, tt.perByte, 1e-3) {
			t.Errorf("%s is %g + %g·m, want %g + %g·m", name, tt.line.Startup.Value, tt.line.PerByte.Value, tt.start, tt.perByte)
		}
	}
	// 1 ms of packets of 1448 bytes, one in 12084 ns.
	if want := 1e6 * 1448 / 12084; tam.Packet != 1448 || !near(tam.Buffer, want, 1e-3) {
		t.Errorf("packets of %d, B_L = %g, want %g", tam.Packet, tam.Buffer, want)
	}
	if n := f.Networks[0]; len(n.Peers) != 1 || n.Peers[0].Address != "10.0.0.2:7415" || n.Peers[0].Packet != 1448 {
		t.Errorf("peers were read as %+v", n.Peers)
	}
	f.Cells = f.Cells[:3]
	check.Error(t, must.Err(f.Tam("eth0")), "half of the parameters are enough")
}
