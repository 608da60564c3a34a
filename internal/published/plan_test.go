package published

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
)

// A plan's penalty is 1.0 % or less, rounded, in less than 30 % of the time of all runs. Ranks mapped by socket
// float between its cores, and single runs take up to 400 times as long as others: there the penalty must only
// be below the own choice's.
func TestPlans(t *testing.T) {
	table, f := measured(t, epyc)
	plans := must.Get(Compare(table, f, model.Choice{}, Choice{AtOnce: true})).Evaluate(0.02).Plans()
	if len(plans) < 6 {
		t.Fatalf("%d plans", len(plans))
	}
	for _, p := range plans {
		own, of := p.Timings[0], p.Timings[len(p.Timings)-1]
		if of.Penalty.Mean > 0.0105 && p.Mapping != "socket" || of.Time > 0.3 || !(of.Penalty.Mean < own.Penalty.Mean) {
			t.Errorf("%s by %s: the penalty is %.3g (own choice %.3g), in %.3g of the time", p.Collective, p.Mapping, of.Penalty.Mean, own.Penalty.Mean, of.Time)
		}
	}
}
