package report

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/verify"
)

func verification() *Verification {
	row := func(name string, off, forced bool, ns float64, predicted ...float64) verify.Row {
		r := verify.Row{Name: name, P: 2, Bytes: 8192, OffCache: off, Forced: forced, Measured: fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.03 * ns, N: 9}}
		for i, p := range predicted {
			r.Predicted = append(r.Predicted, verify.Prediction{Model: verify.Models[i], Ns: p, Error: max(p-ns, ns-p) / ns, Extrapolated: p == 4000})
		}
		return r
	}
	v := &Verification{
		Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "host"},
			Parameters: "host.json", Segments: 2, SegmentBytes: 8192, Rounds: 9},
		LogGP: []verify.LogGP{{Latency: -9e-8, Overhead: 1.5e-7, Gap: 2e-7, GapPerByte: 1e-10}},
		Rows: []verify.Row{
			row("message", false, false, 1600, 1680, 1680, 1200),
			row("allgather:ring", false, false, 2000, 1900, 1600, 4000),
			row("message", true, true, 10000, 9900, 11000, 8000),
		},
	}
	v.Means = verify.Means(v.Rows)
	return v
}

const verificationText = `taulop v1, host
channels of 2 segments of 8K; parameters: host.json
LogGP in cache: L = -90 ns, o = 150 ns, g = 200 ns, G = 102.4 ns/KB

P = 2, user data in cache; times in µs, errors in % of what was measured
       algorithm   m  measured  95 % interval  τ-Lop  error  log_nP  error   LogGP   error
         message  8K      1.60   [1.57, 1.65]  1.680   +5.0   1.680   +5.0   1.200   -25.0
  allgather:ring  8K      2.00   [1.96, 2.06]  1.900   -5.0   1.600  -20.0  ~4.000  +100.0
~ extrapolated: m or τ is beyond what was measured

P = 2, user data off cache; times in µs, errors in % of what was measured
FORCED: 2 ranks take turns on fewer CPUs; these times are no measurement of an algorithm
  algorithm   m  measured  95 % interval  τ-Lop  error  log_nP  error  LogGP  error
    message  8K      10.0    [9.8, 10.3]  9.900   -1.0   11.00  +10.0  8.000  -20.0

Mean relative errors, %
  P  user data         of  τ-Lop  log_nP  LogGP
  2   in cache    message    5.0     5.0   25.0
  2   in cache  allgather    5.0    20.0  100.0
  2   in cache        all    5.0    12.5   62.5
  2  off cache    message    1.0    10.0   20.0
  2  off cache        all    1.0    10.0   20.0
`

func TestVerificationText(t *testing.T) {
	var b strings.Builder
	verification().WriteText(&b)
	if b.String() != verificationText {
		t.Errorf("got\n%s\nwant\n%s", &b, verificationText)
	}
}

func TestVerificationJSON(t *testing.T) {
	v := verification()
	var b strings.Builder
	if err := v.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Verification
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	if back.Warnings == nil || !reflect.DeepEqual(v.Rows, back.Rows) || !reflect.DeepEqual(v.Means, back.Means) || !reflect.DeepEqual(v.LogGP, back.LogGP) {
		t.Errorf("%+v became %+v", v, back)
	}
}

// A run that was stopped has times without predictions; charts leave them out.
func TestUnpredicted(t *testing.T) {
	v := verification()
	v.Rows[1].Predicted = []verify.Prediction{}
	v.Means = verify.Means(v.Rows)
	var text, b strings.Builder
	v.WriteText(&text)
	if !strings.Contains(text.String(), "allgather:ring  8K      2.00   [1.96, 2.06]      –      –       –      –      –      –") || strings.Contains(text.String(), "in cache  allgather") {
		t.Errorf("got\n%s", &text)
	}
	if err := v.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadVerification(strings.NewReader(b.String()), "v.json")
	if err != nil || len(back.Rows) != 2 {
		t.Fatalf("%v, %+v", err, back)
	}
	for i := range v.Rows {
		v.Rows[i].Predicted = nil
	}
	v.Means = nil
	b.Reset()
	text.Reset()
	v.WriteText(&text)
	if err := v.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadVerification(strings.NewReader(b.String()), "v.json"); err == nil || !strings.Contains(err.Error(), "3 rows and no predictions") || strings.Contains(text.String(), "Mean") {
		t.Errorf("%v\n%s", err, &text)
	}
}
