package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/view"
)

// curve has A(τ) by the scalability law.
func curve(machine string, sigma, kappa float64, taus ...int) compare.Curve {
	c := compare.Curve{Machine: machine}
	for _, tau := range taus {
		t := float64(tau)
		c.Points = append(c.Points, compare.Point{Tau: tau, A: fit.Estimate{Center: t / (1 + sigma*(t-1) + kappa*t*(t-1))}})
	}
	return c
}

var to64 = []int{1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 32, 45, 64}

const twoBars = `A(τ), ring; dots: up to τ, all at once
τ = 2  a      ██████████████████████████████████████████▊················   1.45
τ = 2  other  ███████████████████████████████████████████████████████████   2.00
`

func TestConcurrencyChart(t *testing.T) {
	for _, tt := range []struct {
		curves []compare.Curve
		want   []string // the whole, or parts of it; nothing: no chart
	}{
		{[]compare.Curve{curve("a", 0.38, 0, 1, 2), curve("other", 0, 0, 1, 2)}, []string{twoBars}},
		{[]compare.Curve{curve("a", 0.01, 0.0002, to64...), curve("other", 0.02, 0.003, to64...)}, []string{"τ = 64  a      ██", "τ =  2  other  █", "·   4.46\n"}},
		{[]compare.Curve{curve("a", 0.9, 0.2, to64...)}, []string{"τ = 64  a", "  0.07\n"}},
		{[]compare.Curve{curve("a", -0.3, 0, 1, 2)}, []string{"█ ", " 2.86\n"}},              // more than τ
		{[]compare.Curve{curve("a", math.NaN(), 0, 1, 2)}, nil},                              // L(S,1) was not measured
		{[]compare.Curve{curve("a", 0, 0, 1)}, nil},                                          // nothing concurrent
		{[]compare.Curve{curve(strings.Repeat("long", 30), 0.1, 0, to64...)}, []string{"…"}}, // a name that is too long
	} {
		var b bytes.Buffer
		drawn := writeConcurrencyChart(&b, "ring", tt.curves)
		got := b.String()
		if drawn != (tt.want != nil) || !drawn && got != "" {
			t.Errorf("drawn %v:\n%s", drawn, got)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) || strings.HasPrefix(want, "A(τ)") && got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}
		for _, width := range []int{40, 60, 80, 120} {
			var narrow bytes.Buffer
			page := view.NewPage(&narrow, width)
			writeConcurrencyChart(page, "ring", tt.curves)
			page.Close()
			if width >= 80 && narrow.String() != got {
				t.Errorf("of %d columns:\n%s\nwant\n%s", width, narrow.String(), got)
			}
			for line := range strings.Lines(narrow.String()) {
				if n := utf8.RuneCountInString(line) - 1; n > min(80, width) {
					t.Errorf("%d of %d columns: %s", n, width, line)
				}
			}
		}
	}
}
