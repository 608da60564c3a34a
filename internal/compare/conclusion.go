package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
)

// conclude says which machine carries more transfers, which moves more bytes, and from which τ on. A
// machine leads at a τ if a test finds its value above all others'.
func (t *Table) conclude(test fit.Test) string {
	common := lists.Filter(t.Taus, func(tau int) bool {
		return !slices.ContainsFunc(t.Rows, func(r Row) bool { _, measured := r.At(tau); return !measured })
	})
	concurrent := lists.Filter(common, func(tau int) bool { return tau >= 2 })
	if t.Ahead = len(concurrent) == 0; t.Ahead {
		return "No τ above 1 was measured on all machines: nothing is said about concurrent transfers."
	}
	carries, leads := t.carries(concurrent, test)
	moves, fast := t.moves(common, test)
	t.Ahead = leads || fast
	return carries + " " + moves
}

// A leading is a quantity in which one machine may lead.
type leading struct {
	what, none string // the predicate of the leader; the sentence if no machine leads
	values     string // format of the last τ and the machines' values
	format     string // of a value
	value      func(Point) fit.Estimate
	replicates func(Point) fit.Replicates // for the test
	leads      func(a, b Point, test fit.Test) bool
}

var atOnce = leading{
	what: "carries more transfers at once", none: "No machine carries more transfers at once than the others", values: "A(%d): %s", format: "%.2f",
	value: func(p Point) fit.Estimate { return p.A },
	replicates: func(p Point) fit.Replicates {
		if p.AReplicates.Launches() == 0 && p.A.Known() { // samples without launches: A has an interval
			return p.Replicates
		}
		return p.AReplicates
	},
	leads: func(a, b Point, test fit.Test) bool {
		if a.AReplicates.Launches() == 0 || b.AReplicates.Launches() == 0 {
			return above(a.A, b.A)
		}
		return larger(a.AReplicates, b.AReplicates, test)
	},
}

var perSecond = leading{
	what: "moves more bytes a second", none: "None moves more bytes a second", values: "τ = %d: %s GB/s", format: "%#.3g",
	value:      func(p Point) fit.Estimate { return p.Bandwidth },
	replicates: func(p Point) fit.Replicates { return p.Replicates },
	leads:      func(a, b Point, test fit.Test) bool { return larger(b.Replicates, a.Replicates, test) }, // less time is more bandwidth
}

// carries is the conclusion on A(τ), and whether a machine leads or that is not known.
func (t *Table) carries(taus []int, test fit.Test) (text string, ahead bool) {
	last := taus[len(taus)-1]
	for i := range t.Rows {
		if math.IsNaN(t.Rows[i].point(last).A.Center) {
			why := "L(m,1) was not measured"
			if p := lists.Find(t.Rows[i].Points, func(p Point) bool { return math.IsNaN(p.L.Center) }); p != nil {
				why = fmt.Sprintf("L(m,%d) is 0 in its file, which is no time", p.Tau)
			}
			return fmt.Sprintf("A(τ) of %s is unknown, since %s.", t.Rows[i].Machine, why), true
		}
	}
	if len(t.own()) > 0 {
		return "A(τ) is not compared, since L(m,1) is not the same on all machines.", false
	}
	return t.leader(atOnce, taus, test)
}

// moves is the conclusion on bandwidth, and whether a machine leads or that is not known.
func (t *Table) moves(taus []int, test fit.Test) (text string, ahead bool) {
	last := taus[len(taus)-1]
	for i := range t.Rows {
		if math.IsNaN(t.Rows[i].point(last).Bandwidth.Center) {
			return fmt.Sprintf("How many bytes a second %s moves at τ = %d is unknown, since L(m,%[2]d) is 0 in its file, which is no time.", t.Rows[i].Machine, last), true
		}
	}
	return t.leader(perSecond, taus, test)
}

// leader names the machine that leads in a quantity, if one is ahead, and from which τ on.
func (t *Table) leader(q leading, taus []int, test fit.Test) (text string, ahead bool) {
	last := taus[len(taus)-1]
	ranking := slices.Clone(t.Rows)
	slices.SortStableFunc(ranking, func(a, b Row) int {
		return cmp.Compare(q.value(b.point(last)).Center, q.value(a.point(last)).Center)
	})
	const most = 4
	values := lists.Map(ranking[:min(len(ranking), most)], func(r Row) string {
		return fmt.Sprintf("%s "+q.format, r.Machine, q.value(r.point(last)).Center)
	})
	if len(ranking) > most {
		values = append(values, "…")
	}
	are := fmt.Sprintf(q.values, last, strings.Join(values, ", "))
	first := q.replicates(ranking[0].point(last))
	if slices.ContainsFunc(ranking[1:], func(r Row) bool { return !test.Compare(first, q.replicates(r.point(last))).Tested }) {
		t.Untested = true
		return fmt.Sprintf("Which machine %s was not tested (%s).", q.what, are), false
	}
	from := 0 // the smallest τ from which on the first leads
	for _, tau := range slices.Backward(taus) {
		if slices.ContainsFunc(ranking[1:], func(r Row) bool { return !q.leads(ranking[0].point(tau), r.point(tau), test) }) {
			break
		}
		from = tau
	}
	if from == 0 {
		return fmt.Sprintf("%s, beyond what launches and hours differ by (%s).", q.none, are), false
	}
	return fmt.Sprintf("%s %s %s (%s).", ranking[0].Machine, q.what, since(from, taus), are), true
}

// above reports whether e is larger than o, beyond the intervals. Values without samples count as exact;
// with too few samples nothing is above.
func above(e, o fit.Estimate) bool {
	lo, hi := e.Lo, o.Hi
	if e.N == 0 {
		lo = e.Center
	}
	if o.N == 0 {
		hi = o.Center
	}
	return lo > hi
}

// larger reports whether a is larger than b by a test, since intervals over launches of one session do
// not contain differences between hours.
func larger(a, b fit.Replicates, test fit.Test) bool {
	d := test.Compare(b, a)
	return d.Tested && d.P < level && d.Ratio > 1
}

func (r *Row) point(tau int) Point {
	p, _ := r.At(tau)
	return p
}

// since says from which τ on.
func since(from int, taus []int) string {
	switch last := taus[len(taus)-1]; {
	case from == last && len(taus) > 1:
		return fmt.Sprintf("only at τ = %d", from)
	case from == taus[0] && len(taus) == 2:
		return fmt.Sprintf("at τ = %d and %d", from, last)
	case from == taus[0] && len(taus) > 2:
		return fmt.Sprintf("at every τ from %d to %d", from, last)
	case from == last:
		return fmt.Sprintf("at τ = %d", from)
	}
	return fmt.Sprintf("from τ = %d on", from)
}

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
