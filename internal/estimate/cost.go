package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/internal/survey/disk"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// IMH is the model of the report: T_n·N + T_c·N_c + T_e·S for passes, T_s + m·τ_d of permutations for
// messages, T_s + m·τ for disks. Other models are model.Models for messages, with measured times of passes
// and disk transfers.
const IMH = "imh"

// A Machine has the parameters of a machine.
type Machine struct {
	States string // see Estimate

	name       string
	files      []*params.File
	choice     model.Choice
	predictors map[bool]*predictor // of messages, by off cache
	costs      map[phaseKey]Cost   // cache
	work       int                 // of all messages so far, see model.Predictor.Work
}

// A phaseKey is a phase without its name and number of times.
type phaseKey struct {
	Phase
	ranks int
}

// A predictor predicts messages in cache, or off cache.
type predictor struct {
	*model.Predictor
	ensemble *model.Ensemble
}

// NewMachine is a machine with several files; the first file with a parameter counts. The choice is for
// messages; its model may be IMH.
func NewMachine(name string, files []*params.File, c model.Choice) *Machine {
	return &Machine{name: name, files: files, choice: c, predictors: make(map[bool]*predictor), costs: make(map[phaseKey]Cost)}
}

// imh tells whether the model is IMH.
func (m *Machine) imh() bool { return m.choice.Model == IMH }

// cells are the matching cells of the first file that has any, and of other files from the same host. Keys
// that differ only in placement count once.
func (m *Machine) cells(match func(*params.Cell) bool) (all []params.Cell) {
	found := make(map[params.Key]bool)
	host := ""
	for _, f := range m.files {
		if len(all) > 0 && (host == "" || f.Provenance.Hostname != host) {
			continue
		}
		for i := range f.Cells {
			c := &f.Cells[i]
			key := c.Key
			if key.Placement = ""; !found[key] && match(c) {
				found[key], host = true, f.Provenance.Hostname
				all = append(all, *c)
			}
		}
	}
	return all
}

// A Cost is the time of a phase, once, in ns.
type Cost struct {
	fit.Estimate
	Extrapolated bool
	From         string // parameters that it comes from
}

// A LackingError says which parameter a machine lacks.
type LackingError struct {
	Kind     params.Kind // of the missing cells; TransferCell: of a message
	What     string
	Pass     access.Pass // AccessCell
	OffCache bool        // AccessCell: of the array
	P        int         // of messages
	Why      error       // the cause with advice, or nil
}

func (e *LackingError) Error() string {
	if e.Why != nil {
		return e.Why.Error()
	}
	return e.What
}

func (e *LackingError) Unwrap() error { return e.Why }

// once is the time of a phase, once.
func (m *Machine) once(h *Phase, ranks int) (c Cost, err error) {
	key := phaseKey{*h, ranks}
	key.Name, key.Times = "", 0
	if c, known := m.costs[key]; known {
		return c, nil
	}
	switch {
	case h.Pass != "":
		c, err = m.pass(h.pass(), h.Cache == "off")
	case h.Message != "":
		c, err = m.message(h, ranks)
	default:
		c, err = m.disk(h)
	}
	if err == nil && !(c.Center > 0) {
		err = fmt.Errorf("%s is not known: the parameters have a time of 0 for it, or less", h.does())
	}
	if err == nil {
		m.costs[key] = c
	}
	return c, err
}

// lineBytes is the assumed size of a cache line, which files do not have.
const lineBytes = 64

// pass is the time of a pass over an array.
func (m *Machine) pass(p access.Pass, off bool) (Cost, error) {
	lacking := &LackingError{Kind: params.AccessCell, Pass: p, OffCache: off, What: fmt.Sprintf("no file has the time of a pass, %s %s, %s", p.Operation, p.Type, view.Cache(off))}
	cells := m.cells(func(c *params.Cell) bool {
		measured, ok := access.PassOf(c.Key)
		return ok && measured.Operation == p.Operation && measured.Type == p.Type && c.OffCache == off
	})
	switch {
	case len(cells) == 0:
		return Cost{}, lacking
	case !m.imh():
		return measuredPass(cells, p), nil
	}
	if fits := access.Fits(cells, lineBytes); len(fits) > 0 {
		t := fits[0]
		return fitted(t.Tn.Value*float64(p.N)+t.Tc.Value*float64(p.Lines(lineBytes))+t.Te.Value*float64(p.Stride), "T_n·N + T_c·N_c + T_e·S"), nil
	}
	lacking.What = fmt.Sprintf("no file has enough passes, %s %s, %s, to fit T_n, T_c and T_e to", p.Operation, p.Type, view.Cache(off))
	return Cost{}, lacking
}

// measuredPass interpolates the time per element between measured passes: in the logarithm of N at the
// nearest strides on both sides, then in the logarithm of the stride. Beyond them the nearest pass counts.
func measuredPass(cells []params.Cell, p access.Pass) Cost {
	curves := make(map[int][]point)
	for _, c := range cells {
		measured, _ := access.PassOf(c.Key)
		curves[measured.Stride] = append(curves[measured.Stride], point{float64(measured.N), c.Time.Scale(1 / float64(measured.N)), false})
	}
	var over []point
	for stride, curve := range curves {
		at := interpolated(curve, float64(p.N), true)
		over = append(over, point{float64(stride), at.y, at.beyond})
	}
	at := interpolated(over, float64(p.Stride), true)
	return Cost{Estimate: at.y.Scale(float64(p.N)), From: "measured passes", Extrapolated: at.beyond}
}

// A point of a curve.
type point struct {
	x      float64
	y      fit.Estimate
	beyond bool // extrapolated
}

// interpolated is a curve at x, in the logarithms of x and y or not; beyond its ends the curve is constant. It
// sorts the curve.
func interpolated(curve []point, x float64, logarithms bool) point {
	slices.SortFunc(curve, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	i, measured := slices.BinarySearchFunc(curve, x, func(p point, x float64) int { return cmp.Compare(p.x, x) })
	switch n := len(curve); {
	case measured:
		return curve[i]
	case i == 0 || i == n:
		return point{x, curve[max(0, i-1)].y, true}
	}
	low, high := curve[i-1], curve[i]
	part := (x - low.x) / (high.x - low.x)
	if logarithms {
		part = math.Log(x/low.x) / math.Log(high.x/low.x)
	}
	return point{x, between(low.y, high.y, func(a, b float64) float64 {
		if !logarithms || a <= 0 || b <= 0 {
			return a + part*(b-a)
		}
		return math.Exp(math.Log(a) + part*(math.Log(b)-math.Log(a)))
	}), low.beyond || high.beyond}
}

// linear interpolates between the times of cells by their bytes.
func linear(cells []params.Cell, bytes Number) point {
	return interpolated(lists.Map(cells, func(c params.Cell) point { return point{float64(c.Bytes), c.Time, false} }), float64(bytes), false)
}

// between applies a function to the centres of two estimates, and to their bounds if both are known.
func between(a, b fit.Estimate, at func(a, b float64) float64) fit.Estimate {
	e := fit.Unbounded(at(a.Center, b.Center))
	e.N, e.Sessions = min(a.N, b.N), min(a.Sessions, b.Sessions)
	if a.Known() && b.Known() {
		e.Lo, e.Hi = at(a.Lo, b.Lo), at(a.Hi, b.Hi)
	}
	return e
}

// fitted is a cost without an interval: errors of a fit do not apply to single times.
func fitted(ns float64, from string) Cost { return Cost{Estimate: fit.Unbounded(ns), From: from} }

// disk is the time of a disk transfer, interpolated between measured sizes, and T_s + m·τ beyond them.
func (m *Machine) disk(h *Phase) (Cost, error) {
	cached := h.Cache == "in"
	lacking := &LackingError{Kind: params.DiskCell, What: fmt.Sprintf("no file has the time of a %s of a disk, page cache %s", h.Disk, h.Cache)}
	cells := m.cells(func(c *params.Cell) bool {
		t, ok := c.Variant.(disk.Transfer)
		return ok && t.Operation == h.Disk && (t.Mode == disk.Cached) == cached
	})
	if len(cells) == 0 {
		return Cost{}, lacking
	}
	at := linear(cells, h.Bytes)
	if !m.imh() && !at.beyond {
		return Cost{Estimate: at.y, From: "measured transfers of a disk"}, nil
	}
	if fits := disk.Fits(cells); len(fits) > 0 {
		t := fits[0]
		c := fitted(t.Start.Value+t.Byte.Value*float64(h.Bytes), "T_s + m·τ of a disk")
		c.Extrapolated = at.beyond && !m.imh()
		return c, nil
	}
	lacking.What = fmt.Sprintf("no file has %ss of a disk of enough sizes, page cache %s, to fit T_s + m·τ to", h.Disk, h.Cache)
	return Cost{}, lacking
}

// message is the time of a message; of a collective without an algorithm, the least over its algorithms.
func (m *Machine) message(h *Phase, ranks int) (best Cost, err error) {
	algorithms, err := h.algorithms()
	if err != nil {
		return best, err
	}
	if m.imh() && len(algorithms) > 1 {
		algorithms = []*collective.Algorithm{algorithms[0].Collective.DefaultAlgorithm()}
	}
	schedules, err := h.schedules(algorithms, ranks, int(h.Bytes))
	if err != nil {
		return best, err
	}
	found, leftOut := false, 0
	if len(schedules) > 1 {
		if p, err := m.predictor(h.Cache == "off", ranks); err == nil {
			all := lists.Filter(schedules, func(s *collective.Schedule) bool { return !p.TooCheap(s.Algorithm, ranks) })
			schedules = p.quick(all)
			leftOut = len(all) - len(schedules)
		}
	}
	for _, s := range schedules {
		c, failed := m.schedule(s, h.Cache == "off")
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		if !found || c.Center < best.Center {
			best, found = c, true
		}
	}
	if found {
		err = nil
	}
	if leftOut > 0 {
		best.From += fmt.Sprintf(" (%s left out: too many messages to look at one by one)", printable.Count(leftOut, "algorithm"))
	}
	return best, err
}

// mostWork limits the work of all messages of an estimate, see model.Predictor.Work, to a few seconds.
const mostWork = 4 * mapping.Most

// errWork is the error for messages beyond mostWork.
var errWork = errors.New("its messages must be looked at one by one, too many beside those of other phases: take fewer phases or ranks, or the same number of ranks on each node, where nodes and ranks per node are powers of two")

// quick are the schedules with little work, at least one.
func (p *predictor) quick(all []*collective.Schedule) []*collective.Schedule {
	most := mapping.Most / 16
	work := lists.Filter(lists.Map(all, p.Work), func(n int) bool { return n > 0 }) // 0: Cost fails, or needs no work
	if len(work) > 0 {
		most = max(most, slices.Min(work))
	}
	return lists.Filter(all, func(s *collective.Schedule) bool { return p.Work(s) <= most })
}

// schedule is the time of a schedule: a measured permutation, else a prediction.
func (m *Machine) schedule(s *collective.Schedule, off bool) (Cost, error) {
	if m.imh() {
		line, from, err := m.line(s.Call.P, off)
		if err != nil {
			return Cost{}, err
		}
		return fitted(1e9*line.Seconds(s), from), nil
	}
	if s.Algorithm == collective.Permutation {
		if c, known := m.measuredPermutation(s.Call, off); known {
			return c, nil
		}
	}
	p, err := m.predictor(off, s.Call.P)
	if err != nil {
		return Cost{}, err
	}
	if s.Algorithm.Reduces() && p.NoGamma != nil {
		return Cost{}, &LackingError{Kind: params.GammaCell, P: s.Call.P, What: fmt.Sprintf("%s needs γ, the time of a reduction: %v", s.Algorithm.Collective.Name, p.NoGamma)}
	}
	work := p.Work(s)
	if work <= mapping.Most { // else Cost fails at once
		if m.work += work; m.work > mostWork {
			return Cost{}, errWork
		}
	}
	cost, err := p.Cost(s)
	if err != nil {
		return Cost{}, err
	}
	if cost.Unknown {
		return Cost{}, fmt.Errorf("%s of %d bytes among %d ranks is not known: the parameters have a time of 0 for it, or less", s.Algorithm, s.Call.M, s.Call.P)
	}
	c := fitted(1e9*cost.Seconds, p.Title())
	if s.Algorithm.Collective != collective.Permutation.Collective && s.Algorithm.Collective != collective.PingPong.Collective {
		c.From += ", " + s.Algorithm.String()
	}
	if c.Extrapolated = cost.Extrapolated; p.ensemble.Known() && s.Call.P <= mostRanks && work <= mapping.Most/64 {
		c.Estimate = p.ensemble.Cost(cost.Seconds, p.ensemble.Costs(s)).Scale(1e9)
	}
	return c, nil
}

// mostRanks is the largest number of ranks for intervals, which take a prediction for every member of the
// ensemble.
const mostRanks = 1 << 14

// predictor is the predictor of the first file that has parameters of messages.
func (m *Machine) predictor(off bool, ranks int) (*predictor, error) {
	if p := m.predictors[off]; p != nil {
		return p, nil
	}
	lacking := &LackingError{Kind: params.TransferCell, P: ranks, What: "no file has the transfers that messages are made of, " + view.Cache(off)}
	choice := m.choice
	choice.OffCache = off
	for _, f := range m.files {
		p, err := model.NewPredictor(f, choice)
		if err != nil {
			lacking.Why = cmp.Or(lacking.Why, err)
			continue
		}
		m.predictors[off] = &predictor{p, model.NewEnsemble(f, choice)}
		return m.predictors[off], nil
	}
	return nil, lacking
}

// measuredPermutation is the measured time of a permutation, interpolated between sizes; false beyond them.
func (m *Machine) measuredPermutation(call collective.Call, off bool) (Cost, bool) {
	variant := params.Name(fmt.Sprintf("%s-%d", Permutation, call.Distance))
	cells := m.cells(func(c *params.Cell) bool {
		return c.Kind == params.PatternCell && c.Variant == variant && c.Tau == call.P && c.OffCache == off
	})
	if len(cells) == 0 {
		return Cost{}, false
	}
	at := linear(cells, Number(call.M))
	return Cost{Estimate: at.y, From: "measured permutations"}, !at.beyond
}

// line is T_s + m·τ_d of permutations among that many ranks, else among any number of ranks.
func (m *Machine) line(ranks int, off bool) (model.Linear, string, error) {
	for _, exactly := range []bool{true, false} {
		var ms []int
		var times []float64
		for _, c := range m.cells(func(c *params.Cell) bool {
			return c.Kind == params.PatternCell && strings.HasPrefix(c.VariantName(), Permutation+"-") && c.OffCache == off && (c.Tau == ranks || !exactly)
		}) {
			ms, times = append(ms, c.Bytes), append(times, c.Time.Center)
		}
		if l, err := fit.LineOf(ms, times); err == nil {
			from := "T_s + m·τ_d of permutations" + printable.If(!exactly, " among other ranks")
			return model.Linear{Startup: l.Startup.Value / 1e9, PerByte: l.PerByte.Value / 1e9}, from, nil
		}
	}
	return model.Linear{}, "", &LackingError{Kind: params.PatternCell, P: ranks, What: "no file has permutations, " + view.Cache(off) + ", to fit T_s + m·τ_d to"}
}
