package compare

import "math"

// WorthwhileGain is what more transfers must add to the bandwidth to count,
// however sure it is.
const WorthwhileGain = 0.05

// A Saturation is where a channel is full.
type Saturation struct {
	Tau     int  `json:"tau"`               // the smallest that no larger one outdoes
	Reached bool `json:"reached"`           // false: the largest τ that was measured still adds
	Unknown bool `json:"unknown,omitempty"` // cannot be told: samples are too few, intervals too wide, or a time is 0
}

// saturation is the smallest τ for which no larger one moves more bytes a
// second: more by WorthwhileGain, and beyond the intervals. Where one may, and the
// intervals do not say, it cannot be told.
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
