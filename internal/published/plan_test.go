package published

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
)

// Two settings a case timed beside the library's own choice leave 1.0 % or less, rounded, in less than 30 % of
// the time of all. Ranks bound to a socket float, and single runs take up to 400 times as long as those beside
// them: there a plan is held to less than the own choice costs.
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
