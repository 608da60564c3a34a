package model

import (
	"math"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// relaying is a machine of levels with fan-outs, where passing on takes three fifths of T(m)
// longer.
func relaying() *params.File {
	f := levelled(true)
	for _, l := range f.Provenance.Levels[:2] {
		for _, c := range f.Cells {
			if c.Variant == (params.Parameter{Of: l.Name, Name: params.ChannelMessage}) {
				c.Variant, c.Time = params.Parameter{Of: l.Name, Name: params.ChannelRelay}, fit.Estimate{Center: 0.6 * c.Time.Center}
				f.Cells = append(f.Cells, c)
			}
		}
	}
	return f
}

// From linear and chain broadcasts of a machine whose parameters are known, those are found
// again, what they do not tell says so, and with the rest a binomial broadcast is that
// machine's.
func TestEstimateLevels(t *testing.T) {
	truth := predictorOf(t, relaying(), Choice{})
	var timings []Timing
	sizes := []int{256, 4096, 65536, 1 << 20}
	for _, m := range sizes {
		for p := 3; p <= 16; p++ {
			for _, name := range []string{"bcast:linear", "bcast:chain"} {
				s := schedule(t, name, collective.Call{P: p, M: m, Chunk: m, Degree: 4})
				c := priced(t, truth, s)
				timing := Timing{Schedule: s, Seconds: c.Seconds}
				if p%2 == 0 {
					timing.Seconds, timing.Mean = c.Mean, true
				}
				timings = append(timings, timing)
			}
		}
	}
	f := levelled(false)
	e := must.Get(EstimateLevels(f, nil, timings))
	told := 0
	for _, one := range e.All {
		if one.Level == "other_node" {
			if one.Determined {
				t.Errorf("%+v is determined, and no message went there", one)
			}
			continue
		}
		latency, perByte := 200.0, 0.5
		if one.Level == "same_node" {
			latency, perByte = 400, 0.25
		}
		moved := perByte * float64(one.Bytes)
		want := 0.6 * (latency + moved)
		if one.Parameter == params.ChannelFanout {
			if want = (latency + moved) / 3; one.Bytes >= usualSingleCopy {
				want = 0.8 * moved
			}
		}
		if one.Determined {
			told++
			if off := one.Seconds*1e9/want - 1; math.Abs(off) > 0.1 {
				t.Errorf("%s of %s, %d bytes: %g ± %g ns, and it is %g", one.Parameter, one.Level, one.Bytes, one.Seconds*1e9, one.Error*1e9, want)
			}
		}
	}
	if told < 3*len(sizes) {
		t.Errorf("%d of %d parameters are determined", told, len(e.All))
	}
	before := predictorOf(t, f, Choice{})
	f.Cells = append(f.Cells, e.Cells()...)
	after := predictorOf(t, f, Choice{})
	for _, m := range sizes {
		call := collective.Call{P: 16, M: m, Chunk: m}
		want := costOf(t, truth, "bcast:binomial-doubling", call).Seconds
		was, is := costOf(t, before, "bcast:binomial-doubling", call).Seconds, costOf(t, after, "bcast:binomial-doubling", call).Seconds
		if math.Abs(is/want-1) > 0.1 || math.Abs(is-want) > math.Abs(was-want) {
			t.Errorf("binomial broadcast of %d bytes: %g s with the estimates and %g without, and it is %g", m, is, was, want)
		}
	}
	if _, err := EstimateLevels(f, nil, timings[:2]); err == nil {
		t.Error("two timings are enough to estimate from")
	}
}
