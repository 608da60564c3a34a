package pairs

import (
	"cmp"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/params"
)

// A Slow pair takes longer than others of its level do.
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

// FindSlow are the pairs whose robust z-score within their level is above fit.OutlierScore, and
// whose interval, where known, lies above the level's median; of each its worst size and home,
// the worst pair first. A level of fewer than three pairs has no outliers by its median: there
// a pair counts that takes longer than the median of a level farther away, which Above names.
func FindSlow(p *params.Pairs) []Slow {
	slow, at := []Slow{}, make(map[[2]int]int)
	for _, of := range p.Each() {
		for _, s := range slowOf(of) {
			i, known := at[[2]int{s.From, s.To}]
			switch {
			case !known:
				at[[2]int{s.From, s.To}] = len(slow)
				slow = append(slow, s)
			case s.Score > slow[i].Score:
				slow[i] = s
			}
		}
	}
	slices.SortStableFunc(slow, func(a, b Slow) int { return cmp.Compare(b.Score, a.Score) })
	return slow
}

// slowOf are the slow pairs of one home.
func slowOf(p *params.Pairs) (slow []Slow) {
	spreads := make([][]fit.Spread, len(p.Levels))
	for l := range p.Levels {
		for row := range p.Sizes {
			var of []float64
			for _, pair := range p.Pairs {
				if t := pair.Times[row].Center; pair.Level == l && !math.IsNaN(t) {
					of = append(of, t)
				}
			}
			spreads[l] = append(spreads[l], fit.NewSpread(of))
		}
	}
	for _, pair := range p.Pairs {
		var worst *Slow
		for row, m := range p.Sizes {
			t, level := pair.Times[row], p.Levels[pair.Level]
			if math.IsNaN(t.Center) {
				continue
			}
			s := Slow{From: pair.From, To: pair.To, Level: level.Name, Home: p.Home, Bytes: m, Time: t.Center,
				Median: level.Median[row], Score: spreads[pair.Level][row].Z(t.Center)}
			for _, farther := range p.Levels[pair.Level+1:] {
				if beyond := farther.Median[row]; beyond > 0 && t.Center > beyond && !(t.Known() && t.Lo <= beyond) {
					s.Above, s.Beyond = farther.Name, beyond
				}
			}
			off := level.Pairs >= 3 && s.Score > fit.OutlierScore && !(t.Known() && t.Lo <= s.Median)
			if few := level.Pairs < 3 && s.Above != ""; few {
				off, s.Score = true, 0
			}
			if off && (worst == nil || s.Score > worst.Score) {
				worst = &s
			}
		}
		if worst != nil {
			slow = append(slow, *worst)
		}
	}
	return slow
}
