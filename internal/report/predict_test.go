package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/predict"
)

func TestMicroseconds(t *testing.T) {
	for _, tt := range []struct {
		us   float64
		want string
	}{
		{0, "0"}, {0.00000125, "0.000001"}, {0.00125, "0.001250"}, {0.65432, "0.6543"}, {6.5432, "6.543"}, {65.432, "65.43"},
		{654.32, "654.3"}, {6543.2, "6543"}, {6543210, "6543000"}, {-0.08123, "-0.08123"}, {-6.5432, "-6.543"},
	} {
		if got := microseconds(tt.us, false); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.us, got, tt.want)
		}
	}
	if got := microseconds(1, true); got != "~1.000" {
		t.Errorf("extrapolated: %q", got)
	}
}

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

func TestStageNumbers(t *testing.T) {
	for _, tt := range []struct {
		stage predict.ExplainStage
		want  string
	}{
		{predict.ExplainStage{First: 4, Every: 2, Repeat: 1}, "4"},
		{predict.ExplainStage{First: 4, Every: 1, Repeat: 7}, "4–10"},
		{predict.ExplainStage{First: 4, Every: 2, Repeat: 2}, "4, 6"},
		{predict.ExplainStage{First: 4, Every: 2, Repeat: 5}, "4, 6 … 12"},
	} {
		if got := stageNumbers(tt.stage); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.stage, got, tt.want)
		}
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
