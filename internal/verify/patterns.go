package verify

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/model"
)

// A Pattern is a message pattern of all ranks with messages of m bytes (Kang et al. 1999, section
// 4.2.2), in variants with different partners.
type Pattern struct {
	Name     string `json:"pattern"`
	Variant  string `json:"variant"` // how their names are made
	Means    string `json:"means"`
	Relation string `json:"relation"` // of l, the time of the pattern, and L, but for o(m)

	algorithm *collective.Algorithm
	variants  func(p int) []variant
}

// A variant of a pattern, as it modifies a call.
type variant struct {
	name           string
	root, distance int
}

// Permutation is the pattern whose line also predicts the others.
const Permutation = "permutation"

// Patterns are the patterns of Kang et al., in their order.
func Patterns() []Pattern {
	broadcast, _ := collective.Lookup("bcast:binomial") // tests carry it out
	return []Pattern{
		{
			Permutation, "permutation-d", "rank i sends to rank i+d mod P and receives from rank i−d mod P, all at once", "l(k,P) = 2k·L(S,P)",
			collective.Permutation, func(p int) (all []variant) {
				for d := 1; d < p; d++ {
					all = append(all, variant{fmt.Sprint("permutation-", d), 0, d})
				}
				return all
			},
		},
		{
			"ping-pong", "ping-pong-i-j", "rank i sends to rank j, which sends it back; the others wait", "l(k) = 2(2L(S,1) + (k−1)L(S,2))",
			collective.PingPong, func(p int) (all []variant) {
				for i := range p {
					for j := i + 1; j < p; j++ {
						all = append(all, variant{fmt.Sprintf("ping-pong-%d-%d", i, j), i, j - i})
					}
				}
				return all
			},
		},
		{
			"scatter", "scatter-r", "rank r sends each other rank m bytes of its own, one after another", "l(k,P) = (P−1)(2L(S,1) + (k−1)L(S,2))",
			collective.Dealing, rooted("scatter"),
		},
		{
			"broadcast", "broadcast-r", "the m bytes of rank r reach all ranks along a binomial tree",
			"l(k,P) = Σ 2L(S,a) + (k−1)L(S,2a) over the messages at once, a = 1, 2, 4 … min(2^i, P−2^i)",
			broadcast, rooted("broadcast"),
		},
	}
}

func rooted(name string) func(p int) []variant {
	return func(p int) []variant {
		return lists.Map(lists.Indices(p), func(r int) variant { return variant{fmt.Sprint(name, "-", r), r, 0} })
	}
}

// LookupPattern finds a pattern by its name. The error for an unknown name has the nearest known one.
func LookupPattern(name string) (Pattern, error) {
	p := lists.Find(Patterns(), func(p Pattern) bool { return p.Name == name })
	if p == nil {
		return Pattern{}, fmt.Errorf("unknown pattern %q; %s", name, spelling.Suggest(name, PatternNames()))
	}
	return *p, nil
}

// PatternNames are the names of all patterns, in their order.
func PatternNames() (names []string) {
	return lists.Map(Patterns(), func(p Pattern) string { return p.Name })
}

// PatternOf is the pattern of a variant's name.
func PatternOf(name string) string {
	for _, p := range Patterns() {
		if name == p.Name || strings.HasPrefix(name, p.Name+"-") {
			return p.Name
		}
	}
	return name
}

// Cases are the variants of a pattern among p ranks at each size in bytes, at most `most` variants
// (0: no limit), evenly spread. leftOut is the number of the others.
func (pt Pattern) Cases(p int, ms []int, off bool, most int) (cases []Case, leftOut int, err error) {
	all := pt.variants(p)
	taken := all
	if most > 0 && len(all) > most {
		taken = lists.Map(lists.Indices(most), func(i int) variant { return all[i*len(all)/most] })
	}
	for _, v := range taken {
		for _, m := range ms {
			c, err := pt.of(v, p, m, off)
			if err != nil {
				return nil, 0, err
			}
			cases = append(cases, c)
		}
	}
	return cases, len(all) - len(taken), nil
}

// of is one variant.
func (pt Pattern) of(v variant, p, m int, off bool) (Case, error) {
	s, err := pt.algorithm.Schedule(collective.Call{P: p, M: m, Root: v.root, Distance: v.distance})
	return Case{v.name, off, s}, err
}

// PatternModels are the names of the predictions of patterns: from transfers; by the line T_s + m·τ_d
// through other sizes of the same variant; and by the line of the permutations, see model.Linear.
var PatternModels = []string{Full, "own line", "permutation's"}

// LeastPatternSizes is the least number of sizes for fitting a line to some and testing it on others.
const LeastPatternSizes = 2*fit.LeastSizes - 1

// FittedSizes are the sizes, rising, that lines are fitted to: every other one from the first, and
// the last. Lines are tested on the others.
func FittedSizes(ms []int) (fitted []int) {
	for i, m := range ms {
		if i%2 == 0 || i == len(ms)-1 {
			fitted = append(fitted, m)
		}
	}
	return fitted
}

// A PatternFit is the line of a variant, or of all permutations together.
type PatternFit struct {
	Name     string   `json:"variant"` // Permutation for all of them
	Pattern  string   `json:"pattern"`
	P        int      `json:"P"`
	OffCache bool     `json:"off_cache"`
	Line     fit.Line `json:"line"`
}

// A PatternRow is a variant at one size. The errors of lines count only at sizes that they were not
// fitted to.
type PatternRow struct {
	Row
	Pattern string `json:"pattern"`
	Fitted  bool   `json:"fitted,omitempty"` // lines go through this size
	// Variants is the number of variants that a row of Tested is the median of.
	Variants int `json:"-"`
}

type patternKey struct {
	name string
	p    int
	off  bool
}

// ErrShort: no line fits the messages.
var ErrShort = errors.New("take longer messages")

// PatternFits fits a line to each variant with times at all sizes, and to all permutations together.
// Variants that no line fits are left out, with an error.
func (r Runs) PatternFits() (fits []PatternFit, failed error) {
	type timed struct {
		patternKey
		bytes int
		ns    float64
	}
	var all []timed
	fitted := r.fittedSizes()
	for _, c := range r.Cases {
		call := c.Schedule.Call
		if !slices.Contains(fitted, call.M) {
			continue
		}
		one := timed{patternKey{c.Name, call.P, c.OffCache}, call.M, r.of(c).Center}
		if all = append(all, one); PatternOf(c.Name) == Permutation {
			one.name = Permutation
			all = append(all, one)
		}
	}
	for _, of := range lists.Groups(all, func(t timed) patternKey { return t.patternKey }) {
		key, times := of[0].patternKey, lists.Map(of, func(t timed) float64 { return t.ns })
		if slices.ContainsFunc(times, math.IsNaN) {
			continue
		}
		line, err := fit.LineOf(lists.Map(of, func(t timed) int { return t.bytes }), times)
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("%s, P = %d: %w; %w", key.name, key.p, err, ErrShort))
			continue
		}
		fits = append(fits, PatternFit{key.name, PatternOf(key.name), key.p, key.off, line})
	}
	return fits, failed
}

func (r Runs) fittedSizes() []int {
	return FittedSizes(lists.Rising(lists.Map(r.Cases, func(c Case) int { return c.Schedule.Call.M })))
}

// PatternRows are the measured cases with the predictions of lines and τ-Lop. lacking is the first
// reason why one is missing.
func (r Runs) PatternRows(models []Model, fits []PatternFit) (rows []PatternRow, lacking error) {
	lines := lists.ToMap(fits, func(f PatternFit) (patternKey, fit.Line) {
		return patternKey{f.Name, f.P, f.OffCache}, f.Line
	})
	sizes := r.fittedSizes()
	for _, of := range r.measured() {
		row := PatternRow{Row: of, Pattern: PatternOf(of.Name), Fitted: slices.Contains(sizes, of.Bytes)}
		own, fitted := lines[patternKey{row.Name, row.P, row.OffCache}]
		all, permuted := lines[patternKey{Permutation, row.P, row.OffCache}]
		predicted, err := predict(models, row.OffCache, row.schedule, row.Measured.Center)
		if lacking = cmp.Or(lacking, err); fitted && permuted {
			linear := model.Linear{Startup: all.Startup.Value / 1e9, PerByte: all.PerByte.Value / 1e9}
			for i, ns := range []float64{own.At(row.Bytes), 1e9 * linear.Seconds(row.schedule)} {
				predicted = append(predicted, Prediction{Model: PatternModels[i+1], Ns: ns}.beside(row.Measured.Center))
			}
		}
		row.Predicted = predicted
		rows = append(rows, row)
	}
	return rows, lacking
}

// Tested are the rows that no line was fitted to, for the table of predicted and measured times: the
// medians over the variants of a pattern at one size.
func Tested(rows []PatternRow) (tested []PatternRow) {
	type group struct {
		patternKey
		bytes int
	}
	tests := lists.Filter(rows, func(r PatternRow) bool { return !r.Fitted })
	median := func(of []PatternRow, value func(PatternRow) float64) float64 {
		return fit.Median(lists.Map(of, value)).Center
	}
	for _, members := range lists.Groups(tests, func(r PatternRow) group { return group{patternKey{r.Pattern, r.P, r.OffCache}, r.Bytes} }) {
		first := members[0]
		t := PatternRow{Pattern: first.Pattern, Variants: len(members), Row: Row{Name: first.Pattern, P: first.P, Bytes: first.Bytes, OffCache: first.OffCache, Forced: first.Forced}}
		t.Measured = fit.Estimate{
			Center: median(members, func(r PatternRow) float64 { return r.Measured.Center }),
			Lo:     math.Inf(-1), Hi: math.Inf(1), N: members[0].Measured.N,
		}
		if !slices.ContainsFunc(members, func(r PatternRow) bool { return !r.Measured.Known() }) {
			t.Measured.Lo = median(members, func(r PatternRow) float64 { return r.Measured.Lo })
			t.Measured.Hi = median(members, func(r PatternRow) float64 { return r.Measured.Hi })
		}
		for _, name := range PatternModels {
			its := lists.Map(members, func(r PatternRow) *Prediction { return of(r.Predicted, name) })
			if slices.Contains(its, nil) {
				continue
			}
			ns := fit.Median(lists.Map(its, func(p *Prediction) float64 { return p.Ns })).Center
			beyond := slices.ContainsFunc(its, func(p *Prediction) bool { return p.Extrapolated })
			t.Predicted = append(t.Predicted, Prediction{Model: name, Ns: ns, Extrapolated: beyond}.beside(t.Measured.Center))
		}
		tested = append(tested, t)
	}
	return tested
}

// PatternMeans are the mean relative errors of each pattern and of all, over all
// variants at the sizes that no line was fitted to.
func PatternMeans(rows []PatternRow) []Mean {
	tested := lists.Filter(rows, func(r PatternRow) bool { return !r.Fitted })
	return meansOf(lists.Map(tested, func(r PatternRow) Row { return r.Row }), PatternModels, func(r Row) string { return PatternOf(r.Name) })
}
