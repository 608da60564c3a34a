package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

func measuredCalls() *verify.Result {
	row := func(name string, off, forced, grid bool, ns float64, predicted ...float64) verify.Row {
		r := verify.Row{Name: name, P: 2, Bytes: 8192, OffCache: off, Forced: forced, OnGrid: grid, Measured: fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.03 * ns, N: 9}}
		for i, p := range predicted {
			if p > 0 {
				r.Predicted = append(r.Predicted, verify.Prediction{Model: verify.Models[i], Ns: p, Error: (p - ns) / ns, Extrapolated: p == 4000})
			}
		}
		return r
	}
	v := &verify.Result{
		Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "host"}, Parameters: "swept here", Session: "host.json",
			Tau: []int{1, 2}, HeldOut: []int{3, 4}, Launches: verify.Launches{Parameters: 9, Schedules: 8}, Segments: 2, SegmentBytes: 8192, Rounds: 9},
		LogGP: []verify.LogGP{{Latency: -9e-8, Overhead: 1.5e-7, Gap: 2e-7, GapPerByte: 1e-10}},
		Rows: []verify.Row{
			row("message", false, false, false, 1600, 1520, 1680, 1710, 1680, 1200),
			row("message", false, false, true, 3200, 3040, 3360, 3360, 0, 4000),
			row("allgather:ring", false, false, false, 2000, 1800, 1900, 1900, 1600, 4000),
			row("message", true, true, false, 10000, 9000, 9900, 0, 11000, 8000),
		},
	}
	for _, name := range verify.Models {
		v.Models = append(v.Models, verify.Model{Name: name, Given: "what " + name + " takes"})
	}
	v.Rows[1].Bytes = 16384
	v.Means = verify.Means(v.Rows)
	return v
}

const verificationText = `The full model with host.json is off by 5.6 % in cache (3 calls) on average.
The full model is off by 5.0 % in cache (3 calls) and by 1.0 % off cache (1 call) on average.

message, P = 2, user data in cache; errors in %, + predicted too high
      m  measured  95 % interval  predicted  strict   full  session  log_nP  LogGP
  bytes        µs             µs   full, µs   error  error    error   error  error
     8K      1.60   [1.57, 1.65]      1.680    -5.0   +5.0     +6.9    +5.0    -25
   *16K      3.20   [3.14, 3.30]      3.360    -5.0   +5.0     +5.0       –   ~+25

allgather:ring, P = 2, user data in cache; errors in %, + predicted too high
      m  measured  95 % interval  predicted  strict   full  session  log_nP  LogGP
  bytes        µs             µs   full, µs   error  error    error   error  error
     8K      2.00   [1.96, 2.06]      1.900     -10   -5.0     -5.0     -20  ~+100

message, P = 2, user data off cache; errors in %, + predicted too high
FORCED: 2 ranks take turns on fewer CPUs; these times are no measurement of an algorithm
      m  measured  95 % interval  predicted  strict   full  session  log_nP  LogGP
  bytes        µs             µs   full, µs   error  error    error   error  error
     8K      10.0    [9.8, 10.3]      9.900     -10   -1.0        –     +10    -20

Errors, %: P = 2, user data in cache, 3 calls
         of          strict            full         session          log_nP           LogGP
             mean 90 % bias  mean 90 % bias  mean 90 % bias  mean 90 % bias  mean 90 % bias
    message  ±5.0 ±5.0 -5.0  ±5.0 ±5.0 +5.0  ±5.9 ±6.9 +5.9  ±5.0 ±5.0 +5.0   ±25  ±25 +0.0
  allgather   ±10  ±10  -10  ±5.0 ±5.0 -5.0  ±5.0 ±5.0 -5.0   ±20  ±20  -20  ±100 ±100 +100
        all  ±6.7  ±10 -6.7  ±5.0 ±5.0 +1.7  ±5.6 ±6.9 +2.3   ±12  ±20 -7.5   ±50 ±100  +33

Errors, %: P = 2, user data off cache, 1 call
       of          strict            full          log_nP           LogGP
           mean 90 % bias  mean 90 % bias  mean 90 % bias  mean 90 % bias
  message   ±10  ±10  -10  ±1.0 ±1.0 -1.0   ±10  ±10  +10   ±20  ±20  -20
      all   ±10  ±10  -10  ±1.0 ±1.0 -1.0   ±10  ±10  +10   ±20  ±20  -20
mean: of errors without signs; 90 %: nine of ten are within; bias: mean of errors with signs

taulop v1, host
channels of 2 segments of 8K; parameters: swept here
9 launches measured parameters, and 8 others what is predicted from them
held out: τ = 3, 4; parameters are of τ = 1, 2, and beyond that they are extrapolated (~)

* on the grid: parameters were measured at this m; the others are off it, between their sizes
~ extrapolated: m or τ is beyond what was measured
τ-Lop, strict: what τ-Lop strict takes
τ-Lop, full: what τ-Lop takes
τ-Lop, session: what τ-Lop session takes
log_nP: what log_nP takes
LogGP: what LogGP takes
  in cache: L = -90 ns, o = 150 ns, g = 200 ns, G = 102.4 ns/KB
all: γ of what ranks reduce, and what they copy within themselves
`

// Each state of the machine has its tables, and errors over all states are weighted by shares.
func TestVerificationOfStates(t *testing.T) {
	near, far := params.State{NS: 60, Share: 0.55, Lasts: 0.3}, params.State{NS: 240, Above: 120, Share: 0.4}
	v := measuredCalls()
	v.States = []verify.RankStates{{P: 2, States: []params.State{near, far, {NS: 900, Above: 500, Share: 0.05}}}, {P: 4, States: []params.State{}}}
	v.Rows, v.LogGP[0].State = v.Rows[:2], far
	v.Rows[0].State, v.Rows[1].State, v.Rows[1].Bytes = near, far, v.Rows[0].Bytes
	v.Means = verify.Means(v.Rows)
	var b strings.Builder
	Verification(v).WriteText(&b)
	contains.All(t, b.String(),
		"P = 2: the machine was in several states; a flag from one to the other takes 60 ns (55 % of the time), 240 ns (40 %) and 900 ns (5 %)\n",
		"P = 4: no states can be told apart by what a round of flags takes; rows are means over what the host did\n",
		"states with less than 10 % of the time have no rows\n",
		"message, P = 2, user data in cache, flag 60 ns (55 % of the time); errors in %",
		"message, P = 2, user data in cache, flag 240 ns (40 % of the time); errors in %",
		"  in cache, flag 240 ns (40 % of the time): L = ",
		"Errors, %: P = 2, user data in cache, flag 60 ns (55 % of the time), 1 call\n", "Errors, %: P = 2, user data in cache, all 2 states by their shares, 2 calls\n",
	)
	b.Reset()
	if err := Verification(v).WriteJSON(&b); err != nil || strings.Count(b.String(), `"share": 0.55`) != 4 { // states, row, means
		t.Errorf("%v in\n%s", err, &b)
	}
	if back, err := ReadVerification(strings.NewReader(b.String()), "v.json"); err != nil || back.Rows[1].State != far {
		t.Errorf("%v, %+v", err, back)
	}
	b.Reset()
	if err := Verification(v).WriteCSV(&b); err != nil || !strings.Contains(b.String(), ",state_ns,state_share,state_slowed\n") || !strings.Contains(b.String(), ",60,0.55,false\n") {
		t.Errorf("%v in\n%s", err, &b)
	}
}

// A stopped run has times without predictions, which readers leave out.
func TestUnpredicted(t *testing.T) {
	v := measuredCalls()
	v.Rows[2].Predicted = []verify.Prediction{}
	v.Rows[0].Measured = fit.Median([]float64{300}) // too few samples for an interval
	v.Means = verify.Means(v.Rows)
	var text, b strings.Builder
	Verification(v).WriteText(&text)
	if !strings.Contains(text.String(), "8K      2.00   [1.96, 2.06]          –       –      –        –       –      –\n") || len(v.Means) != 4 {
		t.Errorf("got\n%s", &text)
	}
	must.Do(Verification(v).WriteJSON(&b))
	back, err := ReadVerification(strings.NewReader(b.String()), "v.json")
	if err != nil || len(back.Rows) != 3 || back.Rows[0].Measured.Known() || back.Rows[0].Measured.Center != 300 {
		t.Fatalf("%v, %+v", err, back)
	}
	for i := range v.Rows {
		v.Rows[i].Predicted = nil
	}
	v.Means = nil
	b.Reset()
	text.Reset()
	Verification(v).WriteText(&text)
	must.Do(Verification(v).WriteJSON(&b))
	if _, err := ReadVerification(strings.NewReader(b.String()), "v.json"); err == nil || !strings.Contains(err.Error(), "4 rows and no predictions") || strings.Contains(text.String(), "Errors") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// The first line counts the measured calls and the predicted ones.
func TestOffByCounts(t *testing.T) {
	means := []verify.Mean{{Of: "all", P: 2, Errors: []verify.Errors{{Model: verify.Full, Rows: 26, Mean: 0.05}, {Model: "LogGP", Rows: 40, Mean: 0.3}}}}
	if got, want := offBy("It", means, verify.Full), "It is off by 5.0 % in cache (26 of 40 calls) on average."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := offBy("It", means, "LogGP"), "It is off by 30 % in cache (40 calls) on average."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestVerificationJSONHasNoNull(t *testing.T) {
	var b strings.Builder
	must.Do(Verification(&verify.Result{}).WriteJSON(&b))
	for _, list := range []string{"tau", "held_out_tau", "models", "loggp", "rows", "means", "warnings"} {
		if !strings.Contains(b.String(), `"`+list+`": []`) {
			t.Errorf("%s is no empty list in\n%s", list, &b)
		}
	}
}
