package model

import (
	"testing"

	"github.com/taulop/taulop/collective"
)

// steady are transfers of 1 s each, without o(m).
type steady struct{ plain }

func (steady) L(int, int) (float64, bool) { return 1, false }
func (steady) O(int) (float64, bool)      { return 0, false }

// exchanging is steady, and o(m) of exchanges.
func exchanging(overhead float64) *Channels {
	c := Uniform(steady{})
	c.overheads[Channel{Way: Exchange}] = func(int) (float64, bool) { return overhead, false }
	return c
}

// A lone message, as of a root that receives nothing, is no exchange. A cost below zero is unknown.
func TestOverheadOfExchanges(t *testing.T) {
	for _, tt := range []struct {
		messages       int
		overhead, want float64
	}{{1, -1.5, 2}, {2, -1.5, 0.5}, {2, -3, -1}} {
		p := &Predictor{in: func(*collective.Schedule) Coster {
			return TauLop{Channels: exchanging(tt.overhead), Transport: Whole}
		}}
		s := alone(1000)
		stage := &s.Blocks[0].Stages[0]
		stage.Pattern, stage.Shape[0].Count = collective.Exchange, tt.messages
		got, err := p.Cost(s)
		if err != nil || got.Seconds != max(0, tt.want) || got.Unknown != (tt.want < 0) {
			t.Errorf("%d messages, o⇄ = %g: %g, unknown %v, %v", tt.messages, tt.overhead, got.Seconds, got.Unknown, err)
		}
	}
}
