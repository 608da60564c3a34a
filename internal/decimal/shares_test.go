package decimal

import (
	"slices"
	"testing"
)

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
		if got := Shares(tt.shares, tt.steps); !slices.Equal(got, tt.want) {
			t.Errorf("%v in %d steps: %v, want %v", tt.shares, tt.steps, got, tt.want)
		}
	}
}
