// Package predict predicts the costs of collective calls, with their terms, the cheapest algorithm by
// message size, and the better one of several machines.
//
// Its opinion: costs that the model, or the launches of its parameters, cannot tell apart are not
// ranked; omissions are named, with the reason.
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

// Calls are collective calls to predict: each algorithm among each P with each m.
type Calls struct {
	Source
	Algorithms []mpi.Algorithm
	// Asked are algorithms asked for by name. They fail where they do not exist or have no cost; others
	// are left out.
	Asked               map[mpi.Algorithm]bool
	P, M                []int
	Root, Degree, Chunk int
	NoGamma             error // why reductions have no cost; nil: they have

	Predictor *model.Predictor
	Beside    *model.Predictor // for a second cost beside Predictor's; may be nil
	Ensemble  *model.Ensemble  // uncertainty of costs; nil: not asked for
	States    []StatePredictor // for the costs in each state in Explain; Predictor's are means over them
}

// A StatePredictor predicts from measurements in one state of the machine.
type StatePredictor struct {
	params.State
	*model.Predictor
}

// Limits of costs with intervals, each of which is evaluated for all members of the ensemble.
const (
	mostIntervals     = 4096
	mostIntervalRanks = 1024
)

// Name adds the algorithms of names, of a library unless it is nil: a collective for all of its algorithms,
// or one, like bcast:binomial. It fails for unknown names.
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

// Named are the algorithms asked for by name.
func (c *Calls) Named() []string {
	return lists.Map(lists.Filter(c.Algorithms, func(a mpi.Algorithm) bool { return c.Asked[a] }), mpi.Algorithm.String)
}

// From sets the predictors: of a file, with intervals if its samples allow them, of its states, and of
// τ-Lop beside a model of pairs.
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

// source is the Source with the origin of the schedules.
func (c *Calls) source() Source {
	s := c.Source
	s.Schedules = "textbook schedules"
	textbook := lists.Filter(c.Algorithms, func(a mpi.Algorithm) bool { return a.Library == nil })
	if i := slices.IndexFunc(c.Algorithms, func(a mpi.Algorithm) bool { return a.Library != nil }); i >= 0 {
		s.Schedules = "schedules of " + c.Algorithms[i].Library.Version
		if len(textbook) > 0 {
			of := lists.Unique(lists.Map(textbook, func(a mpi.Algorithm) string { return a.Collective.Name }))
			s.Schedules += ", and textbook schedules of " + strings.Join(of, ", ")
		}
	}
	return s
}

// Predict predicts all calls, in the order of P, m and algorithms.
func (c *Calls) Predict(ctx context.Context) (*Predictions, error) {
	if len(c.P)*len(c.M)*len(c.Algorithms) > mostIntervals {
		c.Ensemble = nil
	}
	doc := &Predictions{Source: c.source(), ensemble: c.Ensemble}
	err := c.each(ctx, &doc.LeftOut, func(p Prediction, _ *collective.Schedule, _ model.Cost) {
		doc.Rows = append(doc.Rows, p)
	})
	doc.MarkCheapest()
	return doc, err
}

// Explain predicts all calls with their terms.
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

// Compare finds the cheapest algorithm for each P and all m between two, see model.Cheapest.
func (c *Calls) Compare(ctx context.Context, from, to int, margin float64) (*Explanations, error) {
	doc := &Explanations{Source: c.source()}
	for _, a := range c.Algorithms {
		if a.Collective != c.Algorithms[0].Collective {
			return nil, fmt.Errorf("%s and %s do different things: compare algorithms of one collective", c.Algorithms[0], a)
		}
	}
	for _, p := range c.P {
		algorithms := slices.DeleteFunc(c.existing(p, &doc.LeftOut), func(a mpi.Algorithm) bool {
			_, _, _, err := c.cost(a, p, to, mapping.Most/16)
			why := unable(err)
			if c.Asked[a] || why == "" {
				return false
			}
			leaveOut(&doc.LeftOut, a, why, p)
			return true
		})
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
		wins := lists.Map(intervals, func(in model.Interval) Win {
			return Win{in.From, in.To, lists.Map(in.Cheapest, func(i int) string { return names[i] }), in.Advantage, in.Extrapolated, in.Unknown}
		})
		doc.Comparisons = append(doc.Comparisons, Comparison{p, margin, names, wins})
	}
	return doc, nil
}

// each predicts every call. Algorithms without a cost are left out, with the reason.
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

// interval sets the interval of a cost, if it is known.
func (c *Calls) interval(row *Prediction, s *collective.Schedule, cost model.Cost) {
	if c.Ensemble == nil || s.Call.P > mostIntervalRanks || cost.Unknown {
		return
	}
	row.drawn = c.Ensemble.Costs(s)
	if e := c.Ensemble.Cost(cost.Seconds, row.drawn).Scale(1e6); e.Known() {
		row.Lo, row.Hi = &e.Lo, &e.Hi
	}
}

// unable says why an algorithm has no cost where others have; "" of other errors.
func unable(err error) string {
	for known, why := range map[error]string{
		collective.ErrChunks: collective.ErrChunks.Error(),
		model.ErrContiguous:  "copies contiguous messages alone",
		model.ErrTooMany:     model.ErrTooMany.Error(),
		model.ErrOneNode:     "copies from buffers of ranks on the same node",
		errTogether:          errTogether.Error(),
		mapping.ErrMany:      mapping.ErrMany.Error(),
	} {
		if errors.Is(err, known) {
			return why
		}
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
			leaveOut(leftOut, a, c.NoGamma.Error(), p)
		case !c.Asked[a] && a.Textbook != nil && c.Predictor.TooCheap(a.Textbook, p):
			leaveOut(leftOut, a, "copies from buffers that ranks share, which messages by levels predict too cheap", p)
		default:
			algorithms = append(algorithms, a)
		}
	}
	return algorithms
}

// together is the limit of all calls' work, in multiples of one call's.
const together = 4

// work is the limit of one call's work that keeps all together to a few seconds: the largest calls are
// left out.
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

// errTogether is why a call is left out beside others.
var errTogether = errors.New("has messages that must be looked at one by one, too many beside those of the other calls: ask for it alone, with fewer m, or for fewer ranks")

// schedule is the schedule of a call, and the algorithm chosen if a only chooses.
func (c *Calls) schedule(a mpi.Algorithm, p, m int) (*collective.Schedule, string, error) {
	if nodes, _ := c.Predictor.Nodes(p); a.Own() && a.Lacks(p, nodes) != "" {
		return nil, "", fmt.Errorf("%s %s: name an algorithm, or take one node", a, a.Lacks(p, nodes))
	}
	return a.Schedule(collective.Call{P: p, Root: c.Root, M: m, Segment: c.Predictor.Segment, Degree: c.Degree, Chunk: c.Chunk})
}

// cost is the cost of a call of limited work, see model.Predictor.Work.
func (c *Calls) cost(a mpi.Algorithm, p, m, limit int) (*collective.Schedule, string, model.Cost, error) {
	s, taken, err := c.schedule(a, p, m)
	if err != nil {
		return nil, "", model.Cost{}, err
	}
	if work := c.Predictor.Work(s); work > limit && work <= mapping.Most {
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
