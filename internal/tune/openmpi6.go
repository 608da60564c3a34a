package tune

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A Selection is a rules file of Open MPI 6, as coll_tuned_dynamic_file.c of 6.0 reads it.
type Selection struct {
	Version     int                          `json:"rule_file_version"`
	Module      string                       `json:"module"`
	Collectives map[string][]SelectionBySize `json:"collectives"`
}

// A SelectionBySize holds for numbers of ranks.
type SelectionBySize struct {
	Min   *Bound          `json:"comm_size_min,omitempty"` // nil: 0
	Max   *Bound          `json:"comm_size_max,omitempty"` // nil: all
	Ranks string          `json:"comm_rank_distribution,omitempty"`
	Rules []SelectionRule `json:"rules"`
}

// A SelectionRule holds for sizes of messages.
type SelectionRule struct {
	Min       *Bound `json:"msg_size_min,omitempty"` // nil: 0
	Max       *Bound `json:"msg_size_max,omitempty"` // nil: all
	Algorithm ID     `json:"alg"`
	Segment   int    `json:"seg_size,omitempty"`
	Fan       int    `json:"faninout,omitempty"`
	Requests  int    `json:"reqs,omitempty"`
}

// A Bound is a number, or "inf".
type Bound int

// UnmarshalJSON reads a number or "inf".
func (b *Bound) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		if len(word) >= 3 && (word[:3] == "inf" || word[:3] == "Inf" || word[:3] == "INF") {
			*b = math.MaxInt
			return nil
		}
		return fmt.Errorf("%.40q is neither a number nor \"inf\"", word)
	}
	var v int
	if err := json.Unmarshal(text, &v); err != nil || v < 0 {
		return fmt.Errorf("%.40s is neither a number from 0 nor \"inf\"", text)
	}
	*b = Bound(v)
	return nil
}

// An ID is an algorithm, by its number or its name.
type ID string

// UnmarshalJSON reads a number or a name.
func (id *ID) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		*id = ID(word)
		return nil
	}
	var v int
	if err := json.Unmarshal(text, &v); err != nil || v < 0 {
		return fmt.Errorf("%.40s is neither the number nor the name of an algorithm", text)
	}
	*id = ID(fmt.Sprint(v))
	return nil
}

// ReadSelection reads a rules file of Open MPI 6. An error says in which line of name it is.
func ReadSelection(r io.Reader, name string) (*Selection, error) {
	text, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	s := &Selection{}
	if err := params.DecodeJSON(text, name, s); err != nil {
		return nil, err
	}
	if s.Collectives == nil {
		return nil, fmt.Errorf("%s has no \"collectives\", which the rules of Open MPI 6 are below", name)
	}
	return s, nil
}

// Choice is what a library chooses with the file for ranks on one node: the first rule that
// holds, of the first numbers of ranks that do.
func (s *Selection) Choice(l *Library, c *collective.Collective, p, m int) (Setting, error) {
	for _, of := range s.Collectives[c.Name] {
		if !within(p, of.Min, of.Max) || of.Ranks == "one-per-node" {
			continue
		}
		for _, r := range of.Rules {
			if within(m*scale(c, p), r.Min, r.Max) {
				return l.byName(c.Name, string(r.Algorithm), r.Fan, r.Segment)
			}
		}
		break
	}
	return Setting{}, nil
}

func within(v int, least, most *Bound) bool {
	return (least == nil || int(*least) <= v) && (most == nil || v <= int(*most))
}

// writeSelection writes a rules file of Open MPI 6. What no rule says is left to it.
func writeSelection(w io.Writer, r *Rules) error {
	doc := &Selection{Version: 3, Module: "tuned", Collectives: make(map[string][]SelectionBySize)}
	ranks := "any"
	if r.OneNode {
		ranks = "single-node"
	}
	for _, c := range r.collectives() {
		sizes := bySize(r.of(c), func(p int) int { return scale(c, p) })
		for i, of := range sizes {
			if told := selectionRules(c, of.steps); len(told) > 0 { // never the last, which is a guard
				doc.Collectives[c.Name] = append(doc.Collectives[c.Name], SelectionBySize{bound(of.p), bound(sizes[i+1].p - 1), ranks, told})
			}
		}
	}
	var text bytes.Buffer
	if err := view.EncodeJSON(&text, doc); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

func selectionRules(c *collective.Collective, steps []step) (rules []SelectionRule) {
	for i, s := range steps {
		if s.setting.Own() {
			continue
		}
		rule := SelectionRule{Min: bound(s.from), Algorithm: ID(s.setting.Name), Segment: s.setting.Segment, Fan: s.setting.Fan}
		if i+1 < len(steps) {
			rule.Max = bound(steps[i+1].from - 1)
		}
		if c.Empty() {
			rule.Min = nil
		}
		rules = append(rules, rule)
	}
	return rules
}

func bound(v int) *Bound {
	b := Bound(v)
	return &b
}

var errLarge = errors.New("a rules file has less than that")

// maxRules is far more than a file of rules needs, in bytes.
const maxRules = 16 << 20

// readAll reads a file of rules.
func readAll(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxRules+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxRules:
		return nil, fmt.Errorf("%s has more than %d MiB: %w", name, maxRules>>20, errLarge)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty", name)
	}
	return text, nil
}
