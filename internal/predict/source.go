package predict

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
)

// A Source is the origin of costs: a machine's parameters and a model.
type Source struct {
	Machine   string `json:"machine"`
	File      string `json:"params"`
	Channel   string `json:"channel,omitempty"` // of the file, in words
	States    string `json:"states,omitempty"`  // over which costs are means, in words; "" with one state
	Cluster   string `json:"cluster,omitempty"` // nodes, mapping and network, in words
	Nodes     string `json:"nodes,omitempty"`   // filled by default, in words
	Model     string `json:"model"`
	Transport string `json:"transport,omitempty"`
	Segment   int    `json:"segment_bytes,omitempty"`
	Library   string `json:"library,omitempty"`     // whose protocols carry messages instead of Transport
	Schedules string `json:"schedules,omitempty"`   // their origin, in words
	Chunk     int    `json:"chunk_bytes,omitempty"` // of algorithms with chunks, if given
	Degree    int    `json:"degree,omitempty"`      // of algorithms with trees, if given
	Measured  string `json:"measured"`              // range of m and τ, in words
	Rule      string `json:"extrapolation_rule"`    // beyond it
	Errors    string `json:"errors,omitempty"`      // mean errors of such predictions in tests, in words; "": untested
	// Uncertainty says what intervals include; "" if parameters allow none.
	Uncertainty string `json:"uncertainty,omitempty"`
}

// NewSource is the source of a predictor's costs.
func NewSource(p *model.Predictor, machine, file string) Source {
	s := Source{Machine: machine, File: file, Channel: p.Channel, Model: p.Title(), Measured: "m up to " + view.Bytes(p.Largest), Rule: p.Rule()}
	if p.Segments() {
		s.Segment = p.Segment
	}
	if l := p.Transfers; l != nil {
		if p.As != nil {
			s.Library = p.As.Title
		} else {
			s.Transport = p.Transport.String()
		}
		s.Measured = fmt.Sprintf("m from %s to %s and τ from %d to %d", view.Bytes(l.Sizes[0]), view.Bytes(p.Largest), l.Taus[0], l.Taus[len(l.Taus)-1])
	}
	switch {
	case p.Rule() == model.LevelsRule:
		s.Errors = "10 to 40 % (docs/accuracy.md)"
	case p.Model == model.Models[0]:
		s.Errors = "4 to 20 % (docs/accuracy.md)"
	}
	if c := p.Cluster; c != nil {
		s.Cluster = c.String()
		if c.Network != nil {
			l := c.Network.Table.Transfers
			s.Measured += fmt.Sprintf(", and of network %s m from %s to %s and τ from %d to %d", c.Network.Name,
				view.Bytes(l.Sizes[0]), view.Bytes(l.Sizes[len(l.Sizes)-1]), l.Taus[0], l.Taus[len(l.Taus)-1])
		}
	}
	if packed := p.Packing; packed != nil {
		s.Measured += fmt.Sprintf(", and p(m,%d) with m from %s to %s", p.Stride, view.Bytes(packed.Sizes[0]), view.Bytes(packed.Sizes[len(packed.Sizes)-1]))
	}
	return s
}

// OnNodes says how many nodes ranks fill: "P = 2 to 128 on 1 node of 128 cores, P = 256 on 2 nodes"; ""
// with a cluster, or if cores are unknown. ps rise.
func OnNodes(p *model.Predictor, ps []int) string {
	if p.Cluster != nil {
		return ""
	}
	var parts []string
	first, before := 0, 0
	for _, ranks := range ps {
		nodes, cores := p.Nodes(ranks)
		if cores == 0 {
			return ""
		}
		if nodes != before {
			first, before = ranks, nodes
			parts = append(parts, "")
		}
		parts[len(parts)-1] = fmt.Sprintf("P = %d", first) + printable.If(ranks != first, fmt.Sprintf(" to %d", ranks)) +
			" on " + printable.Count(nodes, "node") + printable.If(len(parts) == 1, " of "+printable.Count(cores, "core"))
	}
	return strings.Join(parts, ", ")
}
