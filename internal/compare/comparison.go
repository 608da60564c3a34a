package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/doubt"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

// A Comparison is machines side by side.
type Comparison struct {
	Machines []Described   `json:"machines"`
	States   []InState     `json:"states,omitempty"` // rising; none: each machine had one, or see Means
	Means    string        `json:"means,omitempty"`  // a sentence why means over states are compared
	Tables   []Table       `json:"tables"`
	Surveys  []SurveyTable `json:"surveys,omitempty"`
	Verdict  Verdict       `json:"verdict"`
	Warnings []Warning     `json:"warnings"`
	Unshown  []int         `json:"-"` // sizes in common that have no table, since none were chosen, rising
}

// A Described is a machine in a comparison.
type Described struct {
	Name    string `json:"machine"`
	Path    string `json:"file"`
	CPU     string `json:"cpu,omitempty"`
	Samples bool   `json:"samples"` // false: differences cannot be tested
	// Memory is the largest share of its peak that memory carried; nil: the peak is unknown.
	Memory *doubt.Carried `json:"memory,omitempty"`

	published bool // cannot be measured again
}

// A Table compares the machines that have a channel.
type Table struct {
	Channel
	State      *InState `json:"state,omitempty"` // of all machines; nil: without states
	Segment    bool     `json:"segment"`         // m is the segment's size S
	Taus       []int    `json:"taus"`            // of any machine
	Rows       []Row    `json:"rows"`            // a machine each, in the order of files; ratios are to the first
	Conclusion string   `json:"conclusion"`
	Untested   bool     `json:"-"` // samples are too few for the conclusion
	Ahead      bool     `json:"-"` // a machine leads in a quantity, or the conclusion says why that is not known
}

// A Row is a machine's curve with its saturation and fitted law.
type Row struct {
	Curve
	Saturation  Saturation       `json:"saturation"`
	Scalability *fit.Scalability `json:"scalability,omitempty"`
	Poor        bool             `json:"poor_fit,omitempty"`
	Unfitted    string           `json:"unfitted,omitempty"` // why there is no fit
}

// New compares machines. If they have nothing in common, the error says what each has.
func New(machines []Machine, choice Choice) (*Comparison, error) {
	if len(machines) < 2 {
		return nil, errors.New("a comparison takes two machines: name another file")
	}
	all := machines
	machines, noisy := referred(choice.sharing(machines))
	choice.Test = choice.test(machines)
	c := &Comparison{Machines: lists.Map(machines, describe), Tables: []Table{}, Warnings: []Warning{}}
	if noisy != nil {
		c.Warnings = append(c.Warnings, *noisy)
	}
	names := lists.Map(machines, func(m Machine) string { return m.Name })
	states := lists.Map(machines, func(m Machine) []params.State { return statesOf(m.File) })
	var warning error
	if c.States, c.Means, warning = meet(names, states, slices.ContainsFunc(machines, guest)); warning != nil {
		c.Warnings = append(c.Warnings, Warning{What: warning})
	}
	channels, err := c.addStates(machines, choice)
	if err != nil {
		return nil, err
	}
	c.conclude(machines, *choice.Test)
	kinds := lists.Filter(c.Surveys, func(k SurveyTable) bool { return !Swept(k.Kind) })
	c.Verdict.Notes = append(c.Verdict.Notes, choice.unfiltered(lists.Map(kinds, func(k SurveyTable) params.Kind { return k.Kind }))...)
	c.warn(all)
	doubts := lists.Map(machines, func(m Machine) *doubts { return doubtsOf(m.File, m.File.Transfers()) })
	c.Warnings = append(c.Warnings, warningsOf(doubts, c.Machines, channels)...)
	return c, nil
}

// addStates compares machines state by state, after the surveys without states; without states as they
// are. It fails if they have nothing in common in any state.
func (c *Comparison) addStates(machines []Machine, choice Choice) (channels []Channel, err error) {
	if len(c.States) == 0 {
		return c.add(nil, machines, choice)
	}
	moves := moving(machines)
	c.Surveys = choice.surveys(nil, keep(machines, func(c params.Cell) bool { return c.Variant != nil && !moves[c.Key] }))
	compared := false
	for i := range c.States {
		state := &c.States[i]
		if !common(*state) {
			continue
		}
		there := keep(in(state, machines), func(c params.Cell) bool { return c.Variant == nil || moves[c.Key] })
		added, failed := c.add(state, there, choice)
		if failed != nil {
			err = cmp.Or(err, failed)
			c.Warnings = append(c.Warnings, Warning{What: fmt.Errorf("with a flag of %s: %w", state.Name(), failed)})
			continue
		}
		compared, channels = true, append(channels, added...)
	}
	if compared || len(c.Surveys) > 0 {
		return channels, nil
	}
	return nil, err
}

// add compares machines in a state, nil for any.
func (c *Comparison) add(state *InState, machines []Machine, choice Choice) ([]Channel, error) {
	measured := choice.surveys(state, machines)
	var all [][]Curve
	var offered []offers
	var without error
	for _, m := range machines {
		curves, err := Curves(m.Name, m.File)
		if err == nil {
			offered = append(offered, offers{m.Name, curves})
		}
		without = cmp.Or(without, err)
		all = append(all, curves)
	}
	channels, why, err := choice.common(offered, without, len(measured) > 0)
	if err != nil {
		return nil, err
	}
	if why != nil {
		c.Warnings = append(c.Warnings, Warning{What: why})
	}
	for _, m := range choice.unshown(offered, channels) {
		c.Unshown = lists.Insert(c.Unshown, m)
	}
	c.Surveys = append(append(c.Surveys, choice.beside(state, machines, channels)...), measured...)
	for _, channel := range channels {
		t := newTable(channel, all, *choice.Test)
		t.State = state
		c.Tables = append(c.Tables, t)
	}
	return channels, nil
}

func describe(m Machine) Described {
	samples := slices.ContainsFunc(m.File.Cells, sampled)
	return Described{m.Name, m.Path, m.File.Provenance.CPUModel, samples, doubt.BestCarried(m.File, m.File), m.Published()}
}

// sampled tells transfers and cells of surveys with samples.
func sampled(c params.Cell) bool {
	return (c.Kind == params.TransferCell || c.Variant != nil) && len(c.Samples) > 0
}

func newTable(channel Channel, all [][]Curve, test Test) Table {
	t := Table{Channel: channel}
	var first *Curve
	for _, curves := range all {
		curve := lists.Find(curves, func(c Curve) bool { return c.Channel == channel })
		if curve == nil {
			continue
		}
		t.Rows = append(t.Rows, newRow(curve, first, test))
		t.Segment = t.Segment || curve.Segment
		if first == nil {
			first = curve
		}
		for _, p := range curve.Points {
			t.Taus = lists.Insert(t.Taus, p.Tau)
		}
	}
	t.Conclusion = t.conclude(test.cell(channel.Key(0)))
	return t
}

func newRow(curve, first *Curve, test Test) Row {
	r := Row{Curve: *curve, Saturation: saturation(curve.Points)}
	r.Points = slices.Clone(curve.Points)
	var taus []int
	var L []float64
	for i := range r.Points {
		p := &r.Points[i]
		if first != nil {
			if one, measured := first.At(p.Tau); measured && (p.Tau > 1 || curve.Isolated == first.Isolated) {
				p.Ratio = ratio(one.L, one.Replicates, p.L, p.Replicates, test.cell(curve.Key(p.Tau)))
			}
		}
		taus, L = append(taus, p.Tau), append(L, p.L.Center)
	}
	if slices.ContainsFunc(L, math.IsNaN) {
		r.Unfitted = "a time of 0 has no throughput"
		return r
	}
	s, err := fit.ScalabilityOf(taus, L)
	if err != nil {
		r.Unfitted = err.Error()
		return r
	}
	r.Scalability, r.Poor = &s, s.Poor()
	return r
}

// own are the machines with L(m,1) of the setup itself, if others have the isolated transfer.
func (t *Table) own() (names []string) {
	isolated := false
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Isolated {
			isolated = true
		} else if _, measured := r.At(1); measured {
			names = append(names, r.Machine)
		}
	}
	if !isolated {
		return nil
	}
	return names
}

// Alone is L(m,1); its Center is NaN if it was not measured.
func (r *Row) Alone() fit.Estimate {
	if b, measured := r.At(1); measured {
		return b.L
	}
	return fit.Median(nil)
}
