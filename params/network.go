package params

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Network is a channel between nodes. Its times are the file's cells of kind net whose Variant is a
// Parameter of its name.
//
// A message of m bytes takes o(m) + L(m,τ) while τ messages go through the network to the same node, and
// Copies transfers through that node's shared memory.
type Network struct {
	Name   string   `json:"name"`             // such as "eth0": letters, digits, _, . and -
	Kind   string   `json:"kind"`             // the protocol in small letters: tcp, ib …
	Copies int      `json:"copies,omitempty"` // copies that L(m,τ) leaves out; 2 in the published tables of TCP
	Hosts  []string `json:"hosts,omitempty"`  // between which it was measured
	Peers  []Peer   `json:"peers,omitempty"`  // the other hosts
}

// A Peer is the other end of a measured network.
type Peer struct {
	Address    string     `json:"address"` // destination of messages, or a name
	Packet     int        `json:"packet"`  // bytes of a message in a packet
	Provenance Provenance `json:"provenance"`
}

// Parameters of every network. Surveys add others.
const (
	NetTransfer = "L"     // L(m,τ)
	NetOverhead = "o"     // o(m), τ = 1
	NetQueue    = "queue" // additional latency of packets while one flow saturates the network
)

// Limits of networks.
const (
	maxNetworks = 64
	maxCopies   = 16
	maxHosts    = maxWorkers
	maxHost     = 253 // letters, of a host name
)

// Network is a network of the file, with its o(m) and L(m,τ); "" is the first. Incomplete sizes are left
// out as in File.Table. It fails if there is no such network, if it lacks o(m), and if fewer than two sizes are
// complete.
func (f *File) Network(name string) (Network, *Table, error) {
	n, err := f.network(name)
	if err != nil {
		return n, nil, err
	}
	transfers := f.parameter(NetCell, Parameter{Of: n.Name, Name: NetTransfer})
	if len(f.Plan.Sizes) > 0 { // sizes of Tam's packets are measured with one flow only
		transfers.sizes = slices.DeleteFunc(transfers.sizes, func(m int) bool {
			return !slices.Contains(f.Plan.Sizes, m) && transfers.lone(m)
		})
	}
	curve, err := transfers.curve("transfers of network "+n.Name, Cell.Whole)
	if err != nil && len(curve.Sizes) < fewest {
		return n, nil, err
	}
	t := &Table{Transfers: curve, Lacking: err}
	overheads := f.parameter(NetCell, Parameter{Of: n.Name, Name: NetOverhead})
	o, err := overheads.curve("overheads of network "+n.Name, Cell.Whole)
	if err != nil {
		return n, nil, err
	}
	for _, m := range curve.Sizes {
		at, _ := o.At(m, 1)
		t.Overheads = append(t.Overheads, at)
	}
	return n, t, nil
}

// ErrUnmeasured is the error for cells of a network that were not measured for lack of time.
var ErrUnmeasured = errors.New("measure the network again, and allow more time")

// network finds a network; "" is the first.
func (f *File) network(name string) (Network, error) {
	if n := lists.Find(f.Networks, func(n Network) bool { return name == "" || n.Name == name }); n != nil {
		return *n, nil
	}
	there := "the file has none, taulop net measures them"
	if len(f.Networks) > 0 {
		there = "the file has " + strings.Join(lists.Map(f.Networks, func(n Network) string { return n.Name }), ", ")
	}
	return Network{}, fmt.Errorf("no network%s: %s", strings.TrimRight(" "+name, " "), there)
}

// checkNetworks refuses invalid networks, and two of the same name.
func (f *File) checkNetworks() error {
	if len(f.Networks) > maxNetworks {
		return fmt.Errorf("networks: %d of them; the most is %d", len(f.Networks), maxNetworks)
	}
	for i, n := range f.Networks {
		if err := n.Check(); err != nil {
			return fmt.Errorf("network %d: %w", i+1, err)
		}
		if slices.ContainsFunc(f.Networks[:i], func(o Network) bool { return o.Name == n.Name }) {
			return fmt.Errorf("network %s is there twice", n.Name)
		}
	}
	return nil
}

// Check refuses a network that Read would refuse.
func (n Network) Check() error {
	switch {
	case checkWord(n.Name) != nil || strings.Contains(n.Name, ":") || len(n.Name) > maxName/2:
		return fmt.Errorf("%.40q is no name of a network; want a word of at most %d letters and digits such as eth0", n.Name, maxName/2)
	case checkSetup(n.Kind) != nil:
		return fmt.Errorf("%.40q is no kind of network; want a name in small letters like tcp", n.Kind)
	case max(len(n.Hosts), len(n.Peers)) > maxHosts:
		return fmt.Errorf("%d hosts or peers; the most is %d", max(len(n.Hosts), len(n.Peers)), maxHosts)
	}
	return cmp.Or(limited("copies", n.Copies, 0, maxCopies),
		each(n.Hosts, func(host string) error {
			if host == "" || len(host) > maxHost {
				return fmt.Errorf("%.40q is no host", host)
			}
			return nil
		}),
		each(n.Peers, func(p Peer) error {
			if p.Address == "" || len(p.Address) > maxHost || p.Packet < 1 || p.Packet > maxSize {
				return fmt.Errorf("%.40q, with packets of %d bytes, is no peer", p.Address, p.Packet)
			}
			return nil
		}))
}
