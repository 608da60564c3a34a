// Package processmap maps the processes of a program to the cores of a machine by several methods, and
// computes the cost of each mapping: hop-bytes, and with parameters the time that τ-Lop predicts for
// concurrent messages.
package processmap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/heuristic"
)

// The names of methods. Swaps starts from the others' mappings and exchanges two processes while that makes the
// program cheaper.
const (
	Block  = "block"
	Cyclic = "cyclic"
	MWPM   = "mwpm"
	DRB    = "drb"
	ES     = "es"
	Swaps  = "swaps"
)

// A Method maps processes to cores.
type Method struct {
	Name, About string
	places      func(*Machine, *comm.Matrix) (heuristic.Mapping, error) // nil: swaps of the others
}

// Methods are all methods, in the order of reports.
var Methods = []Method{
	{Block, "in a row on a node's cores, then the next node's, each node with as many",
		func(m *Machine, x *comm.Matrix) (heuristic.Mapping, error) { return m.Block(x.Ranks()) }},
	{Cyclic, "deals processes round the nodes, or the parts of one node",
		func(m *Machine, x *comm.Matrix) (heuristic.Mapping, error) { return m.Cyclic(x.Ranks()) }},
	{MWPM, "pairs those that send each other most, then pairs of pairs, by maximum weighted perfect matching", (*Machine).MWPM},
	{DRB, "halves the machine and the processes, again and again, so that halves send each other little", (*Machine).DRB},
	{ES, fmt.Sprintf("compares all mappings, of up to %d processes", heuristic.MaxSearched), (*Machine).ES},
	{Swaps, "exchanges processes of the best of the others, as long as what is predicted gets less", nil},
}

// MethodNames are the names of all methods.
func MethodNames() []string { return lists.Map(Methods, func(m Method) string { return m.Name }) }

// A Request is the processes, the machine and the methods of a mapping.
type Request struct {
	Matrix  *comm.Matrix
	Machine *Machine
	Model   *Model // nil: hop-bytes alone
	Methods []string
	Time    time.Duration // bound for Swaps
}

// A Result is the mappings of a request.
type Result struct {
	Matrix    string         `json:"matrix"` // file or pattern
	Processes int            `json:"processes"`
	Pairs     int            `json:"pairs"` // of processes that communicate, one way or both
	Bytes     int64          `json:"bytes"` // sent by all
	Messages  int64          `json:"messages"`
	Machine   string         `json:"machine"`
	Nodes     int            `json:"nodes"`
	Cores     []Core         `json:"cores"`  // of a node
	Groups    [][][]int      `json:"groups"` // of a node's cores, closest first, each made of groups of the last level
	Hosts     []string       `json:"hosts,omitempty"`
	Levels    []string       `json:"levels"` // the closest first; each is a hop more
	Predicted string         `json:"predicted,omitempty"`
	Mappings  []Mapping      `json:"mappings"`
	LeftOut   []string       `json:"left_out,omitempty"`
	Best      string         `json:"best"`
	Warnings  []string       `json:"warnings"`
	Sent      [][]comm.Entry `json:"sent"` // by sender
	part      bool           // as in Machine
}

// A Mapping is a method's mapping and its cost.
type Mapping struct {
	Method     string      `json:"method"`
	HopBytes   int64       `json:"hop_bytes"`
	Seconds    *float64    `json:"predicted_seconds,omitempty"` // nil without parameters
	OverBlock  *float64    `json:"gain_over_block,omitempty"`   // saved share of block's time, or hop-bytes
	OverCyclic *float64    `json:"gain_over_cyclic,omitempty"`
	Levels     []LevelCost `json:"levels"`
	Places     []int       `json:"places"` // node·cores + core, by process
	LocalBest  bool        `json:"-"`      // of Swaps: no further exchange gains

	Extrapolated bool `json:"extrapolated,omitempty"`
}

// A LevelCost is the traffic at one level, and its part of the program's time.
type LevelCost struct {
	heuristic.Share
	Seconds float64 `json:"predicted_seconds,omitempty"` // of rounds in which the level is the slowest
}

// cost is the objective: predicted time, or hop-bytes.
func (m *Mapping) cost() float64 {
	if m.Seconds != nil {
		return *m.Seconds
	}
	return float64(m.HopBytes)
}

// Run maps by each method. It fails if there are more processes than cores, or if a time cannot be
// predicted.
func Run(r Request) (*Result, error) {
	x, machine := r.Matrix, r.Machine
	if err := machine.Fits(x.Ranks()); err != nil {
		return nil, err
	}
	result := &Result{Matrix: x.Name, Processes: x.Ranks(), Pairs: x.Pairs(), Machine: machine.Name, Nodes: machine.Nodes, Cores: machine.CPUs, Groups: machine.Groups(),
		Hosts: machine.Hosts, Levels: machine.Levels, Mappings: []Mapping{}, Warnings: []string{}, part: machine.Part}
	result.Bytes, result.Messages = x.Total()
	result.Sent = lists.Map(lists.Indices(x.Ranks()), x.Row)
	if machine.Mixed {
		result.Warnings = append(result.Warnings, "the cores are of different kinds, and mappings count where bytes go, not how fast a core is: allow the processes cores of one kind (taskset)")
	}
	var program *program
	if r.Model != nil {
		var err error
		if program, err = newProgram(x, machine, r.Model); err != nil {
			return nil, err
		}
		result.Predicted = r.Model.Says
		result.Warnings = append(result.Warnings, lists.Map(r.Model.Warnings, error.Error)...)
		if program.alike {
			result.Warnings = append(result.Warnings, "the parameters tell no levels of a node apart, so that no mapping within it is predicted better than another: measure levels with taulop sweep")
		}
	}
	add := func(method string, places heuristic.Mapping) error {
		shares := machine.Shares(x, places)
		if tidy := machine.Tidy(places); slices.Equal(machine.Shares(x, tidy), shares) && method != Cyclic {
			places = tidy
		}
		m := Mapping{Method: method, Places: places, HopBytes: heuristic.HopBytes(shares)}
		m.Levels = lists.Map(shares, func(share heuristic.Share) LevelCost { return LevelCost{Share: share} })
		if program != nil {
			if err := program.cost(&m); err != nil {
				return err
			}
		}
		result.Mappings = append(result.Mappings, m)
		return nil
	}
	// Block and cyclic are the baselines, and swaps start from all but es.
	for _, method := range Methods[:len(Methods)-1] {
		name, wanted := method.Name, slices.Contains(r.Methods, method.Name)
		needed := wanted || name == Block || name == Cyclic || slices.Contains(r.Methods, Swaps) && name != ES
		if !needed {
			continue
		}
		places, err := method.places(machine, x)
		if err != nil {
			if wanted {
				result.LeftOut = append(result.LeftOut, fmt.Sprintf("%s: %v", name, err))
			}
			continue
		}
		if err := add(name, places); err != nil {
			return nil, err
		}
	}
	if slices.Contains(r.Methods, Swaps) {
		s := newSwaps(machine, x, program)
		places, done := s.best(result.Mappings, time.Now().Add(r.Time))
		if err := add(Swaps, places); err != nil {
			return nil, err
		}
		result.Mappings[len(result.Mappings)-1].LocalBest = done
	}
	result.compare()
	result.Mappings = slices.DeleteFunc(result.Mappings, func(m Mapping) bool { return !slices.Contains(r.Methods, m.Method) })
	if len(result.Mappings) == 0 {
		return nil, errors.New(strings.Join(result.LeftOut, "; "))
	}
	result.Best = slices.MinFunc(result.Mappings, cheaper).Method // the first of equal costs
	return result, nil
}

func cheaper(a, b Mapping) int {
	return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(a.HopBytes, b.HopBytes))
}

// compare adds the gains over block and cyclic.
func (r *Result) compare() {
	gain := func(m *Mapping, baseline string) *float64 {
		if cost := r.Mapping(baseline).cost(); cost > 0 {
			return new(1 - m.cost()/cost)
		}
		return new(0.)
	}
	for i := range r.Mappings {
		m := &r.Mappings[i]
		m.OverBlock, m.OverCyclic = gain(m, Block), gain(m, Cyclic)
	}
}

// Mapping is a method's mapping; nil if there is none.
func (r *Result) Mapping(method string) *Mapping {
	return lists.Find(r.Mappings, func(m Mapping) bool { return m.Method == method })
}

// schedule has one message of the mean size for each pair of communicating processes.
func schedule(x *comm.Matrix) (*collective.Schedule, error) {
	var messages []collective.Envelope
	for from, e := range x.All() {
		messages = append(messages, collective.Envelope{From: from, To: e.To, Bytes: int((e.Bytes + e.Messages - 1) / e.Messages)})
	}
	return collective.Rounds(x.Ranks(), messages)
}
