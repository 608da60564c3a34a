package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/view"
)

// Machines are the costs of collectives on several machines: of each algorithm asked for by name, and of
// other collectives the cheapest on each machine, or a library's own choice there.
type Machines struct {
	Machines []Source          `json:"machines"`
	Drift    float64           `json:"drift"` // assumed standard deviation between sessions, a share
	Least    float64           `json:"least"` // the least difference that counts, a share
	Verdict  MachineVerdict    `json:"verdict"`
	Rows     []MachineCost     `json:"rows"` // call by call, each in the order of Machines
	LeftOut  []MachineOmission `json:"left_out"`

	launches bool // some machine has few sessions, of which launches were drawn
}

// A MachineCost is a call's cost on one machine. Cheapest marks the machines of its call that no other
// undercuts, unless all are alike.
type MachineCost struct {
	Machine string `json:"machine"`
	Of      string `json:"of"` // as asked for: "bcast", "bcast:binomial"
	Prediction
	// Ratio is its cost over the first machine's; nil for the first machine, and for unknown costs.
	Ratio *MachineRatio `json:"ratio,omitempty"`

	known fit.Drawn
}

// HowChosen says how the algorithm of a cost was chosen; "" if it was asked for.
func (c *MachineCost) HowChosen() string {
	switch {
	case strings.Contains(c.Of, ":"):
		return ""
	case c.Own:
		return "the library's own choice on each machine"
	}
	return "the cheapest of its algorithms on each machine"
}

// A MachineRatio is Tested if the parameters of both machines have enough launches.
type MachineRatio struct {
	Value   float64 `json:"ratio"`
	Tested  bool    `json:"tested"`
	Lo      float64 `json:"lo,omitempty"` // its 95 % interval
	Hi      float64 `json:"hi,omitempty"`
	P       float64 `json:"p_adjusted,omitempty"` // for the number of tests (Benjamini and Hochberg)
	Differs bool    `json:"differs"`
}

// A MachineVerdict says which machine is the better one.
type MachineVerdict struct {
	Calls  int          `json:"calls"`  // with a cost on all machines
	Tested int          `json:"tested"` // of them
	Ties   int          `json:"ties"`   // of those tested
	Wins   []MachineWin `json:"wins"`
	Text   string       `json:"text"`
}

// A MachineWin counts the calls in which all other machines are slower.
type MachineWin struct {
	Machine string   `json:"machine"`
	Calls   int      `json:"calls"`
	Times   float64  `json:"times"` // median ratio of the next machine's cost to this one's
	Of      []string `json:"of"`    // where: "bcast", for all its calls, or "bcast in 3 of 7"
}

// A MachineOmission is an algorithm that a machine lacks.
type MachineOmission struct {
	Machine string `json:"machine"`
	Omission
}

// falseDiscoveries is the accepted share of false differences.
const falseDiscoveries = 0.05

// NewMachines compares predictions of the same calls; named are the algorithms asked for by name.
func NewMachines(docs []*Predictions, named []string, test fit.Test) *Machines {
	d := &Machines{Drift: test.Drift, Least: test.Least}
	calls, order := make(map[callKey][]*Prediction), []callKey(nil) // nil on machines that lack it
	for i, doc := range docs {
		d.Machines = append(d.Machines, doc.Source)
		for _, o := range doc.LeftOut {
			d.LeftOut = append(d.LeftOut, MachineOmission{doc.Machine, o})
		}
		for j := range doc.Rows {
			r := &doc.Rows[j]
			c := callKey{r.Collective, r.P, r.Bytes}
			if name := r.Collective + ":" + r.Algorithm; slices.Contains(named, name) {
				c.of = name
			}
			if calls[c] == nil {
				calls[c], order = make([]*Prediction, len(docs)), append(order, c)
			}
			if of := &calls[c][i]; *of == nil || r.Own || !(*of).Own && !r.Unknown && (r.Microseconds < (*of).Microseconds || (*of).Unknown) {
				*of = r
			}
		}
	}
	groups := lists.Unique(lists.Map(order, func(c callKey) string { return c.of }))
	slices.SortStableFunc(order, func(a, b callKey) int {
		return cmp.Or(slices.Index(groups, a.of)-slices.Index(groups, b.of), a.p-b.p, a.bytes-b.bytes)
	})
	for _, c := range order {
		for i, r := range calls[c] {
			if r == nil {
				continue
			}
			cost := MachineCost{Machine: docs[i].Machine, Of: c.of, Prediction: *r}
			cost.Cheapest, cost.Beside, cost.TauLop = false, false, nil
			if e := docs[i].ensemble; e != nil && len(r.drawn) > 0 && !r.Unknown {
				cost.known = e.Drawn(r.Microseconds/1e6, r.drawn)
				d.launches = d.launches || cost.known.Sessions > 0
			}
			d.Rows = append(d.Rows, cost)
		}
	}
	d.compare(test)
	return d
}

// Calls are the rows of each call.
func (d *Machines) Calls() [][]*MachineCost {
	return grouped(d.Rows, func(r *MachineCost) callKey { return callKey{r.Of, r.P, r.Bytes} })
}

// A contest is a call with a cost on all machines: the cheapest, and the others compared with it.
type contest struct {
	cheapest *MachineCost
	rivals   []*rival
}

// A rival of the cheapest differs if it is dearer for certain.
type rival struct {
	*MachineCost
	fit.Difference
	differs bool
}

// compare tests each cost against the first machine's, and in calls with a cost on all machines against
// the cheapest.
func (d *Machines) compare(test fit.Test) {
	var ratios []*MachineRatio
	var ps []float64
	var contests []contest
	var tested []*rival
	for _, costs := range d.Calls() {
		for _, r := range costs[1:] {
			if first := costs[0]; first.Machine == d.Machines[0].Machine && first.Microseconds > 0 && !first.Unknown && !r.Unknown {
				of := first.against(r, test)
				r.Ratio = &MachineRatio{Value: of.Ratio, Tested: of.Tested}
				if of.Tested {
					r.Ratio.Lo, r.Ratio.Hi = of.Lo, of.Hi
					ratios, ps = append(ratios, r.Ratio), append(ps, of.P)
				}
			}
		}
		if len(costs) < max(2, len(d.Machines)) || slices.ContainsFunc(costs, func(r *MachineCost) bool { return r.Unknown || !(r.Microseconds > 0) }) {
			continue
		}
		c := contest{cheapest: slices.MinFunc(costs, func(a, b *MachineCost) int { return cmp.Compare(a.Microseconds, b.Microseconds) })}
		for _, cost := range costs {
			if cost == c.cheapest {
				continue
			}
			r := &rival{MachineCost: cost, Difference: c.cheapest.against(cost, test)}
			if c.rivals = append(c.rivals, r); r.Difference.Tested {
				tested = append(tested, r)
			}
		}
		contests = append(contests, c)
	}
	for i, p := range fit.Adjust(ps) {
		ratios[i].P, ratios[i].Differs = p, p < falseDiscoveries
	}
	for i, p := range fit.Adjust(lists.Map(tested, func(r *rival) float64 { return r.Difference.P })) {
		tested[i].differs = p < falseDiscoveries
	}
	d.conclude(contests)
}

// against tests the ratio of another machine's cost to this one's.
func (r *MachineCost) against(other *MachineCost, test fit.Test) fit.Difference {
	test.Least = max(test.Least, r.spread, other.spread)
	of := test.CompareDrawn(r.known, other.known)
	of.Ratio = other.Microseconds / r.Microseconds
	return of
}

// conclude marks the cheapest machines of each call, and counts them. With two machines the tests are
// the ratios'.
func (d *Machines) conclude(contests []contest) {
	v := &d.Verdict
	v.Calls = len(contests)
	total := make(map[string]int) // calls of each collective
	var won, bare []win           // tested, and by the bare numbers
	for _, c := range contests {
		total[c.cheapest.Of]++
		this, tested, slower := win{c.cheapest.Machine, c.cheapest.Of, math.Inf(1)}, true, 0
		for _, r := range c.rivals {
			this.times = min(this.times, r.Difference.Ratio)
			tested = tested && r.Difference.Tested
			if r.differs {
				slower++
			}
		}
		if this.times > 1+d.Least {
			bare = append(bare, this)
		}
		if !tested {
			continue
		}
		v.Tested++
		c.cheapest.Cheapest = slower > 0
		for _, r := range c.rivals {
			r.Cheapest = slower > 0 && !r.differs
		}
		if slower < len(c.rivals) {
			v.Ties++
			continue
		}
		won = append(won, this)
	}
	for _, m := range d.Machines {
		of, times := winsOf(won, m.Machine)
		if len(of) == 0 {
			continue
		}
		w := MachineWin{Machine: m.Machine, Calls: len(of), Times: times}
		for _, same := range lists.Groups(of, func(w win) string { return w.of }) {
			text := same[0].of
			if len(same) < total[text] {
				text = fmt.Sprintf("%s in %d of %d", text, len(same), total[text])
			}
			w.Of = append(w.Of, text)
		}
		v.Wins = append(v.Wins, w)
	}
	slices.SortStableFunc(v.Wins, func(a, b MachineWin) int { return b.Calls - a.Calls })
	v.Text = d.verdict(bare)
}

// A win is a call that is cheapest on a machine, and the ratio of the next machine's cost.
type win struct {
	machine, of string
	times       float64
}

// winsOf are a machine's wins, and the median of their ratios.
func winsOf(all []win, machine string) (of []win, times float64) {
	of = lists.Filter(all, func(w win) bool { return w.machine == machine })
	return of, fit.Median(lists.Map(of, func(w win) float64 { return w.times })).Center
}

// verdict says in words which machine is the better one.
func (d *Machines) verdict(bare []win) string {
	v := &d.Verdict
	if v.Calls == 0 {
		return "Nothing can be compared: no call has a cost on every machine."
	}
	var leads []string
	for _, m := range d.Machines {
		if of, times := winsOf(bare, m.Machine); len(of) > 0 {
			leads = append(leads, fmt.Sprintf("%s in %d of %d, by %s times at the median", m.Machine, len(of), v.Calls, view.Digits(times, times/20)))
		}
	}
	leaning := printable.If(len(leads) > 0,
		fmt.Sprintf(" The bare numbers are lower by more than %.3g %% on %s.", 100*d.Least, strings.Join(leads, ", and on ")))
	if v.Tested == 0 {
		return fmt.Sprintf("Nothing could be tested, for want of samples: published tables have none, and of a sweep it takes %d launches or more.", fit.LeastReplicates) + leaning
	}
	calls := printable.Count(v.Tested, "call")
	ties := printable.Either(v.Ties == 1, "1 is a tie", fmt.Sprintf("%d are ties", v.Ties))
	cheaper := lists.Map(v.Wins, func(w MachineWin) string {
		return fmt.Sprintf("cheaper in %d of %s, by %s times at the median", w.Calls, calls, view.Digits(w.Times, w.Times/20))
	})
	var text string
	switch {
	case len(v.Wins) == 0:
		calls += printable.If(v.Tested > 1, ", corrected for their number")
		text = fmt.Sprintf("Which machine is the better one cannot be told: no difference is certain in %s.", calls)
		if leaning != "" {
			text += leaning + " Single transfers, which taulop compare tests, may differ for certain where whole calls do not."
		}
	case len(v.Wins) == 1:
		text = fmt.Sprintf("%s is the better machine: %s", v.Wins[0].Machine, cheaper[0])
		if v.Ties > 0 {
			text += fmt.Sprintf(" (%s)", strings.Join(v.Wins[0].Of, ", "))
		}
	default:
		for i, w := range v.Wins {
			cheaper[i] = fmt.Sprintf("%s is %s (%s)", w.Machine, cheaper[i], strings.Join(w.Of, ", "))
		}
		text = "It depends: " + strings.Join(cheaper, "; ")
	}
	if len(v.Wins) > 0 {
		text += printable.If(v.Ties > 0, "; "+ties)
		text += "."
	}
	if d.launches && d.Drift > 0 {
		text += fmt.Sprintf(" Machines of one or two sessions cannot be told from their hours, which are taken to differ by %.3g %% (one standard deviation): sessions at other times tell more.", 100*d.Drift)
	}
	return text
}
