package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
)

// sessions simulates k sessions of n launches of about 1000 ns, with relative standard deviations between and
// within sessions.
func sessions(r *rand.Rand, k, n int, between, within float64) (all Replicates) {
	for range k {
		center := 1000 * math.Exp(between*r.NormFloat64())
		all = append(all, lists.Map(lists.Indices(n), func(int) float64 { return center * math.Exp(within*r.NormFloat64()) }))
	}
	return all
}

// The interval over sessions has a coverage of 95 %, however small the variation within sessions is.
func TestReplicatesCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{2, 3, 5, 9} {
		const tries = 2000
		covered := 0
		for range tries {
			if e := sessions(r, k, 9, 0.1, 0.01).Estimate(); e.Lo <= 1000 && 1000 <= e.Hi {
				covered++
			}
		}
		share := float64(covered) / tries
		check.True(t, share >= 0.93 && share <= 0.985, "%d sessions: a coverage of %.1f %%, want 95", k, 100*share)
	}
}

func TestReplicatesEstimate(t *testing.T) {
	try := func(name string, r Replicates, center float64, sessions int, known bool) {
		t.Helper()
		e := r.Estimate()
		check.True(t, r.Center() == e.Center || math.IsNaN(r.Center()) && math.IsNaN(e.Center), "%s: centre %g", name, r.Center())
		if math.IsNaN(e.Center) != math.IsNaN(center) || math.Abs(e.Center-center) > 1e-9 || e.Sessions != sessions || e.Known() != known {
			t.Errorf("%s: %+v", name, e)
		}
	}
	try("nothing", nil, math.NaN(), 0, false)
	try("five launches", Replicates{{1, 2, 3, 4, 5}}, 3, 0, false)
	try("six launches", Replicates{{1, 2, 3, 4, 5, 6}}, 3.5, 0, true)
	try("an empty session does not count", Replicates{{}, {1, 2, 3, 4, 5, 6}}, 3.5, 0, true)
	try("two sessions", Replicates{{1, 1, 1}, {4, 4, 4}}, 2, 2, true)
	try("two sessions that have little in common", Replicates{{1, 1, 1}, {100, 100, 100}}, 10, 2, true)
	try("a value of 0", Replicates{{0, 0}, {4, 4}}, 2, 2, false)
}

// Student's quantiles from common tables.
func TestQuantile(t *testing.T) {
	for _, tt := range []struct{ df, p, want float64 }{
		{1, 0.975, 12.706}, {2, 0.975, 4.303}, {4, 0.975, 2.776}, {10, 0.975, 2.228}, {1000, 0.975, 1.962},
		{1, 0.9, 3.078}, {4, 0.9, 1.533}, {30, 0.9995, 3.646},
	} {
		check.Near(t, quantile(tt.df, tt.p), tt.want, 2e-3*tt.want, "df %g, p %g", tt.df, tt.p)
	}
}

func TestComponents(t *testing.T) {
	c := sessions(rand.New(rand.NewPCG(3, 4)), 400, 9, 0.08, 0.02).Components()
	check.Near(t, c.Launches, 0.02, 0.002, "launches")
	check.Near(t, c.Sessions, 0.08, 0.008, "sessions")
	c = (Replicates{{5}}).Components()
	check.True(t, math.IsNaN(c.Launches) && math.IsNaN(c.Sessions), "of one launch: %+v", c)
}

// The rate of false positives is at most 5 %, and Visible is found with a power of 90 %.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		sessions         int
		between, assumed float64
	}{{1, 0.1, 0.1}, {1, 0.05, 0.1}, {2, 0.1, 0.1}, {3, 0.1, 0.1}, {6, 0.1, 0.1}, {6, 0.03, 0.1}} {
		const tries = 2000
		test := Test{Drift: tt.assumed}
		falsePositives, found := 0, 0
		for range tries {
			a := sessions(r, tt.sessions, 9, tt.between, 0.02)
			d := test.Compare(a, sessions(r, tt.sessions, 9, tt.between, 0.02))
			if d.P < 0.05 {
				falsePositives++
			}
			b := sessions(r, tt.sessions, 9, tt.between, 0.02)
			b.Scale(1 + d.Visible)
			if test.Compare(a, b).P < 0.05 {
				found++
			}
		}
		check.AtMost(t, float64(falsePositives)/tries, 0.06, "%+v: false positives", tt)
		check.AtLeast(t, float64(found)/tries, 0.85, "%+v: power", tt)
	}
}

func TestCompareTooFew(t *testing.T) {
	few, enough := Replicates{{1, 2, 3}}, Replicates{{1, 2, 3, 4, 5, 6}}
	d := (Test{Drift: 0.1}).Compare(few, enough)
	check.True(t, !d.Tested && d.P == 1, "%+v", d)
	// A difference of 4 % is below a least effect of 5 %.
	a, b := Replicates{{100, 100, 100, 100, 100, 100}}, Replicates{{104, 104, 104, 104, 104, 104}}
	check.AtLeast(t, (Test{Least: 0.05}).Compare(a, b).P, 0.5, "p of a difference of 4 %% with a least one of 5 %%")
	d = (Test{Least: 0.03}).Compare(a, b)
	check.True(t, d.P <= 0.05, "4 %% is none: %+v", d)
}

// Values from Y. Benjamini, Y. Hochberg, J. R. Statist. Soc. B 57 (1995), section
// 4.1: of these 15 p-values the four smallest are rejected at 0.05.
func TestAdjust(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	rejected := 0
	for i, q := range Adjust(p) {
		check.True(t, q >= p[i] && q <= 1, "%g becomes %g", p[i], q)
		if q <= 0.05 {
			rejected++
		}
	}
	check.Equal(t, rejected, 4, "rejected of %v", Adjust(p))
}
