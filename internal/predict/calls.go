// Package predict says what collectives cost: each call that was asked for, what a cost is made of,
// where which algorithm is the cheapest, and which of several machines is the better one.
//
// Its opinion: what cannot be told apart, by the model or by the launches that its parameters
// are of, is not ranked; what is left out is named, with the reason.
package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// Calls are collectives to be costed: each algorithm among each P with each m.
type Calls struct {
	Source
	Algorithms []mpi.Algorithm
	// Asked are algorithms asked for by name: where they do not exist, that is the answer. Others
	// of a collective are left out.
	Asked               map[mpi.Algorithm]bool
	P, M                []int
	Root, Degree, Chunk int
	NoGamma             error // why nothing can be reduced, nil where it can

	Predictor *model.Predictor
	Beside    *model.Predictor // whose costs stand beside Predictor's; nil for none
	Ensemble  *model.Ensemble  // what costs are uncertain by; nil: not asked
	States    []StatePredictor // whose costs Explain puts beside Predictor's, which are means over them
}

// A StatePredictor predicts from what was measured in one state of the machine.
type StatePredictor struct {
	params.State
	*model.Predictor
}

// most is how many costs have intervals at most, and among how many ranks: each of them is
// costed once for every member of the ensemble.
const (
	most      = 4096
	mostRanks = 1024
)

// Name adds the algorithms that names ask for, a library's unless it is nil: all of a collective, or
// one, like bcast:binomial. It fails for a name that is neither.
func (c *Calls) Name(library *mpi.Library, names []string) error {
	c.Asked = make(map[mpi.Algorithm]bool)
	for _, name := range names {
		found, err := mpi.Find(library, name)
		if err != nil {
			return err
		}
		for _, a := range found {
			c.Asked[a] = c.Asked[a] || strings.Contains(name, ":")
			if !slices.Contains(c.Algorithms, a) {
				c.Algorithms = append(c.Algorithms, a)
			}
		}
	}
	return nil
}

// Named are the algorithms that were asked for by their names.
func (c *Calls) Named() []string {
	return lists.Map(lists.Filter(c.Algorithms, func(a mpi.Algorithm) bool { return c.Asked[a] }), mpi.Algorithm.String)
}

// From has calls predicted from a file, with intervals where its samples allow them, from what was
// measured in each of some states beside it, and by τ-Lop beside a model of pairs.
func (c *Calls) From(f *params.File, choice model.Choice, states []*params.File) (err error) {
	if c.Predictor, err = model.NewPredictor(f, choice); err != nil {
		return err
	}
	for _, in := range states {
		if p, err := model.NewPredictor(in, choice); err == nil {
			c.States = append(c.States, StatePredictor{State: *in.State(), Predictor: p})
		}
	}
	c.Ensemble = model.NewEnsemble(f, choice)
	if model.OfPairs(choice.Model) { // the file of pairs may have no transfers
		choice.Model = "taulop"
		c.Beside, _ = model.NewPredictor(f, choice)
	}
	return nil
}

// source says also whose schedules are costed.
func (c *Calls) source() Source {
	s := c.Source
	var textbook []string
	library := ""
	for _, a := range c.Algorithms {
		switch {
		case a.Library != nil:
			library = a.Library.Version
		case !slices.Contains(textbook, a.Collective.Name):
			textbook = append(textbook, a.Collective.Name)
		}
	}
	if s.Schedules = "textbook schedules"; library != "" {
		if s.Schedules = "schedules of " + library; len(textbook) > 0 {
			s.Schedules += ", and textbook schedules of " + strings.Join(textbook, ", ")
		}
	}
	return s
}

// Predict says what each costs, in the order of P, m and algorithms.
func (c *Calls) Predict(ctx context.Context) (*Predictions, error) {
	if len(c.P)*len(c.M)*len(c.Algorithms) > most {
		c.Ensemble = nil
	}
	doc := &Predictions{Source: c.source(), ensemble: c.Ensemble}
	err := c.each(ctx, &doc.LeftOut, func(p Prediction, _ *collective.Schedule, _ model.Cost) {
		doc.Rows = append(doc.Rows, p)
	})
	doc.MarkCheapest()
	return doc, err
}

// Explain says what the cost of each is made of.
func (c *Calls) Explain(ctx context.Context) (*Explanations, error) {
	doc := &Explanations{Source: c.source()}
	err := c.each(ctx, &doc.LeftOut, func(p Prediction, s *collective.Schedule, cost model.Cost) {
		e := Explain(s, cost, p)
		for _, state := range c.States {
			if in, err := state.Cost(s); err == nil {
				e.States = append(e.States, StateCost{state.State, in.Seconds * 1e6, in.Extrapolated, in.Unknown})
			}
		}
		if touched := c.Predictor.Context(s); touched > 0 && strings.Contains(e.Formula, "(S,") {
			e.Context = fmt.Sprintf("L(S,τ) is that of a segment where a rank that sends touches %s in the call, not that of a message of %s", view.Bytes(touched), view.Bytes(c.Predictor.Segment))
		}
		doc.Calls = append(doc.Calls, e)
	})
	return doc, err
}

// Compare finds for each P where which algorithm is the cheapest, of all m between two.
// It is left for another one only where that is cheaper by more than margin, a share.
func (c *Calls) Compare(ctx context.Context, from, to int, margin float64) (*Explanations, error) {
	doc := &Explanations{Source: c.source()}
	for _, a := range c.Algorithms {
		if a.Collective != c.Algorithms[0].Collective {
			return nil, fmt.Errorf("%s and %s do different things: compare algorithms of one collective", c.Algorithms[0], a)
		}
	}
	for _, p := range c.P {
		algorithms := c.existing(p, &doc.LeftOut)
		if len(algorithms) < 2 {
			return nil, fmt.Errorf("nothing to compare for P = %d: name two algorithms, or a collective that has more than one", p)
		}
		names := lists.Map(algorithms, mpi.Algorithm.String)
		intervals, err := model.Cheapest(from, to, margin, func(m int) ([]model.Cost, error) {
			costs := make([]model.Cost, len(algorithms))
			for i, a := range algorithms {
				var err error
				if _, _, costs[i], err = c.cost(a, p, m, mapping.Most/16); err != nil {
					return nil, err
				}
			}
			return costs, ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		doc.Comparisons = append(doc.Comparisons, Compare(p, margin, names, intervals))
	}
	return doc, nil
}

// each costs every call. What does not exist is left out, and it says why.
func (c *Calls) each(ctx context.Context, leftOut *[]Omission, take func(Prediction, *collective.Schedule, model.Cost)) error {
	least := c.work()
	for _, p := range c.P {
		algorithms := c.existing(p, leftOut)
		for i, bytes := range c.M {
			for _, a := range algorithms {
				m := bytes
				if a.Collective.Empty() {
					if m = 0; i > 0 {
						continue
					}
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				s, taken, cost, err := c.cost(a, p, m, least)
				if why := unable(err); why != "" && !c.Asked[a] {
					leaveOut(leftOut, a, why, p)
					continue
				}
				if err != nil {
					return err
				}
				row := Prediction{
					Collective: a.Collective.Name, Algorithm: a.Name(), Own: a.Own(), Chosen: taken, P: p, Bytes: m,
					Microseconds: cost.Seconds * 1e6, Extrapolated: cost.Extrapolated, Unknown: cost.Unknown, Rough: c.Errors != "", spread: cost.Spread,
				}
				if c.Beside != nil {
					other, err := c.Beside.Cost(s)
					if err != nil {
						return err
					}
					if row.Beside = true; !other.Unknown {
						us := other.Seconds * 1e6
						row.TauLop = &us
					}
				}
				c.interval(&row, s, cost)
				take(row, s, cost)
			}
		}
	}
	return nil
}

// interval is the interval of a cost, where it is known.
func (c *Calls) interval(row *Prediction, s *collective.Schedule, cost model.Cost) {
	if c.Ensemble == nil || s.Call.P > mostRanks || cost.Unknown {
		return
	}
	row.drawn = c.Ensemble.Costs(s)
	if e := c.Ensemble.Interval(cost.Seconds, row.drawn).Scale(1e6); e.Known() && e.Width() > 1e-9 { // 0: nothing in it was measured
		row.Lo, row.Hi = &e.Lo, &e.Hi
	}
}

// unable says why an algorithm cannot be costed where others can; "" of other errors.
func unable(err error) string {
	switch {
	case errors.Is(err, model.ErrContiguous):
		return "copies contiguous messages alone"
	case errors.Is(err, model.ErrOneNode):
		return "copies from buffers of ranks on the same node"
	case errors.Is(err, errTogether):
		return errTogether.Error()
	case errors.Is(err, mapping.ErrMany):
		return mapping.ErrMany.Error()
	}
	return ""
}

// existing are the algorithms that exist for p ranks.
func (c *Calls) existing(p int, leftOut *[]Omission) (algorithms []mpi.Algorithm) {
	nodes, _ := c.Predictor.Nodes(p)
	for _, a := range c.Algorithms {
		lacks := a.Lacks(p, nodes)
		switch {
		case !c.Asked[a] && lacks != "":
			leaveOut(leftOut, a, lacks, p)
		case !c.Asked[a] && a.Collective.Reduces && c.NoGamma != nil:
			leaveOut(leftOut, a, "needs γ", p)
		case !c.Asked[a] && a.Textbook != nil && c.Predictor.TooCheap(a.Textbook, p):
			leaveOut(leftOut, a, "copies from buffers that ranks share, which messages by levels predict too cheap", p)
		default:
			algorithms = append(algorithms, a)
		}
	}
	return algorithms
}

// together is how many times as much work all calls may take as one alone.
const together = 4

// work is the most that one of the calls may take, so that all together take a few seconds: the
// calls that take most are left out.
func (c *Calls) work() (largest int) {
	var all []int
	for _, p := range c.P {
		for _, a := range c.existing(p, new([]Omission)) {
			for _, m := range c.M {
				if s, _, err := c.schedule(a, p, m); err == nil {
					all = append(all, c.Predictor.Work(s))
				}
			}
		}
	}
	slices.Sort(all)
	sum := 0
	for _, work := range all {
		if sum += work; sum > together*mapping.Most {
			break
		}
		largest = work
	}
	return largest
}

// errTogether is of calls that are left out beside others.
var errTogether = errors.New("has messages that must be looked at one by one, too many beside those of the other calls: ask for it alone, with fewer m, or for fewer ranks")

// schedule is the schedule of a call, and what an algorithm that only chooses takes there.
func (c *Calls) schedule(a mpi.Algorithm, p, m int) (*collective.Schedule, string, error) {
	return a.Schedule(collective.Call{P: p, Root: c.Root, M: m, Segment: c.Predictor.Segment, Degree: c.Degree, Chunk: c.Chunk})
}

// cost is the cost of a call of at most that much work, see model.Predictor.Work.
func (c *Calls) cost(a mpi.Algorithm, p, m, most int) (*collective.Schedule, string, model.Cost, error) {
	s, taken, err := c.schedule(a, p, m)
	if err != nil {
		return nil, "", model.Cost{}, err
	}
	if work := c.Predictor.Work(s); work > most && work <= mapping.Most {
		return s, taken, model.Cost{}, fmt.Errorf("%s %w", a, errTogether)
	}
	cost, err := c.Predictor.Cost(s)
	return s, taken, cost, err
}

func leaveOut(leftOut *[]Omission, a mpi.Algorithm, why string, p int) {
	i := slices.IndexFunc(*leftOut, func(o Omission) bool { return o.Algorithm == a.String() && o.Why == why })
	if i < 0 {
		i = len(*leftOut)
		*leftOut = append(*leftOut, Omission{Algorithm: a.String(), Why: why})
	}
	if o := &(*leftOut)[i]; !slices.Contains(o.P, p) {
		o.P = append(o.P, p)
	}
}
