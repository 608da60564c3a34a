package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/predict"
)

func TestPredictionsValues(t *testing.T) {
	var out strings.Builder
	p := predict.Predictions{Source: predict.Source{Machine: "here"}, Rows: []predict.Prediction{
		{Collective: "bcast", Algorithm: "linear", P: 2, Bytes: 8192, Microseconds: 1.5, Extrapolated: true, Cheapest: true},
	}}
	lo, hi := 1.25, 1.75
	p.Rows[0].Lo, p.Rows[0].Hi = &lo, &hi
	Predictions(&p).WriteCSV(&out)
	want := "machine,collective,algorithm,P,m_bytes,cost_us,lo_us,hi_us,extrapolated,cheapest\nhere,bcast,linear,2,8192,1.500000,1.250000,1.750000,true,true\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A prediction without any known cost begins with a sentence, too.
func TestUnknownCosts(t *testing.T) {
	p := predict.Predictions{Rows: []predict.Prediction{{Collective: "bcast", Algorithm: "linear", P: 2, Bytes: 8, Unknown: true}}}
	if got, want := Predictions(&p).Answer(), "No cheapest algorithm is known: each row has an unknown cost."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A note names the machines with extrapolated costs.
func TestMachinesExtrapolated(t *testing.T) {
	machine := func(name string, us float64) *predict.Predictions {
		return &predict.Predictions{Source: predict.Source{Machine: name}, Rows: []predict.Prediction{{Collective: "bcast", Algorithm: "linear", P: 4, Bytes: 8, Microseconds: us}}}
	}
	a, b := machine("a", 4), machine("b", 2)
	a.Measured, b.Measured, b.Rows[0].Extrapolated = "m up to 4", "m up to 1", true
	var text strings.Builder
	Machines(predict.NewMachines([]*predict.Predictions{a, b}, nil, fit.Test{})).WriteText(&text)
	if got := text.String(); strings.Count(got, "~ extrapolated") != 1 || !strings.Contains(got, "~ extrapolated on b: measured are m up to 1.\n") {
		t.Error(got)
	}
}
