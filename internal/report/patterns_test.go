package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/verify"
)

func measuredPatterns(t *testing.T) *verify.PatternResult {
	t.Helper()
	d := &verify.PatternResult{Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "host"}, Parameters: "host.json",
		Segments: 2, SegmentBytes: 8192, Rounds: 9}, FittedSizes: []int{1024, 16384, 1 << 20}}
	line := func(name, pattern string, startup, perKB float64, held bool) {
		d.Fits = append(d.Fits, verify.PatternFit{Name: name, Pattern: pattern, P: 3, Line: fit.Line{
			Startup: fit.Coefficient{Value: startup, Error: startup / 8, Held: held}, PerByte: fit.Coefficient{Value: perKB / 1024, Error: perKB / 20480}, Residual: 0.021, N: 3}})
	}
	row := func(name, pattern string, fitted bool, ns float64, predicted ...float64) {
		r := verify.PatternRow{Pattern: pattern, Fitted: fitted, Row: verify.Row{Name: name, P: 3, Bytes: 4096, Forced: true,
			Measured: fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.03 * ns, N: 9}}}
		for i, p := range predicted {
			r.Predicted = append(r.Predicted, verify.Prediction{Model: verify.PatternModels[i], Ns: p, Error: (p - ns) / ns, Extrapolated: i == 0})
		}
		d.Rows = append(d.Rows, r)
	}
	for _, name := range []string{verify.Permutation, "scatter"} {
		p := must.Get(verify.LookupPattern(name))
		d.Patterns = append(d.Patterns, p)
	}
	line("permutation-1", verify.Permutation, 320, 256, false)
	line(verify.Permutation, verify.Permutation, 400, 300, false)
	line("permutation-2", verify.Permutation, 0, 344, true)
	for i := range 9 { // of more than mostLines two are shown
		line(fmt.Sprint("scatter-", i), "scatter", 160, float64(200-10*i), false)
	}
	row("permutation-1", verify.Permutation, false, 1000, 1100, 1050, 1040)
	row("permutation-1", verify.Permutation, true, 9000, 1, 1, 1)
	d.Rows[1].Bytes = 16384 // a size that lines are fitted to
	row("permutation-2", verify.Permutation, false, 2000, 2100, 2050, 1040)
	row("scatter-0", "scatter", false, 1600, 1680, 1600, 1200)
	d.Means = verify.PatternMeans(d.Rows)
	return d
}

const patternsText = `τ-Lop is off by 6.7 % in cache (3 calls) on average.
A line through times of the pattern itself is off by 2.5 % in cache (3 calls) on average.

P = 3, user data in cache: T = T_s + m·τ_d, fitted to m = 1K, 16K, 1M; ± one standard error
                   pattern  T_s, ns     ±  τ_d, ns/KB   ±  GB/s  residual, %
             permutation-1      320    40         256  13  4.00          2.1
             permutation-2        0  held         344  17  2.98          2.1
          all permutations      400    50         300  15  3.41          2.1
  scatter-8, quickest of 9      160    20         120   6  8.53          2.1
        scatter-0, slowest      160    20         200  10  5.12          2.1

P = 3, user data in cache: at sizes that no line was fitted to; errors in % of what was measured
FORCED: 3 ranks take turns on fewer CPUs; these times are no measurement of a pattern
      pattern  variants   m  measured  95 % interval   τ-Lop  error  own line  error  permutation's  error
                                   µs             µs      µs      %        µs      %             µs      %
  permutation         2  4K      1.50   [1.47, 1.54]  ~1.600   +6.7     1.550   +3.3          1.040    -31
      scatter         1  4K      1.60   [1.57, 1.65]  ~1.680   +5.0     1.600   +0.0          1.200    -25
own line: T_s + m·τ_d of the pattern itself. permutation's: T_s and τ_d of the permutations, one-way messages at τ_d/2.
Of several variants these are the medians; the JSON has each.
~ extrapolated: m or τ is beyond what was measured

Errors of all variants at these sizes, %: P = 3, user data in cache, 3 calls
           of           τ-Lop        own line   permutation's
               mean 90 % bias  mean 90 % bias  mean 90 % bias
  permutation  ±7.5  ±10 +7.5  ±3.8 ±5.0 +3.8   ±26  ±48  -22
      scatter  ±5.0 ±5.0 +5.0  ±0.0 ±0.0 +0.0   ±25  ±25  -25
          all  ±6.7  ±10 +6.7  ±2.5 ±5.0 +2.5   ±26  ±48  -23
mean: of errors without signs; 90 %: nine of ten are within; bias: mean of errors with signs

taulop v1, host
channels of 2 segments of 8K; parameters: host.json
permutation-d: rank i sends to rank i+d mod P and receives from rank i−d mod P, all at once
    l(k,P) = 2k·L(S,P)
scatter-r: rank r sends each other rank m bytes of its own, one after another
    l(k,P) = (P−1)(2L(S,1) + (k−1)L(S,2))
`

// ReadVerification reads the JSON of patterns.
func TestPatternsAreAVerification(t *testing.T) {
	var b strings.Builder
	must.Do(Patterns(measuredPatterns(t)).WriteJSON(&b))
	v := must.Get(ReadVerification(strings.NewReader(b.String()), "p.json"))
	if len(v.Rows) != 4 || v.Rows[0].Name != "permutation-1" || v.Rows[0].Predicted[1].Model != "own line" {
		t.Errorf("%+v", v.Rows)
	}
	mixed := strings.Replace(b.String(), `"permutation's"`, `"LogGP"`, 1)
	if _, err := ReadVerification(strings.NewReader(mixed), "p.json"); err == nil || !strings.Contains(err.Error(), "LogGP") {
		t.Errorf("a prediction of another model: %v", err)
	}
}
