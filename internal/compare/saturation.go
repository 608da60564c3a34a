package compare

import "math"

// WorthwhileGain is the least gain in bandwidth from more transfers that counts.
const WorthwhileGain = 0.05

// A Saturation is the τ from which on a channel's bandwidth no longer grows.
type Saturation struct {
	Tau     int  `json:"tau"`
	Reached bool `json:"reached"`           // false: bandwidth grows up to the largest measured τ
	Unknown bool `json:"unknown,omitempty"` // samples are too few, intervals too wide, or a time is 0
}

// saturation is the smallest τ for which no larger one has a bandwidth higher by WorthwhileGain and
// beyond the intervals; unknown if only the intervals leave that open.
func saturation(points []Point) Saturation {
	for _, p := range points {
		if math.IsNaN(p.L.Center) || p.L.N > 0 && !p.L.Known() {
			return Saturation{Unknown: true}
		}
	}
	for i, p := range points {
		outdone, perhaps := false, false
		for _, more := range points[i+1:] {
			gains := more.Bandwidth.Center > (1+WorthwhileGain)*p.Bandwidth.Center
			outdone = outdone || gains && above(more.Bandwidth, p.Bandwidth)
			perhaps = perhaps || gains
		}
		switch {
		case outdone:
		case perhaps: // within the intervals
			return Saturation{Unknown: true}
		default:
			return Saturation{Tau: p.Tau, Reached: i < len(points)-1}
		}
	}
	return Saturation{}
}
