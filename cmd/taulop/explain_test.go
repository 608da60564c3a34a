package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/test/must"
)

// The parts of an explanation add up to its cost.
func TestExplainJSONAddsUp(t *testing.T) {
	machine, _ := smallMachine(t)
	for _, m := range []string{"taulop", "lognp", "libtaulop"} {
		out, _ := ran(t, on(machine, "explain", "-json -P 1,4,7,64 -m 1,8K,100000 bcast allreduce alltoall scatter barrier -model "+m)...)
		var doc predict.Explanations
		must.Do(json.Unmarshal([]byte(out), &doc))
		if len(doc.Calls) == 0 || doc.Machine != "small" {
			t.Fatalf("%s: %d calls on %s", m, len(doc.Calls), doc.Machine)
		}
		for _, c := range doc.Calls {
			var terms, shares, stages float64
			for _, term := range c.Terms {
				terms += term.Microseconds
				shares += term.Share
			}
			for _, s := range c.Stages {
				stages += float64(s.Repeat) * s.Microseconds
			}
			close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
			if !close(terms, c.Microseconds) || !close(stages, c.Microseconds) || len(c.Terms) > 0 && !close(shares, 1) {
				t.Errorf("%s, %s:%s, P = %d, m = %d: %v µs, terms %v, stages %v, shares %v",
					m, c.Collective, c.Algorithm, c.P, c.Bytes, c.Microseconds, terms, stages, shares)
			}
		}
	}
}
