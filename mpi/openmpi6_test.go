package mpi

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// readSelection reads what writeSelection writes.
func readSelection(text []byte) (*selection, error) {
	s := &selection{}
	if err := params.DecodeJSON(text, "rules", s); err != nil {
		return nil, err
	}
	if s.Collectives == nil {
		return nil, fmt.Errorf("no collectives in %s", text)
	}
	return s, nil
}

// Rules of several nodes are for any distribution, except those of one rank a node.
func TestSelectionOfNodes(t *testing.T) {
	binomial := Setting{ID: 6, Name: "binomial"}
	rules := []Rule{{collective.Bcast, 3, 1, 1, 1024, binomial}, {collective.Bcast, 4, 1, 1, 1024, binomial}, {collective.Bcast, 5, 2, 1, 1024, binomial}, {collective.Bcast, 6, 6, 1, 1024, binomial}}
	var text bytes.Buffer
	must.Do(openMPI6.Write(&text, rules))
	s := must.Get(readSelection(text.Bytes()))
	var got []string
	for _, of := range s.Collectives["bcast"] {
		got = append(got, fmt.Sprint(*of.Min, *of.Max, of.Ranks))
	}
	if want := []string{"3 4single-node", "5 5any", "6 6one-per-node"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// choice is Open MPI 6's decision with the file for ranks on one node: the first matching rule of the first matching
// range of communicator sizes.
func (s *selection) choice(l *Library, c *collective.Collective, p, m int) (Setting, error) {
	within := func(v int, least, most *int) bool {
		return (least == nil || *least <= v) && (most == nil || v <= *most)
	}
	for _, of := range s.Collectives[c.Name] {
		if !within(p, of.Min, of.Max) || of.Ranks == "one-per-node" {
			continue
		}
		for _, r := range of.Rules {
			if within(m*scale(c, p), r.Min, r.Max) {
				o, _ := l.find(c.Name, func(o offer) bool { return o.name == r.Algorithm }) // none is no setting of a test
				return Setting{o.id, o.name, r.Fan, r.Segment}, nil
			}
		}
		break
	}
	return Setting{}, nil
}
