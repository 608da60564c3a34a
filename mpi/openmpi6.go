package mpi

import (
	"io"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/view"
)

// Open MPI 6 has the protocols of 5.0, and a fan-out for Bruck's algorithm.
var openMPI6 = func() *Library {
	l := *openMPI5
	l.Name, l.Title, l.Version = "openmpi6", "Open MPI 6, ob1 over sm, single copies by CMA, as 5.0", "Open MPI 6"
	l.heads = `Open[ -]?MPI[ /-]?v?(?:[6-9]|\d\d+)\.\d[.\w]*`
	l.offers = slices.Concat(openMPI5.offers, []offer{{collective: "reduce", id: 8, name: "knomial", algorithm: "knomial", fans: fans, defaultFan: 4}})
	i := slices.IndexFunc(l.offers, func(o offer) bool { return o.name == "bruck" && o.collective == "allgather" })
	l.offers[i] = offer{collective: "allgather", id: 2, name: "bruck-k-fanout", algorithm: "k-bruck", fans: fans, defaultFan: 4}
	l.rules = &format{write: writeSelection, use: openMPIUse, hazard: byCount}
	return &l
}()

// A selection is a rules file of Open MPI 6, as coll_tuned_dynamic_file.c of 6.0 reads it. The published
// schema, tuned_dynamic_file_schema.json, lacks seg_size, which coll_tuned_read_message_size_rule
// accepts. The branch main decides otherwise for bcast and allreduce with one rank a node
// (coll_tuned_decision_fixed.c, *_disjoint_dec_fixed); 6.0 does not.
type selection struct {
	Version     int                          `json:"rule_file_version"`
	Module      string                       `json:"module"`
	Collectives map[string][]selectionBySize `json:"collectives"`
}

// A selectionBySize is for a range of communicator sizes.
type selectionBySize struct {
	Min   *int            `json:"comm_size_min,omitempty"` // nil: 0
	Max   *int            `json:"comm_size_max,omitempty"` // nil: all
	Ranks string          `json:"comm_rank_distribution,omitempty"`
	Rules []selectionRule `json:"rules"`
}

// A selectionRule is for a range of message sizes.
type selectionRule struct {
	Min       *int   `json:"msg_size_min,omitempty"` // nil: 0
	Max       *int   `json:"msg_size_max,omitempty"` // nil: all
	Algorithm string `json:"alg"`
	Segment   int    `json:"seg_size,omitempty"`
	Fan       int    `json:"faninout,omitempty"`
}

// writeSelection writes a rules file of Open MPI 6. Calls without a rule have no entry.
func writeSelection(w io.Writer, _ *Library, rules []Rule) error {
	doc := &selection{Version: 3, Module: "tuned", Collectives: make(map[string][]selectionBySize)}
	for _, c := range collectivesOf(rules) {
		for _, ranks := range []string{"single-node", "one-per-node", "any"} {
			on := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.distribution() != ranks })
			sizes := bySize(c, on, func(p int) int { return scale(c, p) })
			for i, size := range sizes {
				if selected := selectionRules(c, size.is); len(selected) > 0 { // never the last size
					doc.Collectives[c.Name] = append(doc.Collectives[c.Name], selectionBySize{new(size.from), new(sizes[i+1].from - 1), ranks, selected})
				}
			}
		}
		slices.SortStableFunc(doc.Collectives[c.Name], func(a, b selectionBySize) int { return *a.Min - *b.Min })
	}
	return view.EncodeJSON(w, doc)
}

// distribution is the rule's comm_rank_distribution, see coll_rules_comm_rank_distro_from_str. Communicators
// that coll/han splits off have one node, or one rank a node.
func (r Rule) distribution() string {
	switch {
	case r.Nodes < 2:
		return "single-node"
	case r.Nodes == r.P:
		return "one-per-node"
	}
	return "any"
}

func selectionRules(c *collective.Collective, steps settings) (rules []selectionRule) {
	for i, s := range steps {
		if s.is.Own() {
			continue
		}
		rule := selectionRule{Min: new(s.from), Algorithm: s.is.Name, Segment: s.is.Segment, Fan: s.is.Fan}
		if i+1 < len(steps) {
			rule.Max = new(steps[i+1].from - 1)
		}
		if c.Empty() {
			rule.Min = nil
		}
		rules = append(rules, rule)
	}
	return rules
}
