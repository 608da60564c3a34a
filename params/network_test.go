package params

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
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
		if err != nil || !reflect.DeepEqual(n, f.Networks[0]) || n.Name != "ib0" || n.Kind != "ib" {
			t.Fatalf("%q: %+v, %v", name, n, err)
		}
		sameTimes(t, "L(m,τ)", table.Transfers.Times, [][]float64{{1000, 1500}, {2000, 3500}})
		sameTimes(t, "o(m)", [][]float64{table.Overheads}, [][]float64{{400, 500}})
	}
	if _, _, err := f.Network("eth0"); err == nil || err.Error() != "no network eth0: the file has ib0" {
		t.Errorf("%v", err)
	}
	if _, _, err := (&File{}).Network(""); err == nil || err.Error() != "no network: the file has none, taulop net measures them" {
		t.Errorf("%v", err)
	}
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
	if _, of, err = f.Network(""); err != nil || !errors.Is(of.Lacking, ErrUnmeasured) || errors.Is(of.Lacking, ErrUnfinished) || !strings.Contains(of.Lacking.Error(), "of m = 32 at τ = 2") {
		t.Errorf("%+v, %v", of, err)
	}
}
