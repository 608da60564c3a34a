package report

import (
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/verify"
)

func againstDocument() *Against {
	candidate := func(algorithm string, measured float64, ns ...float64) verify.Candidate {
		c := verify.Candidate{Algorithm: algorithm}
		for i, p := range ns {
			c.Models = append(c.Models, verify.Prediction{Model: verify.AgainstModels[i], Ns: p, Error: (p - measured) / measured, Extrapolated: p == 4000})
		}
		return c
	}
	alone := func(ns float64) fit.Estimate { return fit.Median([]float64{ns}) }
	nearest := candidate("bcast:linear", 3000, 3300, 3600)
	a := &Against{
		Source: predict.Source{Machine: "host", File: "host.json", Model: "τ-Lop", Transport: "segmented", Segment: 32768,
			Measured: "m from 1 to 4M and τ from 1 to 2", Rule: "lines go on"},
		Output: "imb.txt",
		Rows: []verify.Compared{
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 8192, Measured: fit.Estimate{Center: 1600, Lo: 1570, Hi: 1650, N: 9}, Predicted: candidate("", 1600, 1680, 1680)},
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 16384, Measured: alone(200), Predicted: candidate("", 200, 4000, 190)},
			{Suite: "IMB", Benchmark: "Bcast", P: 4, Bytes: 8192, Measured: alone(3000), Predicted: candidate("bcast:binomial", 3000, 1500, 1800), Nearest: &nearest},
		},
		LeftOut: []mpibench.Omission{
			{Benchmark: "Uniband", Line: 30, Why: "taulop predicts nothing like it"},
			{Benchmark: "Bcast", Line: 40, Why: "a collective of 0 bytes moves nothing"},
			{Benchmark: "Gather", Line: 50, Why: "a collective of 0 bytes moves nothing"},
		},
	}
	a.Means = verify.AgainstMeans(a.Rows)
	return a
}

const againstText = `Off on average of 3 measured times: τ-Lop by 652 %, log_nP by 17 %.

PingPong, P = 2; errors in % of what was measured
    m  measured  95 % interval   τ-Lop  error  log_nP  error
             µs             µs      µs      %      µs      %
   8K      1.60   [1.57, 1.65]   1.680   +5.0   1.680   +5.0
  16K    0.2000                 ~4.000  +1900  0.1900   -5.0

Bcast as bcast:binomial, P = 4; errors in % of what was measured
   m  measured  τ-Lop  error  log_nP  error  nearest algorithm  τ-Lop  error
            µs     µs      %      µs      %                        µs      %
  8K     3.000  1.500    -50   1.800    -40             linear  3.300    +10

Mean relative errors, %
  benchmark  P  rows  τ-Lop  log_nP  nearest
   PingPong  2     2  952.5     5.0
      Bcast  4     1   50.0    40.0     10.0
nearest: each time has chosen the algorithm that suits it best, so this bounds the error from below and tests no model

~ extrapolated: measured are m from 1 to 4M and τ from 1 to 2.
  Lines go on.
Left out: Uniband (line 30): taulop predicts nothing like it.
Left out: Bcast (line 40), Gather (line 50): a collective of 0 bytes moves nothing.

Predicted: host, from host.json; τ-Lop, segmented messages, segments of 32K
Measured: imb.txt
`

// An error that rounds to 0.0 has a plus.
func TestSigned(t *testing.T) {
	for off, want := range map[float64]string{-1e-9: "+0.0", 1e-9: "+0.0", -0.001: "-0.1", 0.001: "+0.1", -12: "-1200"} {
		if got := predicted([]verify.Prediction{{Model: "m", Ns: 1e3, Error: off}}, "m"); got[1] != want {
			t.Errorf("%g: %s, want %s", off, got[1], want)
		}
	}
}
