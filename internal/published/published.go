// Package published compares predictions with published measurements of an MPI library's collectives, and
// evaluates choosing algorithms by predictions.
//
// Its opinion: repeated measurements count once, with their median. A program waits for the slowest rank, so
// its time counts if it was recorded; the mean over ranks is less, and is compared with the predicted mean.
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
	Time    tidy.Times  `json:"measured_ns"`

	// Taken is the library's own choice, if its rules are known.
	Taken     *mpi.Setting `json:"taken,omitempty"`
	Predicted *tidy.Times  `json:"predicted_ns"` // nil: left out
	Error     *float64     `json:"error"`        // predicted / measured − 1
	LeftOut   string       `json:"left_out,omitempty"`
	// Spread is the least relative difference of predictions that is significant.
	Spread float64 `json:"spread,omitempty"`
	// Extrapolated: some parameter is beyond the measured range.
	Extrapolated bool `json:"extrapolated,omitempty"`

	unknown bool // the setting or the number of nodes is unknown
}

// predicted is the time to compare with a measured one of the slowest rank, or else with a mean, if the model
// has one.
func (c *Cell) predicted(slowest bool) float64 {
	if slowest || c.Predicted.Mean == 0 {
		return c.Predicted.Slowest
	}
	return c.Predicted.Mean
}

// Check refuses a cell that Compare cannot make.
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

// unknown is the mapping of rows without one.
const unknown = "unknown"

// A Choice selects cells; empty fields select all.
type Choice struct {
	Collectives []string // names, or algorithms like bcast:6 and bcast:binomial
	Mappings    []string
	P, M        []int
	// AtOnce predicts calls without start skew, as for choosing algorithms, instead of calls in a benchmark.
	AtOnce bool
}

// takes reports whether a cell is among the choice.
func (c Choice) takes(cell *Cell) bool {
	named := func(name string) bool {
		collective, algorithm, one := strings.Cut(name, ":")
		return collective == cell.Collective && (!one || algorithm == cell.Setting.Name || algorithm == strconv.Itoa(cell.Setting.ID))
	}
	return (len(c.Collectives) == 0 || slices.ContainsFunc(c.Collectives, named)) &&
		(len(c.Mappings) == 0 || slices.Contains(c.Mappings, cell.Mapping)) &&
		(len(c.P) == 0 || slices.Contains(c.P, cell.P)) && (len(c.M) == 0 || slices.Contains(c.M, cell.Bytes))
}

// A Comparison is a table's cells with predictions.
type Comparison struct {
	Library string `json:"algorithms_of"`
	Rows    int    `json:"rows"`  // of the choice
	Noise   int    `json:"noise"` // rows that are flagged as noise and left out
	Cells   []Cell `json:"cells"`
	// MeanAsSlowest counts cells whose measured mean over ranks is compared with the predicted slowest
	// rank, because the model has no mean.
	MeanAsSlowest int      `json:"mean_as_slowest,omitempty"`
	Warnings      []string `json:"warnings,omitempty"` // of the parameters

	// Predictor is the predictor for the most nodes; nil: nothing was predicted.
	Predictor *model.Predictor `json:"-"`
}

// Compare compares a table's times with predictions from the parameters of a machine. Cells without a
// prediction say why, including those of algorithms and collectives that the library does not have. It fails
// for a choice without rows.
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
		cell.Error = new(cell.predicted(slowest)/measured - 1)
	}
	for at, predictor := range p.made {
		if predictor.err != nil {
			continue
		}
		if at.mapping == unknown {
			c.Warnings = append(c.Warnings, placedInBlocks)
		}
		if c.Predictor == nil || at.nodes > c.Predictor.Cluster.Nodes {
			c.Predictor = predictor.Predictor
		}
		c.Warnings = append(c.Warnings, lists.Map(predictor.Warnings, error.Error)...)
	}
	if said := tidy.MachineOf(f.Provenance.Published); said != "" && t.Machine != "" && !strings.EqualFold(said, t.Machine) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("its times are of machine %q, and %s of %q", printable.Name(said), t.Name, printable.Name(t.Machine)))
	}
	c.Warnings = lists.Rising(c.Warnings)
	return c, nil
}

// elementOf is the size in bytes of the elements of reductions, up to 8: the least size of the table, since
// benchmarks begin with one element; 0 without reductions.
func elementOf(t *tidy.Table) (bytes int) {
	for _, r := range t.Collectives {
		if c := collective.Named(r.Collective); c != nil && c.Reduces && r.Bytes > 0 && (bytes == 0 || r.Bytes < bytes) {
			bytes = r.Bytes
		}
	}
	return min(bytes, 8)
}

// placedInBlocks is the warning for tables without mappings.
const placedInBlocks = "rows do not say where ranks were (mapping unknown): they count as in blocks, as many on each node, one core after another"

// gather makes cells of the rows of a choice.
func (c *Comparison) gather(t *tidy.Table, lib *mpi.Library, f *params.File, ch Choice) error {
	var rows []Cell
	for i := range t.Collectives {
		r := &t.Collectives[i]
		cell := Cell{Case: Case{r.Collective, cmp.Or(r.Mapping, unknown), r.P, r.Nodes, r.Bytes}, Line: r.Line, Time: r.Times}
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
		if !ch.takes(&cell) {
			continue
		}
		c.Rows++
		if r.Noise {
			c.Noise++
			continue
		}
		rows = append(rows, cell)
	}
	switch {
	case len(t.Collectives) == 0:
		return fmt.Errorf("%s has no collectives: give a table with the columns collective, alg_id, algorithm, P, m_bytes, latency_us", t.Name)
	case c.Rows == 0:
		return fmt.Errorf("no row of %s is among what is asked for: it has %s", t.Name, contents(t))
	}
	type key struct {
		Case
		mpi.Setting
		leftOut string
	}
	for _, rows := range lists.Groups(rows, func(r Cell) key { return key{r.Case, r.Setting, r.LeftOut} }) {
		cell := rows[0]
		cell.Rows = len(rows)
		cell.Time.Mean = fit.Median(lists.Map(rows, func(r Cell) float64 { return r.Time.Mean })).Center
		known := lists.Filter(rows, func(r Cell) bool { return r.Time.Slowest > 0 })
		if len(known) > 0 {
			cell.Time.Slowest = fit.Median(lists.Map(known, func(r Cell) float64 { return r.Time.Slowest })).Center
		}
		c.Cells = append(c.Cells, cell)
	}
	return nil
}

// onFewNodes is the warning for tables without numbers of nodes.
const onFewNodes = "rows do not say on how many nodes ranks were (column nodes): they count as on as few as have cores for them"

// nodesOf is the number of nodes of a cell whose row lacks it: the fewest with enough cores. It fails for
// ranks mapped by node, and if the number of cores is unknown.
func nodesOf(f *params.File, cell *Cell) (int, error) {
	cores := f.Provenance.Online.Len()
	switch {
	case strings.HasSuffix(strings.ToLower(cell.Mapping), "node"):
		return 1, errors.New("the number of nodes of ranks that were mapped by node is unknown: add the column nodes")
	case cores == 0:
		return 1, errors.New("the number of nodes is unknown, and so is the number of cores of a node: add the column nodes")
	}
	return (cell.P + cores - 1) / cores, nil
}

// contents describes the table's cells in an error.
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

// settingOf is the library's setting in a row: by the name of the algorithm, or else by its number. It fails
// if they contradict each other, or if the library does not have the algorithm.
func settingOf(lib *mpi.Library, r *tidy.Collective) (mpi.Setting, error) {
	of := collective.Named(r.Collective)
	if of == nil {
		_, err := collective.Of(r.Collective)
		return mpi.Setting{}, err
	}
	byName, err := named(lib, of, r.Algorithm)
	if err != nil || r.ID <= 0 || byName.ID == 0 && !byName.Own() { // the last: the library has no numbers
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

// named is the setting of a name: an algorithm's, or a word for the library's own choice.
func named(lib *mpi.Library, of *collective.Collective, name string) (s mpi.Setting, err error) {
	if name == "" {
		return s, nil
	}
	if s, err = lib.Forced(of, name); err == nil {
		return s, nil
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("_- ", r) })
	own := []string{"fixed", "default", "ignore", "own", "auto", "automatic"}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(own, word) }) {
		return mpi.Setting{}, nil
	}
	return s, err
}

// A place is a mapping of ranks to nodes.
type place struct {
	mapping  string
	nodes, p int // p 0: the largest P of the table
}

// predictors are the predictors for the places of a table.
type predictors struct {
	file    *params.File
	how     model.Choice
	lib     *mpi.Library
	named   bool // the table names the library's version
	rules   bool // that version's rules are known
	atOnce  bool
	largest map[place]int // largest P
	made    map[place]*made
}

// A made predictor caches the costs of schedules.
type made struct {
	*model.Predictor
	err   error
	costs map[collective.Key]costed
}

type costed struct {
	model.Cost
	err error
}

// predict predicts the time of a cell.
func (p *predictors) predict(cell *Cell) error {
	if measured, _ := cell.Time.Compared(); !(measured > 0) {
		return errors.New("0 is no time to compare with: leave the row out")
	}
	of, setting := collective.Named(cell.Collective), cell.Setting
	if setting.Own() {
		known := false
		if p.rules {
			setting, known = p.lib.Own(of, cell.P, cell.Nodes, cell.Bytes)
		}
		switch {
		case !known && !p.named:
			return errors.New("the library's own choice of an algorithm is unknown: name the library and its version in a comment of the table, such as # Open MPI 4.1.5")
		case !known:
			return errors.New("the library's own choice of an algorithm is unknown: give a table of algorithms that were forced")
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
	predictor := p.at(place{cell.Mapping, cell.Nodes, 0})
	if predictor.err != nil {
		predictor = p.at(place{cell.Mapping, cell.Nodes, cell.P})
	}
	if predictor.err != nil {
		return predictor.err
	}
	key := s.Key()
	cost, known := predictor.costs[key]
	if !known {
		cost.Cost, cost.err = predictor.Cost(s)
		cost.Terms, cost.Stages = nil, nil
		predictor.costs[key] = cost
	}
	switch {
	case cost.err != nil:
		return cost.err
	case cost.Seconds == 0 && cell.P == 1:
		return errors.New("one rank sends nothing, and takes no time in the model: give rows of two ranks or more")
	case cost.Unknown || !(cost.Seconds > 0) || math.IsInf(cost.Seconds, 0):
		return errors.New("parameters have a time of 0 for it, or less")
	}
	cell.Extrapolated, cell.Spread = cost.Extrapolated, cost.Spread
	cell.Predicted = &tidy.Times{Slowest: cost.Seconds * 1e9, Mean: cost.Mean * 1e9}
	return nil
}

// timed is a schedule as benchmarks time it: a rank's time begins when it leaves the library's barrier, which
// it enters after the call before. Barriers follow each other directly.
func timed(lib *mpi.Library, of *collective.Collective, setting mpi.Setting, call collective.Call) (*collective.Schedule, error) {
	s, err := lib.Schedule(of, setting, call)
	if err != nil {
		return nil, err
	}
	s.Between = new(*s)
	if of != collective.Barrier {
		alone := collective.Call{P: call.P}
		if s.Between, err = lib.Schedule(collective.Barrier, mpi.Setting{}, alone); err != nil { // the library's is not known
			s.Between, err = collective.Barrier.DefaultAlgorithm().Schedule(alone)
		}
	}
	return s, err
}

// at is the predictor for a place.
func (p *predictors) at(at place) *made {
	if predictor, known := p.made[at]; known {
		return predictor
	}
	predictor := &made{costs: make(map[collective.Key]costed)}
	p.made[at] = predictor
	ranks := cmp.Or(at.p, p.largest[at])
	how := p.how
	by := at.mapping
	if by == unknown { // the default of srun and mpirun
		by = "block"
	}
	order, err := mapping.By(by, p.file.Provenance.Levels, ranks, at.nodes)
	if err != nil {
		predictor.err = err
		return predictor
	}
	how.Cluster = &model.Cluster{Nodes: at.nodes, Order: order}
	predictor.Predictor, predictor.err = model.NewPredictor(p.file, how)
	return predictor
}
