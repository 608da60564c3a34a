package params

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// ib is a network of two sizes and two τ.
func ib() (*Table, Network) {
	return &Table{
		Transfers: Curve{Sizes: []int{1, 64}, Taus: []int{1, 2}, Times: [][]float64{{1e-6, 1.5e-6}, {2e-6, 3.5e-6}}},
		Overheads: []float64{4e-7, 5e-7},
	}, Network{Name: "ib0", Kind: "ib", Hosts: []string{"node1", "node2"}}
}

func TestNetwork(t *testing.T) {
	table, n := ib()
	f := reread(t, written(t, FromNetworkText(table, n)))
	for _, name := range []string{"", "ib0"} {
		got, read, err := f.Network(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != n.Name || got.Kind != n.Kind || got.Copies != 0 || !slices.Equal(got.Hosts, n.Hosts) {
			t.Errorf("%q: %+v, want %+v", name, got, n)
		}
		for _, m := range []int{1, 32, 64, 100} {
			for tau := 1; tau <= 3; tau++ {
				if is, _ := read.L(m, tau); is != value(table.L(m, tau)) {
					t.Errorf("L(%d,%d) = %g", m, tau, is)
				}
			}
			if is, _ := read.O(m); is != value(table.O(m)) {
				t.Errorf("o(%d) = %g", m, is)
			}
		}
	}
	if _, _, err := f.Network("eth0"); err == nil || err.Error() != "no network eth0: the file has ib0" {
		t.Errorf("%v", err)
	}
	if _, _, err := (&File{}).Network(""); err == nil || !strings.HasPrefix(err.Error(), "no network: ") {
		t.Errorf("%v", err)
	}
}

// Sizes of Tam's packets, which have one flow only, are not incomplete. Planned cells that are missing need
// another run.
func TestNetworkLacks(t *testing.T) {
	table, n := ib()
	f := FromNetworkText(table, n)
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

func value(v float64, _ bool) float64 { return v }

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
		f := FromNetworkText(ib())
		tt.change(f)
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v; want %q", tt.name, err, tt.says)
		}
	}
}
