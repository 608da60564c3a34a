package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/verify"
)

// written is a document with all that taulop verify writes, also a row with
// too few samples for an interval.
func written() *verify.Result {
	row := func(name string, m int, off bool, e fit.Estimate) verify.Row {
		r := verify.Row{Name: name, P: 2, Bytes: m, OffCache: off, Measured: e}
		for i, model := range verify.Models {
			ns := e.Center * (1 + 0.1*float64(i))
			r.Predicted = append(r.Predicted, verify.Prediction{Model: model, Ns: ns, Error: 0.1 * float64(i), Extrapolated: i == 2})
		}
		return r
	}
	return &verify.Result{
		Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "vm"}, Parameters: "host.json", Segments: 2, SegmentBytes: 8192, Rounds: 34},
		LogGP:   []verify.LogGP{{Latency: -1.169e-7, Overhead: 1.777e-7, Gap: 2.119e-7, GapPerByte: 1.134e-10}},
		Rows: []verify.Row{
			row("message", 1024, false, fit.Estimate{Center: 478.5, Lo: 467, Hi: 498, N: 34}),
			row("barrier:dissemination", 0, false, fit.Estimate{Center: 300, Lo: math.Inf(-1), Hi: math.Inf(1), N: 3}),
		},
		Means:    []verify.Mean{{Of: "all", P: 2, Errors: []verify.Errors{{Model: verify.Full, Rows: 2, Mean: 0.1, Ninety: 0.2, Signed: -0.05}}}},
		Warnings: []string{"this is a virtual machine"},
	}
}

func TestReadWhatVerifyWrites(t *testing.T) {
	var want, again bytes.Buffer
	must.Do(Verification(written()).WriteJSON(&want))
	got := must.Get(ReadVerification(bytes.NewReader(want.Bytes()), "v.json"))
	if err := Verification(got).WriteJSON(&again); err != nil || again.String() != want.String() {
		t.Errorf("%v\n%s\nbecame\n%s", err, &want, &again)
	}
}

func TestReadBadVerifications(t *testing.T) {
	var b bytes.Buffer
	must.Do(Verification(written()).WriteJSON(&b))
	good := b.String()
	twice := written()
	twice.Rows = append(twice.Rows, twice.Rows[0])
	var repeated bytes.Buffer
	must.Do(Verification(twice).WriteJSON(&repeated))
	for _, tt := range []struct{ text, want string }{
		{"", "v.json is empty"},
		{" \n", "v.json is empty"},
		{"#m\t30\n#tau\t8\n", "v.json:1: "},
		{good[:len(good)/2], "v.json:"},
		{"[]", "v.json:1: "},
		{"{}", "no rows"},
		{`{"format": "taulop parameters", "version": 1}`, "what taulop verify writes"},
		{`{"format": "taulop parameters", "warnings": [1], "rows": [2]}`, "v.json holds the parameters of a machine"},
		{strings.Replace(good, `"P": 2`, `"P": "two"`, 1), "v.json:"},
		{strings.Replace(good, `"P": 2`, `"P": 0`, 1), "row 1: message has P = 0"},
		{strings.Replace(good, `"m": 1024`, `"m": -1024`, 1), "m = -1024"},
		{strings.Replace(good, `"message"`, `""`, 1), "no name"},
		{strings.Replace(good, `"center": 478.5`, `"center": null`, 1), "no time"},
		{strings.Replace(good, `"center": 478.5`, `"center": -1`, 1), "no time"},
		{strings.Replace(good, `"center": 478.5`, `"center": 1e999`, 1), "v.json:"},
		{strings.Replace(good, `"lo": 467`, `"lo": 500`, 1), "not within"},
		{strings.Replace(good, `"log_nP"`, `"lognP"`, 1), `"lognP" where one of the next of`},
		{strings.Replace(good, `"ns": `, `"ns": -`, 1), "no time is negative"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "P": 4`, 1), "there twice"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "p": 4`, 1), "there twice"},
		{strings.Replace(good, `"cpus_online": "`, `"cpus_online": "0-99999999,`, 1), "CPUs in lists"},
		{repeated.String(), "is there twice, first in row 1"},
	} {
		if tt.text == good {
			t.Fatalf("nothing is bad about the case %q", tt.want)
		}
		v, err := ReadVerification(strings.NewReader(tt.text), "v.json")
		if err == nil || v != nil || !strings.HasPrefix(err.Error(), "v.json") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v; want one line with %q", tt.text, err, tt.want)
		}
	}
}
