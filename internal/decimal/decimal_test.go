package decimal

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "35.12": 35.12, "-3": -3, "4.2e-07": 4.2e-7, ".5": .5, "5.": 5, "+1E3": 1000} {
		check.Equal(t, must.Get(Parse(text)), want, "%q", text)
	}
	for _, text := range []string{"", "1_000", "0x1p4", "0x10", "inf", "Inf", "nan", "infinity", "1,5", "1e", "--1", "1 2", "e5", "."} {
		check.Error(t, must.Err(Parse(text)), "%q", text)
	}
}

func TestCutAndSevered(t *testing.T) {
	for _, tt := range []struct {
		last, like   string
		cut, severed bool
	}{
		{"35.12", "31.54", false, false}, {"135.12", "31.54", false, false}, {"35", "31.54", true, true},
		{"35.", "31.54", true, true}, {"35.1", "31.54", true, false}, {"4.2e-07", "3.1e-07", false, false},
		{"4.2e-0", "3.1e-07", true, true}, {"4.2", "3.1e-07", true, true}, {"35", "31", true, false},
		{"35.12", "", false, false}, {"0.00001", "0.000011", true, false}, {"0.0000", "0.000011", true, true},
		{"0.000000", "0.000011", false, false}, {"0.", "0", true, true},
	} {
		cut, severed := Cut(tt.last, tt.like), Severed(tt.last, tt.like)
		check.True(t, cut == tt.cut && severed == tt.severed, "%s like %s: cut %v, severed %v; want %v, %v", tt.last, tt.like, cut, severed, tt.cut, tt.severed)
	}
}

func TestShares(t *testing.T) {
	for _, tt := range []struct {
		shares, want []float64
		steps        int
	}{
		{[]float64{0.335, 0.335, 0.33}, []float64{0.34, 0.33, 0.33}, 100},
		{[]float64{0.555, 0.445}, []float64{0.56, 0.44}, 100},
		{[]float64{0.6667, 0.1667, 0.1666}, []float64{0.667, 0.167, 0.166}, 1000},
		{[]float64{0.126, 0.126}, []float64{0.13, 0.12}, 100}, // the sum is not 1
		{[]float64{1}, []float64{1}, 100},
		{nil, []float64{}, 100},
	} {
		check.Slices(t, Shares(tt.shares, tt.steps), tt.want, "%v in %d steps", tt.shares, tt.steps)
	}
}
