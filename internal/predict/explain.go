package predict

import (
	"fmt"
	"strconv"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Explanations are costs with their terms, or the cheapest algorithms by message size.
type Explanations struct {
	Source
	Calls       []Explanation `json:"calls,omitempty"`
	Comparisons []Comparison  `json:"comparisons,omitempty"`
	LeftOut     []Omission    `json:"left_out"`
}

// An Explanation is the cost of one call with its terms.
type Explanation struct {
	Prediction
	Described string         `json:"described"` // source of the algorithm
	Symbols   string         `json:"symbols"`   // of the formula
	Formula   string         `json:"formula"`
	Context   string         `json:"context,omitempty"` // the footprint of L(S,τ), in words
	States    []StateCost    `json:"states,omitempty"`  // with several; the cost is their mean by their shares
	Terms     []ExplainTerm  `json:"terms"`
	Stages    []ExplainStage `json:"stages"`
}

// A StateCost is the cost of the call in one state of the machine.
type StateCost struct {
	params.State
	Microseconds float64 `json:"cost_us"`
	Extrapolated bool    `json:"extrapolated"`
	Unknown      bool    `json:"unknown,omitempty"`
}

// An ExplainTerm is a term of the formula with its numbers.
type ExplainTerm struct {
	Parameter    string  `json:"parameter"` // such as L(S,2)
	Times        float64 `json:"times"`
	Value        float64 `json:"value_us"`
	Microseconds float64 `json:"cost_us"` // Times · Value
	Share        float64 `json:"share"`   // of the total
	Extrapolated bool    `json:"extrapolated"`
}

// An ExplainStage is a stage of concurrent messages, and its repetitions.
type ExplainStage struct {
	First        int                `json:"first"` // number of the stage, from 1
	Every        int                `json:"every"`
	Repeat       int                `json:"repeat"`
	Phase        string             `json:"phase"`
	Pattern      string             `json:"pattern"`
	Batches      []collective.Batch `json:"messages"`
	Messages     []string           `json:"who,omitempty"`     // from→to, in the first repetition
	Within       *Carried           `json:"within,omitempty"`  // messages within nodes; nil with one channel
	Between      *Carried           `json:"between,omitempty"` // messages between nodes
	Formula      string             `json:"formula"`           // of one repetition, of its slowest channel
	Microseconds float64            `json:"cost_us"`           // of one repetition
}

// Carried counts a stage's messages in a channel.
type Carried struct {
	Messages int   `json:"messages"`         // on all nodes
	Busiest  int   `json:"busiest"`          // of the busiest node: within it, or the larger of outbound and inbound
	Levels   []int `json:"levels,omitempty"` // of Messages by level, from the closest on; nil with one level
}

// carried counts a stage's messages; nil with one channel.
func carried(t mapping.Traffic) (within, between *Carried) {
	if t == (mapping.Traffic{}) {
		return nil, nil
	}
	within, between = &Carried{Messages: t.Within, Busiest: t.Inside}, &Carried{Messages: t.Between, Busiest: t.Through}
	if t.Levels[0].All < t.Within {
		for level, rest := 0, t.Within; rest > 0; level++ {
			within.Levels = append(within.Levels, t.Levels[level].All)
			rest -= t.Levels[level].All
		}
	}
	return within, between
}

// String is all messages, and the busiest node's.
func (c *Carried) String() string {
	switch {
	case c == nil || c.Messages == 0:
		return "–"
	case c.Messages == c.Busiest:
		return strconv.Itoa(c.Messages)
	}
	return fmt.Sprintf("%d, %d at one node", c.Messages, c.Busiest)
}

// mostListed is the most ranks of a schedule whose messages are listed.
const mostListed = 16

// Explain explains a cost.
func Explain(s *collective.Schedule, c model.Cost, p Prediction) Explanation {
	e := Explanation{
		Prediction: p, Described: s.Algorithm.Source,
		Symbols: c.Symbols.String(), Formula: c.Formula(),
	}
	for _, t := range c.Terms {
		us := t.Times * t.Seconds * 1e6
		share := 0.0
		if c.Seconds > 0 {
			share = us / (c.Seconds * 1e6)
		}
		e.Terms = append(e.Terms, ExplainTerm{
			Parameter: t.Name(), Times: t.Times, Value: t.Seconds * 1e6,
			Microseconds: us, Share: share, Extrapolated: t.Extrapolated,
		})
	}
	for _, st := range c.Stages {
		stage := ExplainStage{
			First: st.First, Every: st.Every, Repeat: st.Repeat,
			Phase: st.Stage.Phase, Pattern: st.Stage.Pattern.String(),
			Batches: st.Stage.Shape, Formula: model.Formula(st.Terms), Microseconds: st.Seconds() * 1e6,
		}
		stage.Within, stage.Between = carried(st.Traffic)
		if s.Call.P <= mostListed {
			for m := range (collective.Step{Stage: st.Stage, Repetition: st.Repetition}).Messages() {
				stage.Messages = append(stage.Messages, fmt.Sprintf("%d→%d", m.From, m.To))
			}
		}
		e.Stages = append(e.Stages, stage)
	}
	return e
}

// A Comparison is the cheapest of several algorithms by message size.
type Comparison struct {
	P          int      `json:"P"`
	Margin     float64  `json:"margin"` // another one must be cheaper by this fraction to win
	Algorithms []string `json:"algorithms"`
	Intervals  []Win    `json:"intervals"`
}

// A Win is a range of message sizes with the same cheapest algorithms.
type Win struct {
	From         int      `json:"from_bytes"`
	To           int      `json:"to_bytes"`
	Cheapest     []string `json:"cheapest"`  // several if their costs are equal within the margin
	Advantage    float64  `json:"advantage"` // cost of the best other over this one, at most
	Extrapolated bool     `json:"extrapolated"`
	Unknown      bool     `json:"unknown,omitempty"` // the parameters have a time of 0 for one of the costs
}
