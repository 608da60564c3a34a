// Package tune chooses algorithms for an MPI library from the parameters of a machine.
//
// Its opinion: a library's own choice stays unless another one is certainly better. A rule holds for one
// number of ranks, and for the range of message sizes that was evaluated.
package tune

import (
	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/mpi"
)

// A Verdict is a choice and its reason.
type Verdict struct {
	Setting mpi.Setting // zero: the library's own choice
	Why     Why
	// Best is the cheapest setting. It is compared with Beaten: the library's own choice, or if that is
	// unknown the second best.
	Best, Beaten mpi.Setting
	// BestSeconds and BeatenSeconds are their costs at the smallest size of a span; 0: unknown.
	BestSeconds, BeatenSeconds float64
	OwnKnown                   bool
	Gain                       fit.Estimate // 1 − Best/Beaten, the least of a span's sizes, with its interval if known
	Most                       float64      // the largest gain of a span
}

// Why is the reason of a choice.
type Why string

const (
	Cheaper  Why = "cheaper"
	Little   Why = "nothing gains more than the margin"
	Overlap  Why = "intervals overlap"
	Few      Why = "too few samples to be certain"
	Unproved Why = "the parameters have no time for it"
	None     Why = "nothing to compare with"
)

// Choices are the choices for a library.
type Choices struct {
	Library *mpi.Library
	Rows    []Row // by collective, then P rising
}

// A Row is the choices of a collective for one number of ranks.
type Row struct {
	Collective *collective.Collective
	P          int
	Spans      []Span // without gaps
	Nodes      int    // of its ranks
}

// A Span is a range of message sizes with one choice.
type Span struct {
	From, To int // m in bytes, inclusive
	Verdict
}

// Rules are the choices other than the library's own.
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

// last is the choice of the largest size so far.
func (r *Row) last() mpi.Setting {
	if len(r.Spans) == 0 {
		return mpi.Setting{}
	}
	return r.Spans[len(r.Spans)-1].Setting
}

// add adds the choice for a size above all others.
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
