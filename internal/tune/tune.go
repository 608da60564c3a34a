// Package tune chooses algorithms for an MPI library from the parameters of a machine.
//
// Its opinion: a library's own choice stays unless another one is certainly better. A rule for one
// number of ranks holds for that number alone, and for the sizes of messages that were looked at.
package tune

import (
	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/mpi"
)

// A Verdict is a choice, and why it is made.
type Verdict struct {
	Setting mpi.Setting // what the library shall take; its own choice where it is zero
	Why     Why
	// Best is the cheapest setting, and Beaten what it is compared with: what the library
	// takes by itself, or where that is not known the second best.
	Best, Beaten mpi.Setting
	// BestSeconds and BeatenSeconds are what both cost at the least size of a span; 0: not known.
	BestSeconds, BeatenSeconds float64
	OwnKnown                   bool
	Gain                       fit.Estimate // 1 − Best/Beaten, over all sizes of a span the least; its interval where it is known
	Most                       float64      // the most gain of a span
}

// Why says why a choice is made.
type Why string

const (
	Cheaper  Why = "cheaper"
	Little   Why = "nothing gains more than the margin"
	Overlap  Why = "intervals overlap"
	Few      Why = "too few samples to be certain"
	Unproved Why = "the parameters have no time for it"
	None     Why = "nothing to compare with"
)

// Choices are what a library shall take, and why.
type Choices struct {
	Library *mpi.Library
	Rows    []Row // by collective, then P rising
}

// A Row is what it shall take for one number of ranks.
type Row struct {
	Collective *collective.Collective
	P          int
	Spans      []Span // from the least m that was looked at to the most, without gaps
	Nodes      int    // that its ranks are on
}

// A Span is a run of message sizes with one choice.
type Span struct {
	From, To int // m in bytes, both within
	Verdict
}

// Rules are the choices that are not left to the library.
func (c *Choices) Rules() (rules []mpi.Rule) {
	for _, row := range c.Rows {
		for _, s := range row.Spans {
			if !s.Setting.Own() {
				rules = append(rules, mpi.Rule{Collective: row.Collective, P: row.P, Nodes: row.Nodes, From: s.From, To: s.To, Setting: s.Setting})
			}
		}
	}
	return rules
}

// last is the choice of the largest size yet.
func (r *Row) last() mpi.Setting {
	if len(r.Spans) == 0 {
		return mpi.Setting{}
	}
	return r.Spans[len(r.Spans)-1].Setting
}

// add adds what was chosen for a size above all others.
func (r *Row) add(m int, v Verdict) {
	if n := len(r.Spans); n > 0 {
		last := &r.Spans[n-1]
		if last.Setting == v.Setting && last.Why == v.Why && last.Beaten == v.Beaten && last.Best == v.Best {
			last.To, last.Most = m, max(last.Most, v.Most)
			if v.Gain.Center < last.Gain.Center {
				last.Gain = v.Gain
			}
			return
		}
		last.To = m - 1
	}
	r.Spans = append(r.Spans, Span{m, m, v})
}
