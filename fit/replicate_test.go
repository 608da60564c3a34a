package fit

import (
	"math"
	"math/rand/v2"
	"slices"
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

// one is 1 if something holds, for counts.
func one(holds bool) int { return map[bool]int{true: 1}[holds] }

// holds reports whether a value is within an interval.
func holds(e Estimate, v float64) bool { return e.Lo <= v && v <= e.Hi }

// The interval over sessions has a coverage of 95 %, however small the variation within sessions is.
func TestReplicatesCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{2, 3, 5, 9} {
		const tries = 2000
		covered := 0
		for range tries {
			covered += one(holds(sessions(r, k, 9, 0.1, 0.01).Estimate(), 1000))
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
		check.True(t, math.IsNaN(e.Center) == math.IsNaN(center) && !(math.Abs(e.Center-center) > 1e-9) && e.Sessions == sessions && e.Known() == known,
			"%s: %+v", name, e)
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
			falsePositives += one(d.P < 0.05)
			b := sessions(r, tt.sessions, 9, tt.between, 0.02)
			b.Scale(1 + d.Visible)
			found += one(test.Compare(a, b).P < 0.05)
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
		rejected += one(q <= 0.05)
	}
	check.Equal(t, rejected, 4, "rejected of %v", Adjust(p))
}

// drawn is a quantity of about 100 ns over n launches of one session, with the relative standard deviation
// within; the session's values are multiplied by shift.
func drawn(r *rand.Rand, n int, shift, within float64) Drawn {
	center := func(value func() float64) float64 {
		return Replicates{lists.Map(lists.Indices(n), func(int) float64 { return value() })}.Center()
	}
	values := lists.Map(lists.Indices(n), func(int) float64 { return 100 * shift * math.Exp(within*r.NormFloat64()) })
	d := Drawn{Replicates: n, Sessions: 1, Center: Replicates{values}.Center()}
	d.Values = lists.Map(lists.Indices(40), func(int) float64 { return center(func() float64 { return values[r.IntN(n)] }) })
	return d
}

// The coverage of the interval is near its level, even with few replicates.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for _, n := range []int{6, 11, 30} {
		const tries = 400
		covered := 0
		for range tries {
			d := drawn(random, n, 1, 0.2)
			covered += one(holds(Bootstrapped(d.Center, d.Values, n), 100))
		}
		check.AtLeast(t, float64(covered)/tries, 0.90, "coverage of 95 %% intervals of %d replicates", n)
	}
	for _, e := range []Estimate{
		Bootstrapped(1, []float64{1, 2, 3}, 2), // replicates
		Bootstrapped(1, []float64{1}, 9),       // drawn
		Bootstrapped(1, []float64{0, 1, 2}, 9), // no logarithm
		Bootstrapped(0, []float64{1, 1, 2}, 9),
	} {
		check.True(t, !e.Known(), "%v is known", e)
	}
}

// The rate of false positives is 5 %, even with few launches and with drift between sessions; a factor of 4 is found.
func TestCompareDrawn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for _, drift := range []float64{0, 0.2} {
		const tries = 500
		falsePositives, covered, found := 0, 0, 0
		session := func(n int) Drawn { return drawn(random, n, math.Exp(drift*random.NormFloat64()), 0.1) }
		for range tries {
			a, b := session(7), session(11)
			d := Test{Drift: drift}.CompareDrawn(a, b)
			falsePositives += one(d.P < 0.05)
			covered += one(d.Lo <= 1 && 1 <= d.Hi)
			b.Center *= 4
			b.Values = lists.Map(b.Values, func(v float64) float64 { return 4 * v })
			found += one(Test{Drift: drift}.CompareDrawn(a, b).P < 0.05)
		}
		check.AtMost(t, falsePositives, tries/12, "drift %g, %d tries: false positives", drift, tries)
		check.AtLeast(t, min(covered, found), tries*9/10, "drift %g, %d tries: covered, and factors of 4 found", drift, tries)
	}
	d := (Test{}).CompareDrawn(drawn(random, 7, 1, 0.1), Drawn{Center: 50})
	check.True(t, !d.Tested && d.P == 1 && d.Ratio < 1, "without samples: %+v", d)
}

// Launches that resemble each other widen the interval of one session, so that it holds the centre over all
// sessions; independent ones leave it as it is.
func TestPersistence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const cells, launches = 40, 30
	sessions := func(alike float64) (held, raw, widened float64) {
		const most = 50
		for range most {
			series, level := make([][]float64, cells), r.NormFloat64()
			for range launches { // a level that stays for some ten launches
				if r.Float64() < 0.1 {
					level = r.NormFloat64()
				}
				for i := range series {
					series[i] = append(series[i], 100*math.Exp(0.02*(alike*level+r.NormFloat64())))
				}
			}
			a := Persistence(series)
			for _, times := range series {
				bare := Median(times)
				e := bare.Persistent(a)
				widened += e.Width() / bare.Width() / most / cells
				raw += float64(one(holds(bare, 100))) / most / cells
				held += float64(one(holds(e, 100))) / most / cells
			}
		}
		return held, raw, widened
	}
	held, raw, widened := sessions(0)
	check.True(t, raw > 0.93 && held > 0.93 && widened < 1.05, "independent launches: %.2f held, %.2f times as wide", held, widened)
	held, raw, widened = sessions(1)
	check.True(t, held > 0.75 && held > raw+0.15 && widened > 1.3, "launches alike: %.2f held instead of %.2f, %.2f times as wide", held, raw, widened)
}

// Too few quantities, or launches of each, do not tell; nor do times that do not vary, or are 0.
func TestPersistenceUnknown(t *testing.T) {
	steps := func(cells, launches int, time float64) [][]float64 {
		times := lists.Map(lists.Indices(launches), func(i int) float64 { return time * float64(1+i/5) })
		return slices.Repeat([][]float64{times}, cells)
	}
	check.True(t, Persistence(steps(leastSeries, leastInSeries, 1)) > 0.5, "steps of five launches")
	for _, series := range [][][]float64{nil, steps(leastSeries-1, leastInSeries, 1), steps(leastSeries, leastInSeries-1, 1), steps(leastSeries, leastInSeries, 0)} {
		check.Equal(t, Persistence(series), 0, "of %d quantities", len(series))
	}
	check.Equal(t, Persistence(slices.Repeat([][]float64{slices.Repeat([]float64{1}, leastInSeries)}, leastSeries)), 0, "of times that do not vary")
	several := Estimate{Center: 2, Lo: 1, Hi: 4, N: 9, Sessions: 2}
	check.Equal(t, several.Persistent(1), several, "several sessions")
	check.Equal(t, Unbounded(2).Persistent(1), Unbounded(2), "no interval")
	check.Equal(t, Estimate{Center: 2, Lo: 1, Hi: 4, N: 4}.Persistent(1), Estimate{Center: 2, Lo: 0.5, Hi: 8, N: 4}, "four launches that are one")
}
