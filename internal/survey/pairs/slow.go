package pairs

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Slow pair takes longer than the other pairs of its level.
type Slow struct {
	From   int         `json:"from"`
	To     int         `json:"to"`
	Level  string      `json:"level"`
	Home   params.Home `json:"home,omitempty"`
	Bytes  int         `json:"m_bytes"`
	Time   float64     `json:"time_ns"`
	Median float64     `json:"median_ns"` // of the level
	Score  float64     `json:"z"`         // robust z-score within the level
	Above  string      `json:"closer_than,omitempty"`
	Beyond float64     `json:"closer_than_median_ns,omitempty"`
}

// FindSlow are the pairs whose robust z-score within their level is above fit.OutlierScore, also at the lower
// bound of their interval, for of thousands of pairs some have a long median by chance; each with its worst
// size and home, the worst pair first. In a level of fewer than three pairs, a pair is slow if it takes longer
// than the median of a farther level, which Above names.
func FindSlow(p *params.Pairs) []Slow {
	all := lists.Concat(p.Each(), slowAt)
	byScore := func(a, b Slow) int { return cmp.Compare(a.Score, b.Score) }
	pairs := lists.Groups(all, func(s Slow) [2]int { return [2]int{s.From, s.To} })
	slow := append([]Slow{}, lists.Map(pairs, func(of []Slow) Slow { return slices.MaxFunc(of, byScore) })...)
	slices.SortStableFunc(slow, func(a, b Slow) int { return byScore(b, a) })
	return slow
}

// slowAt are the slow pairs of one home, a pair once for each size.
func slowAt(p *params.Pairs) (slow []Slow) {
	spreads := make([][]fit.Spread, len(p.Levels))
	for l := range p.Levels {
		for row := range p.Sizes {
			var times []float64
			for _, pair := range p.Pairs {
				if t := pair.Times[row].Center; pair.Level == l && !math.IsNaN(t) {
					times = append(times, t)
				}
			}
			spreads[l] = append(spreads[l], fit.NewSpread(times))
		}
	}
	for _, pair := range p.Pairs {
		for row, m := range p.Sizes {
			t, level := pair.Times[row], p.Levels[pair.Level]
			if math.IsNaN(t.Center) {
				continue
			}
			s := Slow{From: pair.From, To: pair.To, Level: level.Name, Home: p.Home, Bytes: m, Time: t.Center,
				Median: level.Median[row], Score: spreads[pair.Level][row].Z(t.Center)}
			for _, farther := range p.Levels[pair.Level+1:] {
				if beyond := farther.Median[row]; beyond > 0 && least(t) > beyond {
					s.Above, s.Beyond = farther.Name, beyond
				}
			}
			outlier := level.Pairs >= 3 && spreads[pair.Level][row].Z(least(t)) > fit.OutlierScore
			if level.Pairs < 3 && s.Above != "" {
				outlier, s.Score = true, 0
			}
			if outlier {
				slow = append(slow, s)
			}
		}
	}
	return slow
}

// least is the lower bound of a time, −Inf with too few samples for one; matrices of other programs have none.
func least(t fit.Estimate) float64 {
	if t.N == 0 {
		return t.Center
	}
	return t.Lo
}
