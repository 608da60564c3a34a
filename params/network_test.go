package params

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// ib is a file with a network of two sizes and two τ.
func ib() *File {
	f := &File{Networks: []Network{{Name: "ib0", Kind: "ib", Hosts: []string{"node1", "node2"}}}}
	add := func(name string, tau, m int, ns float64) {
		f.publish(Key{Kind: NetCell, Tau: tau, Bytes: m, Variant: Parameter{Of: "ib0", Name: name}}, ns/1e9)
	}
	add(NetTransfer, 1, 1, 1000)
	add(NetTransfer, 2, 1, 1500)
	add(NetTransfer, 1, 64, 2000)
	add(NetTransfer, 2, 64, 3500)
	add(NetOverhead, 1, 1, 400)
	add(NetOverhead, 1, 64, 500)
	return f
}

func TestNetwork(t *testing.T) {
	f := reread(t, written(t, ib()))
	for _, name := range []string{"", "ib0"} {
		n, table, err := f.Network(name)
		check.Need(t, err == nil && reflect.DeepEqual(n, f.Networks[0]) && n.Name == "ib0" && n.Kind == "ib", "%q: %+v, %v", name, n, err)
		sameTimes(t, "L(m,τ)", table.Transfers.Times, [][]float64{{1000, 1500}, {2000, 3500}})
		sameTimes(t, "o(m)", [][]float64{table.Overheads}, [][]float64{{400, 500}})
	}
	_, _, err := f.Network("eth0")
	check.Equal(t, fmt.Sprint(err), "no network eth0: the file has ib0", "error")
	_, _, err = (&File{}).Network("")
	check.Equal(t, fmt.Sprint(err), "no network: the file has none, taulop net measures them", "error")
}

// Sizes of Tam's packets, which have one flow only, are not incomplete. Planned cells that are missing need
// another run.
func TestNetworkLacks(t *testing.T) {
	f := ib()
	f.Plan.Sizes, f.Plan.Taus = []int{1, 64}, []int{1, 2}
	packet := f.Cells[0]
	packet.Bytes = 32
	f.Cells = append(f.Cells, packet)
	_, of, err := f.Network("")
	check.True(t, err == nil && of.Lacking == nil && slices.Equal(of.Transfers.Sizes, []int{1, 64}), "%+v, %v", of, err)
	f.Plan.Sizes = []int{1, 32, 64}
	_, of, err = f.Network("")
	check.True(t, err == nil && errors.Is(of.Lacking, ErrUnmeasured) && !errors.Is(of.Lacking, ErrUnfinished) && strings.Contains(of.Lacking.Error(), "of m = 32 at τ = 2"),
		"%+v, %v", of, err)
}

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
	for want, line := range map[[2]float64]fit.Line{{1000, 1}: tam.Send, {500, 8}: tam.SendGap, {600, 8}: tam.ReceiveGap, {2000, 0.5}: tam.Receive, {300, 0.25}: tam.Take, {20000, 10}: tam.Latency} {
		check.Near(t, line.Startup.Value, want[0], 1e-3*want[0], "start of %+v", line)
		check.Near(t, line.PerByte.Value, want[1], 1e-3*want[1], "time of a byte of %+v", line)
	}
	// 1 ms of packets of 1448 bytes, one in 12084 ns.
	check.Equal(t, tam.Packet, 1448, "bytes of packets")
	check.Near(t, tam.Buffer, 1e6*1448/12084, 1e-3*tam.Buffer, "B_L")
	n := f.Networks[0]
	check.True(t, len(n.Peers) == 1 && n.Peers[0].Address == "10.0.0.2:7415" && n.Peers[0].Packet == 1448, "peers were read as %+v", n.Peers)
	f.Cells = f.Cells[:3]
	check.Error(t, must.Err(f.Tam("eth0")), "half of the parameters are enough")
}
