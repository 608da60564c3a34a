package params

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
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
	if err != nil || of.Lacking != nil || !slices.Equal(of.Transfers.Sizes, []int{1, 64}) {
		t.Errorf("%+v, %v", of, err)
	}
	f.Plan.Sizes = []int{1, 32, 64}
	if _, of, err = f.Network(""); err != nil || !errors.Is(of.Lacking, ErrUnmeasured) || errors.Is(of.Lacking, ErrUnfinished) || !strings.Contains(of.Lacking.Error(), "of m = 32 at τ = 2") {
		t.Errorf("%+v, %v", of, err)
	}
}

func TestNetworkRefused(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		change     func(f *File)
	}{
		{"no name", "no name of a network", func(f *File) { f.Networks[0].Name = "" }},
		{"a colon", "no name of a network", func(f *File) { f.Networks[0].Name = "a:b" }},
		{"long", "no name of a network", func(f *File) { f.Networks[0].Name = strings.Repeat("a", 33) }},
		{"kind", "no kind of network", func(f *File) { f.Networks[0].Kind = "Infini Band" }},
		{"copies", "copies is -1", func(f *File) { f.Networks[0].Copies = -1 }},
		{"host", "is no host", func(f *File) { f.Networks[0].Hosts = []string{""} }},
		{"twice", "network ib0 is there twice", func(f *File) { f.Networks = append(f.Networks, f.Networks[0]) }},
		{"peer", "is no peer", func(f *File) { f.Networks[0].Peers = []Peer{{Address: "node2"}} }},
		{"many", "65 of them", func(f *File) { f.Networks = make([]Network, 65) }},
		{"unnamed", `there is no network "ib0"`, func(f *File) { f.Networks[0].Name = "ib1" }},
		{"variant", "no parameter of a network", func(f *File) { f.Cells[0].Variant = Name("ib0") }},
	} {
		f := ib()
		tt.change(f)
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v; want %q", tt.name, err, tt.says)
		}
	}
}
