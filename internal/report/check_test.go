package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// Monitoring data name the states of a machine by the baseline's flags, which stay the same from check to
// check. Without states they have no flags.
func TestCheckStates(t *testing.T) {
	cell := func(flag, ratio float64) compare.BaselineCell {
		return compare.BaselineCell{Key: params.Key{Kind: params.NullCell, Setup: "ring", Placement: "local", Tau: 2}, Flag: flag,
			Now: fit.Estimate{Center: 90}, Ratio: &compare.Ratio{Value: ratio}}
	}
	one := Check{Machine: "node07", Memory: &doubt.Carried{Share: 0.5}, Cells: []compare.BaselineCell{cell(0, 1.5)}}
	moved := Check{Machine: "node07", Cells: []compare.BaselineCell{cell(60.4, 1.5), cell(240, 1)}, States: []compare.BaselineState{
		{State: params.State{NS: 28, Share: 0.25}},
		{State: params.State{NS: 61, Share: 0.5}, Was: &params.State{NS: 60.4}},
		{State: params.State{NS: 250, Share: 0.25}, Was: &params.State{NS: 240}}}}
	for _, tt := range []struct {
		name        string
		c           Check
		says, never []string
	}{
		{"one state", one, []string{"'null_ring_local_in_tau2_m0'=1.5;", `bytes="0"} 1.5`, "taulop_check_memory_peak_ratio 0.5\n", `"memory": {`}, []string{"flag", "unmet"}},
		{"several", moved, []string{"'null_ring_local_in_tau2_m0_flag60ns'=1.5;", "'null_ring_local_in_tau2_m0_flag240ns'=1;", `bytes="0",flag_ns="60.4"} 1.5`,
			`taulop_check_flag_share{flag_ns="60.4"} 0.5`, `taulop_check_flag_share{flag_ns="240"} 0.25`, "taulop_check_unmet_share 0.25\n", `"flag_ns": 60.4`}, []string{`flag_ns="28"`, "memory"}},
	} {
		var b strings.Builder
		must.Do(tt.c.WritePerformance(&b, compare.Levels{Warning: 0.1, Critical: 0.3}))
		must.Do(tt.c.WriteMetrics(&b))
		if !strings.HasSuffix(b.String(), "\n# EOF\n") {
			t.Errorf("%s: metrics end with %q", tt.name, b.String()[max(0, b.Len()-20):])
		}
		must.Do(tt.c.WriteJSON(&b))
		contains.All(t, b.String(), tt.says...)
		for _, not := range tt.never {
			if strings.Contains(b.String(), not) {
				t.Errorf("%s: %s in %s", tt.name, not, b.String())
			}
		}
	}
}
