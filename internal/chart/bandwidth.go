package chart

import (
	"github.com/taulop/taulop/internal/view"
)

// bandwidths are times of messages as what all of those that are under way carry together.
func bandwidths(of []profile) (all []profile) {
	for _, p := range of {
		q := *p.Profile
		q.Time, q.Points = view.Throughput, nil
		for _, at := range p.Points {
			bytes := at.X * max(1, p.Tau)
			if p.Over == view.Tau {
				bytes = p.Size * at.X
			}
			q.Points = append(q.Points, view.ProfilePoint{X: at.X, Y: at.Y.Rate(float64(bytes))})
		}
		p.Profile = &q
		all = append(all, p)
	}
	return all
}

// better says which end of the axis is.
func (ch Choice) better() string {
	if ch.Bandwidth {
		return "higher is better"
	}
	return "lower is better"
}
