package model

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/mapping"
)

// Cost is the cost of a schedule, as a number and as its formula.
type Cost struct {
	Seconds      float64 // of the slowest rank
	Mean         float64 // over ranks; 0 of models that do not tell ranks apart
	Extrapolated bool    // some term is
	Unknown      bool    // some term comes from a time of 0; set by the owner of the parameters
	// Spread is the share by which two costs must differ to be told apart because parameters are
	// missing, in addition to intervals; 0: none are missing.
	Spread  float64
	Terms   []Term
	Stages  []StageCost
	Symbols Symbols
}

// StageCost is the cost of one stage, which occurs Repeat times: as First, First+Every … of the stages
// with a cost, counted from 1.
type StageCost struct {
	Stage        *collective.Stage
	Repeat       int
	First, Every int
	Repetition   int             // of its block, at First
	Terms        []Term          // of one repetition, of its slowest channel
	Traffic      mapping.Traffic // zero where channels are not told apart
}

// Seconds is the cost of one repetition.
func (s StageCost) Seconds() float64 { return total(s.Terms) }

// Channel is the channel of the terms, the slowest: a level of the node from 0, or the network.
func (s StageCost) Channel() (level int, network bool) {
	for _, t := range s.Terms {
		if t.Parameter == "L₁" {
			return 0, true
		}
		level = max(level, t.from.Level)
	}
	return level, false
}

// Term is a multiple of one parameter, such as (k−1)L(S,2).
type Term struct {
	Count        Count
	Times        float64 // Count as a number
	Parameter    string  // "L", "o", "γ" … as in the model's paper
	Bytes        int     // message size, unless Size is empty
	Size         string  // the same in symbols: "S", "m", "4m", "100 B"
	Tau          int     // concurrent transfers; 0: the parameter has no τ
	Seconds      float64 // the parameter's value
	Extrapolated bool
	from         source
	beside       transfer // of "c": concurrent; hides its part of the time
}

// Count is a number of times, Fixed + PerK·k.
type Count struct {
	Fixed int
	PerK  int
}

func (c Count) plus(d Count) Count      { return Count{c.Fixed + d.Fixed, c.PerK + d.PerK} }
func (c Count) times(n int) Count       { return Count{c.Fixed * n, c.PerK * n} }
func (c Count) minus(d Count) Count     { return c.plus(d.times(-1)) }
func (c Count) value(k float64) float64 { return float64(c.Fixed) + float64(c.PerK)*k }

// String writes the count as a factor: nothing for 1, and parentheses round sums.
func (c Count) String() string {
	switch {
	case c.PerK == 0 && c.Fixed == 1:
		return ""
	case c.PerK == 0:
		return fmt.Sprint(c.Fixed)
	}
	k := printable.Either(c.PerK != 1, fmt.Sprintf("%dk", c.PerK), "k")
	switch {
	case c.Fixed == 0:
		return k
	case c.Fixed < 0:
		return fmt.Sprintf("(%s−%d)", k, -c.Fixed)
	}
	return fmt.Sprintf("(%s+%d)", k, c.Fixed)
}

// String is the term in the paper's notation.
func (t Term) String() string { return t.Count.String() + t.Name() }

// Name is the parameter with its arguments: L(S,2).
func (t Term) Name() string {
	channel := t.from.Channel
	if t.Parameter != "L" {
		channel.Transport = ""
	}
	name := t.Parameter + channel.String()
	switch {
	case t.Size == "":
		return t.Parameter
	case t.Tau == 0:
		return fmt.Sprintf("%s(%s)", name, t.Size)
	case t.Parameter == "y": // of nothing
		return fmt.Sprintf("%s(%d)", name, t.Tau)
	}
	return fmt.Sprintf("%s(%s,%d)", name, t.Size, t.Tau)
}

// Formula is the cost in the paper's notation: "2L(S,1) + (k−1)L(S,2)".
func (c Cost) Formula() string { return Formula(c.Terms) }

// Formula writes terms as a sum.
func Formula(terms []Term) string {
	if len(terms) == 0 {
		return "0"
	}
	words := lists.Map(terms, func(t Term) string { return t.String() })
	return strings.Join(words, " + ")
}

// Symbols are the symbols of a formula.
type Symbols struct {
	M    int    // message size of the call in bytes
	P    int    // ranks
	S    int    // segment size in bytes, 0 where messages are not segmented
	K    int    // segments of a unit, 0 where the formula has no k
	Unit string // what k counts the segments of: "m", "m/P" or "⌈m/P⌉"
	unit int    // in bytes
}

// String lists the symbols that a formula may use.
func (s Symbols) String() string {
	return fmt.Sprintf("P = %d, m = %d B", s.P, s.M) +
		printable.If(s.S > 0, fmt.Sprintf(", S = %d B", s.S)) +
		printable.If(s.K > 0, fmt.Sprintf(", k = %s/S = %d", s.Unit, s.K))
}

// size is a number of bytes as a multiple of the schedule's unit, if it is one.
func (s Symbols) size(bytes int) string {
	switch {
	case bytes == s.M && s.M > 0:
		return "m"
	case s.unit == 0 || bytes == 0 || bytes%s.unit != 0:
		return fmt.Sprintf("%d B", bytes)
	case bytes == s.unit:
		return s.Unit
	case s.Unit == "m":
		return fmt.Sprintf("%dm", bytes/s.unit)
	}
	return fmt.Sprintf("%d·%s", bytes/s.unit, s.Unit)
}

// one is a term of a parameter with its arguments; tau 0: it has no τ.
func (s Symbols) one(parameter string, bytes, tau int) Term {
	return Term{Count: Count{Fixed: 1}, Parameter: parameter, Bytes: bytes, Size: s.size(bytes), Tau: tau}
}

// sum adds up terms of the same parameter and arguments.
type sum struct {
	terms []Term
	at    map[sumKey]int
}

type sumKey struct {
	parameter  string
	bytes, tau int
	from       source
	beside     transfer
}

// A transfer is one of tau concurrent transfers.
type transfer struct{ bytes, tau int }

func (t Term) key() sumKey { return sumKey{t.Parameter, t.Bytes, t.Tau, t.from, t.beside} }

func (s *sum) add(t Term) {
	if t.Count == (Count{}) {
		return
	}
	key := t.key()
	if i, there := s.at[key]; there {
		s.terms[i].Count = s.terms[i].Count.plus(t.Count)
		return
	}
	if s.at == nil {
		s.at = map[sumKey]int{}
	}
	s.at[key] = len(s.terms)
	s.terms = append(s.terms, t)
}

func total(terms []Term) float64 {
	return lists.Sum(terms, func(t Term) float64 { return t.Times * t.Seconds })
}
