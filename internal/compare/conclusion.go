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

// conclude says which machine carries more transfers, from which τ on, and which moves more bytes.
// A machine leads at a τ when its value is above all others', by a test; without a test none leads.
func (t *Table) conclude(test fit.Test) string {
	common := lists.Filter(t.Taus, func(tau int) bool {
		return !slices.ContainsFunc(t.Rows, func(r Row) bool { _, measured := r.At(tau); return !measured })
	})
	concurrent := lists.Filter(common, func(tau int) bool { return tau >= 2 })
	if len(concurrent) == 0 {
		return "No τ above 1 was measured on all machines: nothing is said about concurrent transfers."
	}
	return t.carries(concurrent, test) + " " + t.moves(common, test)
}

// carries is about A(τ).
func (t *Table) carries(taus []int, test fit.Test) string {
	last := taus[len(taus)-1]
	A := func(r *Row, tau int) fit.Estimate { b, _ := r.At(tau); return b.A }
	for i := range t.Rows {
		if math.IsNaN(A(&t.Rows[i], last).Center) {
			why := "L(m,1) was not measured"
			if of := t.Rows[i].zero(); of > 0 {
				why = fmt.Sprintf("L(m,%d) is 0 in its file, which is no time", of)
			}
			return fmt.Sprintf("A(τ) of %s is unknown, since %s.", t.Rows[i].Machine, why)
		}
	}
	if len(t.own()) > 0 {
		return "A(τ) is not compared, since L(m,1) is not the same on all machines."
	}
	ranking := t.ranking(last, A)
	if !t.tested(last, test, func(p Point) fit.Replicates {
		if p.AReplicates.Launches() == 0 && p.A.Known() { // samples without launches: A has an interval
			return p.Replicates
		}
		return p.AReplicates
	}) {
		return fmt.Sprintf("Who carries more transfers at once was not tested (A(%d): %s).", last, t.list(ranking, last, A, "%.2f"))
	}
	from := t.leadsFrom(ranking[0], taus, func(leader, other *Row, tau int) bool {
		a, b := leader.point(tau), other.point(tau)
		if a.AReplicates.Launches() == 0 || b.AReplicates.Launches() == 0 {
			return above(a.A, b.A)
		}
		return larger(a.AReplicates, b.AReplicates, test)
	})
	if from == 0 {
		return fmt.Sprintf("No machine carries more transfers at once than the others, beyond the intervals (A(%d): %s).", last, t.list(ranking, last, A, "%.2f"))
	}
	return fmt.Sprintf("%s carries more transfers at once %s (A(%d): %s).", t.Rows[ranking[0]].Machine, since(from, taus), last, t.list(ranking, last, A, "%.2f"))
}

// moves is about bandwidth.
func (t *Table) moves(taus []int, test fit.Test) string {
	last := taus[len(taus)-1]
	B := func(r *Row, tau int) fit.Estimate { b, _ := r.At(tau); return b.Bandwidth }
	for i := range t.Rows {
		if math.IsNaN(B(&t.Rows[i], last).Center) {
			return fmt.Sprintf("How many bytes a second %s moves at τ = %d is unknown, since L(m,%[2]d) is 0 in its file, which is no time.", t.Rows[i].Machine, last)
		}
	}
	ranking := t.ranking(last, B)
	if !t.tested(last, test, func(p Point) fit.Replicates { return p.Replicates }) {
		return fmt.Sprintf("Who moves more bytes a second was not tested (τ = %d: %s GB/s).", last, t.list(ranking, last, B, "%#.3g"))
	}
	from := t.leadsFrom(ranking[0], taus, func(leader, other *Row, tau int) bool {
		a, b := leader.point(tau), other.point(tau)
		return larger(b.Replicates, a.Replicates, test) // less time is more bandwidth
	})
	if from == 0 {
		return fmt.Sprintf("None moves more bytes a second, beyond the intervals (τ = %d: %s GB/s).", last, t.list(ranking, last, B, "%#.3g"))
	}
	return fmt.Sprintf("%s moves more bytes a second %s (τ = %d: %s GB/s).", t.Rows[ranking[0]].Machine, since(from, taus), last, t.list(ranking, last, B, "%#.3g"))
}

// zero is the first τ whose time in the file is 0; 0 if there is none.
func (r *Row) zero() int {
	for _, b := range r.Points {
		if math.IsNaN(b.L.Center) {
			return b.Tau
		}
	}
	return 0
}

// above reports whether e is larger than o, beyond the intervals. What comes
// without samples counts as exact; with too few of them nothing is above.
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

// larger reports whether the first of two quantities is, by a test: intervals over the
// launches of one session say nothing about another hour.
func larger(a, b fit.Replicates, test fit.Test) bool {
	d := test.Compare(b, a)
	return d.Tested && d.P < level && d.Ratio > 1
}

// tested tells whether all rows have at tau what a test takes.
func (t *Table) tested(tau int, test fit.Test, of func(Point) fit.Replicates) bool {
	first := of(t.Rows[0].point(tau))
	return !slices.ContainsFunc(t.Rows[1:], func(r Row) bool { return !test.Compare(first, of(r.point(tau))).Tested })
}

// point is what a row has at tau.
func (r *Row) point(tau int) Point {
	b, _ := r.At(tau)
	return b.Point
}

// ranking is the rows by their value at tau, largest first.
func (t *Table) ranking(tau int, of func(*Row, int) fit.Estimate) []int {
	order := make([]int, len(t.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(of(&t.Rows[b], tau).Center, of(&t.Rows[a], tau).Center)
	})
	return order
}

// leadsFrom is the smallest τ from which on a row leads at every larger one, 0
// if it does not lead at the last.
func (t *Table) leadsFrom(leader int, taus []int, leads func(leader, other *Row, tau int) bool) (from int) {
	for _, tau := range slices.Backward(taus) {
		for i := range t.Rows {
			if i != leader && !leads(&t.Rows[leader], &t.Rows[i], tau) {
				return from
			}
		}
		from = tau
	}
	return from
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

// list is the leading values with their machines.
func (t *Table) list(ranking []int, tau int, of func(*Row, int) fit.Estimate, format string) string {
	const most = 4
	var parts []string
	for _, i := range ranking[:min(len(ranking), most)] {
		parts = append(parts, fmt.Sprintf("%s "+format, t.Rows[i].Machine, of(&t.Rows[i], tau).Center))
	}
	if len(ranking) > most {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
