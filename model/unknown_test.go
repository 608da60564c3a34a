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

func TestExchangeOfOneMessage(t *testing.T) {
	m := TauLop{Channels: exchanging(-1.5), Transport: Whole}
	for _, c := range []struct {
		ranks int
		want  float64
	}{{1, 2}, {2, 0.5}} { // of a root that receives nothing, and of two that exchange
		s := alone(1000)
		stage := &s.Blocks[0].Stages[0]
		stage.Pattern, stage.Shape[0].Count = collective.Exchange, c.ranks
		if got, err := m.Cost(s); err != nil || got.Seconds != c.want {
			t.Errorf("%d messages: %g, %v, want %g", c.ranks, got.Seconds, err, c.want)
		}
	}
}

func TestCostBelowZeroIsUnknown(t *testing.T) {
	for _, overhead := range []float64{-1.5, -3} {
		p := &Predictor{in: func(*collective.Schedule) Coster {
			return TauLop{Channels: exchanging(overhead), Transport: Whole}
		}}
		s := alone(1000)
		stage := &s.Blocks[0].Stages[0]
		stage.Pattern, stage.Shape[0].Count = collective.Exchange, 2
		got, err := p.Cost(s)
		if err != nil || got.Seconds != max(0, 2+overhead) || got.Unknown != (overhead < -2) {
			t.Errorf("o⇄ = %g: %g, unknown %v, %v", overhead, got.Seconds, got.Unknown, err)
		}
	}
}
