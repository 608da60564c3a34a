package plan

import "math"

// A Decision is the choice for a cell.
type Decision struct {
	Option int // of the cell; 0: the library's own choice
	// Ratio is the logarithm of the time of the own choice over that of the option; Error its standard
	// error.
	Ratio, Error float64
}

// A Time is an option's time in seconds, and the standard error of its logarithm. 0: not timed.
type Time struct{ Seconds, Error float64 }

// Times are times by cell and option.
type Times [][]Time

func (t Times) has(cell, option int) bool {
	return option >= 0 && option < len(t[cell]) && t[cell][option].Seconds > 0
}

// certain is the number of standard errors by which an option must be cheaper.
const certain = 1

// Decide chooses the cheapest setting of each cell: among those timed, and elsewhere by predictions
// corrected with nearby timings. The own choice stays if these do not show an option to be cheaper.
func Decide(cells []Cell, times Times) []Decision {
	r := newRows(cells)
	var all []Decision
	for cell := range cells {
		all = append(all, r.decide(times, cell))
	}
	return all
}

func (r *rows) decide(times Times, cell int) Decision {
	c := &r.cells[cell]
	own, ownError, known := r.estimate(times, cell, 0)
	if !known {
		return Decision{}
	}
	var best Decision
	for option := 1; option < len(c.Options); option++ {
		log, error, known := r.estimate(times, cell, option)
		if !known {
			continue
		}
		d := Decision{Option: option, Ratio: own - log, Error: math.Hypot(error, ownError)}
		if d.Ratio > best.Ratio+certain*d.Error {
			best = d
		}
	}
	return best
}

// estimate is the logarithm of an option's time, with its standard error; known if the option was
// timed, in this cell or nearby.
func (r *rows) estimate(times Times, cell, option int) (log, error float64, known bool) {
	if times.has(cell, option) {
		return math.Log(times[cell][option].Seconds), times[cell][option].Error, true
	}
	o := r.cells[cell].Options[option]
	if !(o.Seconds > 0) {
		return 0, 0, false
	}
	sum, weight := 0.0, 0.0
	for _, other := range r.nearest(cell, func(other int) bool { return times.has(other, r.cells[other].index(o.Setting)) }) {
		at := r.cells[other].index(o.Setting)
		predicted := r.cells[other].Options[at].Seconds
		if !(predicted > 0) {
			continue
		}
		of := times[other][at]
		w := 1 / (shift(r.distance(cell, other)) + of.Error*of.Error)
		sum += w * math.Log(of.Seconds/predicted)
		weight += w
	}
	if weight == 0 {
		return 0, 0, false
	}
	weight += 1 / (sigma * sigma) // it is predicted as it is
	return math.Log(o.Seconds) + sum/weight, math.Sqrt(1 / weight), true
}
