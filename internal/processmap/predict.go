package processmap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// A Model predicts times.
type Model struct {
	Says     string // its parameters
	Warnings []error

	file      *params.File
	predictor *model.Predictor // nil: pairs
	pairs     *model.TauLop
	network   *model.Network
	places    []int32 // worker of the parameters' placement, by core; nil: the core itself
	channels  []int   // level of the machine, by level of the parameters
}

// NewModel predicts from a file's transfers. places are the workers of the predictor's placement by
// core; nil if the file does not tell what its CPUs share.
func NewModel(f *params.File, p *model.Predictor, places []int32) *Model {
	m := &Model{Says: p.Title() + ", " + p.Channel, Warnings: p.Warnings, file: f, predictor: p, places: places}
	if p.Cluster != nil {
		m.network = p.Cluster.Network
	}
	known := lists.Filter(f.Channels(params.Selection{}), func(c params.Channel) bool { return c.Level >= 0 })
	if len(known) > 1 {
		m.channels = lists.Map(known, func(c params.Channel) int { return c.Level })
	}
	return m
}

// NewPairsModel predicts from a file with pairs of CPUs and no concurrent transfers. It fails
// without pairs.
func NewPairsModel(f *params.File, machine *Machine, network *model.Network) (*Model, error) {
	cpus := lists.Map(machine.CPUs, func(core Core) int { return core.CPU })
	of, levels, err := model.OfPairsOf(f, cpus)
	if err != nil {
		return nil, err
	}
	return &Model{Says: "transfers of pairs of CPUs, each alone", pairs: &of, network: network, channels: levels,
		Warnings: []error{errors.New("the file has transfers of pairs alone: what they cost at once is not known, and counts as nothing; measure it with taulop sweep")}}, nil
}

// A program is the messages of a matrix in rounds, on a machine with a model.
type program struct {
	*Model
	machine  *Machine
	schedule *collective.Schedule
	rounds   []round
	taulop   model.TauLop
	known    bool // the model is τ-Lop
	alike    bool // all mappings have equal cost
}

// A round is concurrent messages with the mean number of their repetitions.
type round struct {
	stage    *collective.Stage
	times    float64
	messages [][2]int
}

func newProgram(x *comm.Matrix, machine *Machine, m *Model) (*program, error) {
	s, err := schedule(x)
	if err != nil {
		return nil, err
	}
	p := &program{Model: m, machine: machine, schedule: s}
	for b := range s.Blocks {
		r := round{stage: &s.Blocks[b].Stages[0]}
		for msg := range (collective.Step{Stage: r.stage}).Messages() {
			r.messages = append(r.messages, [2]int{msg.From, msg.To})
			r.times += float64(x.Entry(msg.From, msg.To).Messages)
		}
		r.times /= float64(len(r.messages))
		p.rounds = append(p.rounds, r)
	}
	if m.pairs != nil {
		p.taulop, p.known = *m.pairs, true
	} else {
		p.taulop, p.known = m.predictor.In(s).(model.TauLop)
	}
	p.alike = p.known && machine.Nodes == 1 && p.taulop.Level == nil
	if p.known && p.taulop.Level != nil && p.places != nil && int(slices.Max(p.places)) >= p.taulop.Known {
		return nil, fmt.Errorf("the parameters know %d cores of a node, and there are more", p.taulop.Known)
	}
	return p, nil
}

// core is a place's core by the parameters' number.
func (p *program) core(place int) int32 {
	core := place % p.machine.Cores
	if p.places != nil {
		return p.places[core]
	}
	return int32(core)
}

// level is the parameters' level between two places of one node.
func (p *program) level(a, b int) int {
	if p.taulop.Level == nil {
		return 0
	}
	return p.taulop.Level(int(p.core(a)), int(p.core(b)))
}

// cost predicts the time of a mapping.
func (p *program) cost(m *Mapping) error {
	nodes, cores := make([]int32, len(m.Places)), make([]int32, len(m.Places))
	for process, place := range m.Places {
		nodes[process], cores[process] = int32(place/p.machine.Cores), p.core(place)
	}
	order, err := mapping.List(nodes, cores, p.machine.Nodes)
	if err != nil {
		return err
	}
	cluster := &model.Cluster{Nodes: p.machine.Nodes, Order: order, Network: p.network}
	var c model.Cost
	if p.known {
		taulop := p.taulop
		taulop.Cluster = cluster
		c, err = taulop.Cost(p.schedule)
	} else {
		var predictor *model.Predictor
		if predictor, err = p.predictor.On(p.file, cluster); err == nil {
			c, err = predictor.Cost(p.schedule)
		}
	}
	if err != nil {
		return err
	}
	if c.Seconds < 0 { // by o(m) of exchanges with too few samples
		return errors.New("the parameters have a time below 0 for these messages, of too few samples: complete them, or map without parameters")
	}
	m.Extrapolated = c.Extrapolated
	if len(c.Stages) == 0 && len(p.rounds) > 0 { // a model without stages
		m.Seconds = &c.Seconds
		return nil
	}
	times := lists.ToMap(p.rounds, func(r round) (*collective.Stage, float64) { return r.stage, r.times })
	sum := 0.0
	for _, stage := range c.Stages {
		seconds := times[stage.Stage] * stage.Seconds()
		sum += seconds
		m.Levels[p.row(stage)].Seconds += seconds
	}
	m.Seconds = &sum
	return nil
}

// row is the machine's level that determines a stage's time.
func (p *program) row(stage model.StageCost) int {
	last := len(p.machine.Levels) - 1
	level, network := stage.Channel()
	if network {
		return last
	}
	if p.machine.Nodes > 1 {
		last = max(0, last-1)
	}
	if level < len(p.channels) {
		return min(last, p.channels[level])
	}
	return last
}

// seconds is the time of a round with this traffic.
func (p *program) seconds(r *round, t mapping.Traffic) float64 {
	if !p.known {
		return 0
	}
	taulop := p.taulop
	taulop.Cluster = &model.Cluster{Nodes: p.machine.Nodes, Network: p.network}
	seconds, err := taulop.Stage(p.schedule, r.stage, t)
	if err != nil { // cost has returned it for the first mapping
		return 0
	}
	return r.times * seconds
}
