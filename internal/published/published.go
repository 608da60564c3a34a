// Package published puts what models predict beside what others measured of an MPI library's
// collectives, and says what choosing an algorithm by predictions would have cost them.
//
// Its opinion: several measurements of one thing count once, with their median. What the
// slowest rank took is what a program waits for, and counts where it was recorded; the mean
// over ranks is less than that, and stands beside the same mean of the prediction.
package published

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// A Case is a collective of m bytes among P ranks.
type Case struct {
	Collective string `json:"collective"`
	Mapping    string `json:"mapping"`
	P          int    `json:"P"`
	Nodes      int    `json:"nodes"`
	Bytes      int    `json:"m"`
}

// A Cell is a case with one algorithm, measured and predicted; times are ns.
type Cell struct {
	Case
	Setting mpi.Setting `json:"setting"` // that the library had; zero: its own choice
	Rows    int         `json:"rows"`    // of the table
	Line    int         `json:"line"`    // of the first
	Time    Ranks       `json:"measured_ns"`

	// Taken is what the library chose by itself, where its rules are known.
	Taken     *mpi.Setting `json:"taken,omitempty"`
	Predicted *Ranks       `json:"predicted_ns"` // nil where it is left out
	Error     *float64     `json:"error"`        // predicted / measured − 1
	LeftOut   string       `json:"left_out,omitempty"`
	// Spread is the share by which predictions must differ to be told apart.
	Spread float64 `json:"spread,omitempty"`
	// Extrapolated: some time is beyond what was measured.
	Extrapolated bool `json:"extrapolated,omitempty"`

	unknown bool // nobody knows what the library was told
}

// Ranks are the times of a collective in ns: when the slowest rank was done, and the mean over
// ranks; 0 where either is not known.
type Ranks struct {
	Slowest float64 `json:"slowest"`
	Mean    float64 `json:"mean"`
}

// Compared is the time that counts, of the slowest rank where it is known, and whether it is
// that.
func (r Ranks) Compared() (ns float64, slowest bool) {
	if r.Slowest > 0 {
		return r.Slowest, true
	}
	return r.Mean, false
}

// as is the time that stands beside a measured one: of the slowest rank, or the mean over
// ranks where the model knows it.
func (r Ranks) as(slowest bool) float64 {
	if slowest || r.Mean == 0 {
		return r.Slowest
	}
	return r.Mean
}

// Check refuses a cell that no Compare makes.
func (c *Cell) Check() error {
	for _, word := range []string{c.Collective, c.Mapping, c.Setting.Name} {
		if word != printable.Name(word) || len(word) > 64 {
			return fmt.Errorf("%.40q is no name", word)
		}
	}
	switch ns, _ := c.Time.Compared(); {
	case c.Collective == "" || c.P < 1 || c.Bytes < 0 || c.Setting.ID < 0:
		return fmt.Errorf("%q of P = %d and m = %d is no collective", c.Collective, c.P, c.Bytes)
	case c.Error != nil && !(*c.Error > -1 && *c.Error < 1e12 && ns > 0):
		return fmt.Errorf("an error of %g is no share of %g ns", *c.Error, ns)
	}
	return nil
}

// unknown is the mapping of rows that name none.
const unknown = "unknown"

// A Choice is the cells that count; what is empty takes all.
type Choice struct {
	Collectives []string // names, or algorithms like bcast:6 and bcast:binomial
	Mappings    []string
	P, M        []int
	// AtOnce predicts calls that all ranks begin at once, as algorithms are chosen, instead of calls as
	// benchmarks time them.
	AtOnce bool
}

func (c Choice) takes(k Case) bool {
	return (len(c.Mappings) == 0 || slices.Contains(c.Mappings, k.Mapping)) &&
		(len(c.P) == 0 || slices.Contains(c.P, k.P)) && (len(c.M) == 0 || slices.Contains(c.M, k.Bytes))
}

// named tells whether one of the names is of a cell.
func (c Choice) named(cell *Cell) bool {
	if len(c.Collectives) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Collectives, func(name string) bool {
		of, algorithm, one := strings.Cut(name, ":")
		return of == cell.Collective && (!one || algorithm == cell.Setting.Name || algorithm == strconv.Itoa(cell.Setting.ID))
	})
}

// A Comparison is a table's cells with predictions.
type Comparison struct {
	Library string `json:"algorithms_of"`
	Rows    int    `json:"rows"`  // of the table, those of the choice
	Noise   int    `json:"noise"` // of them, flagged as such and left out
	Cells   []Cell `json:"cells"`
	// MeanAsSlowest counts cells of which the mean over ranks stands beside the predicted
	// slowest rank, because the model knows no other.
	MeanAsSlowest int      `json:"mean_as_slowest,omitempty"`
	Warnings      []string `json:"warnings,omitempty"` // of the parameters

	// Predictor is one of those that predicted, nil where nothing could be.
	Predictor *model.Predictor `json:"-"`
}

// Compare puts predictions from the parameters of a machine beside the table's times. Nothing
// that a prediction lacks is an error, but cells say why, also those of algorithms and
// collectives that the library does not have. It fails for a choice that takes nothing, and for
// parameters that no model can be made of.
func Compare(t *tidy.Table, f *params.File, how model.Choice, ch Choice) (*Comparison, error) {
	lib, version, rules := mpi.OfHead(t.Head)
	if bytes := elementOf(t); bytes > 0 {
		lib = lib.WithElements(bytes)
	}
	c := &Comparison{Library: lib.Version}
	if err := c.gather(t, lib, f, ch); err != nil {
		return nil, err
	}
	p := &predictors{file: f, how: how, lib: lib, named: version != "", rules: rules, atOnce: ch.AtOnce, largest: make(map[place]int), made: make(map[place]*made)}
	for _, cell := range c.Cells {
		if cell.unknown {
			continue
		}
		at := place{cell.Mapping, cell.Nodes, 0}
		p.largest[at] = max(p.largest[at], cell.P)
	}
	for i := range c.Cells {
		cell := &c.Cells[i]
		if cell.unknown {
			continue
		}
		if err := p.predict(cell); err != nil {
			cell.LeftOut = err.Error()
			continue
		}
		measured, slowest := cell.Time.Compared()
		if !slowest && cell.Predicted.Mean == 0 {
			c.MeanAsSlowest++
		}
		off := cell.Predicted.as(slowest)/measured - 1
		cell.Error = &off
	}
	for at, one := range p.made {
		if one.err == nil {
			if at.mapping == unknown && !slices.Contains(c.Warnings, placedInBlocks) {
				c.Warnings = append(c.Warnings, placedInBlocks)
			}
			if c.Predictor == nil || at.nodes > c.Predictor.Cluster.Nodes {
				c.Predictor = one.Predictor
			}
			for _, w := range one.Warnings {
				if text := w.Error(); !slices.Contains(c.Warnings, text) {
					c.Warnings = append(c.Warnings, text)
				}
			}
		}
	}
	if said := tidy.MachineOf(f.Provenance.Published); said != "" && t.Machine != "" && !strings.EqualFold(said, t.Machine) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("its times are of machine %q, and %s of %q", printable.Name(said), t.Name, printable.Name(t.Machine)))
	}
	slices.Sort(c.Warnings)
	return c, nil
}

// elementOf is how many bytes elements of reductions have: as benchmarks begin with one, the
// least size, if that is no more than a double; 0 where there are no reductions.
func elementOf(t *tidy.Table) (bytes int) {
	for _, r := range t.Collectives {
		if c := collective.Named(r.Collective); c != nil && c.Reduces && r.Bytes > 0 && (bytes == 0 || r.Bytes < bytes) {
			bytes = r.Bytes
		}
	}
	return min(bytes, 8)
}

// placedInBlocks is the warning of tables that do not say where ranks were.
const placedInBlocks = "rows do not say where ranks were (mapping unknown): they count as in blocks, as many on each node, one core after another"

// gather makes cells of rows.
func (c *Comparison) gather(t *tidy.Table, lib *mpi.Library, f *params.File, ch Choice) error {
	type key struct {
		Case
		mpi.Setting
		leftOut string
	}
	at := make(map[key]int)
	var means, most [][]float64
	for i := range t.Collectives {
		r := &t.Collectives[i]
		cell := Cell{Case: Case{r.Collective, cmp.Or(r.Mapping, unknown), r.P, r.Nodes, r.Bytes}, Line: r.Line}
		var err error
		if cell.Setting, err = settingOf(lib, r); err != nil {
			cell.Setting = mpi.Setting{ID: max(0, r.ID), Name: printable.Name(r.Algorithm)}
			cell.unknown, cell.LeftOut = true, err.Error()
		}
		if r.Nodes == 0 {
			if cell.Nodes, err = nodesOf(f, &cell); err != nil {
				cell.unknown, cell.LeftOut = true, err.Error()
			} else if !slices.Contains(c.Warnings, onFewNodes) {
				c.Warnings = append(c.Warnings, onFewNodes)
			}
		}
		if !ch.takes(cell.Case) || !ch.named(&cell) {
			continue
		}
		c.Rows++
		if r.Noise {
			c.Noise++
			continue
		}
		k := key{cell.Case, cell.Setting, cell.LeftOut}
		n, there := at[k]
		if !there {
			n = len(c.Cells)
			at[k], c.Cells = n, append(c.Cells, cell)
			means, most = append(means, nil), append(most, nil)
		}
		c.Cells[n].Rows++
		means[n] = append(means[n], r.Mean)
		if slowest, recorded := r.Slowest(); recorded {
			most[n] = append(most[n], slowest)
		}
	}
	switch {
	case len(t.Collectives) == 0:
		return fmt.Errorf("%s has no collectives: give a table with the columns collective, alg_id, algorithm, P, m_bytes, latency_us", t.Name)
	case c.Rows == 0:
		return fmt.Errorf("no row of %s is among what is asked for: it has %s", t.Name, contents(t))
	}
	for i := range c.Cells {
		c.Cells[i].Time.Mean = fit.Median(means[i]).Center
		if len(most[i]) > 0 {
			c.Cells[i].Time.Slowest = fit.Median(most[i]).Center
		}
	}
	return nil
}

// onFewNodes is the warning of tables that do not say on how many nodes ranks were.
const onFewNodes = "rows do not say on how many nodes ranks were (column nodes): they count as on as few as have cores for them"

// nodesOf is on how many nodes the ranks of a cell are where its row does not say: as few as
// have cores for them. It fails for ranks that were mapped by node, and where nobody knows how many cores a
// node has.
func nodesOf(f *params.File, cell *Cell) (int, error) {
	cores := f.Provenance.Online.Len()
	switch {
	case strings.HasSuffix(strings.ToLower(cell.Mapping), "node"):
		return 1, errNodes
	case cores == 0:
		return 1, errNoCores
	}
	return (cell.P + cores - 1) / cores, nil
}

// contents says what there is to ask for.
func contents(t *tidy.Table) string {
	var names, mappings []string
	var ps, sizes []int
	for _, r := range t.Collectives {
		names = append(names, r.Collective+":"+cmp.Or(r.Algorithm, strconv.Itoa(r.ID)))
		mappings = append(mappings, cmp.Or(r.Mapping, unknown))
		ps, sizes = append(ps, r.P), append(sizes, r.Bytes)
	}
	names, mappings = lists.Rising(names), lists.Rising(mappings)
	return fmt.Sprintf("P from %d to %d, m from %d to %d bytes, mapping %s, and %s", slices.Min(ps), slices.Max(ps),
		slices.Min(sizes), slices.Max(sizes), printable.List(mappings), printable.List(names))
}

// settingOf is what the library was told. The name of an algorithm decides, and where there is
// none the number. It fails where both contradict each other, and where the library does not
// have it.
func settingOf(lib *mpi.Library, r *tidy.Collective) (mpi.Setting, error) {
	of := collective.Named(r.Collective)
	if of == nil {
		_, err := collective.Of(r.Collective)
		return mpi.Setting{}, err
	}
	byName, err := named(lib, of, r.Algorithm)
	switch {
	case err != nil || r.ID <= 0 || byName.ID == 0 && !byName.Own(): // the last has no numbers
		return byName, err
	}
	if lib.NeedsBase() {
		return byName, fmt.Errorf("alg_id %d says nothing of %s: only Open MPI's numbers are known, give the algorithms' names as MPICH has them", r.ID, r.Collective)
	}
	byID, err := lib.Forced(of, strconv.Itoa(r.ID))
	if err == nil && r.Algorithm != "" && byID != byName {
		err = fmt.Errorf("alg_id %d of %s is %s, and algorithm says %s: correct either", r.ID, r.Collective, byID.Name, cmp.Or(byName.Name, byName.String()))
	}
	return byID, err
}

// named is the setting that a name says: an algorithm, or words for the library's own choice.
func named(lib *mpi.Library, of *collective.Collective, name string) (s mpi.Setting, err error) {
	if name == "" {
		return s, nil
	}
	if s, err = lib.Forced(of, name); err == nil {
		return s, nil
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_- ", r) })
	for _, word := range words {
		if slices.Contains([]string{"fixed", "default", "ignore", "own", "auto", "automatic"}, word) {
			return mpi.Setting{}, nil
		}
	}
	return s, err
}

// A place is where ranks are: of a number of them, or 0 of as many as a table has.
type place struct {
	mapping  string
	nodes, p int
}

// predictors are those of the mappings of a table.
type predictors struct {
	file    *params.File
	how     model.Choice
	lib     *mpi.Library
	named   bool // by the table
	rules   bool
	atOnce  bool
	largest map[place]int
	made    map[place]*made
}

// A made predictor remembers what schedules cost.
type made struct {
	*model.Predictor
	err   error
	costs map[call]costed
}

type call struct {
	algorithm *collective.Algorithm
	collective.Call
	blocking bool
}

type costed struct {
	model.Cost
	err error
}

var (
	errNodes   = errors.New("nobody knows on how many nodes ranks were that were mapped by node: add the column nodes")
	errNoCores = errors.New("nobody knows on how many nodes ranks were, nor how many cores a node has: add the column nodes")
	errOwn     = errors.New("nobody knows which algorithm the library chose by itself: give a table of algorithms that were forced")
	errUnnamed = errors.New("nobody knows which algorithm the library chose by itself: name it and its version in a comment of the table, such as # Open MPI 4.1.5")
	errNothing = errors.New("0 is no time to compare with")
	errOneRank = errors.New("one rank sends nothing, and takes no time in the model: give rows of two ranks or more")
	errUnknown = errors.New("parameters have a time of 0 for it, or less")
)

// predict says what a cell takes.
func (p *predictors) predict(cell *Cell) error {
	if measured, _ := cell.Time.Compared(); !(measured > 0) {
		return errNothing
	}
	of, setting := collective.Named(cell.Collective), cell.Setting
	if setting.Own() {
		known := false
		if p.rules {
			setting, known = p.lib.Own(of, cell.P, cell.Bytes)
		}
		switch {
		case !known && !p.named:
			return errUnnamed
		case !known:
			return errOwn
		}
		cell.Taken = &setting
	}
	s, err := timed(p.lib, of, setting, collective.Call{P: cell.P, M: cell.Bytes})
	if err != nil {
		return err
	}
	if p.atOnce {
		s.Between = nil
	}
	by := p.of(place{cell.Mapping, cell.Nodes, 0})
	if by.err != nil {
		by = p.of(place{cell.Mapping, cell.Nodes, cell.P})
	}
	if by.err != nil {
		return by.err
	}
	key := call{s.Algorithm, s.Call, s.Blocking}
	cost, there := by.costs[key]
	if !there {
		cost.Cost, cost.err = by.Cost(s)
		cost.Terms, cost.Stages = nil, nil
		by.costs[key] = cost
	}
	switch {
	case cost.err != nil:
		return cost.err
	case cost.Seconds == 0 && cell.P == 1:
		return errOneRank
	case cost.Unknown || !(cost.Seconds > 0) || math.IsInf(cost.Seconds, 0):
		return errUnknown
	}
	cell.Extrapolated, cell.Spread = cost.Extrapolated, cost.Spread
	cell.Predicted = &Ranks{Slowest: cost.Seconds * 1e9, Mean: cost.Mean * 1e9}
	return nil
}

// timed is a schedule as benchmarks time it: a rank's time begins where it leaves the library's own
// barrier, which ranks enter when they are done with the call before; barriers follow each other.
func timed(lib *mpi.Library, of *collective.Collective, setting mpi.Setting, call collective.Call) (*collective.Schedule, error) {
	s, err := lib.Schedule(of, setting, call)
	if err != nil {
		return nil, err
	}
	between := *s
	s.Between = &between
	if of != collective.Barrier {
		barrier, known := lib.Own(collective.Barrier, call.P, 0)
		if !known {
			s.Between, err = collective.Barrier.DefaultAlgorithm().Schedule(collective.Call{P: call.P})
		} else {
			s.Between, err = lib.Schedule(collective.Barrier, barrier, collective.Call{P: call.P})
		}
	}
	return s, err
}

func (p *predictors) of(at place) *made {
	if one, there := p.made[at]; there {
		return one
	}
	one := &made{costs: make(map[call]costed)}
	p.made[at] = one
	ranks := cmp.Or(at.p, p.largest[at])
	how := p.how
	by := at.mapping
	if by == unknown { // as srun and mpirun have them if nobody says otherwise
		by = "block"
	}
	order, err := mapping.By(by, p.file.Provenance.Levels, ranks, at.nodes)
	if err != nil {
		one.err = err
		return one
	}
	how.Cluster = &model.Cluster{Nodes: at.nodes, Order: order}
	one.Predictor, one.err = model.NewPredictor(p.file, how)
	return one
}
