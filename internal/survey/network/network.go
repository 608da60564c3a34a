// Package network measures messages between hosts over TCP: the times of concurrent flows between
// two hosts, and the parts of a packet's time.
//
// Its opinion: both ends are threads that block in the kernel, as an MPI library's would; a time is
// half a round trip, because clocks of hosts differ; messages of concurrent flows start together, or
// they would take turns; every launch has its own connections; and received bytes are verified.
package network

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Survey is messages between hosts. A sweep, which knows no other host, does not include it.
var Survey = survey.Register(&survey.Survey{
	Name: "net", Doc: "messages between hosts over TCP, and the parts of their way",
	Decode: survey.Decoder[Request],
	Answer: Answer,
	Tables: Tables,
	Drawing: &view.Drawing{
		Kind: params.NetCell, Profiles: view.ByCell(profiled),
		Name: "net", About: "messages between two hosts against m, by concurrent flows", Example: "taulop plot net -o n.svg net.json",
		Title: "L(m,τ) of a network: a message between two hosts, without o", What: "messages of a network", Measure: "taulop net",
		Label: "Network",
	},
})

const (
	queueBytes   = 64 << 10 // of messages that fill a network's queue
	leastIgnored = 4        // packets of a batch that the receiver ignores
	idealIgnored = 16
	mostPacket   = mostIgnored / leastIgnored // bytes of the largest packet whose parts are measured
)

// A Request says what to measure between this host and targets.
type Request struct {
	Name    string   `json:"name"` // of the network
	Targets []Target `json:"targets"`
	Run     [16]byte `json:"run"`
	Secret  Secret   `json:"secret"`
	Sizes   []int    `json:"sizes"`   // m, bytes, rising
	Taus    []int    `json:"taus"`    // flows at once, rising
	Segment int      `json:"segment"` // payload of a packet, bytes; 0: Tam's parameters are left out
	Unread  int      `json:"unread"`  // unread bytes that the targets' kernels keep
}

// Sizes are the default sizes.
var Sizes = []int{1, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

// Taus are the default numbers of flows: powers of two up to the CPUs of the smallest host, at most
// eight.
func (r *Run) Taus(cpus int) []int {
	for _, f := range r.Facts {
		cpus = min(cpus, f.CPUs)
	}
	return survey.Doubling(min(cpus, 8))
}

// CPUs are the CPUs to which a host's flows are pinned, in this order.
func CPUs(m *numa.Machine) (cpus []int, err error) {
	p, err := m.Place(numa.Local, m.Allowed.Len())
	return lists.Map(p.Workers, func(w numa.Worker) int { return w.ID }), err
}

// Check validates sizes and τ.
func (r Request) Check() error {
	for _, m := range r.Sizes {
		if m < 1 || m > mostMessage {
			return fmt.Errorf("a message of %d bytes; want 1 to %d", m, mostMessage)
		}
	}
	if n := len(r.Taus); n > 0 && r.Taus[n-1] > mostFlows {
		return fmt.Errorf("%d flows at once; want %d at the most", r.Taus[n-1], mostFlows)
	}
	return nil
}

// Packets are the sizes at which Tam's parameters are measured.
func (r Request) Packets() (sizes []int) {
	most := max(4, min(r.Segment, mostPacket))
	return []int{1, most / 4, most / 2, most}
}

// Cells are L(m,τ) to the first target, o, L of the smallest and largest message to others, and
// Tam's parameters of packets, except where kernels keep too few unread bytes.
func (r Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	to := 0 // Host of the parameter; 0: the first target
	add := func(parameter string, tau, bytes, tier int) {
		k := params.Key{Kind: params.NetCell, Placement: numa.Local, Tau: tau, Bytes: bytes, Variant: params.Parameter{Of: r.Name, Name: parameter, Host: to}}
		if !slices.ContainsFunc(cells, func(c engine.Cell) bool { return c.Key == k }) {
			cells = append(cells, engine.Cell{Cell: params.Cell{Key: k}, Tier: tier})
		}
	}
	least, most := r.Sizes[0], r.Sizes[len(r.Sizes)-1]
	for _, tau := range r.Taus {
		for _, m := range r.Sizes {
			add(params.NetTransfer, tau, m, 0)
		}
	}
	for i := range r.Targets {
		for _, m := range []int{least, most} {
			if add(params.NetOverhead, 1, m, 0); i > 0 {
				to = i + 1
				add(params.NetTransfer, 1, m, 0)
				to = 0
			}
		}
	}
	if r.Segment == 0 {
		return cells, nil, nil
	}
	for _, m := range r.Packets() {
		for _, parameter := range []string{params.NetTransfer, params.TamSend, params.TamTake, params.TamReceive, params.TamSendGap, params.TamReceiveGap} {
			if n := unread[parameter] * m; n > r.Unread {
				warnings = append(warnings, fmt.Errorf("%s of packets of %d bytes is left out: it needs %d unread bytes, and the kernel there keeps %d: raise the second number of net.ipv4.tcp_rmem on that host", parameter, m, n, r.Unread))
				continue
			}
			add(parameter, 1, m, 1)
		}
	}
	add(params.NetQueue, 1, queueBytes, 2)
	return cells, warnings, nil
}

// unread is the smallest number of messages that must wait unread for a parameter.
var unread = map[string]int{params.TamTake: 1, params.TamReceive: leastIgnored}

// profiled gives the time of a message over its size.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	p := c.Parameter()
	at.Panel, at.Line, at.Where, at.Time = p.Of, fmt.Sprintf("τ = %d", c.Tau), view.Where{}, "L(m,τ)"
	return c.Bytes, c.Time, c.Kind == params.NetCell && p.Name == params.NetTransfer && p.Host == 0
}
